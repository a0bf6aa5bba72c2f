// Stores which destinations are told what becomes of postings; triggers of the database write their messages.
import { HELD_KEYS } from '../locks/processes.ts';
import type { Database, Queryable } from '../postgres/database.ts';

export interface PostingSubscription {
  readonly destination: string;
  /** The processes with this configuration: the key of the lock that one of them holds. */
  readonly evaluator: string;
  readonly events: readonly string[];
  /** `undefined`: all. */
  readonly feeds: readonly string[] | undefined;
}

/** Undelivered events of a destination beyond which no more are written: some gigabytes. */
const MOST_UNDELIVERED = 2_000_000;
/** Once full, events are written again below this share. */
const ROOM_BELOW = 0.9;

/** Events of postings for a destination are no longer written, or are written again. */
export interface SubscriptionChange {
  readonly destination: string;
  readonly isFull: boolean;
}

/**
 * Confirms the subscriptions of one configuration, for a day. Ends those that it replaces: of configurations with any of its
 * feeds, if no live process has them any more. Those of other feeds stay, as their processes may only be restarting.
 */
export async function setSubscriptions(
  db: Database,
  configured: readonly string[],
  own: readonly PostingSubscription[],
  mostUndelivered = MOST_UNDELIVERED,
): Promise<SubscriptionChange[]> {
  const asking = own.filter(({ events }) => events.length > 0);
  await db.transaction(async (tx) => {
    for (const { destination, evaluator, events, feeds } of asking) {
      await tx.query(
        `insert into posting_subscription (destination, evaluator, events, feeds, configured)
         values ($1, $2, $3, $4, $5) on conflict (destination, evaluator) do update set confirmed_at = now()`,
        [destination, evaluator, events, feeds ?? null, configured],
      );
    }
    await tx.query(
      `delete from posting_subscription where evaluator <> all($2) and evaluator not in (${HELD_KEYS})
         and (configured && $1 or confirmed_at < now() - interval '1 day')`,
      [configured, own.map(({ evaluator }) => evaluator)],
    );
  });
  const changes = await Promise.all(asking.map(({ destination }) => limitEvents(db, destination, mostUndelivered)));
  return changes.flat();
}

/** Counts what is undelivered, as far as it matters. */
async function limitEvents(db: Queryable, destination: string, most: number): Promise<SubscriptionChange[]> {
  const rows = await db.query<{ isFull: boolean }>(
    `with undelivered as (
       select (select count(*) from (select from alert_message where topic = 'posting' and destination = $1
           and state = 'pending' limit $2) pending)
         + (select count(*) from (select from alert_message where topic = 'posting' and destination = $1
           and state = 'dead' limit $2) dead) as n)
     update posting_subscription s set is_full = not s.is_full from undelivered
     where s.destination = $1 and s.is_full = (n < case when s.is_full then $3 else $2 end)
     returning s.is_full as "isFull"`,
    [destination, most, Math.ceil(most * ROOM_BELOW)],
  );
  return rows.slice(0, 1).map(({ isFull }) => ({ destination, isFull }));
}
