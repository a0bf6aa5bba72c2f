// Makes creates in doubt old enough for a person to decide about them.
import type { Queryable } from '../../src/store/postgres/database.ts';

/** No request of an attempt that began an hour ago may still arrive. With `entry`, only that one. */
export const ageDoubts = async (db: Queryable, entry?: number): Promise<void> =>
  void (await db.query(
    `update change set attempt_started = now() - interval '1 hour' where state = 'in_doubt' and ($1::bigint is null or id = $1)`,
    [entry ?? null],
  ));
