// What was done on the sites: each job that was created, updated or deleted, when and why.
import { z } from 'zod';
import { excerpt } from '../posting/markup.ts';
import { csvLine } from '../review/csv.ts';
import { CHANGE_OPERATIONS, type SiteChange, siteChanges } from '../store/status/site-changes.ts';
import { namedFeed, type OperationContext, OperationRefused, pageOperation } from './operation.ts';
import {
  answerOf,
  count,
  feedNameOutput,
  feedNameText,
  idNumber,
  keyOutput,
  momentOf,
  momentText,
  TIME_ZONE_RULE,
  time,
} from './scalars.ts';

const CAUSES = ['pull', 'expired', 'undo', 'person', 'surplus', 'unknown'] as const;

export const changeOutput = z
  .strictObject({
    change: count.describe('Its number: a later one is larger.'),
    at: time,
    feed: feedNameOutput,
    key: keyOutput,
    title: z.string().nullable().describe('The title that the job has, or had when it was deleted; `null`: not kept.'),
    operation: z.enum(CHANGE_OPERATIONS),
    why: z.string().describe('Such as `gone from pull 12, approved by ana`.'),
    cause: z
      .enum(CAUSES)
      .describe(
        '`pull`: the feed had changed. `expired`: its days on the site were over. `undo`: of a pull. `person`: without a pull. `surplus`: no posting had the job.',
      ),
    pull: count.nullable().describe('The pull that planned it; `null`: none did.'),
    undoes: count.nullable().describe('The pull that was undone.'),
    actor: z.string().nullable().describe('The person who decided about it; `null`: nobody had to.'),
    fields: z.array(z.string()).describe('The fields that an update has set.'),
    site_job_id: z.string().nullable(),
    site_job_url: z.string().nullable().describe('`null`: the posting does not have the job any more.'),
  })
  .meta({ title: 'Change' });

export type ListedChange = z.output<typeof changeOutput>;

const asked = z.strictObject({
  since: momentText
    .optional()
    .describe(
      `Only from then on: today, yesterday, a date, a time, or how long ago, such as 12h or 3d. ${TIME_ZONE_RULE}`,
    ),
  until: momentText.optional().describe('Only before that; a day is its first moment.'),
  operation: z.enum(CHANGE_OPERATIONS).optional().describe('Only these.'),
  feed: feedNameText.optional().describe('Only of this feed.'),
});

type ChangesAsked = z.output<typeof asked>;

interface Place {
  readonly before: number;
}

/** Newest first. @throws {OperationRefused} */
async function readChanges(
  { since: from, until: to, operation, feed: name }: ChangesAsked,
  { limit, after }: { readonly limit: number; readonly after: Place | undefined },
  { app }: OperationContext,
): Promise<{ readonly items: ListedChange[]; readonly next: Place | undefined }> {
  const now = new Date();
  const [since, until] = [from, to].map((each) => (each === undefined ? undefined : momentOf(each, now)));
  if (since !== undefined && until !== undefined && since >= until)
    throw new OperationRefused('invalid', 'since must be before until, which is not a part of what is listed');
  const feed = name === undefined ? undefined : await namedFeed(app, name);
  const read = await siteChanges(app.db, { feed, operation, since, until }, limit + 1, after?.before);
  const items = read.slice(0, limit).map(changeOf);
  const last = items.at(-1);
  return { items, next: read.length > limit && last !== undefined ? { before: last.change } : undefined };
}

export const listChanges = pageOperation({
  id: 'listChanges',
  path: '/changes',
  summary: 'What was created, updated and deleted on the sites, when and why: the newest first',
  scope: 'read',
  input: asked,
  output: z.strictObject({
    kept_since: time.describe('What was done before is not kept any more: see `retention: requests_days`.'),
    items: z.array(changeOutput),
  }),
  place: z.strictObject({ before: idNumber }),
  async run(input, page, context) {
    const { items, next } = await readChanges(input, page, context);
    return { shown: { kept_since: changesKeptSince(context), items }, next };
  },
  csv: (input, context) => changesAsCsv(input, context),
});

