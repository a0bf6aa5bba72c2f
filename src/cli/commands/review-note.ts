// `jobmirror review note`: adds a note to a group, for everybody who reviews, or removes one.
import { Command } from 'commander';
import { type NoteEnd, noteGroup, removeGroupNote } from '../../review/group-note.ts';
import { noteJson } from '../../review/read-model/rule.ts';
import { UserError } from '../../runtime/exit-status.ts';
import type { GroupNote } from '../../store/review/group-notes.ts';
import { printJson, printLine } from '../../telemetry/print.ts';
import { actorName } from '../actor.ts';
import { groupId, positiveNumber } from '../option-values.ts';
import { withApp } from '../with-app.ts';

interface NoteOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly remove?: number;
}

export function reviewNoteCommand(): Command {
  return new Command('note')
    .description('add a note to a group, or remove one')
    .argument('[group]', 'the group, see: review groups', groupId)
    .argument('[text]', 'the note')
    .option('--remove <note>', 'remove the note with this number, see: review show --group GROUP', positiveNumber)
    .option('--as <name>', 'who says so, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action((group: string | undefined, text: string | undefined, options: NoteOptions) =>
      withApp(options, async ({ db }) => {
        const actor = actorName(options.as);
        const note = done(
          options.remove !== undefined
            ? await removeGroupNote(db, options.remove, actor)
            : await noteGroup(db, ...named(group, text), actor),
        );
        if (options.json === true) return printJson(noteJson(note));
        return printLine(
          options.remove === undefined
            ? `Note ${note.id} is added to group ${note.group}.`
            : `Note ${note.id} of group ${note.group} is removed.`,
        );
      }),
    );
}

function named(group: string | undefined, text: string | undefined): [string, string] {
  if (group !== undefined && text !== undefined) return [group, text];
  throw new UserError('name a group and write the note: review note GROUP TEXT; or remove one: --remove NOTE');
}

function done(end: NoteEnd): GroupNote {
  if (end.kind === 'done') return end.note;
  throw new UserError(end.message);
}
