// Postings: what is known about one, what a person has set in it, and bringing it up to date.
import { z } from 'zod';
import type { ConfiguredHere } from '../plan/allowed.ts';
import {
  acceptedByUpdate,
  type CreateOnlyFields,
  createOnlyOf,
  messageOfReason,
  type Reason,
} from '../plan/desired-change.ts';
import { type Message, noticeOf, tell, textOf, type WriteAction } from '../plan/message.ts';
import { tellPauses } from '../plan/pause-words.ts';
import { type FeedName, type PostingKey, postingKey } from '../posting/identifiers.ts';
import { excerpt } from '../posting/markup.ts';
import type { Fields } from '../posting/posting.ts';
import { findPosting } from '../review/describe-history.ts';
import { editsVersion, undoEdits } from '../review/edit-posting.ts';
import { actionsOfChange } from '../review/entry-facts.ts';
import { readConfiguredHere } from '../review/health/configured-policy.ts';
import { editableIn } from '../review/plan-edit.ts';
import { tokenOfPosting } from '../review/seen.ts';
import type { App } from '../runtime/app.ts';
import { describePause } from '../runtime/await-quiet.ts';
import { tokenDigests } from '../runtime/open-site-client.ts';
import { addressOf } from '../site/http/job-address.ts';
import { auditAction } from '../store/access/audit.ts';
import { editsOfPosting } from '../store/change/edit.ts';
import { CHANGE_STATES } from '../store/change/life-cycle.ts';
import type { OpenChangeRow } from '../store/change/open-change.ts';
import { readPausesOf } from '../store/locks/pauses.ts';
import { countWorkers } from '../store/locks/processes.ts';
import { postingsLike } from '../store/mapping/find-jobs.ts';
import type { PostingStory } from '../store/review/posting-history.ts';
import { readSiteState, stateAt } from '../store/site/site-state.ts';
import { whyCreateWaits } from '../store/status/feed-overview.ts';
import { type LineState, POSTING_STATES } from '../store/status/report-lines.ts';
import { formatSpan, formatTime } from '../telemetry/times.ts';
import { renewFeed } from './feeds.ts';
import { namedFeed, type OperationContext, OperationRefused, operation } from './operation.ts';
import { pullOf, uncountedPullOutput } from './pulls.ts';
import {
  actionOutput,
  answerOf,
  count,
  failureOutput,
  feedNameOutput,
  feedNameText,
  fieldEdits,
  fieldEditsOf,
  fieldName,
  keyOutput,
  keyText,
  listIn,
  noticeOutput,
  problemOutput,
  siteNameOutput,
  text,
  time,
} from './scalars.ts';

const ENCODED_KEY = 'Percent-encoded: `A%2F1` for `A/1`.';
const ofPosting = { feed: feedNameText, key: keyText.describe(ENCODED_KEY) };

const fieldsOutput = z.record(z.string(), z.string());

const differenceOutput = z.strictObject({
  field: z.string(),
  desired: z.string().nullable().describe('`null`: the posting has no such field.'),
  site: z.string().nullable().describe('What the site last accepted.'),
  differs: z.boolean(),
});

const liveJobOutput = z.strictObject({
  site: siteNameOutput,
  site_job_id: z.string(),
  site_job_url: z.string().nullable(),
  mapped_at: time,
  missing_pulls: count,
  fields: fieldsOutput.nullable(),
});

const openChangeOutput = z.strictObject({
  id: count,
  state: z.enum(CHANGE_STATES),
  operation: z.enum(['create', 'update', 'delete']),
  desired_fields: fieldsOutput.nullable(),
  since: time,
  attempts: count,
  reason: noticeOutput.nullable(),
  problems: z.array(problemOutput),
  note: z.string().nullable(),
  actions: z.array(actionOutput),
});

const requestOutput = z.strictObject({
  at: time,
  operation: z.string(),
  site_job_id: z.string().nullable(),
  status: count.nullable(),
  outcome: z.string(),
});

