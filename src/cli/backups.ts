// Backs up the database, and says what the file has; restores a backup into the configured database, and says what to do next.
import { resolve } from 'node:path';
import { programVersion } from '../config/package-root.ts';
import { plural } from '../plan/message.ts';
import { type App, openServer, readConfig } from '../runtime/app.ts';
import { UserError, untilSignalled } from '../runtime/stop-signal.ts';
import { BackupFileError, type BackupSummary, checkBackup } from '../store/backup/read-backup.ts';
import { type RestoreRefusal, restoreBackup, type SetAsideData } from '../store/backup/restore-backup.ts';
import { backUpToFile } from '../store/backup/write-backup.ts';
import { openDatabase } from '../store/postgres/database.ts';
import { ForeignTablesError } from '../store/postgres/migrate.ts';
import { onUsableServer, UnusableServerError } from '../store/postgres/usable-server.ts';
import { printJson, printLine, printNotice } from '../telemetry/print.ts';
import { actorName, type CommonOptions, commandWriter, fileToReplace } from './adapter/command-line.ts';
import { expectAgreement } from './adapter/with-app.ts';

export interface BackupCommandOptions extends CommonOptions {
  readonly force?: boolean;
}

export async function backUp(
  app: App,
  file: string,
  { force = false, json }: BackupCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const path = resolve(file);
  if (fileToReplace(path) !== undefined && !force) throw alreadyThere(file);
  const summary = await backUpToFile(app.db, path, { version: programVersion(), force, signal }).catch(
    (error: unknown) => {
      throw whyNotBackedUp(error, file, signal);
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

function whyNotBackedUp(error: unknown, file: string, signal: AbortSignal): unknown {
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
function summaryJson({ header, tables, rows, bytes }: BackupSummary): Record<string, unknown> {
  const { at, installation, jobmirror, postgres, migrations } = header;
  return { made_at: at, installation, jobmirror, postgres, schema: migrations.at(-1), tables, rows, bytes };
}

function describeSummary({ header, tables, rows, bytes }: BackupSummary): string {
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return (
    `${plural(rows, 'row')} of ${plural(tables, 'table')} as of ${header.at}, ${size}, from jobmirror ${header.jobmirror} on ` +
    `Postgres ${header.postgres}`
  );
}

// Restores a backup.

export interface RestoreCommandOptions extends CommonOptions {
  readonly check?: boolean;
  readonly replace?: boolean;
  readonly yes?: boolean;
}

/** Reads the whole file. Throws a UserError that says why it can't be restored; nothing was changed. */
async function readWhole(file: string, signal: AbortSignal): Promise<BackupSummary> {
  try {
    return await checkBackup(resolve(file), signal);
  } catch (error) {
    throw whyNotRestored(error, file);
  }
}

function whyNotRestored(error: unknown, file: string): unknown {
  if (error instanceof BackupFileError)
    return new UserError(`${file} can't be restored: ${error.message}. Nothing was changed`);
  const { message, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof ForeignTablesError) return new UserError(`the database: ${message}. Nothing was changed`);
  return syscall === undefined ? error : new UserError(`${file} can't be read: ${message}. Nothing was changed`);
}

export async function checkFile(file: string, { json }: RestoreCommandOptions): Promise<void> {
  const summary = await untilSignalled((signal) => readWhole(file, signal));
  if (json === true) return printJson({ file: resolve(file), whole: true, ...summaryJson(summary) });
  await printLine(`${file} is whole: ${describeSummary(summary)}.`);
}

export const restore = (file: string, options: RestoreCommandOptions): Promise<void> =>
  untilSignalled(async (signal) => {
    const summary = await readWhole(file, signal);
    const config = await readConfig(options);
    const server = await openServer(config, printNotice, signal);
    const db = openDatabase(server.url, { max: 1 });
    try {
      await onUsableServer(db, async () => undefined).catch((cause: Error) => {
        throw cause instanceof UnusableServerError ? new UserError(`database: ${cause.message}`, { cause }) : cause;
      });
      if (options.replace === true && options.yes !== true) await confirm(file, summary);
      signal.throwIfAborted();
      const how = { replace: options.replace === true, actor: actorName(options.as), signal };
      const result = await restoreBackup(db, resolve(file), how).catch((error: unknown) => {
        throw whyNotRestored(error, file);
      });
      if (result.kind !== 'restored') throw refused(result);
      if (options.json === true)
        await printJson({
          restored: true,
          file: resolve(file),
          ...summaryJson(result.backup),
          ...setAsideJson(result.setAside),
        });
      else await describe(result.backup, result.setAside, options.config);
    } finally {
      await db.close();
      await server.leave();
    }
  });

async function confirm(file: string, summary: BackupSummary): Promise<void> {
  const effect = `This replaces everything in the configured database by ${file}: ${describeSummary(summary)}.`;
  await expectAgreement(
    [effect],
    'Replace it?',
    'Nothing was changed.',
    ' To do it without being asked: --replace --yes',
  );
}

function refused(refusal: RestoreRefusal): UserError {
  switch (refusal.kind) {
    case 'in_use':
      return new UserError(
        `processes of jobmirror use the database (${refusal.processes.join('; ')}): stop all of them, on all machines. Nothing was changed`,
      );
    case 'not_empty':
      return new UserError(
        `the database is not empty: it has ${plural(refusal.jobs, 'job')} and ${plural(refusal.pulls, 'pull')}. ` +
          'Configure another one, or replace it: --replace. Nothing was changed',
      );
    case 'newer_database':
      return new UserError(
        `a newer version of jobmirror uses the database (${refusal.migrations.join(', ')}): update jobmirror, or configure an empty ` +
          'database. Nothing was changed',
      );
    case 'older_database':
      return new UserError(`${refusal.reason}, or configure an empty database. Nothing was changed`);
    default:
      return refusal satisfies never;
  }
}

const setAsideJson = (setAside: SetAsideData): Record<string, number> => ({
  feeds: setAside.feeds,
  held_deletes: setAside.heldDeletes,
  waiting_creates: setAside.waitingCreates,
  dropped_orphans: setAside.orphans,
  unsent_messages: setAside.messages,
  stopped_actions: setAside.bulkActions,
  unread_uploads: setAside.uploads,
});

async function describe(backup: BackupSummary, setAside: SetAsideData, config: string | undefined): Promise<void> {
  const write = commandWriter(config);
  await printLine(`Restored ${describeSummary(backup)}.`);
  await printLine('What was sent since the backup is not known. Therefore:');
  for (const line of consequences(setAside)) await printLine(`  - ${line}`);
  await printLine('Next:');
  await printLine(`  1. See whether the configuration is that of the backup: ${write(['check'])}`);
  await printLine(
    `  2. Find the jobs made since, and what is gone or differs, for each feed: ${write(['recover', 'FEED', '--yes'])}; ` +
      `if its site has no list_path: ${write(['verify', 'FEED', '--repair'])}`,
  );
  await printLine(`  3. Pull and send: ${write(['sync'])} or ${write(['start'])}`);
  await printLine(`  4. See what waits for you: ${write(['status'])}`);
  await printLine(
    'The installation that the backup was made from must not run any more: both would mirror the same feeds.',
  );
}

function* consequences({
  heldDeletes,
  waitingCreates,
  orphans,
  messages,
  bulkActions,
  uploads,
}: SetAsideData): Generator<string> {
  const waiting = waitingCreates === 0 ? '' : `; ${plural(waitingCreates, 'create')} of the backup wait for it`;
  yield `nothing is created until the site was searched for the feed's jobs, and jobs that are found wait in review${waiting}`;
  yield 'the next pull of each feed reads the whole feed, whether it has changed or not';
  if (uploads > 0)
    yield `${plural(uploads, 'feed')} with uploaded files: nothing is read until the newest file is uploaded again, even if the backup has it`;
  yield 'jobmirror asks the site for a job of the backup before it changes or deletes it, for 30 days';
  if (heldDeletes > 0)
    yield `${plural(heldDeletes, 'delete')} that waited: held until the next complete pull decides again`;
  if (orphans > 0) yield `${plural(orphans, 'job')} without a posting, which was to be deleted, stays on the site`;
  if (messages > 0)
    yield `${plural(messages, 'message')} of alerts that waited: not sent, as it may have been sent since`;
  if (bulkActions > 0) yield `${plural(bulkActions, 'action')} on many review entries: stopped`;
  yield 'everybody has to sign in to the pages again';
}
