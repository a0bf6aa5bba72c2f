// What is asked before the settings of a feed are saved: whether the key identifies its records, and whether it shall send nothing.
import { settingsOfDraft } from '../config/feed-draft.ts';
import { showFeedFile } from '../config/feed-files.ts';
import { plural } from '../plan/message.ts';
import { feedName } from '../posting/identifiers.ts';
import { isOfKey } from '../posting/posting-key.ts';
import type { StoredVersion } from '../store/feed/feed-file-versions.ts';
import { type PlannedFeed, planText, type TriedFeed, tryText } from './feed-setup.ts';
import { type OperationContext, OperationRefused } from './operation.ts';

/** Why somebody is asked. */
interface Doubt {
  readonly message: string;
  /** For programs. */
  readonly counts: Readonly<Record<string, unknown>>;
}

/** Records that are never sent, of a hundred, from which on the key is taken for a mistake. */
const MOST_UNIDENTIFIED_PERCENT = 1;

/** Why the key does not identify the records of a draft, which loses postings; `undefined`: it does. */
export function keyFault({ key, trial }: Pick<TriedFeed, 'key' | 'trial'>): Doubt | undefined {
  if (trial === null) return undefined;
  const { records, sent, conflicting, unreadable, unreadable_records: kinds } = trial;
  // A record without any part of its key has a problem for each.
  const keyless = Math.min(
    unreadable,
    kinds.filter(isOfKey).reduce((sum, kind) => sum + kind.count, 0),
  );
  const lost = conflicting + keyless;
  if (lost === 0 || lost * 100 < records * MOST_UNIDENTIFIED_PERCENT) return undefined;
  const reasons = [
    ...(conflicting === 0 ? [] : [`${conflicting} with the key of an earlier record and other content`]),
    ...(keyless === 0 ? [] : [`${keyless} without a usable key`]),
  ];
  const what = `${key.map((path) => `"${path}"`).join(' and ')} ${key.length > 1 ? 'do' : 'does'} not identify the records`;
  return {
    message: `${what}: ${lost} of ${records} would never be sent, ${reasons.join(' and ')}`,
    counts: { key, records, sent, conflicting, keyless },
  };
}

/** Why a draft would send nothing, although its source can be read; `undefined`: it would send something. */
export function nothingSent({ trial }: Pick<TriedFeed, 'trial'>): Doubt | undefined {
  if (trial === null || trial.sent > 0) return undefined;
  const { records, rejected, unreadable, skipped, partial, rejections, unreadable_records: kinds } = trial;
  const counts = { records, sent: 0, rejected, unreadable, skipped };
  if (records === 0) {
    return { message: 'it would send nothing: there are no records where it looks for them, at least now', counts };
  }
  const [first] = [...rejections, ...kinds].sort((one, other) => other.count - one.count);
  const parts = [
    ...(rejected === 0 ? [] : [`${rejected} would be rejected`]),
    ...(unreadable === 0 ? [] : [`${unreadable} can't be read`]),
    ...(skipped === 0 ? [] : [`${skipped} are skipped`]),
  ];
  const of = `${partial ? 'the first ' : ''}${plural(records, 'record')}`;
  const mostly =
    first === undefined ? '' : `, most for "${first.field === null ? '' : `${first.field}: `}${first.message}"`;
  return { message: `it would send nothing: of ${of}, ${parts.join(' and ')}${mostly}`, counts };
}

/** What decides which records have which key. */
const IDENTIFYING: readonly string[] = ['source', 'sources', 'format', 'key', 'places'];
/** With these, the same postings are sent whatever they say. */
const ABOUT_OTHERS: readonly string[] = [
  'schedule',
  'policy',
  'delete_guard',
  'rekey_guard',
  'verify',
  'stale_after_minutes',
  'expire_after_days',
  'create_only_fields',
  'expect',
];

