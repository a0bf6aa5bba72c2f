// Nothing goes out once a pause is committed, from whatever process; nothing is lost by it, and afterwards everything is sent once.
import { describe } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

describe('a pause while several processes send', { concurrent: true }, () => {
  it.for([
    { of: 'everything', what: ['--all'], workers: 'working' },
    { of: 'the site', what: ['board', '--pulls'], workers: 'killed' },
  ] as const)(
    'of $of ends it all, with the workers $workers',
    { timeout: 900_000 },
    async ({ what, workers: then }, { open, expect }) => {
      const installation = await open({
        // The sandbox shares this process: a late response must not become a doubt.
        site: {
          limits: '{ requests_per_second: 40, concurrency: 4, timeout_seconds: 15 }',
          doubts: '{ resolve_after_seconds: 16 }',
        },
      });
      const feed = postings(400);
      await installation.writeFeed(feedXml(feed));
      // Opened first: the site then needs no search before the first create.
      const { db } = await installation.app();
      const workers = [installation.spawn(['work']), installation.spawn(['work'])];
      const sync = installation.spawn(['sync', '--json']);
      const { sandbox } = installation;
      await expect.poll(() => sandbox.inspect.count(), { timeout: 120_000 }).toBeGreaterThan(2 + 20);

      const paused = await runProgram(installation, 'pause', ...what, '--json');
      expect(paused.status).toBe(0);
      // From here on no attempt begins: those that had begun end, and their number does not grow.
      const attempts = () =>
        db.query<{ n: number }>(
          'select coalesce(sum(attempts), 0)::int + (select count(*)::int from mapping) as n from change',
        );
      const [before] = await attempts();
      const { status, output } = await sync.ended;
      // Its progress precedes the report.
      expect([status, JSON.parse(output.trim().split('\n').at(-1) ?? '')]).toMatchObject([
        2,
        { status: 'pending', paused: true },
      ]);
      const left = () => db.query(`select from change where state = 'sending'`);
      await expect.poll(left, { timeout: 60_000 }).toEqual([]);
      if (then === 'killed') for (const { child } of workers) child.kill('SIGKILL');
      const sent = await sandbox.inspect.count();
      expect(sent).toBeLessThan(400);
      sandbox.requests.clear();
      const again = await runProgram(installation, 'sync', '--json');
      expect([again.status, again.json()]).toMatchObject([2, [{ paused: true, requests: expect.any(Number) }]]);
      expect(sandbox.requests.recent()).toEqual([]);
      expect(await attempts()).toEqual([before]);
      expect(await sandbox.inspect.count()).toBe(sent);

      expect((await runProgram(installation, 'resume', ...what.slice(0, 1))).status).toBe(0);
      await heal(installation);
      await checkLaws(installation, feed);
    },
  );
});
