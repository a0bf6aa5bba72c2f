// Stores which alerts are open at each destination, and writes one message for each that opens or ends.
import { lockKey } from '../locks/advisory-locks.ts';
import { HELD_LOCK_KEYS } from '../locks/processes.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import type { Database, Queryable } from '../postgres/database.ts';

/** Identifies an alert at its destination. */
export interface AlertName {
  readonly kind: string;
  /** Such as `site board` or `feed acme`. */
  readonly subject: string;
  /** How many changes it is about, if it counts some. */
  readonly count?: number | null;
}

export interface OpenAlert extends AlertName {
  readonly destination: string;
  readonly since: Date;
}

/** An alert that is open, with who sees it. */
export interface SeenAlert extends OpenAlert {
  readonly evaluators: readonly string[];
  /** No evaluator has confirmed it for a while. */
  readonly isStale: boolean;
  /** The fewest since it was told; `null`: it counts none. */
  readonly count: number | null;
  /** How many messages told it, and when the last one did: in Unix time, and how long ago, both in seconds. */
  readonly messages: number;
  readonly toldAt: number;
  readonly toldSecondsAgo: number;
}

/**
 * What one evaluator saw at a destination. The payloads are written with the change of state: both happen, or neither. An alert
 * is open while any live evaluator sees it.
 */
export interface AlertChanges<Alert extends AlertName> {
  /** The key of the lock that the evaluating process holds. */
  readonly evaluator: string;
  readonly opened: readonly Alert[];
  /** Open ones to tell again, unless somebody has since there were this many messages. */
  readonly repeated: readonly { readonly alert: Alert; readonly messages: number }[];
  /** Open ones that count fewer than was told. */
  readonly lowered: readonly AlertName[];
  /** Open ones that the evaluator sees, and has not said so lately. */
  readonly confirmed: readonly AlertName[];
  /** Open ones that are over as far as the evaluator can tell. */
  readonly ended: readonly AlertName[];
  /** Open ones of feeds and sites that it does not know: they end if no live evaluator has seen them for long. */
  readonly unknown: readonly AlertName[];
  readonly openedPayload: (alert: Alert, since: Date) => object;
  readonly repeatedPayload: (alert: Alert, since: Date, at: Date) => object;
  /** `undefined`: the alert ends without a message. */
  readonly endedPayload: (alert: OpenAlert, at: Date, isUnknown: boolean) => object | undefined;
}

/** How often an evaluator says that it still sees an alert. */
const CONFIRM_EVERY = `interval '5 minutes'`;
/** Longer than any restart. */
const FORGOTTEN_AFTER = `interval '1 hour'`;

/** The open alerts of all destinations, oldest first. */
export async function listOpenAlerts(db: Queryable): Promise<OpenAlert[]> {
  return db.query<OpenAlert>(
    'select destination, kind, subject, since from open_alert order by since, destination, kind, subject',
  );
}

/** The open alerts of a destination, with who sees them. */
export async function listSeenAlerts(db: Queryable, destination: string): Promise<SeenAlert[]> {
  return db.query<SeenAlert>(
    `select destination, kind, subject, since, evaluators, seen_at < now() - ${CONFIRM_EVERY} as "isStale",
       count, messages, extract(epoch from told_at)::float8 as "toldAt",
       extract(epoch from clock_timestamp() - told_at)::float8 as "toldSecondsAgo"
     from open_alert where destination = $1 order by since, kind, subject`,
    [destination],
  );
}

