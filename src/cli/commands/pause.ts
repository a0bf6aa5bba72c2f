// `jobmirror pause`: stops sending for a feed, a site or everything, until a person resumes it or until a time.
import type { Command } from 'commander';
import { pauseNamed } from '../../operations/pauses.ts';
import { plural } from '../../plan/message.ts';
import { singleCommand } from '../adapter/operation-command.ts';

export const pauseCommand = (): Command =>
  singleCommand(pauseNamed, {
    name: 'pause',
    arguments: ['name'],
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
