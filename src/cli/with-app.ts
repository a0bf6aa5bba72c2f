// Runs the work of a command that prints results on opened books, and closes them however it ends.
import { type App, type AppOptions, openApp } from '../runtime/app.ts';
import { stopSignal } from '../runtime/stop-signal.ts';
import { stopPrintingOn } from '../telemetry/print.ts';

/** A signal ends the output; the database is closed and an embedded server stopped in any case. */
export async function withApp<T>(options: AppOptions, work: (app: App, signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = stopSignal();
  stopPrintingOn(stopping.signal);
  try {
    const app = await openApp({ ...options, quiet: true, signal: stopping.signal });
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
