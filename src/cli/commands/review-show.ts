// `jobmirror review show`: all about one entry, and the exact commands that can be run for it.
import { Command } from 'commander';
import type { EntryAction } from '../../plan/action.ts';
import { messageOfReason } from '../../plan/desired-change.ts';
import { escalates } from '../../review/escalation.ts';
import { type ActionableEntry, possibleActions } from '../../review/possible-actions.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { type EntryDetails, readEntry } from '../../store/review/review-entry.ts';
import { printJson, printLines } from '../../telemetry/print.ts';
import { commandWriter, type WriteCommand } from '../command-line.ts';
import { entryNumber } from '../option-values.ts';
import { describeEntry } from '../output/describe-entry.ts';
import { withApp } from '../with-app.ts';
import { actionLine, say, writeAction } from '../write-action.ts';

export function reviewShowCommand(): Command {
  return new Command('show')
    .description('show all about one entry, and what can be done about it')
    .argument('<id>', 'number of the entry', entryNumber)
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action((id: number, options: { config?: string; json?: boolean }) =>
      withApp(options, async ({ db, config }) => {
        const entry = await readEntry(db, id);
        if (entry === undefined) throw new UserError(`there is no open review entry ${id}`);
        const escalated = entry.kind === 'change' && escalates({ ...entry.change, kind: entry.change.state }, config);
        const actions = possibleActions(actionable(entry));
        const write = commandWriter(options.config);
        if (options.json === true) return printJson(toJson(entry, escalated, actions, write));
        const lines = actions.map((action) => actionLine(action, write));
        const possible = lines.length === 0 ? [] : ['', 'Possible:', ...lines];
        return printLines([...describeEntry(entry, escalated, write), ...possible]);
      }),
    );
}

function actionable(entry: EntryDetails): ActionableEntry {
  if (entry.kind === 'change') return entry.change;
  const { id, kind, discarded } = entry.record;
  return { id, state: discarded ? 'discarded' : kind, desired: undefined, invalid: false };
}

function toJson(entry: EntryDetails, escalated: boolean, actions: readonly EntryAction[], write: WriteCommand): object {
  const commands = actions.map((action) => writeAction(action, write));
  if (entry.kind === 'record') {
    const { id, feed, key, kind, problems, excerpt, since, ageMs, firstPull, discarded, records } = entry.record;
    const age_seconds = Math.floor(ageMs / 1000);
    return {
      id,
      feed,
      key: key ?? null,
      kind,
      discarded,
      since,
      age_seconds,
      problems,
      excerpt,
      first_pull: firstPull,
      records,
      actions,
      commands,
    };
  }
  const { change, live, edits, failures } = entry;
  return {
    id: change.id,
    feed: change.feed,
    site: change.site,
    key: change.key,
    kind: change.state,
    ...(change.discardedFrom === undefined ? {} : { discarded_from: change.discardedFrom }),
    operation: change.operation,
    since: change.since,
    age_seconds: Math.floor(change.ageMs / 1000),
    escalated,
    reason: change.reason === undefined ? null : say(messageOfReason(change.reason), write),
    problems: change.reason?.problems ?? [],
    note: change.reason?.note ?? null,
    attempts: change.attempts,
    sent_at: change.attempt?.startedAt ?? null,
    sent_fields: change.attempt?.fields ?? null,
    desired_fields: change.fields ?? null,
    site_job_id: live?.siteJobId ?? null,
    site_job_url: live?.url ?? null,
    site_fields: live?.fields ?? null,
    edits: edits.map(({ field, sourceValue, value }) => ({ field, source_value: sourceValue, value })),
    failures,
    actions,
    commands,
  };
}
