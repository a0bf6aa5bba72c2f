// Writes what verifying found: a finding or the counts of a feed, as lines for people and as JSON.
import type { Certainty } from '../../plan/match/whose-job.ts';
import { plural } from '../../plan/message.ts';
import { type FeedPolicy, updatesJobs } from '../../plan/policy.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { PostingsSetAgain } from '../../review/jobs/verify-feed.ts';
import type { FeedCounts, Finding } from '../../review/jobs/verify-site.ts';
import type { JobMatching, MatchLine } from '../../store/mapping/job-matching.ts';
import { oneLine, printJson, printLine } from '../../telemetry/print.ts';
import { difference } from './describe-pull.ts';

/** Of one kind, unless as JSON. */
const MOST_SHOWN = 50;

/** Prints findings as they come. @param before called before each, to clear a progress line */
export function findingPrinter(json: boolean, before: () => void): (finding: Finding) => Promise<void> {
  const shown = { gone: 0, changed: 0, foreign: 0 };
  return async (finding) => {
    before();
    if (json) return printJson(findingJson(finding));
    const count = ++shown[finding.finding];
    if (count <= MOST_SHOWN) await printLine(describeFinding(finding));
    else if (count === MOST_SHOWN + 1) await printLine(`… further ${finding.finding} jobs (--json prints all)`);
  };
}

function describeFinding({ feed, key, siteJobId, finding, fields, message, state }: Finding): string {
  const open = state === undefined ? '' : ` (its change is ${state.replace('_', ' ')})`;
  const why = message === undefined ? '' : `: ${message}`;
  const lines = [`${finding} ${feed} ${key} - job ${siteJobId}${open}${why}`];
  for (const [name, { from, to }] of Object.entries(fields)) lines.push(`    ${name}: ${difference(from ?? '', to)}`);
  return lines.join('\n');
}

export const findingJson = ({ feed, key, siteJobId, finding, fields, message, state }: Finding) => ({
  feed,
  key,
  job_id: siteJobId,
  finding,
  fields,
  ...(message === undefined ? {} : { message }),
  ...(state === undefined ? {} : { state }),
});

/** What became of one feed. `failure`: why not all of its jobs could be compared. */
export interface FeedResult {
  readonly feed: FeedName;
  readonly counts: FeedCounts;
  readonly failure: string | undefined;
  /** `undefined`: nothing was to be marked. */
  readonly setAgain: PostingsSetAgain | undefined;
}

export function describeResult({ feed, counts, failure, setAgain }: FeedResult): string {
  const { jobs, same, changed, gone, foreign } = counts;
  const rest = [
    [counts.waiting, 'being sent or marked to be sent again'],
    [counts.unknown, 'of unknown content'],
    [counts.unasked, 'without a clear answer of the site'],
  ] as const;
  const further = rest.map(([count, words]) => (count > 0 ? `, ${count} ${words}` : '')).join('');
  const lines = [
    `${feed}: ${plural(jobs, 'job')}: ${same} as sent, ${changed} changed, ${gone} gone, ${foreign} foreign${further}`,
  ];
  for (const [name, count] of counts.hidden) lines.push(`  ${name} could not be compared in ${plural(count, 'job')}`);
  if (failure !== undefined) lines.push(`  ${failure}`);
  if (setAgain !== undefined) lines.push(...describeSetAgain(setAgain));
  return lines.join('\n');
}

function describeSetAgain({ marked, unmarked, toCompare, examples }: PostingsSetAgain): string[] {
  const lines = marked === 0 ? [] : [`  ${plural(marked, 'job')} marked: the next sync sets what differs.`];
  if (toCompare > 0)
    lines.push(`  ${plural(toCompare, 'job')} marked: the next sync sends once more what could not be compared.`);
  for (const { key, message } of examples) lines.push(`  not marked: ${key}: ${message}`);
  if (unmarked > examples.length) lines.push(`  … and ${unmarked - examples.length} more not marked`);
  return lines;
}

