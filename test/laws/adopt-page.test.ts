// The serving process dies at each step of what `/adopt` starts: each posting is bound wholly and once or not at all, the run is shown as
// interrupted, and the next one carries on.
// @module-tag slow
import { appendFile } from 'node:fs/promises';
import { expect, vi } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { readAdoptRun } from '../../src/store/mapping/adopt-proposals.ts';
import { jobOf, makeJob, without } from '../support/hand-made-jobs.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { heal } from './heal.ts';
import type { Installation, Running } from './installation.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

/** p1 and p2 have certain jobs, p3 one without its reference, p4 none. */
const list: readonly TestPosting[] = [...postings(3), posting('p4', { city: 'Salem' })];
const AUDIT_LOCK = 77;

/** The address of the served pages. */
async function addressOf({ child, ended }: Running): Promise<string> {
  let output = '';
  const said = new Promise<string>((resolve) => {
    child.stderr?.on('data', (piece: Buffer) => {
      output += piece.toString();
      const found = /"health":"([^"]*)"/.exec(output)?.[1];
      if (found !== undefined) resolve(new URL(found).origin);
    });
  });
  return Promise.race([said, ended.then(() => Promise.reject(new Error(`no address: ${output}`)))]);
}

async function ask(origin: string, body: unknown): Promise<void> {
  const answer = await fetch(`${origin}/api/v1/feeds/acme/adopt`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect([answer.status, await answer.text()]).toEqual([202, expect.any(String)]);
}

/** Starts the process, asks it, and waits until it was killed at the step. */
async function killedAt(installation: Installation, step: string, body: unknown): Promise<void> {
  const running = installation.spawn(['start'], { FAULT_AT: step });
  await ask(await addressOf(running), body);
  const { signal, output } = await running.ended;
  expect({ signal, output }).toMatchObject({ signal: 'SIGKILL' });
}

it('a process that dies while it matches or adopts jobs for the page', { timeout: 600_000 }, async ({ open }) => {
  const installation = await open({ searched: true, site: patientSite(20) });
  await appendFile(installation.configPath, 'listen: { port: 0 }\n');
  await installation.writeFeed(feedXml(list));
  const [one, two, three] = list.map(jobOf) as [Record<string, string>, ...Record<string, string>[]];
  const jobs: Record<string, string> = {
    p1: await makeJob(installation, one),
    p2: await makeJob(installation, two as Record<string, string>),
    p3: await makeJob(installation, without(three as Record<string, string>, 'number', 'description')),
  };
  const { db } = await installation.app();
  const bound = async () =>
    Object.fromEntries(
      (
        await db.query<{ key: string; id: string }>(
          'select m.key, m.site_job_id as id from mapping m join document d on d.feed = m.feed and d.key = m.key',
        )
      ).map(({ key, id }) => [key, id]),
    );
  const audited = async () =>
    (await db.query<{ n: number }>(`select count(*)::int as n from audit where action = 'adopt jobs'`))[0]?.n;
  const run = () => readAdoptRun(db, feedName('acme'));
  /** What is bound and audited after the process died, whose run has ended. */
  async function left(proposed: boolean) {
    await vi.waitUntil(async () => (await run())?.state === 'interrupted', { timeout: 60_000, interval: 50 });
    expect(((await run())?.matchedAt ?? null) !== null).toBe(proposed);
    return [Object.keys(await bound()).sort(), await audited()];
  }

  for (const step of ['jobs-matched', 'jobs-listed']) {
    await killedAt(installation, step, { decision: 'match' });
    expect(await left(false)).toEqual([[], 0]);
  }
  await killedAt(installation, 'proposals-stored', { decision: 'match' });
  expect(await left(true)).toEqual([[], 0]);
  const sure = { decision: 'sure', mark: (await run())?.mark };

  // Bound, but the entry of the audit is not recorded yet.
  await db.query(`create function hold_audit() returns trigger language plpgsql as $$ begin
    if new.action = 'adopt jobs' then perform pg_advisory_xact_lock(${AUDIT_LOCK}); end if; return new; end $$`);
  await db.query('create trigger hold before insert on audit for each row execute function hold_audit()');
  const session = await db.session();
  await session.query(`select pg_advisory_lock(${AUDIT_LOCK})`);
  const held = installation.spawn(['start']);
  await ask(await addressOf(held), sure);
  await vi.waitUntil(
    async () =>
      (await db.query(`select from pg_locks where locktype = 'advisory' and objid = ${AUDIT_LOCK} and not granted`))
        .length > 0,
    { timeout: 60_000, interval: 20 },
  );
  held.child.kill('SIGKILL');
  await held.ended;
  await session.query('select pg_advisory_unlock_all()');
  await session.end();
  // The server may not have noticed yet that nobody waits any more: it then rolls back.
  await vi.waitUntil(async () => (await run())?.state === 'interrupted', { timeout: 60_000, interval: 50 });
  await db.query('drop trigger hold on audit');
  expect(await left(true)).toEqual([[], 0]);

  await killedAt(installation, 'jobs-adopted', sure);
  expect(await left(true)).toEqual([['p1', 'p2'], 1]);
  const [unsure] = await db.query<{ version: string }>(`select version from adopt_proposal where key = 'p3'`);
  const named = { decision: 'named', key: 'p3', job_id: jobs.p3, version: unsure?.version };
  await killedAt(installation, 'matching-done', named);
  expect(await left(true)).toEqual([['p1', 'p2', 'p3'], 2]);
  expect(await bound()).toEqual(jobs);
  expect(installation.sandbox.requests.recent().filter(({ method }) => method !== 'GET')).toHaveLength(3);

  expect(await heal(installation)).toMatchObject({ created: 1, in_doubt: 0 });
  await checkLaws(installation, list);
  expect(await bound()).toMatchObject(jobs);
});
