// Runs the work of a command that prints results on opened books, and closes them however it ends.
import { type Books, type BooksOptions, openBooks } from './books.ts';
import { stopPrintingOn } from './print.ts';
import { stopSignal } from './stop-signal.ts';

/** A signal ends the output; the database is closed and an embedded server stopped in any case. */
export async function withBooks<T>(
  options: BooksOptions,
  work: (books: Books, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stopping = stopSignal();
  stopPrintingOn(stopping.signal);
  try {
    const books = await openBooks({ ...options, quiet: true, signal: stopping.signal });
    try {
      stopping.signal.throwIfAborted();
      return await work(books, stopping.signal);
    } finally {
      await books.close();
    }
  } finally {
    stopping.release();
  }
}