export const postingOutput = z
  .strictObject({
    feed: feedNameOutput.describe('Name of the feed.'),
    key: keyOutput.describe('Key of the posting.'),
    state: z
      .enum(POSTING_STATES)
      .nullable()
      .describe('What became of it; `null`: only its records are known, and they can not be used, or nothing is.'),
    site_job_id: z.string().nullable().describe('Its job on the site.'),
    site_job_url: z.string().nullable().describe('The address of the job.'),
    reasons: z.array(z.string()).describe('Why it is not on the site as the feed has it.'),
    seen: z.string().nullable().describe('Of what is recorded: send it along with an edit.'),
    version: z.string().nullable().describe('The same as `seen`.'),
    not_editable: z.string().nullable().describe('Why its fields cannot be edited; `null`: they can.'),
    site_job: liveJobOutput
      .nullable()
      .describe('Its job: `{"site","site_job_id","site_job_url","mapped_at","missing_pulls","fields"}`.'),
    change: openChangeOutput
      .nullable()
      .describe('What waits to be sent or for a person, with `state`, `reason`, `problems` and `actions`.'),
    waits_for: noticeOutput.nullable().describe('Why what waits to be sent is not sent now; `null`: nothing is known.'),
    expired_at: time.nullable().describe('When its job ended because of `expire_after_days`.'),
    renewed_at: time.nullable().describe('When its days began anew.'),
    skipped_by_date: z
      .strictObject({ since: time.nullable(), until: time.nullable() })
      .nullable()
      .describe('Since and until when a date skips its record.'),
    edits: fieldEdits.describe('Edits by reviewers: `[{"field","source_value","value"}]`.'),
    edits_version: z.string().describe('Of these edits.'),
    differences: z.array(differenceOutput).describe('The fields in which the wanted and the accepted content differ.'),
    notes: z.array(problemOutput).describe('What was altered in its fields while they were read.'),
    record: z
      .string()
      .nullable()
      .describe(
        'The beginning of the record, as the feed has it, that the open change was read from; `null`: not kept.',
      ),
    detail: z
      .strictObject({ requested_at: time, excerpt: z.string() })
      .nullable()
      .describe('The detail that was requested for it: `{"requested_at","excerpt"}`.'),
    requests: z.array(requestOutput).describe('Requests about it, in brief.'),
    failures: listIn(failureOutput).describe('Failed attempts with request and response.'),
    duplicates: z.array(count).describe('Numbers of the entries of repeated keys.'),
    unreadable: z
      .array(z.strictObject({ id: count, since: time, discarded: z.boolean(), reason: z.string() }))
      .describe('Unreadable records with its key.'),
    acts: z
      .array(z.strictObject({ at: time, actor: z.string(), action: z.string(), reason: z.string().optional() }))
      .describe('What people did.'),
    last_pull: uncountedPullOutput
      .nullable()
      .describe(
        'The last pull of its feed, as `pulls` prints it, without `created`, `updated`, `deleted` and `requests`.',
      ),
  })
  .meta({ title: 'Posting' });

type ShownPosting = z.output<typeof postingOutput>;

export const showPosting = operation({
  id: 'showPosting',
  path: '/feeds/{feed}/postings/{key}',
  summary: 'Everything about one posting: its state, its job on the site, and why',
  scope: 'read',
  input: z.strictObject({
    ...ofPosting,
    like: z
      .boolean()
      .optional()
      .describe(
        'The key may also be a part of the key or of the title, if exactly one posting of the feed has it; if several have, the problem has these `postings`.',
      ),
  }),
  output: postingOutput,
  async run({ feed: name, key: written, like = false }, { app }) {
    const feed = await namedFeed(app, name);
    const key = postingKey(written.trim());
    const found = (await findPosting(app.db, feed, key)) ?? (like ? await findAlike(app, feed, key) : undefined);
    if (found === undefined) throw unknownPosting(feed, key);
    return postingOf(found, app, await readConfiguredHere(app.db, app.config), await whyNotSent(app, found.story));
  },
});

/** @throws {OperationRefused} if several postings have this as a part of their key or title */
async function findAlike({ db }: OperationContext['app'], feed: FeedName, written: string) {
  const [only, ...others] = written === '' ? [] : await postingsLike(db, written, feed, MOST_SIMILAR_POSTINGS + 1);
  if (only === undefined) return undefined;
  if (others.length === 0) return findPosting(db, feed, only.key);
  const postings = [only, ...others].slice(0, MOST_SIMILAR_POSTINGS).map(({ key, title }) => ({ key, title }));
  const which = `several postings of feed ${feed} have ${excerpt(written, 60)} as a part of their key or title`;
  throw new OperationRefused('conflict', `${which}: name one of them by its key`, { postings });
}

export const MOST_SIMILAR_POSTINGS = 20;

export const unknownPosting = (feed: FeedName, key: PostingKey): OperationRefused =>
  new OperationRefused('unknown', `no posting ${key} is recorded for feed ${feed}; keys must match exactly`);

