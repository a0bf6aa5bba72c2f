// /metrics of a running installation: what several processes show of the whole, what each counted, and that Prometheus
// accepts it.
import { appendFile } from 'node:fs/promises';
import { afterEach, expect, it } from 'vitest';
import { startHttp } from '../../src/runtime/http/serve.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { promtoolForTests } from '../support/promtool.ts';

const promtool = promtoolForTests();

let mirror: Mirror;
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await mirror.close();
});

/** The metrics that a process shows, without its own. */
async function serve(): Promise<{ text(): Promise<string>; value(series: string): Promise<number | undefined> }> {
  const engine = await mirror.engine();
  const http = await startHttp(await mirror.app(), engine.queueCounts, { mayMonitor: async () => undefined });
  ends.push(() => http.close());
  const text = async () => (await fetch(`${http.url}/metrics`)).text();
  return {
    text,
    async value(series) {
      const line = (await text()).split('\n').find((each) => each.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length));
    },
  };
}

const changes = (state: string) => `jobmirror_changes{feed="acme",site="board",state="${state}"}`;

it('shows the installation as the database has it, and what the process did', async () => {
  mirror = await openMirror({ feed: { stale_after_minutes: '5' } });
  await appendFile(mirror.configPath, 'listen: { port: 0 }\n');
  const before = await serve();
  expect(await before.value(changes('rejected'))).toBe(0);
  expect(await before.value('jobmirror_site_paused{site="board"}')).toBe(0);

  await mirror.syncOf([...postings(3), posting('abroad', { state: 'Jalisco' })]);
  // The first server has counted since before the pull, the second one started after it.
  const created = 'jobmirror_postings_total{feed="acme",operation="create",outcome="created"}';
  await expect.poll(() => before.value(created)).toBe(3);
  const { text, value } = await serve();
  expect(await value(changes('rejected'))).toBe(1);
  expect(await value(changes('ready'))).toBe(0);
  expect(await value('jobmirror_oldest_change_age_seconds{feed="acme",site="board",state="rejected"}')).toBeLessThan(
    600,
  );
  expect(await value('jobmirror_feed_postings{feed="acme"}')).toBe(4);
  expect(await value('jobmirror_feed_pull_outcomes{feed="acme",outcome="created"}')).toBe(3);
  expect(await value('jobmirror_feed_last_pull_failed{feed="acme"}')).toBe(0);
  expect(await value('jobmirror_feed_overdue{feed="acme"}')).toBe(0);
  const completeAt = (await value('jobmirror_feed_last_complete_pull_timestamp_seconds{feed="acme"}')) ?? 0;
  expect(Math.abs(completeAt - Date.now() / 1000)).toBeLessThan(600);
  expect(await value('jobmirror_queue_jobs{site="board",state="waiting"}')).toBe(0);
  expect(await value('jobmirror_workers')).toBe(1);

  expect(await value(created)).toBeUndefined();
  expect(await before.value('jobmirror_site_requests_total{site="board",operation="create",status="201"}')).toBe(3);

  const shown = await text();
  expect(shown).not.toContain('abroad');
  expect(shown).not.toContain(mirror.env.BOARD_TOKEN);
});

it('shows a pause, what waits and what is held', async () => {
  mirror = await openMirror();
  await appendFile(mirror.configPath, 'listen: { port: 0 }\n');
  await mirror.syncOf(postings(4));
  await mirror.syncOf([]);
  // In the order of the backlog, the oldest first.
  await mirror.query(
    `insert into change (feed, key, site, desired, operation, fields, state, since, not_before)
     select 'acme', 'old' || i, 'board', 'present', 'update', '{}', 'ready', now() - make_interval(hours => 4 - i),
       now() + interval '1 day' from generate_series(1, 3) i`,
  );
  await mirror.query(`update change set since = now() - interval '2 hours' where state = 'held'`);
  await mirror.query(
    `insert into record_problem (feed, kind, record_hash, problems, excerpt, first_pull, discarded)
     select 'acme', 'unreadable', i::text::bytea, '[]', '', 1, i > 2 from generate_series(1, 5) i`,
  );
  await mirror.query(`update site_state set paused_since = now(), pause_cause = '"test"'`);
  const { value } = await serve();
  expect(await value(changes('held'))).toBe(4);
  expect(await value(changes('ready'))).toBe(3);
  expect(await value('jobmirror_record_problems{feed="acme",kind="unreadable"}')).toBe(2);
  expect(await value('jobmirror_site_paused{site="board"}')).toBe(1);
  const held = await value('jobmirror_oldest_change_age_seconds{feed="acme",site="board",state="held"}');
  expect(held).toBeGreaterThan(2 * 3_600 - 1);
  const age = await value('jobmirror_oldest_change_age_seconds{feed="acme",site="board",state="ready"}');
  expect(age).toBeGreaterThan(3 * 3_600 - 1);
});

it.runIf(promtool.available)(`Prometheus accepts all of it${promtool.note}`, async () => {
  mirror = await openMirror({ feed: { schedule: '"*/15 * * * *"' } });
  await appendFile(mirror.configPath, 'listen: { port: 0 }\n');
  const before = await serve();
  await mirror.syncOf([...postings(3), posting('abroad', { state: 'Jalisco' })]);
  // nodejs_… metrics of the library break two of its rules of style, which is why only ours are checked.
  const own = (await before.text()).split('\n').filter((line) => /^(# \w+ )?jobmirror_/.test(line));
  expect(own.length).toBeGreaterThan(50);
  const { ok, output } = promtool.run(['check', 'metrics'], `${own.join('\n')}\n`);
  expect(output).toBe('');
  expect(ok).toBe(true);
});
