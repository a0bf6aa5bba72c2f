// Processes with different configurations on one database: none removes another's schedules or holds back its changes.
// @module-tag slow
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import type { Installation } from '../laws/installation.ts';
import { lawTest as it, QUEUES } from '../laws/law-test.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';

/** Writes another configuration, with the feed `name` instead of `acme`. Returns its path. */
async function configure(installation: Installation, name: string, lines: readonly string[] = []): Promise<string> {
  const text = await readFile(installation.configPath, 'utf8');
  const path = join(installation.folder, `${name}.yaml`);
  const own = text.replace(/^ {2}acme:$/m, `  ${name}:`).replace('feed.xml', `${name}.xml`);
  await writeFile(path, `${own}${lines.map((line) => `    ${line}\n`).join('')}listen: { port: 0 }\n`);
  await writeFile(join(installation.folder, `${name}.xml`), feedXml(postings(3)));
  return path;
}

const start = (installation: Installation, path: string) =>
  installation.spawn(['start', '--config', path], { NO_COLOR: '1' });

/** Longer than a busy machine takes to answer: no create is in doubt. */
const PATIENT = patientSite(30);

describe.each(QUEUES)('with the queue in $queue $note', ({ queue, available }) => {
  it.skipIf(!available)(
    'each process pulls its own feeds, a leader sends the changes of feeds that it does not know, and the difference is reported',
    { timeout: 180_000 },
    async ({ open }) => {
      const installation = await open({ queue, site: PATIENT });
      const everySecond = ['schedule: "* * * * * *"'];
      const [one, two] = [
        await configure(installation, 'one', everySecond),
        await configure(installation, 'two', everySecond),
      ];
      const { db } = await installation.app();
      const pullsOf = async (feed: string) =>
        (await db.query('select from pull where feed = $1 and committed_at is not null', [feed])).length;
      const pulled = (feed: string, times: number) => expect.poll(() => pullsOf(feed)).toBeGreaterThanOrEqual(times);

      const leading = start(installation, one);
      await leading.started;
      await pulled('one', 1);
      // Feed two has the same references: its search of the site would find jobs of feed one that are created, but not yet recorded.
      const mapped = async () => (await db.query(`select from mapping where feed = 'one'`)).length;
      await expect.poll(mapped).toBe(3);
      const synced = await runProgram({ ...installation, configPath: two }, 'sync');
      expect(synced).toMatchObject({ status: 0, out: expect.stringMatching(/^two: .* 3 created/m) });
      expect([...(await installation.siteJobs()).keys()]).toEqual(expect.arrayContaining(['p1', 'p2', 'p3']));

      const following = start(installation, two);
      await pulled('two', (await pullsOf('two')) + 1);
      const status = await runProgram({ ...installation, configPath: one }, 'status');
      expect(status.out).toMatch(/different configurations.*feed one is missing from start \(process \d+/);
      const schedules = await db.query('select feed from feed_schedule order by feed');
      expect(schedules).toEqual([{ feed: 'one' }, { feed: 'two' }]);
      const [ofOne, ofTwo] = [await pullsOf('one'), await pullsOf('two')];
      await pulled('one', ofOne + 2);
      await pulled('two', ofTwo + 2);
      following.child.kill('SIGTERM');
      expect((await following.ended).output).toMatch(
        /different configurations.*feed two is missing from start \(process \d+/,
      );
    },
  );
});

it('a stored schedule that cannot be read stops no other feed, and is reported', async ({ open }) => {
  const installation = await open();
  const path = await configure(installation, 'one', ['schedule: "* * * * * *"']);
  const one = (await readFile(path, 'utf8')).match(/^ {2}one:\n(?: {4}.*\n)+/m)?.[0] ?? '';
  await writeFile(
    path,
    (await readFile(path, 'utf8')).replace(one, one + one.replace('one:', 'two:').replace('one.xml', 'two.xml')),
  );
  await writeFile(join(installation.folder, 'two.xml'), feedXml(postings(3)));
  const { db } = await installation.app();
  const process = start(installation, path);
  const pulls = async (feed: string) => {
    const rows = await db.query('select from pull where feed = $1 and committed_at is not null', [feed]);
    return rows.length;
  };
  const pulled = (feed: string, times: number) => expect.poll(() => pulls(feed)).toBeGreaterThanOrEqual(times);
  await pulled('two', 1);
  await db.query(`update feed_schedule set pattern = 'every now and then' where feed = 'two'`);
  const [before, other] = [await pulls('one'), await pulls('two')];
  await pulled('one', before + 2);
  await pulled('two', other + 2);
  process.child.kill('SIGTERM');
  expect((await process.ended).output).toContain('the schedule of feed two in the database');
});
