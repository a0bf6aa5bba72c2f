// A signal while a command prepares its database: the command ends without working, and leaves no server behind.
// @module-tag slow
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newDataFolder, postmasterPid, temporaryFolder } from '../embedded-postgres/data-folder.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { startProgram } from './program.ts';

it.each([
  { command: ['start'], signal: 'SIGTERM', status: 0 },
  { command: ['work'], signal: 'SIGINT', status: 0 },
  { command: ['sync', '--verbose'], signal: 'SIGHUP', status: 1 },
] as const)('$signal ends $command while the first database is being created', async ({ command, signal, status }) => {
  const cwd = temporaryFolder();
  const dataDir = newDataFolder();
  writeFileSync(join(cwd, 'feed.xml'), feedXml(postings(2)));
  writeFileSync(
    join(cwd, 'jobmirror.yaml'),
    `data_dir: ${JSON.stringify(dataDir)}
listen: { port: 0 }
sites: { board: { base_url: "http://127.0.0.1:9", token: "\${TOKEN}" } }
feeds: { acme: { source: feed.xml, format: indeed, site: board } }
`,
  );
  const program = startProgram(command, { cwd, env: { TOKEN: 'a-token-of-this-test' } });
  const { stderr } = program.process;
  while (!program.errors().includes('Preparing a database')) await once(stderr as NonNullable<typeof stderr>, 'data');
  program.process.kill(signal);
  expect(await program.ended).toEqual({ status, signal: null });
  expect(postmasterPid(dataDir)).toBeUndefined();
  expect(program.errors()).not.toMatch(/"msg":"(started|working)"|out of reach|\n\s+at /);
  if (status === 1) expect(program.errors()).toContain(`jobmirror: stopped by ${signal}`);
});
