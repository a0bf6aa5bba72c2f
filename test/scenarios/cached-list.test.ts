// Creates in doubt at a site whose list is cached or changes while it is read: none is created twice, and each is resolved.
// @module-tag slow
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'undici';
import { expect, vi } from 'vitest';
import { heal } from '../laws/heal.ts';
import type { Installation } from '../laws/installation.ts';
import { lawTest, type Open } from '../laws/law-test.ts';
import { checkLaws } from '../laws/laws.ts';
import { type CachingProxy, startCachingProxy } from '../support/caching-proxy.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { runSql } from '../support/sql.ts';

const list = postings(12);
const MADE = { name: '500', made: true, on: ['create'], count: 2 } as const;
const NOT_MADE = { name: '500', made: false, on: ['create'], count: 2 } as const;

const it = lawTest.extend<{ behind: (open: Open, feed?: Record<string, string>) => Promise<Behind> }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires this form for a fixture without dependencies.
  behind: async ({}, use) => {
    const proxies: CachingProxy[] = [];
    await use(async (open, feed = {}) => {
      const installation = await open({ feed, site: patientSite(4) });
      const proxy = await startCachingProxy(installation.sandbox.url);
      proxies.push(proxy);
      const text = await readFile(installation.configPath, 'utf8');
      await writeFile(installation.configPath, text.replace(installation.sandbox.url, proxy.url));
      return { installation, proxy };
    });
    for (const proxy of proxies) await proxy.close();
  },
});

/** An installation that reaches its site through a cache. */
interface Behind {
  readonly installation: Installation;
  readonly proxy: CachingProxy;
}

/** Eight postings are live, then four creates get no response: two were done, two were not. */
async function leaveDoubts(installation: Installation): Promise<void> {
  expect(await installation.syncOf(list.slice(0, 8))).toMatchObject({ created: 8 });
  await installation.sandbox.setFaults([MADE]);
  await installation.syncOf(list.slice(0, 10));
  await installation.sandbox.setFaults([NOT_MADE]);
  await installation.writeFeed(feedXml(list));
}

const notes = async ({ app }: Installation): Promise<readonly string[]> => {
  const { db } = await app();
  const rows = await db.query<{ note: string | null }>(
    `select reason->>'note' as note from change where state = 'in_doubt'`,
  );
  return rows.map(({ note }) => note ?? '');
};

/** The feed's jobs on the site, by their references. */
const references = async ({ sandbox, owner }: Installation): Promise<readonly (string | undefined)[]> =>
  (await sandbox.inspect.jobs())
    .filter((job) => job.owner === owner)
    .map(({ fields }) => fields.number)
    .sort();

const keys = list.map(({ key }) => key).sort();

/** Moves the creates in doubt, and the jobs that the site made from them, this far into the past. */
async function age({ app, env }: Installation, seconds: number, key = '^p'): Promise<void> {
  const { db } = await app();
  await runSql(
    env.DATABASE_URL ?? '',
    `update sandbox.job set created_at = created_at - interval '${seconds} s' where fields->>'number' ~ '${key}'`,
  );
  await db.query(
    `update change set attempt_started = attempt_started - make_interval(secs => $1), not_before = '-infinity'
     where state = 'in_doubt' and key ~ $2`,
    [seconds, key],
  );
}

it.concurrent('a cache that ignores the query: doubts stay, with the reason, until it is gone', {
  timeout: 180_000,
}, async ({ open }) => {
  const installation = await open({ site: patientSite(4) });
  installation.sandbox.setSettings({ paging: 'cached', pageSize: 5 });
  await leaveDoubts(installation);
  for (const _time of [1, 2]) {
    expect(await installation.sync()).toMatchObject({ status: 'review', in_doubt: 4 });
    expect(await notes(installation)).toEqual(Array(4).fill(expect.stringContaining('had nothing new')));
  }
  expect(await references(installation)).toHaveLength(10);
  installation.sandbox.setSettings({ paging: 'link' });
  await heal(installation);
  await checkLaws(installation, list);
});

it.concurrent('a page of jobs is inserted between two pages: none is created twice', { timeout: 180_000 }, async ({
  open,
  behind,
}) => {
  const { installation, proxy } = await behind(open);
  installation.sandbox.setSettings({ paging: 'link', pageSize: 5 });
  const { token } = await installation.sandbox.ensureUser('other@example.com', 'one more long password');
  let made = 0;
  const makeFive = async () => {
    for (const _one of Array(5)) {
      const body = `<job><title>Cook</title><number>other-${made++}</number><location-state>Ohio</location-state></job>`;
      const authorization = `Basic ${Buffer.from(`${token}:X`).toString('base64')}`;
      const headers = { authorization, 'content-type': 'application/xml' };
      await (await request(`${installation.sandbox.url}/jobs.xml`, { method: 'POST', headers, body })).body.dump();
    }
  };
  // Repeatedly, between pages.
  proxy.onList = (nth) => (nth % 2 === 0 && made < 60 ? makeFive() : Promise.resolve());
  await leaveDoubts(installation);
  await installation.sync();
  expect(made).toBeGreaterThan(0);
  expect((await references(installation)).length).toBe(new Set(await references(installation)).size);
  proxy.onList = async () => undefined;
  await heal(installation);
  expect(await references(installation)).toEqual(keys);
});

