// The schema of alert destinations.
import { z } from 'zod';
import { ALERT_KINDS, POSTING_EVENTS } from '../../telemetry/alerts/alert-message.ts';
import { fileSchema, nameSchema, percentSchema, secretSchema } from './scalars.ts';

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
    secret: secretSchema
      .optional()
      .describe(
        `What signs the messages to a webhook: \`\${NAME}\`, from the environment, with 24 to 64 bytes in Base64, as \`openssl rand -base64 32\` prints them; may begin with \`whsec_\`.`,
      ),
    secret_file: fileSchema.optional().describe('Instead of `secret`: a file that holds it, relative to this file.'),
    format: z
      .enum(['standard', 'slack'])
      .default('standard')
      .describe(
        '`standard`: the Standard Webhooks specification; `slack`: an incoming webhook of Slack, Mattermost and the like, without a signature.',
      ),
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
  .superRefine(({ url, email, format, secret, secret_file, on }, context) => {
    const complain = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    const secrets = [secret, secret_file].filter((text) => text !== undefined).length;
    if ((email !== undefined || format === 'slack') && on.some((event) => event.startsWith('posting.')))
      complain('on', 'posting events go to a webhook of format standard only, as there may be very many');
    if ((url === undefined) === (email === undefined)) complain('url', 'needs exactly one of url and email');
    else if (url !== undefined && format === 'standard' && secrets !== 1)
      complain('secret', `a webhook needs exactly one of secret: \${NAME} and secret_file: PATH`);
    else if ((email !== undefined || format === 'slack') && secrets > 0)
      complain('secret', 'signs only messages to a webhook of format standard; remove it');
  });

export const alertsSchema = z.record(nameSchema, destinationSchema);

export type WrittenDestination = z.output<typeof destinationSchema>;
