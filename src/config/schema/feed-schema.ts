// The schema of one feed's settings.
import { z } from 'zod';
import { UPLOADED_FILE } from '../../feed/source/sources.ts';
import { parseCron } from '../schedule-choice.ts';
import { type FileChoice, hasHttp, isWebAddress, SCHEME_SOURCES, SCHEMES, schemeSourceOf } from '../scheme-sources.ts';
import { credentialsSchema } from './credentials-schema.ts';
import {
  encodingSchema,
  feedFieldsSchema,
  formatSchema,
  keyAsSchema,
  keySchema,
  placesSchema,
} from './format-schema.ts';
import { detailsSchema, pagesSchema } from './pages-schema.ts';
import {
  capSchema,
  constantsSchema,
  countSchema,
  fieldNameSchema,
  nameSchema,
  outgoingProxySchema,
  pathsSchema,
  percentSchema,
  positiveSchema,
  secondsSchema,
  sizeSchema,
  timeZoneSchema,
} from './scalars.ts';
import { conditionsSchema } from './step-schema.ts';

// Checks that a feed's settings fit its source or sources.

interface SourceSettings {
  readonly source?: string | undefined;
  readonly sources?: readonly string[] | undefined;
  readonly files?: FileChoice;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials?: Readonly<Record<string, unknown>> | undefined;
  readonly proxy?: string | undefined;
}

interface IssueContext {
  addIssue(issue: { code: 'custom'; message: string; path: string[] }): void;
}

/** Wildcards stand only in the last part of a path. */
const WILDCARD = /[*?]/;

function checkSources(settings: SourceSettings, context: IssueContext): void {
  const complain = (message: string, ...path: string[]): void => context.addIssue({ code: 'custom', message, path });
  const { source, sources, files, proxy } = settings;
  const all = sources ?? (source === undefined ? [] : [source]);
  if (sources?.includes('-')) complain('cannot hold -, standard input; make it the only source', 'sources');
  if (files !== undefined && all.every((each) => isWebAddress(each) || each === UPLOADED_FILE))
    complain('works only with folders and patterns', 'files');
  if (files !== undefined && all.some((each) => !isWebAddress(each) && WILDCARD.test(parentOf(each)))) {
    complain(
      'has a wildcard in the name of a folder; * and ? stand only in the last part',
      sources ? 'sources' : 'source',
    );
  }
  const faults = new Set(all.map((each) => schemeSourceOf(each)?.faultOf?.(each, files)));
  for (const fault of faults) if (fault !== undefined) complain(fault, sources ? 'sources' : 'source');
  if (proxy !== undefined && !all.some((each) => isWebAddress(each) || schemeSourceOf(each)?.scheme === 's3'))
    complain('works only with http, https and s3', 'proxy');
  checkCredentials(all, settings, complain);
}

function checkCredentials(
  all: readonly string[],
  { credentials = {}, headers }: SourceSettings,
  complain: (message: string, ...path: string[]) => void,
): void {
  const web = all.filter(isWebAddress);
  if (hasHttp(credentials)) {
    if (web.length === 0)
      complain(`work only with an http or https source, except ${SCHEMES.join(' and ')}`, 'credentials');
    else if (credentials.tls !== undefined && !web.every((each) => /^https:/i.test(each))) {
      complain('works only with https', 'credentials', 'tls');
    }
  }
  for (const { scheme, needs, isHost } of SCHEME_SOURCES) {
    const own = all.filter((each) => schemeSourceOf(each)?.scheme === scheme);
    const has = credentials[scheme] !== undefined;
    if (has && own.length === 0) complain(`works only with ${scheme}`, 'credentials', scheme);
    if (!has && own.length > 0) complain(`is missing; ${needs}`, 'credentials', scheme);
    const hosts = isHost ? serversOf(own) : [];
    if (hosts.length > 1)
      complain(`would be sent to ${hosts.join(' and ')}; make a feed of each`, 'credentials', scheme);
  }
  const servers = serversOf(web);
  const message = `would be sent to ${servers.join(' and ')}; make a feed of each, so that each has its own`;
  if (servers.length > 1 && hasHttp(credentials)) complain(message, 'credentials');
  if (servers.length > 1 && Object.keys(headers).length > 0) complain(message, 'headers');
}

const serversOf = (addresses: readonly string[]): readonly string[] => {
  const urls = addresses.filter((each) => URL.canParse(each)).map((each) => new URL(each));
  return [...new Set(urls.map(({ protocol, host }) => `${protocol}//${host}`))];
};

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.replace(/[\\/]+$/, '').search(/[^\\/]*$/)));

