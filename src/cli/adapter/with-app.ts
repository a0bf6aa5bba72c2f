// Opens the app for a command that prints results, and closes it however the command ends.
import { OperationRefused } from '../../operations/operation.ts';
import { type App, type AppOptions, openApp } from '../../runtime/app.ts';
import { UserError, untilSignalled } from '../../runtime/stop-signal.ts';
import { askWhether, printJson, stopPrintingOn } from '../../telemetry/print.ts';
import { commandWriter } from './command-line.ts';
import { actionWriter, say } from './write-action.ts';

/**
 * A stop signal ends the output. Always closes the database and leaves the embedded server.
 * @throws {UserError} with the reason of a refused operation
 */
export const withApp = <T>(options: AppOptions, work: (app: App, signal: AbortSignal) => Promise<T>): Promise<T> =>
  untilSignalled(async (signal) => {
    stopPrintingOn(signal);
    const app = await openApp({
      needs: 'mirror',
      ...options,
      quiet: true,
      signal,
      writeAction: actionWriter(commandWriter(options.config)),
    });
    try {
      signal.throwIfAborted();
      return await explainRefusal(options, () => work(app, signal));
    } finally {
      await app.close();
    }
  });

/** @throws {UserError} with the reason why an operation is refused */
export async function explainRefusal<Result>(
  { json, config }: Pick<AppOptions, 'json' | 'config'>,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof OperationRefused)) throw error;
    if (json === true && Object.keys(error.now).length > 0) await printJson(error.now);
    const reason = say(error.reason, commandWriter(config));
    const insist = error.now.may_insist === true ? '\nTo do it nevertheless, add --anyway.' : '';
    const subject = error.subject === undefined ? '' : `${error.subject}: `;
    throw new UserError(`${subject}${reason}${insist}`, { cause: error });
  }
}

/** Returns false if nobody can be asked on a terminal. @throws {UserError} if the answer is no */
export async function isAgreed(lines: readonly string[], question: string, refused: string): Promise<boolean> {
  const answer = await askWhether([...lines, question].join('\n'));
  if (answer === false) throw new UserError(refused);
  return answer === true;
}

/**
 * The same where somebody has to agree.
 * @param unasked follows `refused` where nobody can be asked: how to do it nevertheless
 * @throws {UserError} if nobody agrees
 */
export async function expectAgreement(
  lines: readonly string[],
  question: string,
  refused: string,
  unasked: string,
): Promise<void> {
  if (await isAgreed(lines, question, refused)) return;
  throw new UserError([...lines, `${refused}${unasked}`].join('\n'));
}
