// Sends the messages of a destination that are due, each until it is delivered or has failed too often.
import { isLoopback } from '../../config/build/web-config.ts';
import type { AlertDestination, Config } from '../../config/config.ts';
import { claimMessage, noteDelivered, noteFailed, type Topic } from '../../store/alert/outbox.ts';
import type { AlertMessage } from '../../telemetry/alerts/alert-message.ts';
import { type Channel, deliverAlert } from '../../telemetry/alerts/deliver.ts';
import { createScrub } from '../../telemetry/scrub-secrets.ts';
import { type App, configSecrets } from '../app.ts';

const MINUTE = 60_000;
/** Waits after each failed attempt, as the Standard Webhooks specification suggests: over a day in all. */
const RETRY_AFTER_MS = [
  5_000,
  30_000,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  120 * MINUTE,
  360 * MINUTE,
  1_080 * MINUTE,
];
/** An endpoint may ask for more time, but not for ever. */
const LONGEST_WAIT_MS = 24 * 60 * MINUTE;

export interface Sent {
  readonly delivered: number;
  readonly failed: number;
}

/**
 * Sends the messages on a topic until none is due, or an attempt fails: the destination is probably down, and the rest waits
 * for the next round. An event of a posting that the destination refuses fails alone.
 * @param signal lets the message that is being delivered end; `cutOff` does not.
 * @param claim which messages: those that are due, or only those that a person asked for.
 */
export async function sendMessages(
  { config, db, log }: Pick<App, 'config' | 'db' | 'log'>,
  { name, channel }: AlertDestination,
  topic: Topic,
  { signal, cutOff }: { readonly signal: AbortSignal; readonly cutOff?: AbortSignal },
  claim = claimMessage,
): Promise<Sent> {
  const scrub = scrubPayload(config);
  let delivered = 0;
  let failed = 0;
  while (!signal.aborted) {
    const message = await claim(db, name, topic);
    if (message === undefined) break;
    const { id, payload, attempt } = message;
    const end = await deliverAlert(openChannel(channel), { id, payload: scrub(payload) }, cutOff);
    if (end.kind === 'delivered') {
      await noteDelivered(db, id);
      if (end.note !== undefined)
        log.warn({ destination: name, message: id, reason: end.note }, 'alert delivered in part');
      delivered++;
      continue;
    }
    const failsAlone = topic === 'posting' && end.isRefused === true;
    const planned = failsAlone || end.isFinal === true ? undefined : RETRY_AFTER_MS[attempt - 1];
    const waitMs = planned && Math.min(LONGEST_WAIT_MS, Math.max(planned, end.retryAfterMs ?? 0));
    await noteFailed(db, message, end.reason, waitMs);
    failed++;
    const fields = { destination: name, message: id, attempt, reason: end.reason };
    if (waitMs === undefined) log.error(fields, 'alert not delivered, it is listed as dead');
    else log.warn(fields, 'alert not delivered yet, will retry');
    if (!failsAlone) break;
  }
  return { delivered, failed };
}

/** Removes the configuration's secrets from payloads: the database writes those of events, from texts of feeds and sites. */
export function scrubPayload(config: Config): (payload: unknown) => AlertMessage['payload'] {
  const scrub = createScrub(configSecrets(config));
  return (payload) => JSON.parse(scrub(JSON.stringify(payload)));
}

/** Reveals the secrets of a destination; they are used at once. */
export function openChannel(channel: AlertDestination['channel']): Channel {
  switch (channel.kind) {
    case 'webhook':
      return { kind: 'webhook', url: channel.url.reveal(), secret: channel.secret.reveal() };
    case 'slack':
      return { kind: 'slack', url: channel.url.reveal() };
    case 'email': {
      const smtp = channel.smtp.reveal();
      return { ...channel, smtp, isLocal: isLoopback(new URL(smtp).hostname) };
    }
    default:
      return channel satisfies never;
  }
}