const sourceSchema = z
  .string()
  .min(1)
  .superRefine((source, context) => {
    const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source)?.[1]?.toLowerCase();
    if (scheme === undefined || source === UPLOADED_FILE) return;
    const own = schemeSourceOf(source);
    if (scheme === 'upload') {
      context.addIssue(`must be ${UPLOADED_FILE} alone, the file that was uploaded for this feed`);
    } else if (scheme !== 'http' && scheme !== 'https' && own === undefined) {
      context.addIssue(
        `can't be read over ${scheme}; use http(s), ${SCHEMES.join(', ')}, a file's path, or - and pipe the feed in: ftp … | jobmirror sync FEED`,
      );
    } else if (!URL.canParse(source)) {
      context.addIssue('is not a web address that can be read');
    } else if (own !== undefined && /[?#]/.test(source)) {
      context.addIssue('must write ? as %3F and # as %23, because they end the path in an address');
    } else if (new URL(source).username !== '' || new URL(source).password !== '') {
      context.addIssue(
        `must hold no user name and password, they would be shown in logs; use credentials: { ${own?.isHost === true ? scheme : 'basic'}: { user: NAME, password: \${NAME} } }`,
      );
    }
  });

const scheduleSchema = z.string().superRefine((schedule, context) => {
  try {
    refuseUnsupported(schedule);
    // Compute the next run too: 31 February is valid syntax, but never comes.
    parseCron(schedule).next();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context.addIssue(
      `is not a cron expression of 5 fields (minute hour day month weekday) or 6 (second first), such as "*/15 * * * *": ${why}`,
    );
  }
});

/** The number of values of each field, starting with seconds. */
const FIELD_SIZES = [60, 60, 24, 31, 12, 7] as const;

/** Throws if the library would run a different schedule than the written one. */
function refuseUnsupported(schedule: string): void {
  const fields = schedule.trim().split(/\s+/);
  if (schedule.trim().startsWith('@')) throw new Error('names such as @daily and @reboot are not supported');
  if (fields.length !== 5 && fields.length !== 6) {
    throw new Error(`it has ${fields.length} field${fields.length === 1 ? '' : 's'}`);
  }
  const sizes = FIELD_SIZES.slice(FIELD_SIZES.length - fields.length);
  for (const [at, field] of fields.entries()) {
    // The library draws a new random value for H each time it parses the expression.
    if (/^H|[,/]H/.test(field)) throw new Error('H, a random value, is not supported');
    for (const [, step = ''] of field.matchAll(/\/(\d+)/g)) {
      const size = sizes[at] ?? 0;
      if (Number(step) > size) throw new Error(`the step /${step} is larger than its field, which has ${size} values`);
    }
  }
}

/** The name of a request header (RFC 9110, section 5.1), and names whose values are certainly secret. */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const SECRET_HEADER = /auth|cookie|token|key|secret|password/i;

export const isSecretHeader = (name: string): boolean => SECRET_HEADER.test(name);

const headersSchema = z
  .record(z.string().regex(HEADER_NAME, 'is not a name that an HTTP header can have'), z.string().min(1))
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      if (!isSecretHeader(name) || value.includes(`\${`)) continue;
      context.addIssue({
        code: 'custom',
        path: [name],
        message: `is a secret, and must come from the environment: write \${NAME}, the name of a variable that holds it`,
      });
    }
  });

const feedLimitsSchema = z.strictObject({
  max_bytes: sizeSchema.prefault('8GB').describe('The whole feed, decompressed.'),
  max_record_bytes: sizeSchema.prefault('5MiB').describe('One record; a larger one goes to review without being read.'),
  max_ratio: positiveSchema.default(200).describe('Decompressed bytes per compressed byte, checked from 10 MiB on.'),
  total_timeout_seconds: secondsSchema.default(3600).describe('From the first request to the last byte.'),
  first_byte_timeout_seconds: secondsSchema.default(60).describe('Until the first byte of the response.'),
  min_bytes_per_second: countSchema
    .default(1024)
    .describe('The pull fails if the source is slower than this over 30 seconds.'),
  requests_per_second: z
    .number()
    .positive()
    .max(100_000)
    .default(10)
    .describe('Requests a second, for pages, details and the documents of `sources` together.'),
  attempts: z
    .int()
    .min(1)
    .max(100)
    .default(4)
    .describe(
      'How many times a document, page or detail is requested: again after 429, 5xx, and lost connections. A single document is not requested again once some of it has arrived.',
    ),
  max_wait_seconds: secondsSchema
    .default(60)
    .describe(
      'Longest wait between two tries. If the source asks for a longer one (`Retry-After`), the reading breaks off.',
    ),
  max_redirects: z.int().min(0).max(20).default(5).describe('How many redirects are followed.'),
});

const guardSchema = z.strictObject({
  percent: percentSchema.default(20).describe('Percent of the live jobs.'),
  count: countSchema.default(5).describe('Number of jobs.'),
  missing_pulls: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'A job is deleted once its posting has been missing from this many complete pulls in a row. By default 1; 2 for a source with pages, and for sources that are pages of one list, which may move while it is read.',
    ),
});

