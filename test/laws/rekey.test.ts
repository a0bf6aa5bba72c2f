// A process dies while it binds postings to the jobs of their former keys, or right after a pull suspected new keys: each posting is
// bound wholly or not at all, and none gets a second job.
// @module-tag slow
import { describe, expect } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { jobOf } from '../support/hand-made-jobs.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';
import { storeJobs } from './stored-jobs.ts';

/** More than are bound in one transaction. */
const MANY = 510;

const wards = (prefix: string, count: number): TestPosting[] =>
  Array.from({ length: count }, (_, at) =>
    posting(`${prefix}${at}`, { title: `Nurse ${at}`, description: `<p>Ward ${at}</p>` }),
  );

const idsByTitle = async ({ sandbox, owner }: Installation) =>
  new Map(
    (await sandbox.inspect.jobs()).flatMap((one) => (one.owner === owner ? [[one.fields.title, one.id] as const] : [])),
  );

async function syncFeed(installation: Installation, list: readonly TestPosting[] | string) {
  await installation.writeFeed(typeof list === 'string' ? list : feedXml(list));
  return installation.sync();
}

const REKEY = ['feeds', 'rekey', 'acme', '--sure', '--json'];

describe('a process that binds new keys', () => {
  it('killed after a part of them: the next one binds the rest', { timeout: 600_000 }, async ({ open }) => {
    const installation = await open({ searched: true, site: patientSite(20) });
    const former = wards('a', MANY);
    await installation.writeFeed(feedXml(former));
    await storeJobs(installation, former.map(jobOf));
    expect(await runProgram(installation, 'mappings', 'adopt', 'acme', '--sure')).toMatchObject({ status: 0 });
    expect(await installation.sync()).toMatchObject({ unchanged: MANY, created: 0 });
    const before = await idsByTitle(installation);
    const list = wards('b', MANY);
    expect(await syncFeed(installation, list)).toMatchObject({
      status: 'review',
      held: MANY,
      pending: MANY,
      requests: 0,
    });
    await installation.stopEngine();
    const { signal, output } = await installation.spawn(REKEY, { FAULT_AT: 'postings-rekeyed' }).ended;
    expect({ signal, output }).toMatchObject({ signal: 'SIGKILL' });
    const [part] = await installation.query<{ n: number }>(
      `select count(*)::int as n from mapping m join document d using (feed, key) where m.key like 'b%'`,
    );
    expect(part?.n).toBeGreaterThan(0);
    expect(part?.n).toBeLessThan(MANY);
    // What is not bound still waits.
    expect(await installation.sync()).toMatchObject({ created: 0, deleted: 0 });
    await installation.stopEngine();
    expect(await runProgram(installation, ...REKEY)).toMatchObject({ status: 0 });
    await heal(installation);
    await checkLaws(installation, list);
    expect(await idsByTitle(installation)).toEqual(before);
  });
});

describe('a process that pulls new keys', () => {
  it('killed before and after its commit: the next one sends nothing either', { timeout: 600_000 }, async ({
    open,
  }) => {
    const installation = await open();
    await syncFeed(installation, wards('a', 12));
    const before = await idsByTitle(installation);
    await installation.stopEngine();
    const list = wards('b', 12);
    // Cut, so that nothing proves which postings are gone.
    const xml = feedXml(list);
    await installation.writeFeed(xml.slice(0, xml.lastIndexOf('<job>')));
    installation.sandbox.requests.clear();
    for (const step of ['changes-merged', 'pull-committed']) {
      const killed = await installation.spawn(['sync', 'acme', '--json'], { FAULT_AT: step }).ended;
      expect({ ...killed }, killed.output).toMatchObject({ signal: 'SIGKILL' });
    }
    expect(await syncFeed(installation, list)).toMatchObject({ status: 'review', created: 0, deleted: 0, requests: 0 });
    expect(installation.sandbox.requests.recent()).toEqual([]);
    await installation.stopEngine();
    expect(await runProgram(installation, ...REKEY)).toMatchObject({ status: 0 });
    await heal(installation);
    await checkLaws(installation, list);
    expect(await idsByTitle(installation)).toEqual(before);
  });
});