/** Why the change of a posting that may be sent is not sent now, besides what its last attempt met. */
export async function whyNotSent(
  { db, config }: Pick<App, 'db' | 'config'>,
  { change }: PostingStory,
): Promise<readonly Message[]> {
  const site = change && config.sites.get(change.site);
  if (site === undefined || change?.state !== 'ready' || change.missing) return [];
  const token = (await tokenDigests(db, config)).get(site.name);
  const [pauses, read, ofCreate, workers] = await Promise.all([
    readPausesOf(db, { site: site.name, feed: change.feed }),
    readSiteState(db, site.name, token),
    whyCreateWaits(db, change.id),
    countWorkers(db),
  ]);
  const state = stateAt(addressOf(site.options), read);
  const { lastMessage } = state;
  const said = lastMessage === undefined ? '' : `: ${textOf(lastMessage)}`;
  return [
    ...(pauses.length === 0 ? [] : [tellPauses(pauses, formatTime)]),
    ...(state.pausedSince === undefined ? [] : [describePause(site.name, state)]),
    ...(state.waitsMs > 0 ? [`site ${site.name} is asked nothing for ${formatSpan(state.waitsMs)}${said}`] : []),
    ...(ofCreate === undefined ? [] : [ofCreate]),
    ...(workers === 0 ? ['no process is sending at the moment; the next sync sends it, or a running start'] : []),
  ];
}

/** @param found also of a posting of which nothing is known */
export function postingOf(
  { story, state }: { readonly story: PostingStory; readonly state: LineState | null },
  { config, writeAction: write }: Pick<OperationContext['app'], 'config' | 'writeAction'>,
  here: ConfiguredHere,
  waitsFor: readonly Message[],
): ShownPosting {
  const { live, change, lastPull, expiry, skipped, detail } = story;
  const editable = editableIn(config, story);
  const createOnly = createOnlyOf(config.feeds.get(story.feed)?.mapping ?? {});
  const seen = tokenOfPosting(story) ?? null;
  const row = { ...story, expiredAt: expiry?.expiredAt, renewedAt: expiry?.renewedAt };
  return answerOf(postingOutput, row, {
    // The states of postings only, as it is found by its key.
    state: state as ShownPosting['state'],
    site_job_id: live?.siteJobId ?? null,
    site_job_url: live?.url ?? null,
    reasons: reasonsOf(story, (reason) => tell(messageOfReason(reason), write)),
    seen,
    version: seen,
    not_editable: editable.kind === 'editable' ? null : tell(editable.message, write),
    site_job:
      live === undefined
        ? null
        : answerOf(liveJobOutput, live, { site_job_url: live.url ?? null, mapped_at: live.since }),
    change: change === undefined ? null : changeOf(change, write, here),
    waits_for: waitsFor.length === 0 ? null : noticeOf(write, ...waitsFor),
    skipped_by_date: skipped === undefined ? null : { since: skipped.since ?? null, until: skipped.until ?? null },
    edits: fieldEditsOf(story.edits),
    edits_version: editsVersion(story.edits),
    differences: fieldDifferences(change?.fields, live?.fields, createOnly).filter(({ differs }) => differs),
    detail:
      detail === undefined
        ? null
        : { requested_at: detail.requestedAt, excerpt: detail.document.toString('utf8', 0, SHOWN_BYTES) },
    requests: story.requests.map((request) => answerOf(requestOutput, request, {})),
    duplicates: story.duplicates.map(({ id }) => id),
    last_pull: lastPull === undefined ? null : pullOf(lastPull, write),
  });
}

const SHOWN_BYTES = 2_048;

const changeOf = (change: OpenChangeRow, write: WriteAction, here: ConfiguredHere): ShownPosting['change'] =>
  answerOf(openChangeOutput, change, {
    desired_fields: change.fields ?? null,
    reason: change.reason === undefined ? null : noticeOf(write, messageOfReason(change.reason)),
    problems: [...(change.reason?.problems ?? [])],
    note: change.reason?.note ?? null,
    actions: actionsOfChange(change, here),
  });

function reasonsOf({ change, unreadable }: PostingStory, said: (reason: Reason) => string): string[] {
  const reason = change?.reason;
  const problems = (reason?.problems ?? []).map(({ field, message }) =>
    field === undefined ? message : `${field}: ${message}`,
  );
  const why = problems.length > 0 || reason === undefined ? problems : [said(reason)];
  return [...why, ...unreadable.map((record) => record.reason)];
}

