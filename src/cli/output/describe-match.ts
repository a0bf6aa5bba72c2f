// Writes what matching found for one posting: as a line for people, and as JSON.
import type { JobMatching, MatchLine } from '../../store/mapping/job-matching.ts';
import { oneLine, printJson, printLine } from '../../telemetry/print.ts';

/** What became of a match. `message`: why a certain one was not adopted. */
interface Outcome {
  readonly adopted: boolean;
  readonly message: string | undefined;
}

const MOST_OF_TITLE = 60;
/** Of each verdict, unless as JSON. */
const MOST_SHOWN = 50;

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
  const shown = { sure: 0, unsure: 0, unmatched: 0 };
  for await (const line of matching.lines()) {
    const outcome = outcomeOf(line);
    if (outcome === undefined) continue;
    if (json) await printJson({ ...members, ...matchJson(line, outcome) });
    else if (shown[line.verdict]++ < MOST_SHOWN) await printLine(describeMatch(line, outcome));
  }
  for (const [verdict, count] of Object.entries(shown))
    if (count > MOST_SHOWN) await printLine(`… and ${count - MOST_SHOWN} more ${verdict} (--json prints all)`);
}

function describeMatch(line: MatchLine, { adopted, message }: Outcome): string {
  const { key, siteJobId, score, verdict, reasons, others, title } = line;
  const word = message === undefined ? (adopted ? 'adopted' : verdict) : 'refused';
  const why = message === undefined ? reasons : [message];
  const because = why.length === 0 ? '' : `: ${why.join(', ')}`;
  if (siteJobId === undefined) return `${word} ${key}${because}`;
  const named = title === undefined ? '' : ` "${oneLine(title, MOST_OF_TITLE)}"`;
  const further = others.length === 0 ? '' : ` (also like it: ${others.join(', ')})`;
  return `${word} ${key} - job ${siteJobId}${named} ${score.toFixed(2)}${because}${further}`;
}

const matchJson = (line: MatchLine, { adopted, message }: Outcome): Record<string, unknown> => ({
  key: line.key,
  job_id: line.siteJobId ?? null,
  score: line.score,
  verdict: line.verdict,
  reasons: line.reasons,
  others: line.others,
  adopted,
  ...(message === undefined ? {} : { message }),
});
