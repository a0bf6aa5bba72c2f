// `jobmirror reload`: has running processes read the configuration again, and says what changed in each.
import type { Command } from 'commander';
import { changesInWords, reloadConfiguration, reloadedInWords } from '../../operations/configuration.ts';
import { ExitStatus } from '../../runtime/stop-signal.ts';
import { singleCommand } from '../adapter/operation-command.ts';

export const reloadCommand = (): Command =>
  singleCommand(reloadConfiguration, {
    name: 'reload',
    view: ({ processes, waiting }) =>
      processes.length + waiting.length === 0
        ? 'No process runs start: the next one reads the configuration by itself.'
        : [
            ...processes.flatMap((process) => [
              reloadedInWords(process),
              ...changesInWords(process).map((line) => `  ${line}`),
            ]),
            ...waiting.map((process) => `${process} has not answered yet; status shows what became of it.`),
          ],
    exitStatus: ({ processes, waiting }) =>
      waiting.length > 0 || processes.some(({ result }) => result === 'refused' || result === 'failed')
        ? ExitStatus.failed
        : undefined,
  });
