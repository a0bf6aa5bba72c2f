// Differences are marked by a process that dies, and while others send: each posting is marked wholly or not at all, and none gets
// a second job or loses its own.
// @module-tag slow
import { describe, expect } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, type Open } from './law-test.ts';
import { checkLaws } from './laws.ts';

/** More than are marked in one transaction. */
const MANY = 210;
const FEW = 60;

/** Every job was changed by hand, and each tenth is gone. */
async function openWithDrift(open: Open, list: readonly TestPosting[]): Promise<Installation> {
  const sandbox = { pageSize: Math.ceil(list.length / 3) };
  const installation = await open({ queue: 'database', sandbox, site: patientSite(20) });
  expect(await installation.syncOf(list)).toMatchObject({ created: list.length });
  const { db } = await installation.app();
  const theirs = '(select id from sandbox.account where email = $1)';
  await db.query(`delete from sandbox.job where owner_id = ${theirs} and fields->>'number' like '%0'`, [
    installation.owner,
  ]);
  await db.query(
    `update sandbox.job set fields = fields || '{"description": "by hand"}', updated_at = now() where owner_id = ${theirs}`,
    [installation.owner],
  );
  await installation.stopEngine();
  return installation;
}

const REPAIR = ['verify', 'acme', '--repair', '--json'];

const markedKeys = async (installation: Installation): Promise<number> => {
  const [row] = await installation.query<{ n: number }>(
    `select count(*)::int as n from uncertain_write u join mapping m using (feed, key)
     where m.content_hash = decode(repeat('00', 16), 'hex')`,
  );
  await installation.stopEngine();
  return row?.n ?? 0;
};

describe('a process that marks differences', { concurrent: true }, () => {
  it('killed before and after a part of them: the next one marks the rest', { timeout: 600_000 }, async ({ open }) => {
    const list = postings(MANY);
    const installation = await openWithDrift(open, list);
    for (const [step, least, most] of [
      ['jobs-verified', 0, 0],
      ['differences-marked', 1, MANY - 1],
    ] as const) {
      const { signal, output } = await installation.spawn(REPAIR, { FAULT_AT: step }).ended;
      expect({ signal, output }).toMatchObject({ signal: 'SIGKILL' });
      const part = await markedKeys(installation);
      expect(part).toBeGreaterThanOrEqual(least);
      expect(part).toBeLessThanOrEqual(most);
    }
    expect(await runProgram(installation, ...REPAIR)).toMatchObject({ status: 0 });
    expect(await markedKeys(installation)).toBe(MANY);
    await heal(installation);
    await checkLaws(installation, list);
    expect((await installation.siteJobs()).get('p10')).toMatchObject({ description: '<p>Work p10</p>' });
  });

  it('beside syncs of a feed that changes: the site ends with what the feed has', { timeout: 600_000 }, async ({
    open,
  }) => {
    const list = postings(FEW);
    const installation = await openWithDrift(open, list);
    const changed = list.map(({ key }) => posting(key, { description: `new ${key}` }));
    await installation.writeFeed(feedXml(changed));
    // The updates are being sent while differences are found and marked.
    await installation.sandbox.setFaults([{ name: 'latency', ms: 100, on: ['update'] }]);
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
