// `jobmirror alerts`: lists open alerts and undelivered messages, sends these again, and tests the destinations.
import { Command } from 'commander';
import type { AlertDestination } from '../../config/config.ts';
import { plural } from '../../plan/plural.ts';
import { openChannel, scrubPayload, sendMessages } from '../../runtime/alerts/send-messages.ts';
import { readConfig } from '../../runtime/app.ts';
import { ExitStatus, UserError } from '../../runtime/exit-status.ts';
import { listOpenAlerts } from '../../store/alert/open-alerts.ts';
import { claimRequeued, countDelivered, listUndelivered, requeueMessages, TOPICS } from '../../store/alert/outbox.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type AlertPayload, textOfAlert } from '../../telemetry/alerts/alert-message.ts';
import { deliverAlert } from '../../telemetry/alerts/deliver.ts';
import { oneLine, printJson, printLine, printLines } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import { withApp } from '../with-app.ts';

interface AlertsOptions {
  readonly config?: string;
  readonly json?: boolean;
}

export function alertsCommand(): Command {
  const alerts = new Command('alerts');
  for (const part of [listCommand(), resendCommand(), testCommand()]) {
    alerts.addCommand(
      part
        .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
        .exitOverride()
        .showHelpAfterError('(see --help)'),
    );
  }
  return alerts;
}

const MOST_LISTED = 1_000;

function listCommand(): Command {
  return new Command('list')
    .description('list open alerts, and messages that were not delivered')
    .option('--json', 'print one JSON object per alert and message')
    .action((options: AlertsOptions) =>
      withApp(options, async ({ config, db }) => {
        const open = await listOpenAlerts(db);
        const scrub = scrubPayload(config);
        const messages = (await listUndelivered(db, MOST_LISTED)).map((message) => {
          return { ...message, payload: scrub(message.payload) };
        });
        if (options.json === true) {
          for (const alert of open) await printJson({ item: 'alert', ...alert });
          for (const { createdAt: created_at, nextAt: next_at, lastError: last_error, ...message } of messages)
            await printJson({ item: 'message', ...message, created_at, next_at, last_error });
          return;
        }
        const now = Date.now();
        await printLines([
          ...open.map(
            ({ destination, kind, subject, since }) =>
              `open: ${kind}, ${subject}, since ${formatTime(since)} (${formatSpan(now - since.getTime())}); told to ${destination}`,
          ),
          ...messages.map(({ id, destination, state, payload, attempts, nextAt, lastError }) => {
            const when = nextAt === null ? 'not sent again by itself' : `next attempt ${formatTime(nextAt)}`;
            const why = lastError === null ? '' : `, ${oneLine(lastError)}`;
            return `${state}: ${id} to ${destination}, ${plural(attempts, 'attempt')}${why}, ${when}: ${oneLine(textOfAlert(payload))}`;
          }),
          ...(open.length + messages.length === 0 ? ['No alert is open, and every message was delivered.'] : []),
        ]);
      }),
    );
}

function resendCommand(): Command {
  return new Command('resend')
    .description('send undelivered messages again: the named ones, or all that are dead')
    .argument('[message...]', 'IDs of messages, as `alerts list` shows them')
    .option('--json', 'print one JSON object')
    .action((ids: string[], options: AlertsOptions) =>
      withApp(options, async (app, signal) => {
        const due = await requeue(app.db, ids.length === 0 ? undefined : ids);
        for (const name of new Set(due.values())) {
          const destination = app.config.alerts.get(name);
          if (destination === undefined) continue;
          for (const topic of TOPICS) await sendMessages(app, destination, topic, { signal }, claimRequeued);
        }
        const delivered = await countDelivered(app.db, [...due.keys()]);
        const waiting = due.size - delivered;
        if (waiting > 0) process.exitCode = ExitStatus.failed;
        if (options.json === true) return printJson({ delivered, waiting });
        if (due.size === 0) return printLine('No message is dead.');
        const rest =
          waiting === 0 ? '' : `; ${plural(waiting, 'message')} could not be, and a running start tries again`;
        return printLine(`${plural(delivered, 'message')} delivered${rest}.`);
      }),
    );
}

/** The destinations of the messages, by ID. */
async function requeue(db: Database, ids: readonly string[] | undefined): Promise<ReadonlyMap<string, string>> {
  const requeued = await requeueMessages(db, ids);
  if (requeued.kind === 'requeued') return requeued.destinations;
  const { unknown, sending } = requeued;
  const reasons = [
    ...(unknown.length === 0 ? [] : [`no undelivered message has the ID ${unknown.join(', ')}`]),
    ...(sending.length === 0 ? [] : [`a running process is sending ${sending.join(', ')} now; see: alerts list`]),
  ];
  throw new UserError(reasons.join('; '));
}

function testCommand(): Command {
  return new Command('test')
    .description('send a test message to each destination, or to the named one')
    .argument('[destination]', 'name of a destination')
    .option('--json', 'print one JSON object per destination')
    .action(async (name: string | undefined, options: AlertsOptions) => {
      const { alerts } = await readConfig(options);
      const chosen = name === undefined ? [...alerts.values()] : [alerts.get(name)].filter((one) => one !== undefined);
      if (chosen.length === 0) {
        const known = [...alerts.keys()].join(', ') || 'none';
        throw new UserError(
          name === undefined
            ? 'the configuration names no alert destination; add one below alerts'
            : `there is no alert destination ${name}; destinations: ${known}`,
        );
      }
      for (const destination of chosen) {
        const end = await deliverAlert(openChannel(destination.channel), testMessage(destination));
        if (end.kind === 'failed') process.exitCode = ExitStatus.failed;
        const said = (end.kind === 'failed' ? end.reason : end.note) ?? null;
        const delivered = end.kind === 'delivered';
        if (options.json === true) await printJson({ destination: destination.name, delivered, reason: said });
        else {
          const end = `${delivered ? '' : 'not '}delivered${said === null ? '' : `: ${said}`}`;
          await printLine(`${destination.name}: ${end}`);
        }
      }
    });
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
