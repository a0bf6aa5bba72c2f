// The schema of what a feed's source accepts as credentials, besides headers.
import { z } from 'zod';
import { SCHEME_SOURCES } from '../scheme-sources.ts';
import { exactlyOneSecret, fileSchema, secretSchema, secretSettings } from './scalars.ts';

const basicSchema = z
  .strictObject({
    user: z.string().min(1).describe(`The user name, or a key that stands for it: \`\${NAME}\`.`),
    ...secretSettings('password', `The password: \`\${NAME}\`, from the environment.`),
  })
  .superRefine(({ user, password, password_file }, context) => {
    if (password !== undefined && password_file !== undefined) {
      context.addIssue({ code: 'custom', message: 'has a password_file beside it; remove one', path: ['password'] });
    }
    if (password === undefined && password_file === undefined && !secretSchema.safeParse(user).success) {
      const message = `is a secret when there is no password, and must come from the environment: write \${NAME}, the name of a variable that holds it`;
      context.addIssue({ code: 'custom', message, path: ['user'] });
    }
  });

const bearerSchema = z
  .strictObject(secretSettings('token', `The token: \`\${NAME}\`, from the environment.`))
  .refine(...exactlyOneSecret('token'));

const querySchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[^\s&=#?]+$/, 'must be the name of a parameter, without spaces, & and =')
      .describe('The name of the parameter: `api_key`.'),
    ...secretSettings('value', `The key: \`\${NAME}\`, from the environment.`),
  })
  .refine(...exactlyOneSecret('value'));

const tokenUrlSchema = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^/?#@\\]+(\/[^#@\\]*)?$/i.test(text) && URL.canParse(text),
    'must be an address such as https://login.example.com/oauth2/token, without user name and password',
  );

const oauth2Schema = z
  .strictObject({
    token_url: tokenUrlSchema.describe('The address of the token endpoint.'),
    client_id: z.string().min(1).describe("The client's ID."),
    ...secretSettings('client_secret', `The client's secret: \`\${NAME}\`, from the environment.`),
    scope: z.string().min(1).optional().describe('The scopes to ask for, separated by spaces.'),
    audience: z.string().min(1).optional().describe('The audience to ask for, which some token endpoints need.'),
    client_in: z
      .enum(['header', 'body'])
      .default('header')
      .describe('Where the token endpoint expects ID and secret: `header` (HTTP Basic) or `body`.'),
  })
  .refine(...exactlyOneSecret('client_secret'));

const tlsSchema = z
  .strictObject({
    cert_file: fileSchema.optional().describe("The client's certificate, with any intermediate ones (PEM)."),
    key_file: fileSchema.optional().describe('The private key of the certificate (PEM).'),
    passphrase: secretSchema.optional().describe(`The passphrase of the key: \`\${NAME}\`, from the environment.`),
    ca_file: fileSchema
      .optional()
      .describe("Authorities that may have signed the server's certificate, instead of the public ones (PEM)."),
  })
  .superRefine(({ cert_file, key_file, passphrase, ca_file }, context) => {
    const complain = (setting: string, message: string): void =>
      context.addIssue({ code: 'custom', message, path: [setting] });
    if (cert_file !== undefined && key_file === undefined) complain('key_file', 'is missing; cert_file needs its key');
    if (key_file !== undefined && cert_file === undefined) complain('cert_file', 'is missing; key_file needs it');
    if (passphrase !== undefined && key_file === undefined) complain('passphrase', 'works only with key_file');
    if (cert_file === undefined && key_file === undefined && ca_file === undefined) {
      complain('cert_file', 'is missing; name cert_file and key_file, or ca_file, or both');
    }
  });

/** Of the kinds of sources with a scheme of their own. */
const schemeCredentials: Readonly<Record<string, z.ZodOptional<z.ZodObject>>> = Object.fromEntries(
  SCHEME_SOURCES.map(({ scheme, credentials, description }) => [scheme, credentials.optional().describe(description)]),
);

export const credentialsSchema = z
  .strictObject({
    basic: basicSchema.optional().describe('HTTP Basic: user name and password.'),
    bearer: bearerSchema.optional().describe('A token that is sent as `Authorization: Bearer`.'),
    oauth2: oauth2Schema
      .optional()
      .describe(
        'OAuth 2.0 client credentials. The access token is kept until shortly before it expires, and renewed once if the source refuses it.',
      ),
    query: querySchema.optional().describe('A key that is added to the query of the address. It is never shown.'),
    tls: tlsSchema.optional().describe('A client certificate, and the authorities to trust, for https.'),
    ...schemeCredentials,
  })
  .refine(({ basic, bearer, oauth2 }) => [basic, bearer, oauth2].filter((each) => each !== undefined).length <= 1, {
    error: 'has more than one of basic, bearer and oauth2, which all make the same header; keep one',
  });

export type WrittenCredentials = z.output<typeof credentialsSchema>;

/** Settings below `credentials` that hold secrets. A user name may be a key that needs no password. */
const SECRETS: ReadonlySet<string> = new Set([
  'basic.user',
  ...Object.entries(credentialsSchema.shape).flatMap(([kind, schema]) =>
    Object.entries(schema.unwrap().shape)
      .filter(([, setting]) => setting instanceof z.ZodOptional && setting.unwrap() === secretSchema)
      .map(([name]) => `${kind}.${name}`),
  ),
]);

/** @param path below `credentials`. */
export const isSecretCredential = (path: readonly PropertyKey[]): boolean => SECRETS.has(path.join('.'));

/** A kind of credentials with its settings, for a form. */
export interface CredentialForm {
  /** Its name below `credentials`. */
  readonly kind: string;
  readonly description: string;
  readonly settings: readonly {
    readonly name: string;
    /** For people: the name without underscores. */
    readonly words: string;
    readonly description: string;
    /** Only the name of a variable may be written. */
    readonly isSecret: boolean;
    readonly choices: readonly string[];
  }[];
}

export const CREDENTIAL_FORMS: readonly CredentialForm[] = Object.entries(credentialsSchema.shape).map(
  ([kind, schema]) => ({
    kind,
    description: schema.description ?? '',
    settings: Object.entries(schema.unwrap().shape).map(([name, setting]) => {
      const inner = setting instanceof z.ZodOptional || setting instanceof z.ZodDefault ? setting.unwrap() : setting;
      return {
        name,
        words: name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()),
        description: (setting as z.ZodType).description ?? '',
        isSecret: inner === secretSchema,
        choices: inner instanceof z.ZodEnum ? inner.options.map(String) : [],
      };
    }),
  }),
);
