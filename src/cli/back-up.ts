// Backs up the database, and says what the file has.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { plural } from '../plan/message.ts';
import type { App } from '../runtime/app.ts';
import { UserError } from '../runtime/stop-signal.ts';
import { BackupFileError, type BackupSummary } from '../store/backup/read-backup.ts';
import { backUpToFile } from '../store/backup/write-backup.ts';
import { printJson, printLine } from '../telemetry/print.ts';
import { programVersion } from './program-version.ts';

export interface BackupCommandOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

export async function backUp(
  app: App,
  file: string,
  { force = false, json }: BackupCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const path = resolve(file);
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing?.isDirectory() === true) throw new UserError(`${file} is a folder; name a file in it`);
  if (existing !== undefined && !force) throw alreadyThere(file);
  const summary = await backUpToFile(app.db, path, { version: programVersion, force, signal }).catch(
    (error: unknown) => {
      throw explained(error, file, signal);
    },
  );
  if (json === true) return printJson({ file: path, ...summaryJson(summary) });
  await printLine(`Backup written to ${file}, read back and found whole: ${describeSummary(summary)}.`);
  await printLine(
    'Its file mode is 0600, as it has the texts of all postings. The configuration, with its tokens and passwords, is not in it.',
  );
}

const alreadyThere = (file: string): UserError =>
  new UserError(`${file} exists; to replace it once the new backup is whole: --force`);

function explained(error: unknown, file: string, signal: AbortSignal): unknown {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  if (signal.aborted) return error;
  if (code === 'EEXIST') return alreadyThere(file);
  if (error instanceof BackupFileError)
    return new UserError(
      `no backup was written: what was read back differs from what was written (${message}); the disk may be failing`,
    );
  if (syscall !== undefined) return new UserError(`no backup was written to ${file}: ${message}`);
  return error;
}

/** A backup, as JSON: how `backup`, `restore` and `restore --check` show it. */
export function summaryJson({ header, tables, rows, bytes }: BackupSummary): Record<string, unknown> {
  const { at, installation, jobmirror, postgres, migrations } = header;
  return { made_at: at, installation, jobmirror, postgres, schema: migrations.at(-1), tables, rows, bytes };
}

export function describeSummary({ header, tables, rows, bytes }: BackupSummary): string {
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return (
    `${plural(rows, 'row')} of ${plural(tables, 'table')} as of ${header.at}, ${size}, from jobmirror ${header.jobmirror} on ` +
    `Postgres ${header.postgres}`
  );
}
