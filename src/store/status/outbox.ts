// Stores the messages for alert destinations until they are delivered, each sent by one process at a time, again after a failure or a
// crash; and which destinations are told what becomes of postings, whose messages triggers of the database write.

import { HELD_LOCK_KEYS } from '../locks/processes.ts';
import { type Database, type Queryable, readNumber } from '../postgres/database.ts';

/** What messages are about. Those about postings may be very many, so each topic is sent apart from the other. */
export const MESSAGE_TOPICS = ['alert', 'posting'] as const;
export type Topic = (typeof MESSAGE_TOPICS)[number];

/** A message that this process may send now. */
export interface ClaimedMessage {
  readonly id: string;
  readonly payload: unknown;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  /** Identifies the attempt. */
  readonly claim: string;
  /** The recipients of a mail that have not got it yet; null: all. */
  readonly left: readonly string[] | null;
}

/** Longer than any attempt takes (`src/telemetry/deliver.ts`): after it, the process that claimed a message counts as dead. */
const LEASE_SECONDS = 60;

/** No message waits for longer (src/runtime/run-alerts.ts): one that does was put off while the clock of the database was ahead. */
const LONGEST_WAIT = `interval '2 days'`;

/** Claims the message of a destination on a topic that has been due longest; `undefined` if none is due. */
export const claimMessage = async (
  db: Queryable,
  destination: string,
  topic: Topic,
): Promise<ClaimedMessage | undefined> =>
  (await claimWhere(db, destination, topic, 'not_before <= now()')) ??
  claimWhere(db, destination, topic, `not_before > now() + ${LONGEST_WAIT}`);

/** The same, of messages that a person asked to send again. */
export const claimRequeued = (db: Queryable, destination: string, topic: Topic): Promise<ClaimedMessage | undefined> =>
  claimWhere(db, destination, topic, `not_before = '-infinity'`);

async function claimWhere(
  db: Queryable,
  destination: string,
  topic: Topic,
  due: string,
): Promise<ClaimedMessage | undefined> {
  const until = `clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
  const [row] = await db.query<ClaimedMessage>(
    `with lease as materialized (select ${until} as until)
     update alert_message set attempts = attempts + 1, not_before = lease.until, claimed_until = lease.until from lease
     where seq = (select seq from alert_message where destination = $1 and topic = $2 and state = 'pending' and ${due}
       order by not_before, seq limit 1 for update skip locked)
     returning id, payload, attempts as attempt, claimed_until::text as claim, recipients_left as left`,
    [destination, topic],
  );
  return row;
}

/** Ends an attempt that succeeded. */
export async function noteDelivered(db: Queryable, id: string): Promise<void> {
  await db.query(
    `update alert_message set state = 'delivered', delivered_at = now(), last_error = null, claimed_until = null
     where id = $1`,
    [id],
  );
}

/**
 * Ends an attempt that failed, unless another process has taken the message over or delivered it meanwhile.
 * @param retryAfterMs `undefined`: it is not sent again.
 * @param left the recipients that have not got it yet, if others have.
 */
export async function noteFailed(
  db: Queryable,
  { id, claim }: Pick<ClaimedMessage, 'id' | 'claim'>,
  reason: string,
  retryAfterMs: number | undefined,
  left?: readonly string[],
): Promise<void> {
  await db.query(
    `update alert_message set last_error = $2, state = case when $3::float8 is null then 'dead' else 'pending' end,
       not_before = now() + make_interval(secs => coalesce($3::float8, 0)), claimed_until = null,
       recipients_left = coalesce($5, recipients_left)
     where id = $1 and state = 'pending' and claimed_until = $4::timestamptz`,
    [id, reason, retryAfterMs === undefined ? null : retryAfterMs / 1000, claim, left ?? null],
  );
}

/** A message that was not delivered. */
export interface UndeliveredMessage {
  readonly id: string;
  readonly destination: string;
  readonly state: 'pending' | 'dead';
  readonly payload: unknown;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly nextAt: Date | null;
  readonly lastError: string | null;
}

/** Alerts before events of postings, pending before dead ones, each destination's in the order of sending. */
export async function listUndelivered(db: Queryable, limit: number): Promise<UndeliveredMessage[]> {
  return db.query<UndeliveredMessage>(
    `select id, destination, state, payload, created_at as "createdAt", attempts,
       case when state = 'pending' then greatest(not_before, created_at) end as "nextAt", last_error as "lastError"
     from (
       (select * from alert_message where state = 'pending' order by topic, destination, not_before, seq limit $1)
       union all
       (select * from alert_message where state = 'dead' order by topic, destination, seq limit $1)) undelivered
     order by topic, state desc, destination, case when state = 'pending' then not_before end, seq limit $1`,
    [limit],
  );
}

/** What became of asking to send messages again. */
export type Requeued =
  /** The destination of each message, by its ID. */
  | { readonly kind: 'requeued'; readonly destinations: ReadonlyMap<string, string> }
  /** Nothing was done. `unknown`: no undelivered message has these IDs; `sending`: a process sends these now. */
  | { readonly kind: 'refused'; readonly unknown: readonly string[]; readonly sending: readonly string[] };

const IS_SENDING = 'coalesce(claimed_until > now(), false)';

/** Makes undelivered messages due now: those with these IDs, all or none, or all dead ones. */
export function requeueMessages(db: Database, ids: readonly string[] | undefined): Promise<Requeued> {
  return db.transaction(async (tx) => {
    if (ids !== undefined) {
      const rows = await tx.query<{ id: string; sending: boolean }>(
        `select id, ${IS_SENDING} as sending from alert_message where id = any($1) and state <> 'delivered'
         order by seq for update`,
        [ids],
      );
      const known = new Set(rows.map(({ id }) => id));
      const unknown = ids.filter((id) => !known.has(id));
      const sending = rows.filter((row) => row.sending).map(({ id }) => id);
      if (unknown.length + sending.length > 0) return { kind: 'refused', unknown, sending };
    }
    const rows = await tx.query<{ id: string; destination: string }>(
      `update alert_message set state = 'pending', attempts = 0, not_before = '-infinity', claimed_until = null
       where case when $1::text[] is null then state = 'dead' else state <> 'delivered' and id = any($1) end
       returning id, destination`,
      [ids ?? null],
    );
    return { kind: 'requeued', destinations: new Map(rows.map(({ id, destination }) => [id, destination])) };
  });
}

/** How the messages with these IDs stand. */
export const countDelivered = (db: Queryable, ids: readonly string[]): Promise<number> =>
  readNumber(db, `select count(*) as n from alert_message where id = any($1) and state = 'delivered'`, [ids]);

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
      `delete from posting_subscription where evaluator <> all($2) and evaluator not in (${HELD_LOCK_KEYS})
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
