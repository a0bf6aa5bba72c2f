// The schemas of what `start` does besides mirroring: `web`, where pages and the HTTP API are served and who may use
// them, alert destinations, and `/metrics`.
import { z } from 'zod';
import { ALERT_KINDS, POSTING_EVENTS } from '../../telemetry/alert-message.ts';
import {
  exactlyOneSecret,
  fileSchema,
  nameSchema,
  outgoingProxySchema,
  percentSchema,
  positiveSchema,
  secretSettings,
} from './scalars.ts';

export const ROLES = ['viewer', 'reviewer', 'admin'] as const;
export const SCOPES = ['read', 'pull', 'review', 'configure'] as const;

const ADDRESS = /^(\[[0-9a-f:.]+\]|[^\s:/[\]]+):(\d{1,5})$/i;

/** `HOST:PORT`. Outputs both. */
const webListenSchema = z
  .string()
  .refine(
    (text) => Number(ADDRESS.exec(text)?.[2] ?? 65_536) <= 65_535,
    'must be HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080',
  )
  .transform((text) => {
    const [, host = '', port = ''] = ADDRESS.exec(text) ?? [];
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });

const userSchema = z
  .strictObject({
    ...secretSettings(
      'password_hash',
      `The hash of the password, made by \`jobmirror users hash\`: \`\${NAME}\`, from the environment.`,
    ),
    role: z
      .enum(ROLES)
      .describe(
        '`viewer` sees everything and changes nothing; `reviewer` may also start pulls and act on review; `admin` may also change feeds, and so use every variable and file that jobmirror can read for them.',
      ),
  })
  .refine(...exactlyOneSecret('password_hash'));

const tokenSchema = z
  .strictObject({
    ...secretSettings('token', `The token: \`\${NAME}\`, from the environment.`),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .describe(
        'What a request with this token may do: `read`, `pull` (start pulls), `review` (act on review), `configure` (change feeds, reload).',
      ),
  })
  .refine(...exactlyOneSecret('token'));

const SIGNING_SECRET = `\`\${NAME}\`, from the environment, with 24 to 64 bytes in Base64, as \`openssl rand -base64 32\` prints them; may begin with \`whsec_\`.`;

const webhookSchema = z
  .strictObject({
    ...secretSettings('secret', `What the sender signs its messages with: ${SIGNING_SECRET}`),
    feeds: z.array(nameSchema).min(1).optional().describe('The feeds that it may speak of; without it, all.'),
  })
  .refine(...exactlyOneSecret('secret'));

const proxySchema = z
  .string()
  .regex(
    /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/(?:\d|[12]\d|3[0-2]))?|[0-9a-f:]*:[0-9a-f:.]*(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/i,
    'must be an IP address or a range of them, such as 10.0.0.5 or 10.0.0.0/8',
  );

export const webSchema = z.strictObject({
  listen: webListenSchema
    .optional()
    .describe(
      'Where `start` serves pages, API and health: `HOST:PORT`, instead of the setting `listen`. Any address other than loopback needs `users` or `tokens`.',
    ),
  users: z
    .record(nameSchema, userSchema)
    .default({})
    .describe(
      'Who may sign in, by name. Without users and tokens, everyone on this machine may do everything but change the configuration.',
    ),
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
  configuration: z
    .enum(['editable', 'read-only'])
    .default('editable')
    .describe(
      '`read-only`: pages and API show the file that has to be committed instead of writing it, for configurations that are kept in version control.',
    ),
  source_folders: z
    .array(fileSchema)
    .default([])
    .describe(
      'Folders, relative to this file, whose files feeds may read that are saved on pages or by the API. Without it those read no files of the server, only web addresses and the like.',
    ),
  private_sources: z
    .boolean()
    .default(false)
    .describe(
      'Whether feeds that are saved on pages or by the API may come from addresses that are not public, such as those of an internal network and of this machine; checked when they are saved, and at each pull. Feeds that are written by hand may.',
    ),
  public_url: z
    .url({ protocol: /^https?$/, error: 'must be an address such as https://jobs.example.com/mirror' })
    .optional()
    .describe(
      'Where people reach the pages, with the path of a proxy if it has one: alerts link to the page that they are about.',
    ),
  requests_per_minute: positiveSchema
    .default(1_200)
    .describe('Requests that each token or user, and each address without one, may send; more get status 429.'),
});

export type WrittenWeb = z.output<typeof webSchema>;

// The schema of alert destinations.

const REFERENCE = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

