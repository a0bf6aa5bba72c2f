import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { maintainBacklog } from '../../src/apply/maintain-backlog.ts';
import { resolveDoubts } from '../../src/apply/resolve-doubts.ts';
import { checkSite } from '../../src/apply/search-site.ts';
import type { SiteContext } from '../../src/apply/site-context.ts';
import { textOf } from '../../src/plan/message.ts';
import { feedName, postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { addressOf } from '../../src/site/http/job-address.ts';
import { endSearch } from '../../src/store/change/site-search.ts';
import { adoptJobs } from '../../src/store/mapping/adopt-jobs.ts';
import { type ImportLine, importMappings } from '../../src/store/mapping/mapping-import.ts';
import { setAddress } from '../../src/store/site/known-address.ts';
import { takeOrphan } from '../../src/store/site/orphan-site-jobs.ts';
import { readSiteState, resumeSite } from '../../src/store/site/site-state.ts';
import { acme, openStage } from '../review/stage.ts';
import { ageDoubts } from '../support/age-doubts.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeJob } from '../support/hand-made-jobs.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const board = siteName('board');
let mirror: Mirror;
afterEach(() => mirror?.close());

const state = async () => readSiteState((await mirror.app()).db, board);
const changed = postings(4).map((one) => ({ ...one, title: 'Changed' }));

/** The same sandbox under another host name: another address. */
async function moveTo(host: string): Promise<void> {
  await mirror.configure(/(base_url: http:\/\/)[^:]+/, `$1${host}`);
}

async function openMirrored(): Promise<void> {
  mirror = await openMirror();
  expect(await mirror.syncOf(postings(4))).toMatchObject({ status: 'mirrored', created: 4 });
  await mirror.writeFeed(feedXml([...changed, posting('new')]));
}

it('is recorded before anything is sent, and may change as long as no job was made', { tags: 'slow' }, async () => {
  mirror = await openMirror();
  await mirror.writeFeed(feedXml(postings(1)));
  await mirror.sandbox.setFaults([{ name: '404' }]);
  await mirror.sync();
  expect((await state()).address).toBe(new URL(mirror.sandbox.url).host);
  await moveTo('localhost');
  await mirror.sandbox.setFaults([]);
  const { db } = await mirror.app();
  await resumeSite(db, board);
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 1 });
  expect((await state()).address).toBe(`localhost:${mirror.sandbox.port}`);
});

it('is searched at another address, whatever was decided for the former one', { tags: 'slow' }, async () => {
  mirror = await openMirror();
  await mirror.writeFeed(feedXml([posting('p1')]));
  await mirror.sandbox.setFaults([{ name: '404' }]);
  await mirror.sync();
  await mirror.sandbox.setFaults([]);
  await makeJob(mirror, { title: 'Made earlier', number: 'p1', 'location-state': 'Ohio' });
  await moveTo('localhost');
  await resumeSite((await mirror.app()).db, board);
  expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 1 });
  expect(await mirror.sandbox.inspect.count()).toBe(1);
});

