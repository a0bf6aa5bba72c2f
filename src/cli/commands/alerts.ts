// `jobmirror alerts`: lists open alerts and undelivered messages, sends these again, and tests the destinations.
import { Command } from 'commander';
import { listAlerts, resendAlerts, testAlerts, testedOutput, textOfPayload } from '../../operations/alerts.ts';
import { plural } from '../../plan/message.ts';
import { readConfig } from '../../runtime/app.ts';
import { ExitStatus } from '../../runtime/stop-signal.ts';
import { oneLine, printJson, printLine } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import { printing, singleCommand, withCommon } from '../adapter/operation-command.ts';
import { explainRefusal } from '../adapter/with-app.ts';

export function alertsCommand(): Command {
  const alerts = new Command('alerts');
  alerts.addCommand(
    singleCommand(listAlerts, {
      name: 'list',
      json: 'print one JSON object per alert and message',
      objects: { open: true, messages: true },
      view({ open, messages }) {
        const now = Date.now();
        const lines = [
          ...open.map(
            ({ destination, kind, subject, since }) =>
              `open: ${kind}, ${subject}, since ${formatTime(since)} (${formatSpan(now - since.getTime())}); told to ${destination}`,
          ),
          ...messages.map(({ id, destination, state, payload, attempts, next_at: next, last_error: error }) => {
            const when = next === null ? 'not sent again by itself' : `next attempt ${formatTime(next)}`;
            const why = error === null ? '' : `, ${oneLine(error)}`;
            const said = oneLine(textOfPayload(payload));
            return `${state}: ${id} to ${destination}, ${plural(attempts, 'attempt')}${why}, ${when}: ${said}`;
          }),
        ];
        return lines.length === 0 ? 'No alert is open, and every message was delivered.' : lines;
      },
    }),
  );
  alerts.addCommand(
    singleCommand(resendAlerts, {
      name: 'resend',
      needs: 'all',
      arguments: ['messages'],
      exitStatus: ({ waiting }) => (waiting > 0 ? ExitStatus.failed : undefined),
      view({ delivered, waiting }) {
        if (delivered + waiting === 0) return 'No message is dead.';
        const rest =
          waiting === 0 ? '' : `; ${plural(waiting, 'message')} could not be, and a running start tries again`;
        return `${plural(delivered, 'message')} delivered${rest}.`;
      },
    }),
  );
  alerts.addCommand(testCommand());
  return alerts;
}

const testCommand = (): Command =>
  printing(
    withCommon(
      new Command('test')
        .description('send a test message to each destination, or to the named one')
        .argument('[destination]', 'name of a destination'),
      'print one JSON object per destination',
    ),
    testedOutput,
  ).action((name: string | undefined, options: { config?: string; json?: boolean }) =>
    explainRefusal(options, async () => {
      for await (const tested of testAlerts(await readConfig(options), name)) {
        if (!tested.delivered) process.exitCode = ExitStatus.failed;
        if (options.json === true) await printJson(tested);
        else {
          const { destination, delivered, reason } = tested;
          const end = `${delivered ? '' : 'not '}delivered${reason === null ? '' : `: ${reason}`}`;
          await printLine(`${destination}: ${end}`);
        }
      }
    }),
  );
