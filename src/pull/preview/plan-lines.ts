// The lines of a printed plan, which wait in a file until the plan has let go of the database.
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { CreateOnlyFields } from '../../plan/create-only-fields.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import {
  type PlannedChange,
  plannedChanges,
  type UnsentPosting,
  unsentPostings,
} from '../../store/backlog/planned-changes.ts';
import type { Session } from '../../store/postgres/database.ts';
import type { UnreadableRecords } from '../../store/pull/record-problems.ts';

/** One line of a printed plan: first each change, then each posting or record that is not sent. */
export type PlanLine = PlannedChange | UnsentPosting;

/** The lines of a plan whose changes are merged. */
export async function* planLines(
  session: Session,
  feed: FeedName,
  createOnly: CreateOnlyFields,
  unreadable: readonly UnreadableRecords[],
): AsyncGenerator<PlanLine> {
  yield* plannedChanges(session, feed, createOnly);
  yield* unsentPostings(session, feed);
  for (const { key, problems, excerpt, count } of unreadable) {
    const reason = problems.map(({ message }) => message).join('; ');
    yield {
      feed,
      key: key ?? null,
      operation: 'none',
      fields: {},
      kind: 'unreadable',
      reason,
      problems,
      excerpt,
      records: count,
    };
  }
}

/** Writes the lines to a file. */
export async function spoolLines(spool: string, lines: AsyncIterable<PlanLine>): Promise<void> {
  const out = createWriteStream(spool);
  for await (const line of lines) {
    if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
}

/** Reads the lines of the file. */
export async function printSpool(spool: string, print: (line: PlanLine) => void | Promise<void>): Promise<void> {
  await pipeline(createReadStream(spool, 'utf8'), async (chunks: AsyncIterable<string>) => {
    let rest = '';
    for await (const chunk of chunks) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) await print(JSON.parse(line) as PlanLine);
    }
  });
}
