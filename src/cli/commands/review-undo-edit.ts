// `jobmirror review undo-edit`: undoes what a person has set in one posting.
import type { Command } from 'commander';
import { undoEdit } from '../../operations/postings.ts';
import { singleCommand } from '../adapter/operation-command.ts';

export const reviewUndoEditCommand = (): Command =>
  singleCommand(undoEdit, {
    name: 'undo-edit',
    description: 'undo edits of one posting; the next sync of its feed brings back what the source has',
    arguments: ['feed', 'key', 'fields'],
    flags: { version: 'if-version' },
    help: {
      feed: 'name of the feed',
      key: "the posting's key, exactly as in the feed",
      fields: 'site fields (default: all that were edited)',
      version: 'only if its edits are still as why --json printed them with this edits_version',
    },
    view: ({ feed, key, undone, message }) => `${feed}: ${key}: undone: ${undone.join(', ')}; ${message}`,
  });
