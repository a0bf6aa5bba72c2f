// Delivers a report that may be larger than the memory: to a file, which appears once it is whole, or to standard output.
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileErrorInWords } from '../../../config/settings-file.ts';
import { UserError } from '../../../runtime/exit-status.ts';
import { printData } from '../../../telemetry/print.ts';

/** Takes the next text, with its line feeds; resolves when more may be written. */
export type Write = (text: string) => Promise<void>;

/**
 * Delivers what `work` writes.
 * @param file `undefined`: standard output, once everything is read, as a slow reader must not hold up the database.
 * @throws UserError if the file can't be written; then a former file of that name is unchanged.
 */
export async function deliver(file: string | undefined, work: (write: Write) => Promise<void>): Promise<void> {
  if (file !== undefined) return writeFile(resolve(file), work);
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-report-'));
  try {
    const spool = join(folder, 'report');
    await writeFile(spool, work);
    const lines = createInterface({ input: createReadStream(spool, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) await printData(line);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeFile(path: string, work: (write: Write) => Promise<void>): Promise<void> {
  const partial = `${path}.partial`;
  const out = createWriteStream(partial);
  const closed = once(out, 'close');
  const failed = once(out, 'error').then(([error]) => Promise.reject(error as Error));
  // Reported by the next write or by the end; never an unhandled rejection meanwhile.
  failed.catch(() => undefined);
  closed.catch(() => undefined);
  try {
    await Promise.race([once(out, 'open'), failed]);
    await work(async (text) => {
      if (out.errored !== null) throw out.errored;
      if (!out.write(text)) await Promise.race([once(out, 'drain'), failed]);
    });
    out.end();
    await Promise.race([closed, failed]);
    await rename(partial, path);
  } catch (error) {
    out.destroy();
    await rm(partial, { force: true });
    throw isOfFile(error)
      ? new UserError(`${path} can't be written: ${fileErrorInWords(error)}`, { cause: error })
      : error;
  }
}

const isOfFile = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error && ['open', 'write', 'close', 'rename'].includes(String(error.syscall));