interface SavedDraft {
  readonly feed: string;
  readonly text: string;
  /** To be read instead of the source. */
  readonly sample: string | undefined;
  /** The sample becomes what the feed reads. */
  readonly isNewFile: boolean;
  /** The former version that the text is. */
  readonly restored?: StoredVersion;
}

/**
 * Reads the records if the text, or the new file, can make other postings of them than before. A source that can't be read now says
 * nothing about its records: that is no reason to refuse the settings.
 *
 * @returns what deserves attention
 * @throws {OperationRefused} with the question
 */
export async function askBeforeSave(
  { isNewFile, ...draft }: SavedDraft,
  asked: OperationContext,
): Promise<readonly string[]> {
  const shown = await showFeedFile(asked.app, feedName(draft.feed));
  const [before = {}, after = {}] = [shown?.text ?? '', draft.text].map(settingsOfDraft);
  const isNew = shown === undefined || isNewFile;
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  if (!isNew && changed.every((name) => ABOUT_OTHERS.includes(name))) return [];
  const { feed, text, sample, restored } = draft;
  const tried = await tryText({ feed, text, sample, postings: 1 }, asked, restored);
  if (tried.message !== null) {
    if (!isNewFile) return [`what it would send is not known, as it can't be read now: ${tried.message}`];
    const why = `these settings can't read the file: ${tried.message}`;
    throw question({ message: why, counts: {} }, 'correct the settings, choose another file, or save it anyway');
  }
  const wrongKey = isNew || changed.some((name) => IDENTIFYING.includes(name)) ? keyFault(tried) : undefined;
  if (wrongKey !== undefined) {
    const advice = 'choose a key that differs in each record and never changes, or save it anyway';
    throw question(wrongKey, restored === undefined ? advice : ADVICE_OF_RESTORE);
  }
  const nothing = nothingSent(tried);
  if (nothing === undefined) return [];
  const jobs = shown === undefined ? undefined : await whatBecomesOfJobs(draft, asked);
  throw question(
    {
      message: [nothing.message, ...(jobs === undefined ? [] : [jobs.message])].join('. '),
      counts: { ...nothing.counts, ...jobs?.counts },
    },
    restored !== undefined
      ? ADVICE_OF_RESTORE
      : nothing.counts.records === 0
        ? 'correct the settings, or save it anyway if its source is empty only for now'
        : 'correct the settings, or save it anyway',
  );
}

const ADVICE_OF_RESTORE = 'choose another version, or restore it anyway';

const question = ({ message, counts }: Doubt, advice: string): OperationRefused =>
  new OperationRefused('conflict', `nothing was saved: ${message}; ${advice}`, { ...counts, may_insist: true });

/** `undefined`: it has none. */
async function whatBecomesOfJobs(
  { restored, ...draft }: Omit<SavedDraft, 'isNewFile'>,
  asked: OperationContext,
): Promise<Doubt | undefined> {
  const plan = await planText(draft, asked, restored);
  const { planned, message, live, delete: deletes } = plan;
  if (!planned) return { message: `What becomes of its live jobs can't be said now: ${message}`, counts: {} };
  return live === 0 ? undefined : { message: jobsInWords(plan), counts: { live, delete: deletes } };
}

function jobsInWords({ live, delete: deletes, grace, held, shortfalls: [shortfall] }: PlannedFeed): string {
  const its = live === 1 ? 'Its live job' : `Its ${live} live jobs`;
  if (shortfall !== undefined)
    return `${its} would stay, as nothing is deleted by a feed that is not complete: ${shortfall}`;
  const of = `of its ${plural(live, 'live job')} would be deleted`;
  const later = grace === 0 ? '' : `${grace} ${of} once further complete pulls lack ${grace === 1 ? 'it' : 'them'}`;
  if (deletes === 0)
    return later || `${its} would stay as ${live === 1 ? 'it is' : 'they are'}, without further updates`;
  const gone = `${deletes} ${of}${later && `, and ${later}`}`;
  return held === null ? gone : `${gone}, but only once somebody approves that: ${held}`;
}