const rekeyGuardSchema = z.strictObject({
  percent: percentSchema.default(10).describe('Percent of the live jobs. 100: never.'),
  count: countSchema.default(5).describe('Number of postings.'),
});

const expectSchema = z.strictObject({
  min_records: countSchema
    .optional()
    .describe('With fewer records the feed counts as incomplete, and nothing is deleted.'),
  cap: capSchema
    .optional()
    .describe(
      'For a source with pages: overrides `pages.cap`, the most records that the source lists. `none`, for any source: it lists all, even if these are exactly 1000, or 10 again and again.',
    ),
  empty_pages: z
    .boolean()
    .default(false)
    .describe(
      'With `type: json-ld`: pages of the list without a posting are normal, and complete. Without it, such a page makes the feed incomplete. For pages that are details, see `details`.',
    ),
  empty_sources: z
    .boolean()
    .default(false)
    .describe(
      'For several sources or files: that some which had 3 postings or more have none now is normal. Without it, deletes are then held until they have postings again or a person approves them.',
    ),
});

const differenceSchema = z.enum(['review', 'set_again']);

const verifySchema = z
  .strictObject({
    schedule: scheduleSchema.describe('A cron expression, in the time zone of the feed.'),
    sample: positiveSchema.optional().describe('Ask only for so many jobs, at random.'),
    each: z.boolean().default(false).describe('Ask for each job instead of reading the list of the site.'),
    changed: differenceSchema
      .default('review')
      .describe(
        'A job shows other values than the site accepted: `review` reports it, `set_again` has the next pull set the values again.',
      ),
    gone: differenceSchema
      .default('review')
      .describe('A job does not exist any more: the same; set again means created again, unless `on_missing: leave`.'),
    fields: z
      .record(fieldNameSchema, differenceSchema)
      .default({})
      .describe('Field: the same for this field. To leave a field to the site, use `create_only_fields`.'),
  })
  .refine(({ each, sample }) => !each || sample === undefined, {
    error: 'cannot be combined with sample',
    path: ['each'],
    when: ({ value }) => typeof value === 'object' && value !== null,
  });