export const changesKeptSince = ({ app: { config } }: Pick<OperationContext, 'app'>): Date =>
  new Date(Date.now() - config.retentionDays.requests * DAY_MS);

const DAY_MS = 86_400_000;

function changeOf(change: SiteChange): ListedChange {
  const { id, title, operation, url, fields, undoneBy, act } = change;
  return answerOf(changeOutput, change, {
    change: id,
    title: title === null ? null : excerpt(title),
    why: whyChanged(change),
    cause: causeOf(change),
    actor: undoneBy ?? act?.actor ?? null,
    fields: operation === 'update' ? [...fields] : [],
    site_job_url: url,
  });
}

function causeOf({ cause, undoes, pull, act }: SiteChange): ListedChange['cause'] {
  if (cause !== null) return cause;
  if (undoes !== null) return 'undo';
  if (pull !== null) return 'pull';
  return act === null ? 'unknown' : 'person';
}

function whyChanged(change: SiteChange): string {
  const { operation, outcome, act } = change;
  const decided = act === null ? [] : [`${DECIDED[act.action] ?? act.action} by ${decider(act)}`];
  const already = operation === 'delete' && outcome === 'gone' ? ['the site no longer had it'] : [];
  const [first = '', ...rest] = [...reasonOf(change), ...decided, ...already];
  return [first === '' ? 'the reason is not recorded' : first, ...rest].join(', ');
}

const decider = ({ actor, rule }: NonNullable<SiteChange['act']>): string =>
  rule === null ? actor : `rule ${rule} of ${actor}`;

function reasonOf({ operation, cause, pull, undoes, undoneBy, former }: SiteChange): string[] {
  if (cause === 'surplus') return ['no posting had the job'];
  if (cause === 'expired') return [`expired${pull === null ? '' : ` in pull ${pull}`}`];
  if (undoes !== null) return [`undo of pull ${undoes}${undoneBy === null ? '' : ` by ${undoneBy}`}`];
  if (pull === null) return [];
  if (operation === 'delete') return [`gone from pull ${pull}`];
  if (operation === 'update') return [`changed in pull ${pull}`];
  return [former === 'create' || former === 'update' ? `its job was gone, pull ${pull}` : `new in pull ${pull}`];
}

const DECIDED: Readonly<Record<string, string>> = {
  edit: 'edited',
  'undo edit': 'edit undone',
  approve: 'approved',
  retry: 'retried',
  reopen: 'reopened',
  settle: 'settled',
  'replace job': 'job replaced',
  renew: 'renewed',
  'set again what differs on the site': 'set again, as it differed on the site,',
};

const COLUMNS = [
  ...['at', 'feed', 'key', 'title', 'operation', 'why', 'cause', 'pull', 'actor', 'fields', 'site_job_id'],
  'site_job_url',
] as const;

const READ_AT_ONCE = 2_000;

/** All of them, a page at a time, from the newest on. @throws {OperationRefused} */
export async function* allChanges(
  input: ChangesAsked,
  context: OperationContext,
  { limit = Number.POSITIVE_INFINITY, before }: { readonly limit?: number; readonly before?: number | undefined } = {},
): AsyncGenerator<readonly ListedChange[]> {
  let after: Place | undefined = before === undefined ? undefined : { before };
  for (let left = limit; left > 0; left -= READ_AT_ONCE) {
    const { items, next } = await readChanges(input, { limit: Math.min(left, READ_AT_ONCE), after }, context);
    yield items;
    if (next === undefined) return;
    after = next;
  }
}

/** The same as the lines of a CSV file, several at a time, each with its end. */
export async function* changesAsCsv(...of: Parameters<typeof allChanges>): AsyncGenerator<string> {
  yield `${csvLine(COLUMNS)}\n`;
  for await (const items of allChanges(...of)) {
    if (items.length === 0) return;
    yield items
      .map((item) => {
        const written = { ...item, at: item.at.toISOString(), fields: item.fields.join(' ') };
        return `${csvLine(COLUMNS.map((column) => String(written[column] ?? '').replace(/\s+/g, ' ')))}\n`;
      })
      .join('');
  }
}
