// When output is closed or the terminal hangs up, commands end as after SIGTERM, with everything closed.
// @module-tag slow
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { startProgram } from './program.ts';
import { runProgram } from './run-program.ts';

const mirror = openedForEach(() =>
  openMirror({ site: { limits: '{ requests_per_second: 20, concurrency: 2, timeout_seconds: 5 }' } }),
);

const start = (...args: readonly string[]) =>
  startProgram([...args, '--config', mirror.configPath], { cwd: mirror.folder, env: mirror.env });

/** No command has a database session left, and nothing is recorded as being sent. */
async function nothingLeft(): Promise<void> {
  expect(await mirror.query(`select state from change where state in ('sending', 'in_doubt')`)).toEqual([]);
}

describe('standard output is closed', () => {
  it('a list ends with status 0', async () => {
    await mirror.syncOf(postings(30));
    const program = start('mappings', 'list', '--json');
    program.process.stdout?.destroy();
    expect(await program.ended).toEqual({ status: 0, signal: null });
    expect(program.errors()).toBe('');
  });

  it('a completed sync succeeds', async () => {
    await mirror.writeFeed(feedXml(postings(3)));
    const program = start('sync');
    program.process.stdout?.destroy();
    expect(await program.ended).toEqual({ status: 0, signal: null });
    expect((await mirror.siteJobs()).size).toBe(3);
  });

  it('a service stops when standard error is closed', async () => {
    const program = start('work');
    await once(program.process.stderr as NonNullable<typeof program.process.stderr>, 'data');
    program.process.stderr?.destroy();
    // Its next log line fails; it then ends as after SIGTERM. What the sync sends itself causes none.
    let ended = false;
    void program.ended.then(() => {
      ended = true;
    });
    for (let count = 3; !ended; count += 3) {
      await mirror.writeFeed(feedXml(postings(count)));
      await runProgram(mirror, 'sync');
    }
    expect((await program.ended).signal).toBeNull();
    await nothingLeft();
  });
});

describe.each(['SIGHUP', 'SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('ends a sync after its requests in flight are finished and recorded', async () => {
    await mirror.writeFeed(feedXml(postings(100)));
    const program = start('sync', '--json');
    let seen = 0;
    await mirror.sandbox.requests.next(({ method }) => method === 'POST' && ++seen === 3);
    program.process.kill(signal);
    expect(await program.ended).toEqual({ status: 1, signal: null });
    await nothingLeft();
    const [report] = program
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(report.created).toBe((await mirror.siteJobs()).size);
  });
});
