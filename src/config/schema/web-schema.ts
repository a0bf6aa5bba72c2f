// The schema of `web`: where pages and the HTTP API are served, and who may use them.
import { z } from 'zod';
import { fileSchema, nameSchema, positiveSchema, secretSchema } from './scalars.ts';

export const ROLES = ['viewer', 'reviewer'] as const;
export const SCOPES = ['read', 'pull', 'review'] as const;

const ADDRESS = /^(\[[0-9a-f:.]+\]|[^\s:/[\]]+):(\d{1,5})$/i;

/** `HOST:PORT`. Outputs both. */
const listenSchema = z
  .string()
  .refine(
    (text) => Number(ADDRESS.exec(text)?.[2] ?? 65_536) <= 65_535,
    'must be HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080',
  )
  .transform((text) => {
    const [, host = '', port = ''] = ADDRESS.exec(text) ?? [];
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });

/** Complains unless exactly one of a secret setting and its file is there. */
const oneOf = (secret: string) => ({
  error: `needs exactly one of ${secret}: \${NAME} and ${secret}_file: PATH`,
  path: [secret],
});

const userSchema = z
  .strictObject({
    password_hash: secretSchema
      .optional()
      .describe(`The hash of the password, made by \`jobmirror users hash\`: \`\${NAME}\`, from the environment.`),
    password_hash_file: fileSchema
      .optional()
      .describe('Instead of `password_hash`: a file that holds it, relative to this file.'),
    role: z
      .enum(ROLES)
      .describe('`viewer` sees everything and changes nothing; `reviewer` may also start pulls and act on review.'),
  })
  .refine(
    ({ password_hash, password_hash_file }) => (password_hash === undefined) !== (password_hash_file === undefined),
    oneOf('password_hash'),
  );

const tokenSchema = z
  .strictObject({
    token: secretSchema.optional().describe(`The token: \`\${NAME}\`, from the environment.`),
    token_file: fileSchema.optional().describe('Instead of `token`: a file that holds it, relative to this file.'),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .describe('What a request with this token may do: `read`, `pull` (start pulls), `review` (act on review).'),
  })
  .refine(({ token, token_file }) => (token === undefined) !== (token_file === undefined), oneOf('token'));

const webhookSchema = z
  .strictObject({
    secret: secretSchema
      .optional()
      .describe(
        `What the sender signs its messages with: \`\${NAME}\`, from the environment, with 24 to 64 bytes in Base64, as \`openssl rand -base64 32\` prints them; may begin with \`whsec_\`.`,
      ),
    secret_file: fileSchema.optional().describe('Instead of `secret`: a file that holds it, relative to this file.'),
    feeds: z.array(nameSchema).min(1).optional().describe('The feeds that it may speak of; without it, all.'),
  })
  .refine(({ secret, secret_file }) => (secret === undefined) !== (secret_file === undefined), oneOf('secret'));

const proxySchema = z
  .string()
  .regex(
    /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/(?:\d|[12]\d|3[0-2]))?|[0-9a-f:]*:[0-9a-f:.]*(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/i,
    'must be an IP address or a range of them, such as 10.0.0.5 or 10.0.0.0/8',
  );

export const webSchema = z.strictObject({
  listen: listenSchema
    .optional()
    .describe(
      'Where `start` serves pages, API and health: `HOST:PORT`, instead of the setting `listen`. Any address other than loopback needs `users` or `tokens`.',
    ),
  users: z
    .record(nameSchema, userSchema)
    .default({})
    .describe('Who may sign in, by name. Without users and tokens, everyone on this machine may do everything.'),
  tokens: z.record(nameSchema, tokenSchema).default({}).describe('Tokens of programs that use the API, by name.'),
  webhooks: z
    .record(nameSchema, webhookSchema)
    .default({})
    .describe('Who may say at `/webhooks/NAME` that a feed or a posting has changed, by name; see docs/http.md.'),
  trusted_proxies: z
    .array(proxySchema)
    .default([])
    .describe(
      'Addresses of reverse proxies, whose `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix` headers are believed. Those of others are ignored.',
    ),
  requests_per_minute: positiveSchema
    .default(1_200)
    .describe('Requests that each token or user, and each address without one, may send; more get status 429.'),
});

export type WrittenWeb = z.output<typeof webSchema>;
