// Alerts: those that are open, messages about them that were not delivered, and sending these again.
import { z } from 'zod';
import type { AlertDestination, Config } from '../config/config.ts';
import { openChannel, scrubPayload, sendMessages } from '../runtime/run-alerts.ts';
import { auditAction } from '../store/access/audit.ts';
import { listOpenAlerts } from '../store/status/open-alerts.ts';
import {
  claimRequeued,
  countDelivered,
  listUndelivered,
  MESSAGE_TOPICS,
  requeueMessages,
} from '../store/status/outbox.ts';
import { type AlertPayload, textOfAlert } from '../telemetry/alert-message.ts';
import { deliverAlert } from '../telemetry/deliver.ts';
import { OperationRefused, operation } from './operation.ts';
import { answerOf, count, text, time } from './scalars.ts';

const alertOutput = z.strictObject({
  item: z.literal('alert'),
  destination: z.string().describe('Who was told.'),
  kind: z.string().describe('What it is about: a kind of `on`.'),
  subject: z.string().describe('The feed or site.'),
  since: time.describe('When it was opened.'),
});

const messageOutput = z.strictObject({
  item: z.literal('message'),
  id: z.string().describe('For `alerts resend`.'),
  destination: z.string().describe('Who has not received it.'),
  state: z.enum(['pending', 'dead']).describe('`dead`: it is not sent again by itself.'),
  payload: z.looseObject({}).describe('As it is sent.'),
  attempts: count.describe('How often it was sent.'),
  created_at: time.describe('When it was written.'),
  next_at: time.nullable().describe('When it is sent next.'),
  last_error: z.string().nullable().describe('Why the last attempt failed.'),
});

const MOST_LISTED = 1_000;

export const listAlerts = operation({
  id: 'listAlerts',
  path: '/alerts',
  summary: 'List open alerts, and messages that were not delivered',
  scope: 'read',
  input: z.strictObject({}),
  output: z.strictObject({
    open: z.array(alertOutput).describe('One object per open alert, the oldest first:'),
    messages: z.array(messageOutput).describe(`One object per message, at most ${MOST_LISTED}:`),
  }),
  async run(_input, { app: { config, db } }) {
    const open = await listOpenAlerts(db);
    const scrub = scrubPayload(config);
    return {
      open: open.map((alert) => ({ item: 'alert' as const, ...alert })),
      messages: (await listUndelivered(db, MOST_LISTED)).map((message) =>
        answerOf(messageOutput, message, { item: 'message', payload: { ...scrub(message.payload) } }),
      ),
    };
  },
});

export const textOfPayload = (payload: object): string => textOfAlert(payload as AlertPayload);

export const resendAlerts = operation({
  id: 'resendAlerts',
  path: '/alerts/resend',
  summary: 'Send undelivered messages again: the named ones, or all that are dead',
  scope: 'review',
  input: z.strictObject({
    messages: z.array(text(200)).optional().describe('IDs of messages, as `alerts list` shows them.'),
  }),
  output: z.strictObject({
    delivered: count.describe('Messages that were delivered.'),
    waiting: count.describe('Those that were not; a running `start` tries again.'),
  }),
  async run({ messages }, { app, actor, signal = new AbortController().signal }) {
    const requeued = await requeueMessages(app.db, messages);
    if (requeued.kind !== 'requeued') {
      const { unknown, sending } = requeued;
      const reasons = [
        ...(unknown.length === 0 ? [] : [`no undelivered message has the ID ${unknown.join(', ')}`]),
        ...(sending.length === 0 ? [] : [`a running process is sending ${sending.join(', ')} now; see: alerts list`]),
      ];
      throw new OperationRefused(unknown.length === 0 ? 'conflict' : 'unknown', reasons.join('; '));
    }
    const due = requeued.destinations;
    if (due.size > 0) {
      await auditAction(app.db, { actor, action: 'resend alerts', detail: { messages: [...due.keys()] } });
    }
    for (const name of new Set(due.values())) {
      const destination = app.config.alerts.get(name);
      if (destination === undefined) continue;
      for (const topic of MESSAGE_TOPICS) await sendMessages(app, destination, topic, { signal }, claimRequeued);
    }
    const delivered = await countDelivered(app.db, [...due.keys()]);
    return { delivered, waiting: due.size - delivered };
  },
});

export const testedOutput = z.strictObject({
  destination: z.string().describe('Name of the destination.'),
  delivered: z.boolean(),
  reason: z.string().nullable().describe('Why not, or what the destination answered.'),
});

type TestedDestinations = AsyncGenerator<z.output<typeof testedOutput>>;

/** Sends a test message to each destination, or to the named one. Needs no database. @throws {OperationRefused} */
export async function* testAlerts({ alerts }: Pick<Config, 'alerts'>, name: string | undefined): TestedDestinations {
  const chosen = name === undefined ? [...alerts.values()] : [alerts.get(name)].filter((one) => one !== undefined);
  if (chosen.length === 0) {
    const known = [...alerts.keys()].join(', ') || 'none';
    throw new OperationRefused(
      'unknown',
      name === undefined
        ? 'the configuration names no alert destination; add one below alerts'
        : `there is no alert destination ${name}; destinations: ${known}`,
    );
  }
  for (const destination of chosen) {
    const end = await deliverAlert(openChannel(destination.channel), testMessage(destination));
    const reason = (end.kind === 'failed' ? end.reason : end.note) ?? null;
    yield { destination: destination.name, delivered: end.kind === 'delivered', reason };
  }
}

function testMessage({ name }: AlertDestination): { readonly id: string; readonly payload: AlertPayload } {
  const timestamp = new Date().toISOString();
  return {
    id: `msg_test_${Date.now()}`,
    payload: {
      type: 'alert.test',
      timestamp,
      data: {
        alert: 'test',
        site: null,
        feed: null,
        message: `this is a test of the alert destination ${name}: nothing is wrong`,
        detail: null,
        count: null,
        since: timestamp,
      },
    },
  };
}
