// Opens the app for a command that prints results, and closes it however the command ends.
import { type App, type AppOptions, openApp } from '../runtime/app.ts';
import { stopSignal } from '../runtime/stop-signal.ts';
import { stopPrintingOn } from '../telemetry/print.ts';
import { commandWriter } from './command-line.ts';
import { actionWriter } from './write-action.ts';

/** A stop signal ends the output. Always closes the database and leaves the embedded server. */
export async function withApp<T>(options: AppOptions, work: (app: App, signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = stopSignal();
  stopPrintingOn(stopping.signal);
  try {
    const app = await openApp({
      ...options,
      quiet: true,
      signal: stopping.signal,
      writeAction: actionWriter(commandWriter(options.config)),
    });
    try {
      stopping.signal.throwIfAborted();
      return await work(app, stopping.signal);
    } finally {
      await app.close();
    }
  } finally {
    stopping.release();
  }
}
