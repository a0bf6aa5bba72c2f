// The report on a feed, for whoever produces it: counts, trend, missing fields and reasons, then one line per posting and per entry of
// records, streamed by the store, as there may be a million. Its readers can't act on the mirror, so messages come without advice.
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import { textOf } from '../plan/message.ts';
import type { FeedName, PostingKey, SiteName } from '../posting/identifiers.ts';
import { countOpen, type OpenCounts } from '../store/backlog/open-counts.ts';
import { readFeedState } from '../store/feed/feed-state.ts';
import { postingsTitled } from '../store/mapping/find-jobs.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { type CountedPull, countedPulls, findPull, type PullRow } from '../store/pull/pull-history.ts';
import { type PullSummary, summariseWithin } from '../store/status/pull-summary.ts';
import {
  commonReasons,
  countFields,
  countLines,
  LINE_STATES,
  type LineCounts,
  POSTING_STATES,
  postingPage,
  type ReasonCount,
  type ReportLine,
} from '../store/status/report-lines.ts';
import { listOperation, namedFeed } from './operation.ts';
import { PULL_STATUSES, pullCounts } from './pulls.ts';
import {
  answerOf,
  count,
  feedNameOutput,
  feedNameText,
  keyOutput,
  keyText,
  problemOutput,
  siteNameOutput,
  text,
  time,
} from './scalars.ts';

const counted = count.nullable();

const trendOutput = z.strictObject({
  pull: count,
  started_at: time,
  status: z.enum(PULL_STATUSES),
  complete: z.boolean(),
  seen: counted,
  unchanged: counted,
  created: counted,
  updated: counted,
  rejected: counted,
  in_doubt: counted,
  pending: counted,
  failed: counted,
  duplicates: counted,
  unreadable: counted,
  skipped: counted,
  gone: counted,
  deleted: counted,
  held: counted,
  message: z.string().nullable(),
});

const reasonOutput = z.strictObject({
  state: z.enum(LINE_STATES),
  field: z.string().nullable(),
  message: z.string(),
  count,
  example: keyOutput.nullable(),
});

/** In how many postings a field has no value. `required`: the site refuses postings without it. */
const fieldOutput = z.strictObject({ field: z.string(), required: z.boolean(), filled: count, missing: count });

export const reportOutput = z
  .strictObject({
    kind: z.literal('report'),
    feed: feedNameOutput.describe('Name of the feed.'),
    site: siteNameOutput.nullable().describe('Name of its site.'),
    reported_at: time.describe('When the database was read.'),
    last_pull: z
      .strictObject({
        feed: feedNameOutput,
        pull: count,
        ...pullCounts,
        started_at: time,
        status: z.enum(PULL_STATUSES),
        shortfalls: z.array(z.string()),
      })
      .nullable()
      .describe('The last pull, with the members that `sync` prints; `null`: there is none.'),
    on_site: count.describe('How many jobs of the feed the site has.'),
    postings: z
      .strictObject({ total: count, ...Object.fromEntries(POSTING_STATES.map((state) => [state, count])) })
      .describe('How many postings are in each state, and `total`.'),
    records: z
      .strictObject({ unreadable: count, duplicate: count, skipped: count })
      .describe('How many records are unreadable, repeated or skipped.'),
    fields: z
      .array(fieldOutput)
      .describe('How many postings have each field: `[{"field","required","filled","missing"}]`.'),
    postings_with_fields: count.describe('Of how many postings the fields are known.'),
    reasons: z
      .array(reasonOutput)
      .describe('The most frequent reasons: `[{"state","field","message","count","example"}]`.'),
    trend: z
      .array(trendOutput)
      .describe('The recent pulls with their counts, which are `null` for a pull of which nothing was committed.'),
  })
  .describe('One object with all counts:');

