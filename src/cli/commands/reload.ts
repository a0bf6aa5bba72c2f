// `jobmirror reload`: has running processes read the configuration again, and says what changed in each.
import type { Command } from 'commander';
import { reloadConfiguration } from '../../operations/configuration.ts';
import { ExitStatus } from '../../runtime/stop-signal.ts';
import { singleCommand } from '../adapter/operation-command.ts';

type Reloaded = Awaited<ReturnType<typeof reloadConfiguration.run>>;

export const reloadCommand = (): Command =>
  singleCommand(reloadConfiguration, {
    name: 'reload',
    view: ({ processes, waiting }) =>
      processes.length + waiting.length === 0
        ? 'No process runs start: the next one reads the configuration by itself.'
        : [
            ...processes.flatMap(processLines),
            ...waiting.map((process) => `${process} has not answered yet; status shows what became of it.`),
          ],
    exitStatus: ({ processes, waiting }) =>
      waiting.length > 0 || processes.some(({ result }) => result === 'refused' || result === 'failed')
        ? ExitStatus.failed
        : undefined,
  });

const SAID: Readonly<Record<Reloaded['processes'][number]['result'], string>> = {
  begun: 'is taking the changed configuration over',
  applied: 'uses the changed configuration',
  unchanged: 'has this configuration already',
  refused: 'keeps the former configuration, because the changed one is wrong',
  failed: 'keeps the former configuration, because the changed one could not be used',
  none: 'has not read it again',
};

function processLines(process: Reloaded['processes'][number]): readonly string[] {
  const { command, host, pid, result, restart, problems } = process;
  const lists = [
    ['feeds added', process.added],
    ['feeds changed', process.changed],
    ['feeds removed (their jobs stay)', process.removed],
    ['sites', process.sites],
    ['also changed', process.others],
  ] as const;
  return [
    `${command} (process ${pid} on ${host}) ${SAID[result]}.`,
    ...lists.flatMap(([what, names]) => (names.length === 0 ? [] : [`  ${what}: ${names.join(', ')}`])),
    ...restart.map((setting) => `  needs a restart: ${setting}`),
    ...problems.map((problem) => `  problem: ${problem}`),
  ];
}