describe('a site that has jobs', () => {
  it('is paused, with the numbers and the command to resume, and gets no request until a person confirms that it is the same', async () => {
    await openMirrored();
    await moveTo('localhost');
    const before = mirror.sandbox.requests.total();
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'pending', created: 0, updated: 0 });
    for (const words of [
      `base_url leads to localhost:${mirror.sandbox.port},`,
      `the jobs of the site (4) were made at 127.0.0.1:${mirror.sandbox.port}.`,
      'jobmirror resume board --moved',
    ]) {
      expect(report.message).toContain(words);
    }
    expect(await state()).toMatchObject({ movedTo: `localhost:${mirror.sandbox.port}`, probeInMs: undefined });
    expect(mirror.sandbox.requests.total()).toBe(before);

    const { db, config } = await mirror.app();
    const options = config.sites.get(board)?.options;
    await setAddress(db, board, addressOf(options ?? { baseUrl: new URL(mirror.sandbox.url) }));
    await resumeSite(db, board);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored' });
    expect((await mirror.siteJobs()).size).toBe(5);
  });

  it('is not reported as mirrored, even if nothing needs to be sent, and continues by itself if base_url is set back', {
    tags: 'slow',
  }, async () => {
    await openMirrored();
    await mirror.sync();
    await moveTo('localhost');
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'pending', unchanged: 5, requests: 0 });
    expect(report.message).toContain('jobmirror resume board --moved');
    expect(report.message).not.toContain('once that is fixed');
    await mirror.writeFeed(feedXml([...postings(4), posting('new')]));
    expect(await mirror.sync()).toMatchObject({ status: 'pending', pending: 4, updated: 0 });
    await moveTo('127.0.0.1');
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', pending: 0 });
    expect((await mirror.siteJobs()).size).toBe(5);
    expect((await mirror.siteJobs()).get('p1')?.title).toBe('Nurse p1');
  });

  it('that was paused until a person decides stays paused for that reason if base_url is set back', async () => {
    mirror = await openMirror({ site: { canary: '{ requests: 10, percent: 50 }' } });
    await mirror.syncOf(postings(1));
    await mirror.writeFeed(feedXml(postings(40)));
    await mirror.sandbox.setFaults([{ name: '403' }]);
    await mirror.sync();
    expect(textOf((await state()).pauseCause ?? '')).toContain('first');
    await moveTo('localhost');
    await mirror.sync();
    expect(await state()).toMatchObject({ movedTo: `localhost:${mirror.sandbox.port}` });
    await moveTo('127.0.0.1');
    const sent = mirror.sandbox.requests.total();
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'pending', message: expect.stringContaining('of the first') });
    expect(mirror.sandbox.requests.total()).toBe(sent);
    await resumeSite((await mirror.app()).db, board);
    expect(await state()).toMatchObject({ pausedSince: undefined, movedTo: undefined });
  });

  it('that was paused for another reason is not resumed by a response from the other address', {
    tags: 'slow',
  }, async () => {
    await openMirrored();
    await mirror.sandbox.setFaults([{ name: '401' }]);
    await mirror.sync();
    await mirror.sandbox.setFaults([]);
    await moveTo('localhost');
    expect(await mirror.sync()).toMatchObject({ status: 'pending', updated: 0 });
    expect(textOf((await state()).pauseCause ?? '')).toContain('base_url leads to');
  });

  it('gets no request from a process that still runs with another address', async () => {
    await openMirrored();
    const siteContext = (await mirror.engine()).siteContexts.get(board);
    const { db } = await mirror.app();
    await setAddress(db, board, 'elsewhere.example.com');
    await db.query(
      `insert into change (feed, key, site, desired, operation, state) values ('acme', 'p1', 'board', 'absent', 'delete', 'ready')`,
    );
    const claim = () => siteContext?.claim({ feed: feedName('acme'), key: postingKey('p1') });
    expect(await claim()).toEqual({ kind: 'not_due' });
    const total = mirror.sandbox.requests.total();
    await db.query(`insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '77', 'acme', 'gone')`);
    expect(await maintainBacklog(siteContext as SiteContext, new AbortController().signal)).toMatchObject({
      resumed: false,
    });
    expect(mirror.sandbox.requests.total()).toBe(total);
  });

  it('is neither searched nor listed for doubts by a process whose round began before the move', async () => {
    const stage = await openStage({ site: { doubts: '{ resolve_after_seconds: 600 }' } });
    mirror = stage.mirror;
    const { db } = stage.app;
    await stage.pull(postings(2));
    await stage.fail('p1', 'in_doubt');
    await db.query('update feed_state set site_checked_at = null');
    await ageDoubts(db);
    await setAddress(db, board, 'elsewhere.example.com');
    const siteContext = (await mirror.engine()).siteContexts.get(board) as SiteContext;
    const { signal } = new AbortController();
    const doubt = () => db.query('select state, list_checks from change where key = $1', ['p1']);
    const searched = () => db.query('select feed from feed_state where site_checked_at is not null');

    expect(await resolveDoubts(siteContext, signal)).toBe(0);
    expect(await doubt()).toEqual([{ state: 'in_doubt', list_checks: 0 }]);
    expect(await checkSite(siteContext, signal)).toBe(false);
    expect(await searched()).toEqual([]);
    await db.query(`insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '77', 'acme', 'gone')`);
    const take = (address: string) => takeOrphan(db, { site: board, address }, siteJobId('77'), 60_000);
    expect([await take(siteContext.address), await take('elsewhere.example.com')]).toEqual([false, true]);

    // As it would have done before.
    await setAddress(db, board, siteContext.address);
    await resolveDoubts(siteContext, signal);
    expect(await doubt()).toEqual([{ state: 'in_doubt', list_checks: 1 }]);
    expect(await checkSite(siteContext, signal)).toBe(true);
    expect(await searched()).toEqual([{ feed: 'acme' }]);
  });

  it('gets nothing recorded that was read at a former address, whichever command read it there', async () => {
    const stage = await openStage();
    mirror = stage.mirror;
    const { db } = stage.app;
    await stage.pull(postings(2));
    await setAddress(db, board, 'elsewhere.example.com');
    const former = { site: board, address: 'former.example.com' };
    expect(await endSearch(db, acme, former, undefined, undefined)).toBeUndefined();

    const session = await db.session();
    const adopted = { key: postingKey('p1'), siteJobId: siteJobId('1'), url: undefined, shown: { title: 'Nurse' } };
    const adopting = { feed: acme, actor: 'tester', since: new Date(), policy: undefined };
    const message = 'the jobs of site board are no longer at former.example.com';
    expect(await adoptJobs(session, { ...adopting, ...former }, [adopted])).toEqual([{ key: 'p1', message }]);

    async function* lines(): AsyncGenerator<ImportLine> {
      yield {
        kind: 'mapping',
        line: 3,
        feed: acme,
        site: board,
        key: postingKey('p2'),
        siteJobId: siteJobId('2'),
        url: undefined,
      };
    }
    const asked = async () => [];
    const addresses = (address: string) => new Map([[board, address]]);
    expect(await importMappings(db, lines(), 'tester', asked, [], addresses(former.address))).toMatchObject({
      kind: 'refused',
      problems: [{ line: 3, message: expect.stringContaining(message) }],
    });
    expect(await db.query('select from mapping')).toEqual([]);

    const present = { site: board, address: 'elsewhere.example.com' };
    expect(await adoptJobs(session, { ...adopting, ...present }, [adopted])).toEqual([]);
    await session.end();
    expect(await importMappings(db, lines(), 'tester', asked, [], addresses(present.address))).toMatchObject({
      added: 1,
    });
    expect(await endSearch(db, acme, present, undefined, undefined)).toBe(0);
  });
});