/** @param restored what to know of jobs that were made since a backup */
export const resultJson = ({ feed, counts, failure, setAgain }: FeedResult, restored: string | undefined) => ({
  feed,
  ...counts,
  hidden: Object.fromEntries(counts.hidden),
  ...(setAgain === undefined
    ? {}
    : { marked: setAgain.marked, not_marked: setAgain.unmarked, to_compare: setAgain.toCompare }),
  ...(restored === undefined ? {} : { restored }),
  ...(failure === undefined ? {} : { message: failure }),
});

// Writes what matching found for one posting: as a line for people, and as JSON.

/** What became of a match. `message`: why a certain one was not adopted. */
interface Outcome {
  readonly adopted: boolean;
  readonly message: string | undefined;
}

const MOST_OF_TITLE = 60;

interface LineWriter<Line> {
  inWords(line: Line): string;
  asJson(line: Line): Readonly<Record<string, unknown>>;
}

/** Prints lines about which job, or which posting, is whose as they come: the first ones of each verdict, unless as JSON. */
export function verdictPrinter<Line extends { readonly verdict: Certainty }>(
  json: boolean,
  { inWords, asJson }: LineWriter<Line>,
): { readonly print: (line: Line) => Promise<void>; readonly end: () => Promise<void> } {
  const shown = { sure: 0, unsure: 0, unmatched: 0 };
  return {
    async print(line) {
      if (json) await printJson(asJson(line));
      else if (shown[line.verdict]++ < MOST_SHOWN) await printLine(inWords(line));
    },
    async end() {
      for (const [verdict, count] of Object.entries(shown))
        if (count > MOST_SHOWN) await printLine(`… and ${count - MOST_SHOWN} more ${verdict} (--json prints all)`);
    },
  };
}

/** Its title, as far as there is one. */
export const itsTitle = (title: string | undefined): string =>
  title === undefined ? '' : ` "${oneLine(title, MOST_OF_TITLE)}"`;

/**
 * Prints what was found for each posting.
 * @param outcomeOf `undefined`: the posting is left out. @param members further ones of each JSON object
 */
export async function printMatches(
  matching: Pick<JobMatching, 'lines'>,
  json: boolean,
  outcomeOf: (line: MatchLine) => Outcome | undefined,
  members: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { print, end } = verdictPrinter<MatchLine & Outcome>(json, {
    inWords: describeMatch,
    asJson: (line) => ({ ...members, ...matchJson(line) }),
  });
  for await (const line of matching.lines()) {
    const outcome = outcomeOf(line);
    if (outcome !== undefined) await print({ ...line, ...outcome });
  }
  await end();
}

function describeMatch(line: MatchLine & Outcome): string {
  const { key, siteJobId, score, verdict, reasons, others, title, adopted, message } = line;
  const word = message === undefined ? (adopted ? 'adopted' : verdict) : 'refused';
  const why = message === undefined ? reasons : [message];
  const because = why.length === 0 ? '' : `: ${why.join(', ')}`;
  if (siteJobId === undefined) return `${word} ${key}${because}`;
  const further = others.length === 0 ? '' : ` (also like it: ${others.join(', ')})`;
  return `${word} ${key} - job ${siteJobId}${itsTitle(title)} ${score.toFixed(2)}${because}${further}`;
}

const matchJson = ({ adopted, message, ...line }: MatchLine & Outcome): Record<string, unknown> => ({
  key: line.key,
  job_id: line.siteJobId ?? null,
  score: line.score,
  verdict: line.verdict,
  reasons: line.reasons,
  others: line.others,
  adopted,
  ...(message === undefined ? {} : { message }),
});

/** What becomes of values in which jobs that were adopted, or kept by new keys, differ. */
export const nextOf = (policy: FeedPolicy | undefined): string =>
  updatesJobs(policy) ? ' The next sync sends what differs.' : ` Policy ${policy} leaves what differs as it is.`;
