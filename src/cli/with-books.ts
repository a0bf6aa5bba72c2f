// Runs the work of a command that prints results on opened books, and closes them however it ends.
import { type Books, type BooksOptions, openBooks } from './books.ts';

export async function withBooks<T>(options: BooksOptions, work: (books: Books) => Promise<T>): Promise<T> {
  const books = await openBooks({ ...options, quiet: true });
  try {
    return await work(books);
  } finally {
    await books.close();
  }
}