export const feedSchema = z
  .strictObject({
    source: sourceSchema
      .optional()
      .describe(
        `An http(s), ${SCHEMES.join(' or ')} address, the path of a file (relative to this file), \`-\` for standard input, or \`upload://\` for the file that was uploaded last on the feed's page, by the API or with \`feeds upload\`. With \`files\`: a folder, or a pattern.`,
      ),
    sources: z
      .array(sourceSchema)
      .min(1)
      .optional()
      .describe('Instead of `source`: several of them as one feed, which is complete only if each of them is.'),
    files: z
      .enum(['newest', 'all'])
      .optional()
      .describe('For a folder or a pattern such as `feeds/*.xml`: read the `newest` file, or `all` files as one feed.'),
    format: z
      .union([nameSchema, formatSchema])
      .describe(
        'The name of a preset, or the format itself. [formats.md](formats.md) lists the presets; your own are files `NAME.yaml` in the folder `presets` beside this file.',
      ),
    site: nameSchema.describe('The site that the feed is mirrored to.'),
    schedule: scheduleSchema
      .optional()
      .describe(
        'When `start` pulls the feed: a cron expression of 5 fields, or 6 with seconds first. Without it, only `sync` pulls the feed.',
      ),
    time_zone: timeZoneSchema
      .optional()
      .describe(
        'The time zone of the schedule (by default UTC), and of days, and times without a zone, in [conditions on dates](mapping.md#conditions-on-dates).',
      ),
    verify: z
      .union([scheduleSchema, verifySchema])
      .optional()
      .describe(
        'When `start` compares the jobs of the feed with what the site shows, as `jobmirror verify` does: a cron expression, in the time zone of the feed, or an object. `status` shows what the last run found. [feeds.md](feeds.md#jobs-that-were-changed-on-the-site) says more.',
      ),
    stale_after_minutes: positiveSchema
      .optional()
      .describe(
        'After this time without a complete pull, `status` and `/healthz` report the feed as failing. By default three runs of its schedule; without a schedule, never.',
      ),
    key: keySchema.optional(),
    key_as: keyAsSchema.optional(),
    skip: conditionsSchema
      .optional()
      .describe(
        "Records that are not postings, such as drafts: those of which these conditions hold, or the format's `skip`. They are written like those of `when`, but a condition on a path without a text does not hold, except `exists: false`.",
      ),
    places: placesSchema
      .nullable()
      .optional()
      .describe(
        'For postings in several places: the fields are read as if the record had only one of its places. Without it, a path reads the first of several texts. Overrides `places` of the format; `null` removes them.',
      ),
    unordered: pathsSchema
      .optional()
      .describe(
        'Paths of lists that the source sends in changing order, such as `locations`: fields and `places` read them sorted, so that no job changes for their order.',
      ),
    fields: feedFieldsSchema
      .default({})
      .describe(
        "Site field: where its value comes from. Adds to or overrides the format's fields; `null` removes one.",
      ),
    headers: headersSchema
      .default({})
      .describe(
        `Request headers for the source. Secret values must come from the environment: \`Authorization: "Bearer \${NAME}"\`.`,
      ),
    credentials: credentialsSchema
      .optional()
      .describe('Credentials for the source, which are sent to the origin (scheme, host, port) of its address only.'),
    proxy: outgoingProxySchema
      .optional()
      .describe('The proxy to the source, over http, https or s3, instead of that at the top of the file.'),
    pages: pagesSchema
      .nullable()
      .optional()
      .describe(
        'How the source sends its postings in pages, if it does. Overrides `pages` of the format; `null` removes them.',
      ),
    total: z
      .null()
      .optional()
      .describe('`null` removes `total` of the format, for a source whose stated number is not that of its postings.'),
    details: detailsSchema
      .nullable()
      .optional()
      .describe(
        'How the detail of a posting is requested, if the list lacks a part of it. Overrides `details` of the format; `null` removes them.',
      ),
    encoding: encodingSchema.optional(),
    lenient: z
      .boolean()
      .default(false)
      .describe(
        'Repair the common faults of records that are not well-formed. XML: a bare `&`, a `<` that begins no tag, unknown entities, `<br>` and similar elements without an end tag. JSON, also in pages: line breaks and other control characters in strings, and a comma before a closing bracket. Tables: quotes inside quotes that are not doubled. `sync` reports the repairs. Other records that cannot be parsed stay unreadable.',
      ),
    allow_private_redirects: z.boolean().default(false).describe('Follow redirects to private and loopback addresses.'),
    limits: feedLimitsSchema.prefault({}).describe('Limits on size and time.'),
    policy: z
      .enum(['mirror', 'upsert_only', 'create_only'])
      .default('mirror')
      .describe(
        'What the feed may do to jobs that exist. `mirror`: update them, and delete those whose posting is gone. `upsert_only`: update them, but delete none. `create_only`: neither. [feeds.md](feeds.md#feeds-that-do-not-delete-or-update) says what a change of the policy does.',
      ),
    expire_after_days: z
      .int()
      .min(1)
      .max(3_650)
      .optional()
      .describe(
        'Delete the job of a posting that has been on the site for this many days, although the feed still has it. Needs `policy: mirror`. [feeds.md](feeds.md#jobs-that-end-after-a-number-of-days) says when the days begin, and how a posting comes back.',
      ),
    constants: constantsSchema.describe('The same as `constants` of the site, for this feed; they count before those.'),
    create_only_fields: z
      .array(fieldNameSchema)
      .default([])
      .describe(
        'Fields that are sent when a job is created, and left to the site afterwards: a change of them in the feed makes no update, updates do not set them, and `verify` does not compare them. [feeds.md](feeds.md#fields-that-are-left-to-the-site) has the details.',
      ),
    delete_guard: guardSchema
      .prefault({})
      .describe(
        'Deletes that exceed both limits within 24 hours wait for approval; those of a feed that arrived empty always do.',
      ),
    rekey_guard: rekeyGuardSchema
      .prefault({})
      .describe(
        'If more new postings than both limits have the content of postings that are gone, their keys seem to have changed: nothing is created or deleted until `jobmirror feeds rekey` keeps their jobs, or says that they are other postings. The same if all jobs of a feed, at least two, are replaced so.',
      ),
    expect: expectSchema.prefault({}).describe('What a complete feed must have.'),
  })
  .refine((feed) => feed.source !== '-' || feed.schedule === undefined, {
    error: 'does not work for a feed on standard input; run jobmirror sync when the feed is there',
    path: ['schedule'],
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .refine((feed) => feed.source !== undefined || feed.sources !== undefined, {
    error: 'is missing; it must be text, or use sources, a list',
    path: ['source'],
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .refine((feed) => feed.source === undefined || feed.sources === undefined, {
    error: 'cannot be combined with source; add it to the list',
    path: ['sources'],
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .refine((feed) => feed.expire_after_days === undefined || feed.policy === 'mirror', {
    error: 'deletes jobs, which a policy other than mirror forbids; remove one of the two',
    path: ['expire_after_days'],
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .superRefine(checkSources);

export type WrittenFeed = z.output<typeof feedSchema>;

/** The sources of a feed, as they are written. */
export const writtenSources = ({ source, sources }: Pick<WrittenFeed, 'source' | 'sources'>): readonly string[] =>
  sources ?? (source === undefined ? [] : [source]);