describe('another port of this machine', () => {
  /** Another sandbox, with somebody else's job at each ID that the mirror knows. */
  async function openOther(): Promise<Sandbox> {
    const database = await createTestDatabase();
    const other = await startSandbox({ databaseUrl: database.url });
    const close = mirror.close;
    mirror = {
      ...mirror,
      async close() {
        await close();
        await other.close();
        await database.drop();
      },
    };
    const { token } = await other.ensureUser('somebody@example.com', 'another password', mirror.env.BOARD_TOKEN);
    for (let at = 0; at < 8; at++) {
      const answer = await request(`${other.url}/jobs.xml`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${token}:X`).toString('base64')}`,
          'content-type': 'application/xml',
        },
        body: `<job><title>Cook</title><number>x-${at}</number><location-state>Ohio</location-state></job>`,
      });
      await answer.body.dump();
      expect(answer.statusCode).toBe(201);
    }
    return other;
  }

  async function leadTo(other: Sandbox): Promise<void> {
    await mirror.configure(mirror.sandbox.url, other.url);
  }

  it('is another site: its jobs are neither changed nor deleted', async () => {
    await openMirrored();
    const other = await openOther();
    const before = await other.inspect.jobs();
    await leadTo(other);
    const report = await mirror.syncOf(changed.slice(0, 2));
    expect(report).toMatchObject({ status: 'pending', updated: 0, deleted: 0 });
    expect(report.message).toContain(`base_url leads to 127.0.0.1:${other.port},`);
    expect(await other.inspect.jobs()).toEqual(before);
  });

  it('is another site even if the first one may only have the job of a create in doubt', { tags: 'slow' }, async () => {
    mirror = await openMirror({ site: { list_path: undefined } });
    await mirror.writeFeed(feedXml(postings(1)));
    await mirror.sandbox.setFaults([{ name: 'reset-after' }]);
    expect(await mirror.sync()).toMatchObject({ in_doubt: 1 });
    const other = await openOther();
    other.requests.clear();
    await leadTo(other);
    expect((await mirror.sync()).message).toContain('(0, and 1 more whose outcome is unknown)');
    expect(other.requests.recent()).toEqual([]);
  });
});

it('a site without jobs may move', { tags: 'slow' }, async () => {
  await openMirrored();
  await mirror.query('delete from mapping');
  await mirror.query('delete from document');
  await moveTo('localhost');
  await mirror.sync();
  expect(await state()).toMatchObject({ pausedSince: undefined, address: expect.stringContaining('localhost') });
});
