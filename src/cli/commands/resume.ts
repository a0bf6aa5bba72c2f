// `jobmirror resume`: ends what a person has paused, or resumes sending to a site that the program has paused, at once.
import type { Command } from 'commander';
import { resumeNamed } from '../../operations/pauses.ts';
import { singleCommand } from '../adapter/operation-command.ts';

export const resumeCommand = (): Command =>
  singleCommand(resumeNamed, {
    name: 'resume',
    arguments: ['name'],
    help: { paused_since: 'resume only if this is still the pause with this paused_since (see status --json)' },
    view({ site, was_paused, token_proven, note, ended, still = [] }) {
      const left = still.map(({ text }) => `Still: ${text}`);
      if (site === undefined) {
        const { feed = null, site: of = null } = ended ?? {};
        const what = feed !== null ? `feed ${feed}` : of === null ? 'everything' : `site ${of}`;
        const done =
          ended == null
            ? 'A person had not paused it.'
            : still.length > 0
              ? `The pause of ${what} is ended.`
              : `${what.charAt(0).toUpperCase()}${what.slice(1)} is resumed: a running worker, or the next sync, sends what is waiting.`;
        return [done, ...left];
      }
      return [
        ...(note === undefined ? [] : [`${note[0]?.toUpperCase()}${note.slice(1)}.`]),
        was_paused
          ? `Site ${site} is resumed: a running worker, or the next sync, sends what is waiting.`
          : `Site ${site} was not paused.`,
        ...(was_paused && token_proven !== true
          ? ['That its token may write is not proven: the next change tells.']
          : []),
        ...left,
      ];
    },
  });