export const reportLineOutput = z
  .strictObject({
    kind: z.enum(['posting', 'record']),
    state: z
      .enum(LINE_STATES)
      .describe(
        'Of a posting in the feed `live`, `pending`, `rejected`, `failed`, `in_doubt`, `discarded` or `expired`; of one that is missing `grace`, `held`, `kept`, `pending_delete` or `failed_delete`; of a record `unreadable` or `duplicate`.',
      ),
    key: keyOutput.nullable().describe('Key of the posting.'),
    site_job_id: z.string().nullable().describe('Its job on the site.'),
    site_job_url: z.string().nullable().describe('Address of the job.'),
    since: time.describe('Since when it is in this state.'),
    reason: z.string().nullable().describe("Why, in the site's words where the site decided."),
    problems: z.array(problemOutput).describe('Every problem of the posting.'),
    record_number: count.nullable().optional().describe('Of a record: its number in the feed, from 1.'),
    records: count.optional().describe('Of a record: how many there are like it.'),
    discarded: z.boolean().optional().describe('Of a record: a person has discarded it.'),
    excerpt: z.string().optional().describe('Of a record: its beginning.'),
  })
  .describe('Then one per posting and per entry of records:');

/** A line of a posting. */
const listedPostingOutput = reportLineOutput
  .omit({ record_number: true, records: true, discarded: true, excerpt: true })
  .extend({ kind: z.literal('posting'), state: z.enum(POSTING_STATES), key: keyOutput })
  .meta({ title: 'ListedPosting' });

/** A pull with what it left open: as of the next committed pull, or as of now if there is none. */
export interface TrendPull extends CountedPull {
  /** `undefined`: nothing of it was committed, so it has no counts. */
  readonly open: OpenCounts | undefined;
}

/** The last committed pull, whose counts add up (law 2). */
interface LastPull {
  readonly row: PullRow;
  readonly summary: PullSummary;
}

export interface PostingReport {
  readonly feed: FeedName;
  /** `undefined`: nothing was pulled yet, and the configuration does not say. */
  readonly site: SiteName | undefined;
  readonly at: Date;
  /** `undefined`: no pull was committed. */
  readonly last: LastPull | undefined;
  /** Newest first, including failed ones. */
  readonly trend: readonly TrendPull[];
  readonly counts: LineCounts;
  /** The same for what is listed: with `since`, only what came into its state since then. */
  readonly listed: LineCounts;
  readonly since: Date | undefined;
  /** Every field that the feed is configured to have, or has. */
  readonly fields: readonly z.output<typeof fieldOutput>[];
  /** Postings whose fields are known. */
  readonly postingsWithFields: number;
  readonly reasons: readonly ReasonCount[];
}

interface ReportScope {
  /** Pulls in the trend. */
  readonly pulls: number;
  readonly since: Date | undefined;
}

const MOST_REASONS = 50;

/** @param tx all statements must see the same state of the database. */
export async function readFeedReport(
  tx: Queryable,
  config: Pick<Config, 'feeds'>,
  feed: FeedName,
  { pulls, since }: ReportScope,
): Promise<PostingReport> {
  const state = await readFeedState(tx, feed);
  const current = state?.currentPull;
  const counts = await countLines(tx, feed);
  const configured = config.feeds.get(feed);
  const found = await countFields(tx, feed);
  const { mapping } = configured ?? {};
  const required = mapping === undefined ? [] : [mapping.stateField.name, ...mapping.requiredFields];
  const names = [...Object.keys(mapping?.fields ?? {}), ...required, ...found.fields.map(({ field }) => field)];
  return {
    feed,
    site: state?.site ?? configured?.siteName,
    at: new Date(),
    last: current === undefined ? undefined : await lastOf(tx, current),
    trend: await trendOf(tx, feed, current, pulls),
    counts,
    listed: since === undefined ? counts : await countLines(tx, feed, since),
    since,
    fields: [...new Set(names)].sort().map((field) => {
      const filled = found.fields.find((each) => each.field === field)?.filled ?? 0;
      return { field, required: required.includes(field), filled, missing: found.postings - filled };
    }),
    postingsWithFields: found.postings,
    reasons: await commonReasons(tx, feed, MOST_REASONS),
  };
}

async function lastOf(tx: Queryable, pull: number): Promise<LastPull | undefined> {
  const row = await findPull(tx, pull);
  return row === undefined ? undefined : { row, summary: (await summariseWithin(tx, pull)).summary };
}

