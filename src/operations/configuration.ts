// The configuration of running processes: read again on request, and what became of it.
import { z } from 'zod';
import { pause } from '../flow/pause.ts';
import { type Reloaded, reloadedProcesses } from '../runtime/reload.ts';
import { requestReload } from '../store/access/reload-reports.ts';
import { operation } from './operation.ts';
import { count, time } from './scalars.ts';

const names = z.array(z.string());

const processOutput = z.strictObject({
  command: z.string(),
  host: z.string(),
  pid: count,
  at: time
    .nullable()
    .describe('When the configuration was last read again because it, or somebody, said so; `null`: not yet.'),
  result: z
    .enum(['begun', 'applied', 'unchanged', 'refused', 'failed', 'none'])
    .describe(
      '`begun`: it is being taken over. `applied`: it is in use. `refused`: it is wrong. `failed`: it could not be begun with. After both the former one stays in use. `none`: it was not read again yet.',
    ),
  cause: z.string().nullable().describe('`file`: a file had changed; `signal`: SIGHUP; or who asked for it.'),
  added: names.describe('Feeds.'),
  changed: names.describe('Feeds.'),
  removed: names.describe('Feeds. Their jobs and changes stay.'),
  sites: names.describe('Sites that were added, changed or removed.'),
  others: names.describe('Other groups of settings that were changed.'),
  restart: names.describe('Settings that differ and take effect with the next start, with the reason.'),
  problems: names.describe('What is wrong, with its place.'),
});

const reloadOutput = z
  .strictObject({
    processes: z.array(processOutput).describe('Processes that run `start`; `work` needs a restart.'),
    waiting: names.describe('Processes that have not answered yet.'),
  })
  .meta({ title: 'Reload' });

export const showReload = operation({
  id: 'showReload',
  path: '/reload',
  summary: 'What became of the last change of the configuration in each running process',
  scope: 'configure',
  reads: true,
  input: z.strictObject({}),
  output: reloadOutput,
  run: async (_input, { app }) => ({ processes: (await reloadedProcesses(app.db)).map(processJson), waiting: [] }),
});

/** A process stops sending first, which takes as long as a site may take for its answer. */
const ANSWERED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 200;

export const reloadConfiguration = operation({
  id: 'reload',
  path: '/reload',
  summary: 'Have all running processes read the configuration again, and wait for what becomes of it',
  scope: 'configure',
  input: z.strictObject({}),
  output: reloadOutput,
  async run(_input, { app, actor, signal }) {
    const before = await reloadedProcesses(app.db);
    const request = await requestReload(app.db, actor);
    const until = performance.now() + ANSWERED_WITHIN_MS;
    for (;;) {
      const now = await reloadedProcesses(app.db);
      // One that is taking a configuration over may not be seen for a moment.
      const all = new Map([...before, ...now].map((process) => [`${process.host} ${process.pid}`, process]));
      const waiting = [...all.values()].filter(({ last }) => (last?.reload ?? 0) < request);
      if (waiting.length === 0 || performance.now() > until || signal?.aborted === true) {
        return { processes: now.map(processJson), waiting: waiting.map(nameOf) };
      }
      await pause(LOOK_EVERY_MS, signal);
    }
  },
});

const nameOf = ({ command, host, pid }: Reloaded): string => `${command} (process ${pid} on ${host})`;

const processJson = ({ command, host, pid, last }: Reloaded): z.output<typeof processOutput> => ({
  command,
  host,
  pid,
  ...(last === undefined ? NOT_YET : reportJson(last)),
});

const NOT_YET = {
  at: null,
  result: 'none' as const,
  cause: null,
  added: [],
  changed: [],
  removed: [],
  sites: [],
  others: [],
  restart: [],
  problems: [],
};

function reportJson({ at, report }: NonNullable<Reloaded['last']>) {
  const { kind, cause, changes, restart, problems } = report;
  const { added, changed, removed, sites, others } = changes;
  return {
    at,
    result: kind,
    cause,
    added: [...added],
    changed: [...changed],
    removed: [...removed],
    sites: [...sites],
    others: [...others],
    restart: [...restart],
    problems: [...problems],
  };
}
