// `jobmirror resume`: resumes sending to a paused site, at once.
import type { Command } from 'commander';
import { resumeSiteAnywhere } from '../../operations/sites.ts';
import { singleCommand } from '../adapter/operation-command.ts';

export const resumeCommand = (): Command =>
  singleCommand(resumeSiteAnywhere, {
    name: 'resume',
    arguments: ['site'],
    help: { paused_since: 'resume only if this is still the pause with this paused_since (see status --json)' },
    view({ site, was_paused, token_proven, note }) {
      const lines = [
        ...(note === undefined ? [] : [`${note[0]?.toUpperCase()}${note.slice(1)}.`]),
        was_paused
          ? `Site ${site} is resumed: a running worker, or the next sync, sends what is waiting.`
          : `Site ${site} was not paused.`,
        ...(was_paused && !token_proven ? ['That its token may write is not proven: the next change tells.'] : []),
      ];
      return lines.join('\n');
    },
  });