export type FieldDifference = z.output<typeof differenceOutput>;

/**
 * What a posting should have on the site and what it has there, field by field.
 * @param site `undefined`: not known, or there is no job. @param createOnly fields that are left to the site once there is a job
 */
export function fieldDifferences(
  posting: Fields | undefined,
  site: Fields | undefined,
  createOnly: CreateOnlyFields,
): FieldDifference[] {
  const desired = posting === undefined || site === undefined ? posting : acceptedByUpdate(posting, site, createOnly);
  const shown = desired ?? site ?? {};
  const names = [...new Set([...Object.keys(shown), ...Object.keys(site ?? {})])];
  return names.map((field) => {
    const to = textIn(shown, field);
    const from = textIn(site ?? {}, field);
    return { field, desired: to, site: from, differs: desired !== undefined && site !== undefined && to !== from };
  });
}

const textIn = (fields: Fields, name: string): string | null =>
  Object.hasOwn(fields, name) ? (fields[name] ?? null) : null;

export const undoEdit = operation({
  id: 'undoEdit',
  path: '/feeds/{feed}/postings/{key}/undo-edit',
  summary: 'Undo what a person has set in a posting: the next pull brings back what the source has',
  scope: 'review',
  input: z.strictObject({
    ...ofPosting,
    fields: z.array(fieldName).min(1).max(1_000).optional().describe('Only these; all that were edited by default.'),
    version: text(100).optional().describe('The `edits_version` of the posting that was seen.'),
  }),
  output: z
    .strictObject({
      feed: z.string(),
      key: z.string(),
      undone: z.array(z.string()).describe('The fields.'),
      message: z.string().describe('What follows.'),
    })
    .meta({ title: 'UndoneEdit' }),
  async run({ feed: name, key: written, fields, version }, { app: { db, config }, actor }) {
    const feed = await namedFeed({ db, config }, name);
    const key = postingKey(written.trim());
    // An edit outlives its posting, and applies again when that comes back.
    if ((await findPosting(db, feed, key)) === undefined) throw unknownPosting(feed, key);
    const { mapping = {}, policy } = config.feeds.get(feed) ?? {};
    const report = await undoEdits(db, feed, key, {
      actor,
      fields,
      version,
      createOnly: createOnlyOf(mapping),
      policy,
    });
    if (report.kind === 'undone') return { feed, key, undone: [...report.fields], message: report.message };
    const edits = await editsOfPosting(db, feed, key);
    const now = report.stale === true ? { yours: { fields, version }, edits, edits_version: editsVersion(edits) } : {};
    throw new OperationRefused('conflict', report.message, now, { subject: `posting ${key}` });
  },
});

export const renewPosting = operation({
  id: 'renewPosting',
  path: '/feeds/{feed}/postings/{key}/renew',
  summary:
    'Start the days of a posting on the site anew (expire_after_days); if it has expired, the next pull creates its job again',
  scope: 'review',
  input: z.strictObject(ofPosting),
  output: z.strictObject({ feed: z.string(), key: z.string(), message: z.string() }).meta({ title: 'Renewed' }),
  async run({ feed: name, key: written }, context) {
    const { feed } = await renewFeed.run({ feed: name, keys: [written] }, context);
    const key = postingKey(written.trim());
    return { feed, key, message: `the days of posting ${key} begin anew` };
  },
});

export const syncPosting = operation({
  id: 'syncPosting',
  path: '/feeds/{feed}/postings/{key}/sync',
  summary: 'Bring one posting up to date: pulls its feed, which is read as a whole, and sends what differs',
  scope: 'pull',
  input: z.strictObject({
    feed: feedNameText,
    key: keyText.describe('Percent-encoded; also one that is new.'),
  }),
  output: z
    .strictObject({
      feed: feedNameOutput,
      key: keyOutput,
      pull: count.nullable().describe('`null`: another pull runs, and one more follows it.'),
    })
    .meta({ title: 'Synced' }),
  locationOf: ({ feed, key }) => `/feeds/${feed}/postings/${encodeURIComponent(key)}`,
  async run({ feed: name, key: written }, { app, actor, control }) {
    const feed = await namedFeed(app, name);
    const key = postingKey(written.trim());
    const start = await control.pullSoon(feed);
    if (start.kind === 'unusable') throw new OperationRefused('conflict', start.message);
    const pull = start.kind === 'started' ? start.pull : null;
    await auditAction(app.db, { actor, action: 'sync', feed, key, detail: { pull } });
    return { feed, key, pull };
  },
});
