// `jobmirror pause`: stops sending for a feed, a site or everything, until a person resumes it or until a time.
import type { Command } from 'commander';
import { pauseNamed, resumeNamed } from '../../operations/pauses.ts';
import { type Notice, plural } from '../../plan/message.ts';
import { singleCommand } from '../adapter/operation-command.ts';

export const pauseCommand = (): Command =>
  singleCommand(pauseNamed, {
    name: 'pause',
    arguments: ['name'],
    // Whatever else is wrong, a person can stop it.
    needs: 'database',
    view({ pause, changed, in_flight }) {
      const pulls = pause.pulls
        ? 'Its sources are not read either.'
        : 'Pulls go on, and what they find waits; with --pulls they stop too.';
      const flight =
        in_flight === 0
          ? []
          : [
              `${plural(in_flight, 'request')} that had begun ${in_flight === 1 ? 'ends' : 'end'}, with the answer recorded.`,
            ];
      const { text } = pause.message;
      return [
        `${text.charAt(0).toUpperCase()}${text.slice(1)}`,
        ...(changed ? ['It was paused already.'] : []),
        pulls,
        ...flight,
      ];
    },
  });

// `jobmirror resume`: ends what a person has paused, or resumes sending to a site that the program has paused, at once.

/** What still stops what was resumed. */
export const stillLines = (still: readonly Notice[]): string[] => still.map(({ text }) => `Still: ${text}`);

export const resumeCommand = (): Command =>
  singleCommand(resumeNamed, {
    name: 'resume',
    arguments: ['name'],
    help: { paused_since: 'resume only if this is still the pause with this paused_since (see status --json)' },
    view({ site, was_paused, compared, token_proven, note, ended, still = [] }) {
      const left = stillLines(still);
      if (site === undefined) {
        const { feed = null, site: of = null } = ended ?? {};
        const what = feed !== null ? `feed ${feed}` : of === null ? 'everything' : `site ${of}`;
        const done =
          ended == null
            ? 'Nobody had paused it.'
            : still.length > 0
              ? `The pause of ${what} is ended.`
              : `${what.charAt(0).toUpperCase()}${what.slice(1)} is resumed: a running worker, or the next sync, sends what is waiting.`;
        return [done, ...left];
      }
      return [
        ...(note === undefined ? [] : [`${note[0]?.toUpperCase()}${note.slice(1)}.`]),
        was_paused
          ? `Site ${site} is resumed: a running worker, or the next sync, sends what is waiting.`
          : compared === undefined
            ? `Site ${site} was not paused.`
            : `Site ${site} is taken for the same at its new address: a running worker, or the next sync, sends what is waiting.`,
        ...(was_paused && token_proven !== true
          ? ['That its token may write is not proven: the next change tells.']
          : []),
        ...left,
      ];
    },
  });
