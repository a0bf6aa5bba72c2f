// Old rows are removed however jobmirror is run: by `sync` from cron as well as by `start` and `work`.
// @module-tag slow
import { appendFile } from 'node:fs/promises';
import { afterEach, expect, it } from 'vitest';
import { startProgram } from '../cli/program.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

async function open(): Promise<void> {
  mirror = await openMirror();
  await mirror.writeFeed(feedXml(postings(2)));
  await mirror.query(
    `insert into request (feed, key, at, operation, outcome, duration_ms)
     select 'acme', 'old ' || n, now() - interval '400 days', 'create', 'created', 1 from generate_series(1, 50) n`,
  );
}

const oldRows = async () => {
  return (await mirror.query(`select from request where key like 'old %'`)).length;
};

it('with sync, once an hour, without a message', async () => {
  await open();
  expect(await runProgram(mirror, 'sync')).toMatchObject({
    status: 0,
    errors: expect.not.stringContaining('old rows'),
  });
  expect(await oldRows()).toBe(0);
  const [first] = await mirror.query('select old_rows_removed_at from installation');
  await runProgram(mirror, 'sync');
  expect(await mirror.query('select old_rows_removed_at from installation')).toEqual([first]);
});

it.each(['start', 'work'])('with %s, soon after its start', async (command) => {
  await open();
  await appendFile(mirror.configPath, 'listen: { port: 0 }\n');
  const running = startProgram([command, '--config', mirror.configPath], { cwd: mirror.folder, env: mirror.env });
  await expect.poll(oldRows).toBe(0);
  running.process.kill('SIGTERM');
  await running.ended;
});
