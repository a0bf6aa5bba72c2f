// Writes what matching found for one posting: as a line for people, and as JSON.
import type { MatchLine } from '../../store/mapping/job-matching.ts';
import { oneLine } from '../../telemetry/print.ts';

/** What became of a match. `message`: why a certain one was not adopted. */
interface Outcome {
  readonly adopted: boolean;
  readonly message: string | undefined;
}

const MOST_OF_TITLE = 60;

export function describeMatch(line: MatchLine, { adopted, message }: Outcome): string {
  const { key, siteJobId, score, verdict, reasons, others, title } = line;
  const word = message === undefined ? (adopted ? 'adopted' : verdict) : 'refused';
  const why = message === undefined ? reasons : [message];
  const because = why.length === 0 ? '' : `: ${why.join(', ')}`;
  if (siteJobId === undefined) return `${word} ${key}${because}`;
  const named = title === undefined ? '' : ` "${oneLine(title, MOST_OF_TITLE)}"`;
  const further = others.length === 0 ? '' : ` (also like it: ${others.join(', ')})`;
  return `${word} ${key} - job ${siteJobId}${named} ${score.toFixed(2)}${because}${further}`;
}

export const matchJson = (line: MatchLine, { adopted, message }: Outcome): Record<string, unknown> => ({
  key: line.key,
  job_id: line.siteJobId ?? null,
  score: line.score,
  verdict: line.verdict,
  reasons: line.reasons,
  others: line.others,
  adopted,
  ...(message === undefined ? {} : { message }),
});