it.concurrent('a copy that is too old proves nothing; one made after the create could arrive does', {
  timeout: 180_000,
}, async ({ open, behind }) => {
  const { installation, proxy } = await behind(open, { schedule: '"* * * * * *"' });
  // A list that declares to be a single document.
  installation.sandbox.setSettings({ paging: 'page', pageSize: 100 });
  proxy.age = 1_000;
  await leaveDoubts(installation);
  expect(await installation.sync()).toMatchObject({ status: 'review', in_doubt: 4 });
  expect(await notes(installation)).toEqual(Array(4).fill(expect.stringMatching(/comes from a cache, 1000 s old/)));
  expect(await references(installation)).toHaveLength(10);

  // Old enough for some of the doubts, but not for the youngest.
  proxy.clear();
  // The youngest first, as the running process may check the list at any time.
  await age(installation, 600, '^p9$');
  await age(installation, 3_600, '^p(?!9$)');
  expect(await installation.sync()).toMatchObject({ status: 'review', in_doubt: 1 });
  expect(await notes(installation)).toEqual([
    expect.stringMatching(/comes from a cache, (1000 s old|and is up to 100\d s old)/),
  ]);
  expect(await references(installation)).toEqual(keys);

  await age(installation, 3_600);
  const process = installation.spawn(['start']);
  await vi.waitUntil(async () => (await notes(installation)).length === 0, { timeout: 60_000, interval: 100 });
  process.child.kill('SIGTERM');
  await process.ended;
  expect(await references(installation)).toEqual(keys);
  await installation.stopEngine();
  proxy.age = undefined;
  await checkLaws(installation, list);
});

/** Behind a cache that does not tell the age of its copies, with a copy of the list that has eight jobs. */
async function openKept(open: Open, behind: (open: Open) => Promise<Behind>): Promise<Behind> {
  const { installation, proxy } = await behind(open);
  installation.sandbox.setSettings({ paging: 'page', pageSize: 100 });
  expect(await installation.syncOf(list.slice(0, 8))).toMatchObject({ created: 8 });
  Object.assign(proxy, { age: 1, tellsAge: false });
  const authorization = `Basic ${Buffer.from(`${installation.env.BOARD_TOKEN}:X`).toString('base64')}`;
  await (await request(`${proxy.url}/jobs.xml`, { headers: { authorization } })).body.dump();
  return { installation, proxy };
}

/** Two creates get no answer; both were done, or neither. */
async function loseTwo({ sandbox, syncOf }: Installation, made: boolean, others: readonly string[] = []) {
  const faults = [{ ...(made ? MADE : NOT_MADE) }, ...others.map((on) => ({ name: '500', made: false, on: [on] }))];
  await sandbox.setFaults(faults as never);
  return syncOf(list.slice(0, 10));
}

const sayLong = async ({ app }: Installation): Promise<unknown> =>
  (await app()).db.query(`update site_state set list_query_refused_at = now() - interval '2 days'`);

it.concurrent.for(['has taken', 'is not known to take'])(
  'a cache still shows the list of a site in trouble that %s queries: doubts stay until it answers',
  { timeout: 180_000 },
  async (knows, { open, behind }) => {
    const { installation, proxy } = await openKept(open, behind);
    if (knows === 'has taken') {
      await installation.sandbox.setFaults([{ ...MADE, count: 1 }]);
      expect(await installation.syncOf(list.slice(0, 9))).toMatchObject({ in_doubt: 0 });
    }
    const lost = await loseTwo(installation, true, ['list', ...(knows === 'has taken' ? [] : ['show'])]);
    expect(lost.in_doubt).toBe(knows === 'has taken' ? 1 : 2);
    for (const note of await notes(installation)) expect(note).toMatch(/it may be in trouble, and this an old copy/);
    expect(await references(installation)).toHaveLength(10);
    proxy.age = undefined;
    await installation.writeFeed(feedXml(list));
    await heal(installation);
    await checkLaws(installation, list);
  },
);

it.concurrent.for([
  ['refuses queries', 400, [], false, false],
  ['fails for queries', 500, [], false, false],
  ['fails for queries, and for jobs that it does not have', 500, ['show'], false, true],
  ['no longer takes queries', 500, [], true, true],
] as const)(
  'a site that %s is believed, at the latest after a day',
  { timeout: 180_000 },
  async ([, refusal, others, hasTaken, isLate], { open, behind }) => {
    const { installation, proxy } = await openKept(open, behind);
    proxy.age = undefined;
    // Beforehand, if at all, the site takes the query once.
    if (hasTaken) {
      await installation.sandbox.setFaults([{ ...MADE, count: 1 }]);
      await installation.syncOf(list.slice(0, 9));
    }
    proxy.refusal = refusal;
    expect(await loseTwo(installation, false, others)).toMatchObject({ in_doubt: isLate ? (hasTaken ? 1 : 2) : 0 });
    if (isLate) {
      await sayLong(installation);
      expect(await installation.sync()).toMatchObject({ in_doubt: 0 });
    }
    expect(await heal(installation)).toMatchObject({ status: 'mirrored', in_doubt: 0 });
    expect(await references(installation)).toEqual(keys.filter((key) => !/^p1[12]$/.test(key)));
  },
);
