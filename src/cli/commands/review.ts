// `jobmirror review`: groups the commands for everything that needs a person.
import { Command } from 'commander';
import { reviewActionsCommand, reviewContinueCommand, reviewStopCommand } from './review-actions.ts';
import { reviewActivityCommand } from './review-activity.ts';
import { reviewDecisionCommands } from './review-bulk.ts';
import { reviewEditCommand } from './review-edit.ts';
import { reviewGroupsCommand } from './review-groups.ts';
import { reviewListCommand } from './review-list.ts';
import { reviewNoteCommand } from './review-note.ts';
import { reviewRulesCommand } from './review-rules.ts';
import { reviewSettleCommand } from './review-settle.ts';
import { reviewShowCommand } from './review-show.ts';
import { reviewUndoEditCommand } from './review-undo-edit.ts';

export function reviewCommand(): Command {
  const review = new Command('review');
  const parts = [
    reviewGroupsCommand(),
    reviewListCommand(),
    reviewShowCommand(),
    reviewEditCommand(),
    reviewUndoEditCommand(),
    ...reviewDecisionCommands(),
    reviewSettleCommand(),
    reviewNoteCommand(),
    reviewRulesCommand(),
    reviewActionsCommand(),
    reviewContinueCommand(),
    reviewStopCommand(),
    reviewActivityCommand(),
  ];
  for (const part of parts) review.addCommand(part.exitOverride().showHelpAfterError('(see --help)'));
  return review;
}
