import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { runProgram } from './run-program.ts';

const JOBS = 12;
let mirror: Mirror;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const resume = (...args: string[]) => runProgram(mirror, 'resume', 'board', '--moved', ...args);

/** Mirrors twelve postings; then all of them change, and one leaves the feed. */
async function openMirrored(options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror(options);
  closing.push(() => mirror.close());
  expect(await mirror.syncOf(postings(JOBS))).toMatchObject({ status: 'mirrored', created: JOBS });
  const changed = postings(JOBS).map((one) => ({ ...one, title: 'Changed' }));
  await mirror.writeFeed(feedXml(changed.slice(1)));
}

async function leadTo(url: string, before = mirror.sandbox.url): Promise<void> {
  await mirror.configure(before, url);
}

/** The same site under another host name. */
const move = () => leadTo(mirror.sandbox.url.replace('127.0.0.1', 'localhost'));

async function send(site: Sandbox, method: 'POST' | 'PUT' | 'DELETE', path: string, body?: string): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${mirror.env.BOARD_TOKEN}:X`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/xml' };
  const answer = await request(`${site.url}${path}`, { method, headers, body });
  await answer.body.dump();
  expect(answer.statusCode).toBeLessThan(300);
}

/** Another site, with other people's jobs at the IDs that the mirror knows. */
async function openOther(fieldsOf: (at: number) => string): Promise<Sandbox> {
  const database = await createTestDatabase();
  const other = await startSandbox({ databaseUrl: database.url });
  closing.push(async () => {
    await other.close();
    await database.drop();
  });
  await other.ensureUser('somebody@example.com', 'another password', mirror.env.BOARD_TOKEN);
  for (let at = 1; at <= JOBS; at++) {
    await send(other, 'POST', '/jobs.xml', `<job>${fieldsOf(at)}<location-state>Ohio</location-state></job>`);
  }
  return other;
}

const OTHERS: Record<string, (at: number) => string> = {
  'other references': (at) => `<number>x-${at}</number><title>Nurse p${at}</title>`,
  'other titles under the same references': (at) => `<number>p${at}</number><title>Cook</title>`,
  'other titles and no references': () => '<title>Cook</title>',
};

describe('another site under the address', () => {
  it('stays paused and unchanged, whatever its jobs show', async () => {
    await openMirrored();
    let address = mirror.sandbox.url;
    for (const [what, fieldsOf] of Object.entries(OTHERS)) {
      const other = await openOther(fieldsOf);
      const before = await other.inspect.jobs();
      await leadTo(other.url, address);
      address = other.url;
      for (const synced of [false, true]) {
        if (synced) expect(await mirror.sync(), what).toMatchObject({ status: 'pending', updated: 0, deleted: 0 });
        await mirror.stopEngine();
        const { status, errors } = await resume();
        expect(status, what).toBe(1);
        expect(errors).toContain(`127.0.0.1:${other.port} shows other jobs than those of site board in 10 of 10 jobs`);
        expect(errors).toContain('Nothing was changed, and nothing is sent there');
      }
      expect(await mirror.sync(), what).toMatchObject({ status: 'pending', updated: 0, deleted: 0 });
      expect(await other.inspect.jobs(), what).toEqual(before);
    }
    expect(await mirror.query(`select from audit where action = 'resume'`)).toEqual([]);
    await leadTo(mirror.sandbox.url, address);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', updated: JOBS - 1, deleted: 1 });
  });

  it('that has only some of the IDs is recognised by the jobs that it shows', async () => {
    await openMirrored();
    const other = await openOther(OTHERS['other references'] as (at: number) => string);
    for (const { id } of (await other.inspect.jobs()).slice(2)) await send(other, 'DELETE', `/jobs/${id}.xml`);
    await leadTo(other.url);
    expect(await resume()).toMatchObject({ status: 1, errors: expect.stringContaining('in 2 of 2 jobs') });
    expect(await other.inspect.jobs()).toHaveLength(2);
  });
});

describe('the same site at another address', () => {
  it('is accepted: it shows what was sent', async () => {
    await openMirrored();
    await move();
    expect((await resume('--json')).json()).toEqual([
      { site: 'board', was_paused: false, token_proven: true, compared: 10 },
    ]);
    // What people open is there.
    const urls = await mirror.query(
      `select regexp_replace(site_job_url, '[0-9]+$', 'ID') as url, count(*) as n from mapping group by 1`,
    );
    expect(urls).toEqual([{ url: `${mirror.sandbox.url.replace('127.0.0.1', 'localhost')}/jobs/ID`, n: JOBS }]);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', updated: JOBS - 1, deleted: 1 });
    await mirror.stopEngine();
    expect((await resume('--json')).json()).toMatchObject([{ site: 'board', was_paused: false }]);
  });

  it.each(['upper-case', 'cut'] as const)('may store values in another form (%s)', async (storedValues) => {
    await openMirrored({ sandbox: { storedValues } });
    await move();
    expect((await resume('--json')).json()).toEqual([
      { site: 'board', was_paused: false, token_proven: true, compared: 10 },
    ]);
  });

  it('may have let most jobs expire, and people may have changed some', async () => {
    await openMirrored();
    const jobs = await mirror.sandbox.inspect.jobs();
    for (const { id } of jobs.slice(0, 7)) await send(mirror.sandbox, 'DELETE', `/jobs/${id}.xml`);
    await send(mirror.sandbox, 'PUT', `/jobs/${jobs[8]?.id}.xml`, '<job><title>Quite another thing</title></job>');
    await move();
    const { status, out } = await resume();
    expect(status).toBe(0);
    expect(out).toMatch(
      /^Localhost:\d+ shows something else in 1 of 5 jobs: job \d+ of posting p\d+ .*"Quite another thing"/i,
    );
  });

  it('is assumed, with a note, if the site has none of the jobs any more, or shows none', async () => {
    await openMirrored();
    await move();
    await mirror.sandbox.setFaults([{ name: '404', on: ['show'] }]);
    const gone = await resume('--json');
    expect(gone.json()).toEqual([
      {
        site: 'board',
        was_paused: false,
        token_proven: true,
        compared: 0,
        note: expect.stringContaining('none of the 12 jobs'),
      },
    ]);
  });

  it('is assumed, with a note, if the site does not show single jobs', async () => {
    await openMirrored();
    await move();
    await mirror.sandbox.setFaults([{ name: '403', on: ['show'] }]);
    const { status, out } = await resume();
    expect(status).toBe(0);
    expect(out).toMatch(/^Whether localhost:\d+ is the same site could not be told from its jobs \(.*403/);
    await mirror.sandbox.setFaults([]);
    expect(out).toMatch(/\nSite board is taken for the same at its new address: /);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', updated: JOBS - 1 });
  });

  it('that cannot be asked now stays paused', async () => {
    await openMirrored();
    await move();
    for (const [fault, why] of [
      ['401', 'it refuses the token'],
      ['reset-before', 'it does not answer'],
    ] as const) {
      await mirror.sandbox.setFaults([{ name: fault }]);
      expect(await resume()).toMatchObject({ status: 1, errors: expect.stringContaining(why) });
    }
    await mirror.sandbox.setFaults([]);
    expect(await mirror.sync()).toMatchObject({ status: 'pending', updated: 0, deleted: 0 });
    await mirror.stopEngine();
    expect(await resume()).toMatchObject({ status: 0 });
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', updated: JOBS - 1, deleted: 1 });
  });
});
