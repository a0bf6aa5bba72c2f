// `jobmirror review note`: adds a note to a group, for everybody who reviews, or removes one.
import { Command } from 'commander';
import { noteReviewGroup, removeReviewNote } from '../../operations/notes.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { ACTOR, runSingle, withCommon } from '../adapter/operation-command.ts';
import { groupId, positiveNumber } from '../adapter/option-values.ts';

interface NoteOptions {
  readonly config?: string;
  readonly remove?: number;
}

export function reviewNoteCommand(): Command {
  const command = new Command('note')
    .description('add a note to a group, or remove one')
    .argument('[group]', 'the group, see: review groups', groupId)
    .argument('[text]', 'the note')
    .option('--remove <note>', 'remove the note with this number, see: review show --group GROUP', positiveNumber)
    .option(...ACTOR);
  return withCommon(command, 'print one JSON object').action(
    async (group: string | undefined, text: string | undefined, options: NoteOptions) => {
      if (options.remove !== undefined) {
        const view = ({ note, group: of }: { note: number; group: string }) =>
          `Note ${note} of group ${of} is removed.`;
        return runSingle(removeReviewNote, { id: options.remove }, { view }, { ...options });
      }
      if (group === undefined || text === undefined) {
        throw new UserError('name a group and write the note: review note GROUP TEXT; or remove one: --remove NOTE');
      }
      const view = ({ note, group: of }: { note: number; group: string }) => `Note ${note} is added to group ${of}.`;
      return runSingle(noteReviewGroup, { group, text }, { view }, { ...options });
    },
  );
}
