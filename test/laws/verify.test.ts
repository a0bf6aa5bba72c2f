// Differences are marked by a process that dies, and while others send: each posting is marked wholly or not at all, and none gets
// a second job or loses its own.
import { request } from 'undici';
import { describe, expect } from 'vitest';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, type Open } from './law-test.ts';
import { checkLaws } from './laws.ts';

/** More than are marked in one transaction. */
const MANY = 250;
const list: readonly TestPosting[] = postings(MANY);

/** Every job was changed by hand, and each tenth is gone. */
async function openWithDrift(open: Open): Promise<Installation> {
  const installation = await open({ queue: 'database', sandbox: { pageSize: 100 } });
  await installation.writeFeed(feedXml(list));
  expect(await installation.sync()).toMatchObject({ created: MANY });
  await installation.stopEngine();
  await disturb(installation);
  return installation;
}

async function disturb(installation: Installation): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${installation.env.BOARD_TOKEN}:X`).toString('base64')}`;
  for (const { id, owner, fields } of await installation.sandbox.inspect.jobs()) {
    if (owner !== installation.owner) continue;
    if (fields.number?.endsWith('0')) await installation.sandbox.inspect.removeJob(id);
    else {
      const answer = await request(`${installation.sandbox.url}/jobs/${id}.xml`, {
        method: 'PUT',
        headers: { authorization, 'content-type': 'application/xml' },
        body: '<job><description>by hand</description></job>',
      });
      await answer.body.dump();
      expect(answer.statusCode).toBe(200);
    }
  }
}

const REPAIR = ['verify', 'acme', '--repair', '--json'];

const markedKeys = async (installation: Installation): Promise<number> => {
  const [row] = await (await installation.app()).db.query(
    `select count(*)::int as n from uncertain_write u join mapping m using (feed, key)
     where m.content_hash = decode(repeat('00', 16), 'hex')`,
  );
  await installation.stopEngine();
  return row?.n;
};

describe('a process that marks differences', () => {
  it.for([
    ['jobs-verified', 0, 0],
    ['differences-marked', 1, MANY - 1],
  ] as const)(
    'killed at %s: the next one marks the rest',
    { timeout: 600_000 },
    async ([step, least, most], { open }) => {
      const installation = await openWithDrift(open);
      const { signal, output } = await installation.spawn(REPAIR, { FAULT_AT: step }).ended;
      expect({ signal, output }).toMatchObject({ signal: 'SIGKILL' });
      const part = await markedKeys(installation);
      expect(part).toBeGreaterThanOrEqual(least);
      expect(part).toBeLessThanOrEqual(most);
      expect(await installation.spawn(REPAIR).ended).toMatchObject({ status: 0 });
      expect(await markedKeys(installation)).toBe(MANY);
      await heal(installation);
      await checkLaws(installation, list);
      expect((await installation.siteJobs()).get('p10')).toMatchObject({ description: '<p>Work p10</p>' });
    },
  );

  it('beside syncs of a feed that changes: the site ends with what the feed has', { timeout: 600_000 }, async ({
    open,
  }) => {
    const installation = await openWithDrift(open);
    const changed = list.map(({ key }) => posting(key, { description: `new ${key}` }));
    await installation.writeFeed(feedXml(changed));
    const sync = ['sync', 'acme', '--json'];
    const ends = await Promise.all([REPAIR, sync, REPAIR].map((args) => installation.spawn(args).ended));
    for (const { status, output } of ends)
      expect({ status, output }).toMatchObject({ status: expect.toBeOneOf([0, 1, 2]) });
    await heal(installation);
    await checkLaws(installation, changed);
    const jobs = await installation.siteJobs();
    for (const { key, description } of changed) expect(jobs.get(key)).toMatchObject({ description });
  });
});