async function trendOf(
  tx: Queryable,
  feed: FeedName,
  current: number | undefined,
  limit: number,
): Promise<readonly TrendPull[]> {
  const now = await countOpen(tx, feed);
  const pulls = await countedPulls(tx, feed, limit);
  return pulls.map((pull) => ({ ...pull, open: pull.id === current ? now : pull.takenOver?.leftOpen }));
}

export function reportOf(report: PostingReport): z.output<typeof reportOutput> {
  const { last, trend, reasons } = report;
  const { lines, records, onSite } = report.counts;
  return answerOf(reportOutput, report, {
    kind: 'report',
    reported_at: report.at,
    last_pull:
      last === undefined
        ? null
        : {
            started_at: last.row.startedAt,
            status: last.row.status,
            ...last.summary,
            shortfalls: last.summary.shortfalls.map(textOf),
          },
    on_site: onSite,
    postings: {
      total: POSTING_STATES.reduce((sum, state) => sum + lines[state], 0),
      ...Object.fromEntries(POSTING_STATES.map((state) => [state, lines[state]])),
    } as z.output<typeof reportOutput>['postings'],
    records: { ...records, skipped: last?.summary.skipped ?? 0 },
    reasons: reasons.map((reason) => answerOf(reasonOutput, reason, {})),
    trend: trend.map(trendOfPull),
  });
}

/** Uses the names of `sync --json`. Counts are null for a pull of which nothing was committed. */
function trendOfPull({ open, ...pull }: TrendPull): z.output<typeof trendOutput> {
  const { id, startedAt, status, complete, notes, shortfalls } = pull;
  const counted = open === undefined ? { startedAt, status, complete } : { ...pull, ...open };
  return answerOf(trendOutput, counted, {
    pull: id,
    in_doubt: open?.in_doubt ?? null,
    message: [...notes, ...shortfalls].map(textOf).join('; ') || null,
  });
}

/** Shorter than what is stored: a secret at its end may be cut, so it would not be recognised. */
const EXCERPT_CHARS = 1_500;

export function reportLineOf({ record, ...line }: ReportLine): z.output<typeof reportLineOutput> {
  return answerOf(reportLineOutput, line, {
    kind: record === undefined ? 'posting' : 'record',
    site_job_url: line.url ?? null,
    ...(record === undefined
      ? {}
      : {
          record_number: record.number ?? null,
          records: record.count,
          discarded: record.discarded,
          excerpt: record.excerpt.slice(0, EXCERPT_CHARS),
        }),
  });
}

const MOST_TITLED = 200;

export const listPostings = listOperation({
  id: 'listPostings',
  path: '/feeds/{feed}/postings',
  summary: 'The postings of a feed in the order of their keys, with what became of each',
  scope: 'read',
  input: z.strictObject({
    feed: feedNameText,
    state: z
      .array(z.enum(POSTING_STATES))
      .optional()
      .describe(`One or more of ${POSTING_STATES.join(', ')}.`),
    q: text(500)
      .optional()
      .describe(
        `The posting with this key or whose site job has this ID. If there is none, at most ${MOST_TITLED} whose title has words that begin with these.`,
      ),
  }),
  item: listedPostingOutput,
  place: keyText,
  async readPage({ feed: name, state: states = [...POSTING_STATES], q }, { limit, after }, { app }) {
    const feed = await namedFeed(app, name);
    const keyOrJobId = q || undefined;
    const filter = { states, keyOrJobId, titled: await titledOf(app.db, feed, keyOrJobId) };
    const { postings, next } = await postingPage(app.db, feed, filter, limit, after as PostingKey | undefined);
    // Of postings only, so each has a key and the state of a posting.
    return { items: postings.map(reportLineOf) as z.output<typeof listedPostingOutput>[], next };
  },
});

/** The postings with such a title, unless the text is a key or the ID of a job. */
async function titledOf(db: Database, feed: FeedName, q: string | undefined): Promise<readonly PostingKey[]> {
  if (q === undefined) return [];
  const { postings } = await postingPage(db, feed, { states: POSTING_STATES, keyOrJobId: q }, 1);
  return postings.length > 0 ? [] : (await postingsTitled(db, q, feed, MOST_TITLED)).map(({ key }) => key);
}
