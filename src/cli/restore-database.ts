// Restores a backup into the configured database, and says what to do next.
import { resolve } from 'node:path';
import { plural } from '../plan/message.ts';
import { openServer, readConfig } from '../runtime/app.ts';
import { stopSignal, UserError } from '../runtime/stop-signal.ts';
import { BackupFileError, type BackupSummary, checkBackup } from '../store/backup/read-backup.ts';
import type { SetAside } from '../store/backup/restore-backup.ts';
import { type RestoreRefusal, restoreBackup } from '../store/backup/restore-backup.ts';
import { openDatabase } from '../store/postgres/database.ts';
import { onUsableServer, UnusableServerError } from '../store/postgres/usable-server.ts';
import { ask, printJson, printLine, printNotice } from '../telemetry/print.ts';
import { actorName, commandWriter } from './adapter/command-line.ts';
import { describeSummary, summaryJson } from './back-up.ts';

export interface RestoreCommandOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly check?: boolean;
  readonly replace?: boolean;
  readonly yes?: boolean;
  readonly as?: string;
}

/** Reads the whole file. Throws a UserError that says why it can't be restored; nothing was changed. */
async function readWhole(file: string, signal: AbortSignal): Promise<BackupSummary> {
  try {
    return await checkBackup(resolve(file), signal);
  } catch (error) {
    throw explained(error, file);
  }
}

function explained(error: unknown, file: string): unknown {
  if (error instanceof BackupFileError)
    return new UserError(`${file} can't be restored: ${error.message}. Nothing was changed`);
  const { message, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? error : new UserError(`${file} can't be read: ${message}. Nothing was changed`);
}

export async function checkFile(file: string, { json }: RestoreCommandOptions): Promise<void> {
  const stopping = stopSignal();
  const summary = await readWhole(file, stopping.signal).finally(() => stopping.release());
  if (json === true) return printJson({ file: resolve(file), whole: true, ...summaryJson(summary) });
  await printLine(`${file} is whole: ${describeSummary(summary)}.`);
}

export async function restore(file: string, options: RestoreCommandOptions): Promise<void> {
  const stopping = stopSignal();
  try {
    const summary = await readWhole(file, stopping.signal);
    const config = await readConfig(options);
    const server = await openServer(config, printNotice, stopping.signal);
    const db = openDatabase(server.url, { max: 1 });
    try {
      await onUsableServer(db, async () => undefined).catch((cause: Error) => {
        throw cause instanceof UnusableServerError ? new UserError(`database: ${cause.message}`, { cause }) : cause;
      });
      if (options.replace === true && options.yes !== true) await confirm(file, summary);
      stopping.signal.throwIfAborted();
      const how = { replace: options.replace === true, actor: actorName(options.as), signal: stopping.signal };
      const result = await restoreBackup(db, resolve(file), how).catch((error: unknown) => {
        throw explained(error, file);
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
  } finally {
    stopping.release();
  }
}

async function confirm(file: string, summary: BackupSummary): Promise<void> {
  const effect = `This replaces everything in the configured database by ${file}: ${describeSummary(summary)}.`;
  const answer = await ask(`${effect}\nReplace it? [y/N] `);
  if (answer === undefined)
    throw new UserError(`${effect}\nNothing was changed. To do it without being asked: --replace --yes`);
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new UserError('Nothing was changed.');
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

const setAsideJson = (setAside: SetAside): Record<string, number> => ({
  feeds: setAside.feeds,
  held_deletes: setAside.heldDeletes,
  waiting_creates: setAside.waitingCreates,
  dropped_orphans: setAside.orphans,
  unsent_messages: setAside.messages,
  stopped_actions: setAside.bulkActions,
  unread_uploads: setAside.uploads,
});

async function describe(backup: BackupSummary, setAside: SetAside, config: string | undefined): Promise<void> {
  const write = commandWriter(config);
  await printLine(`Restored ${describeSummary(backup)}.`);
  await printLine('What was sent since the backup is not known. Therefore:');
  for (const line of consequences(setAside)) await printLine(`  - ${line}`);
  await printLine('Next:');
  await printLine(`  1. See whether the configuration is that of the backup: ${write(['check'])}`);
  await printLine(
    `  2. Set again what the sites have in an older or newer form, and what is gone: ${write(['verify', '--repair'])}`,
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
}: SetAside): Generator<string> {
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