const urlSchema = z
  .string()
  .refine(
    (text) => REFERENCE.test(text) || (/^https?:\/\//.test(text) && URL.canParse(text)),
    `must be an address that begins with https:// or http://, or \${NAME}, the name of an environment variable that holds one`,
  );

const smtpSchema = z
  .string()
  .refine(
    (text) => REFERENCE.test(text) || (/^smtps?:\/\//.test(text) && URL.canParse(text) && !text.includes('@')),
    `must be smtp://host:587 or smtps://host:465, or, with user and password, \${NAME}, the name of an environment variable that holds such an address`,
  );

const mailAddressSchema = z
  .string()
  .regex(/^[^\s<>@,;"]+@[^\s<>@,;"]+$/, 'must be a mail address, such as ops@example.com');

const emailSchema = z.strictObject({
  to: z.array(mailAddressSchema).min(1).max(50).describe('Who gets the messages.'),
  from: mailAddressSchema.describe('The sender.'),
  smtp: smtpSchema.describe(
    `The mail server: \`smtp://host:587\` (STARTTLS if offered, and required if a password is sent) or \`smtps://host:465\`; with user and password as \`\${NAME}\`, from the environment: \`smtps://user:password@host:465\`.`,
  ),
});

const destinationSchema = z
  .strictObject({
    url: urlSchema
      .optional()
      .describe(
        `A webhook: its address, or \`\${NAME}\` from the environment, as addresses of chat services are secrets.`,
      ),
    ...secretSettings('secret', `What signs the messages to a webhook: ${SIGNING_SECRET}`),
    format: z
      .enum(['standard', 'slack'])
      .default('standard')
      .describe(
        '`standard`: the Standard Webhooks specification; `slack`: an incoming webhook of Slack, Mattermost and the like, without a signature.',
      ),
    proxy: outgoingProxySchema.optional().describe('The proxy to the webhook, instead of that at the top of the file.'),
    email: emailSchema.optional().describe('Instead of `url`: send mail.'),
    on: z
      .array(z.enum([...ALERT_KINDS, ...POSTING_EVENTS]))
      .min(1)
      .default([...ALERT_KINDS])
      .describe(
        'What to tell: `paused` (sending to a site is), `unreachable` (a site is), `held` (changes are), `escalation` (they have been for `escalate_after_minutes`), `in_doubt` (a create has been for as long), `feed_failed`, `overdue` (no complete pull for three runs of the schedule, or `stale_after_minutes`), `rejected_share`, `new_group` (a group of review entries has appeared). By default all of these. And, for systems that follow each posting: `posting.mirrored`, `posting.rejected`, `posting.removed`, to a webhook of format `standard` only.',
      ),
    feeds: z
      .array(nameSchema)
      .min(1)
      .optional()
      .describe('Only what concerns these feeds, and sites; by default all feeds.'),
    rejected_percent: percentSchema
      .default(10)
      .describe('`rejected_share` tells when more than this share of a feed, and more than 5 postings, is rejected.'),
  })
  .superRefine(({ url, email, format, secret, secret_file, on, proxy }, context) => {
    const complain = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    const secrets = [secret, secret_file].filter((text) => text !== undefined).length;
    if ((email !== undefined || format === 'slack') && on.some((event) => event.startsWith('posting.')))
      complain('on', 'posting events go to a webhook of format standard only, as there may be very many');
    if (proxy !== undefined && email !== undefined) complain('proxy', 'works only with url; mail is sent directly');
    if ((url === undefined) === (email === undefined)) complain('url', 'needs exactly one of url and email');
    else if (url !== undefined && format === 'standard' && secrets !== 1)
      complain('secret', `a webhook needs exactly one of secret: \${NAME} and secret_file: PATH`);
    else if ((email !== undefined || format === 'slack') && secrets > 0)
      complain('secret', 'signs only messages to a webhook of format standard; remove it');
  });

export const alertsSchema = z.record(nameSchema, destinationSchema);

export type WrittenDestination = z.output<typeof destinationSchema>;

// The schema of the settings for `/metrics`.
export const metricsSchema = z
  .strictObject(
    secretSettings(
      'token',
      `What Prometheus has to send (\`Authorization: Bearer …\`): \`\${NAME}\`, from the environment. It also opens \`/healthz\`. Without it, both answer this machine, unless a proxy passed the request on, and whoever may read the pages.`,
    ),
  )
  .refine(({ token, token_file }) => token === undefined || token_file === undefined, {
    error: 'has both token and token_file; keep one of them',
  });

// The schema of where `start` listens.
export const listenSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('The address. Any other than loopback is open to the network.'),
  port: z.int().min(0).max(65535).default(8080).describe('The port; 0: any free one.'),
});
