// Writes what verifying found: a finding or the counts of a feed, as lines for people and as JSON.
import { plural } from '../../plan/plural.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { SetAgain } from '../../review/verify/verify-feed.ts';
import type { FeedCounts, Finding } from '../../review/verify/verify-site.ts';
import { printJson, printLine } from '../../telemetry/print.ts';
import { difference } from './describe-change.ts';

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
  readonly setAgain: SetAgain | undefined;
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

function describeSetAgain({ marked, unmarked, toCompare, examples }: SetAgain): string[] {
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
