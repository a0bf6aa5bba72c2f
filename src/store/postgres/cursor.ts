// Reads the rows of a query batch by batch within a transaction, so that their number does not matter.
import type { Row, Session } from './database.ts';

/**
 * Yields batches of at most `size` rows. Between two of them the session is free for other statements, which the rows
 * still to come do not see. @param name of the cursor, which no other open one has. @param select without parameters.
 */
export async function* inBatches<R extends Row>(
  session: Session,
  name: string,
  select: string,
  size: number,
): AsyncGenerator<R[]> {
  await session.query(`declare ${name} no scroll cursor for ${select}`);
  for (;;) {
    const rows = await session.query<R>(`fetch ${size} from ${name}`);
    if (rows.length > 0) yield rows;
    if (rows.length < size) break;
  }
  await session.query(`close ${name}`);
}