/** Records the changes that no other process has recorded, each with its message. Returns the number of messages. */
export async function changeAlerts<Alert extends AlertName>(
  db: Database,
  destination: string,
  changes: AlertChanges<Alert>,
): Promise<number> {
  const { evaluator, opened, repeated, lowered, confirmed, ended, unknown } = changes;
  if ([opened, repeated, lowered, confirmed, ended, unknown].every(({ length }) => length === 0)) return 0;
  return db.transaction(async (tx) => {
    // Evaluators that record the same alerts in another order would wait for each other.
    await tx.query('select pg_advisory_xact_lock($1)', [lockKey('alert', destination)]);
    const payloads: object[] = [];
    for (const alert of opened) {
      const since = await openAlert(tx, destination, evaluator, alert);
      if (since !== undefined) payloads.push(changes.openedPayload(alert, since));
    }
    for (const { alert, messages } of repeated) {
      const told = await repeatAlert(tx, destination, alert, messages);
      if (told !== undefined) payloads.push(changes.repeatedPayload(alert, told.since, told.at));
    }
    for (const { kind, subject, count } of lowered) {
      await tx.query(
        `update open_alert set count = $4 where destination = $1 and kind = $2 and subject = $3 and count > $4`,
        [destination, kind, subject, count],
      );
    }
    for (const alert of confirmed) await confirmAlert(tx, destination, evaluator, alert);
    for (const [alerts, isUnknown] of [[ended, false] as const, [unknown, true] as const]) {
      for (const alert of alerts) {
        const row = await endAlert(tx, destination, evaluator, alert, isUnknown);
        const payload = row && changes.endedPayload(row, row.at, isUnknown);
        if (payload !== undefined) payloads.push(payload);
      }
    }
    for (const payload of payloads) {
      await tx.query('insert into alert_message (destination, payload) values ($1, $2)', [
        destination,
        toJsonb(payload),
      ]);
    }
    return payloads.length;
  });
}

/** Returns since when it is open; `undefined`: another evaluator has opened it. */
async function openAlert(
  tx: Queryable,
  destination: string,
  evaluator: string,
  alert: AlertName,
): Promise<Date | undefined> {
  const [row] = await tx.query<{ since: Date }>(
    `insert into open_alert (destination, kind, subject, evaluators, count) values ($1, $2, $3, array[$4::text], $5)
     on conflict do nothing returning since`,
    [destination, alert.kind, alert.subject, evaluator, alert.count ?? null],
  );
  if (row === undefined) await confirmAlert(tx, destination, evaluator, alert);
  return row?.since;
}

/** `undefined`: it is over, or another process has told it again. */
async function repeatAlert(
  tx: Queryable,
  destination: string,
  { kind, subject, count = null }: AlertName,
  messages: number,
): Promise<{ readonly since: Date; readonly at: Date } | undefined> {
  const [row] = await tx.query<{ since: Date; at: Date }>(
    `update open_alert set count = $4, messages = messages + 1, told_at = now()
     where destination = $1 and kind = $2 and subject = $3 and messages = $5 returning since, told_at as at`,
    [destination, kind, subject, count, messages],
  );
  return row;
}

async function confirmAlert(
  tx: Queryable,
  destination: string,
  evaluator: string,
  { kind, subject }: AlertName,
): Promise<void> {
  await tx.query(
    `update open_alert set seen_at = now(),
       evaluators = array(select e from unnest(evaluators) e where e <> $4 and e in (${HELD_LOCK_KEYS})) || $4::text
     where destination = $1 and kind = $2 and subject = $3`,
    [destination, kind, subject, evaluator],
  );
}

/** Returns the alert if it ended; if another live evaluator sees it, only this one is removed. */
async function endAlert(
  tx: Queryable,
  destination: string,
  evaluator: string,
  { kind, subject }: AlertName,
  isUnknown: boolean,
): Promise<(OpenAlert & { readonly at: Date }) | undefined> {
  const name = [destination, kind, subject, evaluator];
  const [row] = await tx.query<OpenAlert & { readonly at: Date }>(
    `delete from open_alert where destination = $1 and kind = $2 and subject = $3
       and not array_remove(evaluators, $4) && array(${HELD_LOCK_KEYS})
       ${isUnknown ? `and seen_at < now() - ${FORGOTTEN_AFTER}` : ''}
     returning destination, kind, subject, since, now() as at`,
    name,
  );
  if (row === undefined && !isUnknown) {
    await tx.query(
      `update open_alert set evaluators = array_remove(evaluators, $4)
       where destination = $1 and kind = $2 and subject = $3 and $4 = any(evaluators)`,
      name,
    );
  }
  return row;
}
