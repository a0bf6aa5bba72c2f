// Reads the rows of a query in batches within a transaction, so that memory does not depend on their number.
import type { Row, Session } from './database.ts';

/**
 * Yields batches of at most `size` rows. Between batches the session can run other statements, whose effects the remaining
 * rows do not show. @param name unique among open cursors.
 */
export async function* inBatches<R extends Row>(
  session: Session,
  name: string,
  select: string,
  size: number,
  values: readonly unknown[] = [],
): AsyncGenerator<R[]> {
  await session.query(`declare ${name} no scroll cursor for ${select}`, values);
  for (;;) {
    const rows = await session.query<R>(`fetch ${size} from ${name}`);
    if (rows.length > 0) yield rows;
    if (rows.length < size) break;
  }
  await session.query(`close ${name}`);
}
