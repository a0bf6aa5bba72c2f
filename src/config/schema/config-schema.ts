// The schema of a configuration file. Its descriptions become docs/configuration.md and the help in editors.
import { z } from 'zod';
import { LOG_LEVELS } from '../../telemetry/log.ts';
import { feedSchema } from './feed-schema.ts';
import { nameSchema, outgoingProxySchema, positiveSchema } from './scalars.ts';
import { alertsSchema, listenSchema, metricsSchema, webSchema } from './services-schema.ts';
import { siteSchema } from './site-schema.ts';

const databaseSchema = z
  .string()
  .refine(
    (text) => text === 'embedded' || isUrl(text, /^postgres(ql)?:\/\//),
    'must be embedded, or postgres://user:password@host/name; characters such as @ and / in a password are written %40 and %2F',
  );

const queueSchema = z
  .string()
  .refine(
    (text) => text === 'database' || isUrl(text, /^rediss?:\/\//),
    'must be database, or redis://host:6379 (rediss:// for TLS); characters such as @ and / in a password are written %40 and %2F',
  );

const isUrl = (text: string, scheme: RegExp): boolean => scheme.test(text) && URL.canParse(text);

const retentionSchema = z.strictObject({
  requests_days: positiveSchema.default(30).describe('Requests to the site and its responses, in brief.'),
  failures_days: positiveSchema.default(90).describe('Failed attempts. Review entries are kept, however old.'),
  audit_days: positiveSchema
    .default(365)
    .describe(
      'Who did what in review, and actions on many entries that are done or stopped. Who renamed a feed is kept.',
    ),
  pulls_days: positiveSchema.default(90).describe('The counts of each pull.'),
  undo_days: positiveSchema
    .default(14)
    .describe('What the site had before each pull changed it: for so long, `undo` can undo a pull.'),
});

/** What `include` is in the documents, and in the advice to add it. */
export const USUAL_INCLUDE = 'feeds/*.yaml';

/** A folder, and the ending of the files in it. */
export const INCLUDE_PATTERN = /^((?:(?!\.{1,2}\/)[^/*?[\]{}\\$]+\/)+)\*(\.ya?ml)$/;

export const includeSchema = z
  .string()
  .refine(
    (text) => INCLUDE_PATTERN.test(text) && !text.startsWith('presets/'),
    `must name a folder below that of this file, and all files of one ending in it: ${USUAL_INCLUDE}; not .., an absolute path, or the folder presets`,
  );

export const configSchema = z.strictObject({
  database: databaseSchema
    .default('embedded')
    .describe(
      '`embedded`: a Postgres server that jobmirror starts and stops itself; or `postgres://user:password@host/name`, Postgres 14 or later, directly or through a pooler in session mode (pgbouncer: `pool_mode = session`), because locks, settings and prepared statements belong to connections.',
    ),
  queue: queueSchema
    .default('database')
    .describe(
      '`database`: in the same Postgres, with nothing to install; or `redis://host:6379`, Redis 6.2 or later, for production. Set `maxmemory-policy noeviction` there; at its `maxmemory`, sending waits until there is room.',
    ),
  data_dir: z
    .string()
    .min(1)
    .default('.jobmirror')
    .describe('Where the embedded server keeps its files, relative to this file.'),
  log: z
    .strictObject({ level: z.enum(LOG_LEVELS).default('info').describe('The lowest level to log.') })
    .prefault({})
    .describe('Logging.'),
  listen: listenSchema
    .prefault({})
    .describe(
      'Where `start` serves `/healthz`, `/readyz` and `/metrics`. On loopback, and with users or tokens in `web` also elsewhere, it serves pages and the API too.',
    ),
  metrics: metricsSchema.prefault({}).describe('Who may read `/metrics`.'),
  alerts: alertsSchema
    .default({})
    .describe('Who is notified when something needs attention, and when it is resolved, by a name of your choice.'),
  web: webSchema.optional().describe('Pages and the HTTP API of `start`, and who may use them; see docs/http.md.'),
  proxy: outgoingProxySchema
    .optional()
    .describe(
      `The HTTP proxy to sites, sources and webhooks of alerts that have no \`proxy\` of their own: its address, \`http://proxy.example.com:3128\` (https too; with a password \`http://user:\${NAME}@…\`); \`environment\`: what HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY say; or \`none\`. See docs/http.md.`,
    ),
  retention: retentionSchema
    .prefault({})
    .describe('How many days the database keeps history; requests and failed attempts up to a tenth longer, or a day.'),
  sites: z.record(nameSchema, siteSchema).describe('The job sites, by name.'),
  feeds: z.record(nameSchema, feedSchema).describe('The feeds, by name. With `include` it may be left out.'),
  include: includeSchema
    .optional()
    .describe(
      'Feeds in files of their own, one each: `feeds/*.yaml`, relative to this file. The file `feeds/acme.yaml` has the settings of feed `acme` at its top level. Paths in it are relative to this file, too; see docs/feeds.md.',
    ),
});

export type WrittenConfig = z.output<typeof configSchema>;
