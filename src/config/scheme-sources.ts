// The kinds of sources whose addresses have a scheme of their own. Web addresses, files and standard input are no such kinds.
import { posix, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { SingleConfig } from '../feed/source/sources.ts';
import { fileFault, readKey, readSecret, Secret, type SecretSettings, secretText } from './read-secret.ts';
import { exactlyOne, exactlyOneSecret, fileSchema, secretSchema, secretSettings } from './schema/scalars.ts';

// What a kind of source is to the configuration and to `init`, if its addresses have a scheme of their own.

/** Which files of a folder make up the feed; `undefined`: the address names one file. */
export type FileChoice = Extract<SingleConfig, { kind: 'files' }>['pick'] | undefined;

/** Makes what is to be read at an address, with the credentials that it holds. */
export type SchemeOpener = (address: string, files: FileChoice) => SingleConfig;

export interface InitContext {
  /** Begins the names of the feed's variables. */
  readonly prefix: string;
  /** Folder of the configuration file. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How `init` asks for the credentials of an address that can be parsed. */
interface InitProposal {
  /** Its options: flags and description. */
  readonly options: readonly (readonly [flags: string, description: string])[];
  propose(address: string, options: Readonly<Record<string, unknown>>, context: InitContext): InitAnswer;
}

export interface InitAnswer {
  /** What the person has to add, each as `--option VALUE, what it is`. Then the rest does not count. */
  readonly missing: readonly (string | false)[];
  /** The address without credentials. */
  readonly source: string;
  /** The settings of the credentials, and those that differ for reading the source at once: variables have been replaced. */
  readonly written: object;
  readonly now?: object;
  /** Variables that the settings name, with values that are not in the environment yet. */
  readonly secrets: Readonly<Record<string, string>>;
}

interface SchemeDescription<Schema> {
  /** Of its addresses, and the name of its credentials. */
  readonly scheme: string;
  /** What its credentials are, and what a source without any is told to have. */
  readonly description: string;
  readonly needs: string;
  /** Each secret is `secretSchema.optional()`: by that form it is known as one. */
  readonly credentials: Schema;
  /** The credentials are sent to the host of the address, and to no second one. */
  readonly isHost: boolean;
  /** What is wrong with an address. */
  faultOf?(address: string, files: FileChoice): string | undefined;
  readonly init: InitProposal;
}

export interface SchemeSource extends SchemeDescription<z.ZodObject> {
  /** `undefined` after a complaint. @param written what the schema made of the credentials */
  opener(written: unknown, around: SecretSettings): Promise<SchemeOpener | undefined>;
}

/** Ties what reads the credentials to their schema. */
const schemeSource = <Schema extends z.ZodObject>(
  source: SchemeDescription<Schema> & {
    opener(written: z.output<Schema>, around: SecretSettings): Promise<SchemeOpener | undefined>;
  },
): SchemeSource => ({
  ...source,
  opener: (written, around) => source.opener(written as z.output<Schema>, around),
});

// `s3://bucket/key`: an object, or the objects of a folder, in S3-compatible storage.

const s3Schema = z
  .strictObject({
    access_key_id: z.string().min(1).describe("The access key's ID."),
    ...secretSettings('secret_access_key', `The secret access key: \`\${NAME}\`, from the environment.`),
    session_token: secretSchema.optional().describe(`Of temporary credentials: \`\${NAME}\`, from the environment.`),
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, 'must be the name of a region, such as us-east-1')
      .default('us-east-1')
      .describe('The region of the bucket.'),
    endpoint: z
      .string()
      .refine(
        (text) => /^https?:\/\/[^/?#@\\]+\/?$/i.test(text) && URL.canParse(text),
        'must be an address such as https://minio.example.com:9000, without path, user name and password',
      )
      .optional()
      .describe("The address of a service other than Amazon's."),
  })
  .refine(...exactlyOneSecret('secret_access_key'));

const variable = (name: string): string => `\${${name}}`;

const s3Scheme = schemeSource({
  scheme: 's3',
  description: 'The access key of an S3-compatible service.',
  needs: 'a source in s3 needs access_key_id and secret_access_key',
  credentials: s3Schema,
  isHost: false,
  faultOf: (address, files) =>
    files === undefined && /^s3:\/\/[^/]*(?:\/$|$)|\/$/i.test(address)
      ? 'names no object; add its key, or set files: newest or files: all'
      : undefined,
  async opener(written, around) {
    const secretAccessKey = await readSecret(written, [['s3'], 'secret_access_key'], around, fileFault);
    if (secretAccessKey === undefined) return undefined;
    const { access_key_id: accessKeyId, session_token: token, region, endpoint } = written;
    const sessionToken = secretText(token, ['s3', 'session_token'], around);
    const access = { accessKeyId, secretAccessKey, sessionToken, region, endpoint };
    return (address, files) => {
      const [bucket = '', ...rest] = address.replace(/^s3:\/\//i, '').split('/');
      const whole = decodeURIComponent(rest.join('/'));
      if (files === undefined) return { kind: 's3', bucket, key: whole, pick: undefined, access };
      const name = whole.slice(whole.lastIndexOf('/') + 1);
      const hasPattern = /[*?]/.test(name);
      const folder = hasPattern ? whole.slice(0, whole.length - name.length) : whole;
      const key = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
      return { kind: 's3', bucket, key, pick: { pattern: hasPattern ? name : '*', pick: files }, access };
    };
  },
  init: {
    options: [
      ['--region <region>', 'the region; the access key comes from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'],
      ['--endpoint <url>', "the address of a service other than Amazon's"],
    ],
    // The variables are those that other programs for such storage read.
    propose(address, options, { env }) {
      const unset = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].filter((name) => !env[name]);
      const region = options.region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
      const endpoint = options.endpoint ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
      return {
        missing: [unset.length > 0 && `the access key in the environment: ${unset.join(' and ')}`],
        source: address,
        written: {
          access_key_id: variable('AWS_ACCESS_KEY_ID'),
          secret_access_key: variable('AWS_SECRET_ACCESS_KEY'),
          ...(env.AWS_SESSION_TOKEN ? { session_token: variable('AWS_SESSION_TOKEN') } : {}),
          ...(region ? { region } : {}),
          ...(endpoint ? { endpoint } : {}),
        },
        now: { access_key_id: env.AWS_ACCESS_KEY_ID },
        secrets: {},
      };
    },
  },
});

// `sftp://host/path`: a file, or the files of a folder, on an SFTP server. `/~/` stands for the user's folder.

const hostKeySchema = z
  .string()
  .regex(/^SHA256:[A-Za-z0-9+/]{43}=?$/, 'must be a fingerprint as ssh-keygen -l prints it: SHA256: and 43 characters')
  .transform((fingerprint) => fingerprint.replace(/=$/, ''));

const sftpSchema = z
  .strictObject({
    user: z.string().min(1).describe('The user name.'),
    ...secretSettings('password', `The password: \`\${NAME}\`, from the environment.`),
    key_file: fileSchema
      .optional()
      .describe("Instead of a password: a private key, in OpenSSH's format or PEM, relative to this file."),
    passphrase: secretSchema.optional().describe(`The passphrase of the key: \`\${NAME}\`, from the environment.`),
    host_key: z
      .union([hostKeySchema, z.array(hostKeySchema).min(1)])
      .transform((keys) => [keys].flat())
      .describe(
        "The fingerprint of the server's host key, `SHA256:…`, or several. A server with another key gets nothing. Ask its operator, or compare with `ssh-keyscan HOST | ssh-keygen -lf -`.",
      ),
  })
  .refine(({ password, password_file, key_file }) => exactlyOne(password, password_file, key_file), {
    error: `needs exactly one of password: \${NAME}, password_file: PATH and key_file: PATH`,
    path: ['password'],
  })
  .refine(({ passphrase, key_file }) => passphrase === undefined || key_file !== undefined, {
    error: 'works only with key_file',
    path: ['passphrase'],
  });

const sftpScheme = schemeSource({
  scheme: 'sftp',
  description: 'The user of an SFTP server, and the pinned key of the server.',
  needs: 'a source over sftp needs user, password or key_file, and host_key',
  credentials: sftpSchema,
  isHost: true,
  async opener(written, around) {
    const password = await readSecret(written, [['sftp'], 'password'], around, fileFault);
    const key = await readKey(written.key_file, 'sftp', around);
    if (key !== undefined && !/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) {
      around.complain(['sftp', 'key_file'], 'the file holds no private key (-----BEGIN … PRIVATE KEY-----)');
    }
    const login = {
      user: written.user,
      password,
      key: key === undefined ? undefined : new Secret(`${key}\n`),
      passphrase: secretText(written.passphrase, ['sftp', 'passphrase'], around),
      hostKeys: written.host_key,
    };
    return (address, files) => {
      const { hostname, port, pathname } = new URL(address);
      const whole = decodeURIComponent(pathname);
      const path = whole.startsWith('/~/') ? whole.slice(3) || '.' : whole;
      const name = posix.basename(path);
      const hasPattern = files !== undefined && /[*?]/.test(name);
      return {
        kind: 'sftp',
        host: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? 22 : Number(port),
        path: hasPattern ? posix.dirname(path) : path,
        pick: files === undefined ? undefined : { pattern: hasPattern ? name : '*', pick: files },
        login,
      };
    };
  },
  init: {
    options: [
      ['--user <name>', 'the user name; the password comes from the variable FEED_PASSWORD, named after the feed'],
      ['--key-file <file>', 'instead of a password, a private key; its passphrase comes from FEED_PASSPHRASE'],
      ['--host-key <fingerprint>', "the fingerprint of the server's host key, SHA256:…"],
    ],
    propose(address, options, { prefix, folder, env }) {
      const url = new URL(address);
      const password = decodeURIComponent(url.password);
      const user = options.user ?? decodeURIComponent(url.username);
      const [passwordVariable, passphraseVariable] = [`${prefix}_PASSWORD`, `${prefix}_PASSPHRASE`];
      const keyFile = options.keyFile === undefined ? undefined : relative(folder, resolve(String(options.keyFile)));
      const hasPassword = password !== '' || Boolean(env[passwordVariable]);
      url.username = '';
      url.password = '';
      const login = keyFile === undefined ? { password: `\${${passwordVariable}}` } : { key_file: keyFile };
      const hasPassphrase = keyFile !== undefined && Boolean(env[passphraseVariable]);
      return {
        missing: [
          user === '' && '--user NAME, the user name',
          keyFile === undefined &&
            !hasPassword &&
            `--key-file FILE, a private key, or the password in the environment variable ${passwordVariable}`,
          options.hostKey === undefined &&
            `--host-key SHA256:…, the fingerprint of the server's host key: ask its operator, or compare with ssh-keyscan ${url.port === '' ? '' : `-p ${url.port} `}${url.hostname} | ssh-keygen -lf -`,
        ],
        source: url.href,
        written: {
          user,
          ...login,
          ...(hasPassphrase ? { passphrase: `\${${passphraseVariable}}` } : {}),
          host_key: options.hostKey,
        },
        secrets: keyFile === undefined && password !== '' ? { [passwordVariable]: password } : {},
      };
    },
  },
});

export const SCHEME_SOURCES: readonly SchemeSource[] = [sftpScheme, s3Scheme];

/** Their schemes, for messages. */
export const SCHEMES: readonly string[] = SCHEME_SOURCES.map(({ scheme }) => scheme);

/** Whether there are credentials for web addresses. */
export const hasHttp = (credentials: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(credentials).some(([name, value]) => !SCHEMES.includes(name) && value !== undefined);

export const isWebAddress = (source: string): boolean => /^https?:\/\//i.test(source);

/** The kind of the address; `undefined` if its scheme is that of no kind, or if it has none. */
export function schemeSourceOf(address: string): SchemeSource | undefined {
  const scheme = /^([^:/]+):\/\//.exec(address)?.[1]?.toLowerCase();
  return SCHEME_SOURCES.find((source) => source.scheme === scheme);
}
