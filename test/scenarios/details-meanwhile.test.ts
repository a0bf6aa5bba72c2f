// While a pull requests details, which may take hours: what people, workers and other commands do with its feed.
// @module-tag slow

import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PullEnd, pullFeed } from '../../jobs/pull-feed.ts';
import { feedName, postingKey, type SiteJobId, siteName } from '../../src/posting/identifiers.ts';
import { planFeed } from '../../src/pull/preview/dry-run.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { editEntry, undoEdits } from '../../src/review/edit-posting.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { endOwnership, lockOwner } from '../../src/store/change/candidate-owners.ts';
import { lockKey } from '../../src/store/locks/advisory-locks.ts';
import { renameFeed } from '../../src/store/mapping/rename-feed.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { findPull } from '../../src/store/pull/pull-history.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { sendJson, serveWeb, type WebServer } from '../feed/web-server.ts';
import { checkCounts } from '../laws/laws.ts';
import { acme } from '../review/stage.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const FIELDS =
  'fields: { number: id, title: text, description: detail/text, location-state: { from: state, as: us_state } }';
const ACTING = { actor: 'a person' };

interface Job {
  readonly id: string;
  readonly text: string;
  readonly state: string;
  /** No field has it. */
  readonly more?: string;
}

let mirror: Mirror;
let source: WebServer;
let list: Job[];
/** The posting whose detail is not answered until the gate opens, and which details cannot be had. */
let slow: string | undefined;
let missing: ReadonlySet<string>;
let asked: AbortController;
let gate: AbortController;
/** Called when the list is requested. */
let onList: () => Promise<void>;
/** Of the list; without one, the list is never said to be unchanged. */
let version: string | undefined;
/** What the details say. */
let about: string;
/** The details that were answered. */
let answered: string[];

const job = (id: string, changed: Partial<Job> = {}): Job => ({ id, text: `Nurse ${id}`, state: 'MA', ...changed });
const change = (id: string, changed: Partial<Job>) => {
  list = list.map((one) => (one.id === id ? { ...one, ...changed } : one));
};

beforeEach(async () => {
  list = ['j1', 'j2', 'j3', 'j4', 'j5'].map((id) => job(id));
  [slow, missing] = [undefined, new Set()];
  [asked, gate] = [new AbortController(), new AbortController()];
  onList = async () => undefined;
  version = undefined;
  about = 'About';
  answered = [];
  source = await serveWeb(async ({ path, headers }, response) => {
    const id = /^\/jobs\/(.+)/.exec(path)?.[1];
    if (id === undefined) {
      await onList();
      const etag: Record<string, string> = version === undefined ? {} : { etag: version };
      if (version !== undefined && headers['if-none-match'] === version) return response.writeHead(304, etag).end();
      return sendJson(response, { jobs: list, total: list.length }, 200, etag);
    }
    if (id === slow && !gate.signal.aborted) {
      const opened = once(gate.signal, 'abort');
      asked.abort();
      await opened;
    }
    sendJson(response, { id, text: `${about} ${id}` }, missing.has(id) ? 410 : 200);
    answered.push(id);
  });
  mirror = await openMirror({
    feed: {
      source: `"${source.origin}/jobs"`,
      format: `{ type: json, records: jobs, total: total, key: id, ${FIELDS} }`,
      // One at a time: when one is requested, the answers about those before it have been read.
      details: '{ url: "jobs/{id}", match: { id: id }, refresh_days: 7, concurrency: 1 }',
      limits: '{ requests_per_second: 1000, attempts: 1, max_wait_seconds: 1 }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
    },
  });
});
afterEach(async () => {
  gate.abort();
  await mirror.close();
  await source.close();
});

const requested = () => source.requests.flatMap(({ path }) => /^\/jobs\/(.+)/.exec(path)?.[1] ?? []);

const sync = async () => checkCounts(await mirror.sync());

async function context() {
  const { db, log, config } = await mirror.app();
  const [setup] = feedSetups(config, ['acme']);
  return { db, config, setup: setup ?? expect.fail(), context: { db, log, signal: new AbortController().signal } };
}

/** Pulls without sending. */
async function pull(db?: Database, signal?: AbortSignal): Promise<PullEnd> {
  const { setup, context: inProcess } = await context();
  return pullFeed(setup, { ...inProcess, ...(db && { db }), ...(signal && { signal }) });
}

async function plan(db?: Database) {
  const { setup, context: inProcess } = await context();
  const lines: unknown[] = [];
  const planning = { ...inProcess, ...(db === undefined ? {} : { db }) };
  return { ...(await planFeed(setup, planning, (line) => void lines.push(line))), lines };
}

/** Connections like those of another process. */
async function withOtherProcess(work: (db: Database) => Promise<void>): Promise<void> {
  const db = openDatabase(mirror.env.DATABASE_URL ?? expect.fail());
  try {
    await work(db);
  } finally {
    await db.close();
  }
}

/** Runs `command` until it waits for the detail of `id`, does `meanwhile`, and returns the result of the command. */
async function whileWaiting<T>(id: string, command: () => Promise<T>, meanwhile: () => Promise<void>): Promise<T> {
  [asked, gate] = [new AbortController(), new AbortController()];
  slow = id;
  const waits = once(asked.signal, 'abort');
  const ended = command();
  ended.catch(() => undefined);
  await Promise.race([waits, ended]);
  expect(asked.signal.aborted).toBe(true);
  try {
    await meanwhile();
  } finally {
    gate.abort();
  }
  return ended;
}

const entryOf = async (key: string) => {
  const { db } = await context();
  const [row] = await db.query<{ id: number }>('select id from change where key = $1', [key]);
  return row?.id ?? expect.fail(`no change of ${key}`);
};

describe('while a pull requests details', () => {
  it('no transaction is open, no connection of the pull holds anything but the locks, and no other pull or rename begins', async () => {
    const report = await whileWaiting('j5', sync, async () => {
      const { db } = await context();
      const open = () =>
        db.query(
          `select state, query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
             and (backend_xmin is not null or backend_xid is not null or state like 'idle in transaction%')`,
        );
      // Autovacuum and the keep-alive of a lock may have one for a moment; one of the pull would stay until the detail arrives.
      await expect.poll(open).toEqual([]);
      const held = await db.query<{ key: string }>(
        `select ((classid::bigint << 32) | objid::bigint)::text as key from pg_locks where locktype = 'advisory'
           and ((classid::bigint << 32) | objid::bigint) = any($1::bigint[])
           and database = (select oid from pg_database where datname = current_database())`,
        [[lockKey('pull', 'acme'), lockKey('details', 'acme'), lockKey('write', 'acme')]],
      );
      expect(held.map(({ key }) => key)).toEqual([lockKey('details', 'acme')]);

      expect(await pull()).toEqual({ kind: 'busy' });
      const to = { feed: feedName('other'), site: siteName('board') };
      await withOtherProcess(async (other) => {
        expect(await pull(other)).toEqual({ kind: 'busy' });
        expect(await renameFeed(other, acme, to, 'a person')).toEqual({ kind: 'busy', feed: acme });
      });
    });
    expect(report).toMatchObject({ created: 5, complete: true });
  });

  it('a posting is edited at once, and the pull plans it as edited', async () => {
    change('j4', { state: 'Jalisco' });
    change('j5', { state: 'Jalisco' });
    expect(await sync()).toMatchObject({ created: 3, rejected: 2 });
    // The record of j4 changes, that of j5 does not.
    change('j4', { text: 'Cook' });
    const report = await whileWaiting('j4', sync, async () => {
      const { db, config } = await context();
      for (const key of ['j4', 'j5']) {
        const edited = await editEntry(db, config, await entryOf(key), { 'location-state': 'Texas' }, ACTING);
        expect(edited).toMatchObject({ kind: 'edited', remaining: undefined });
      }
      // The worker sends them before the pull goes on.
      await expect.poll(async () => (await mirror.siteJobs()).size).toBe(5);
    });
    expect(report).toMatchObject({ rejected: 0, complete: true });
    const onSite = await mirror.siteJobs();
    expect(onSite.get('j4')).toMatchObject({ title: 'Cook', 'location-state': 'Texas' });
    expect(onSite.get('j5')).toMatchObject({ title: 'Nurse j5', 'location-state': 'Texas' });
    expect(onSite.size).toBe(5);
    expect(await sync()).toMatchObject({ unchanged: 5, requests: 0 });
  });

  it('an edit is not undone, as the pull has noted which records are known: it would take the posting for gone', async () => {
    version = '"1"';
    change('j5', { state: 'Jalisco' });
    expect(await sync()).toMatchObject({ created: 4, rejected: 1 });
    const { db, config } = await context();
    // Still rejected, so nothing is sent.
    await editEntry(db, config, await entryOf('j5'), { title: 'Chef' }, ACTING);
    const undo = () => undoEdits(db, feedName('acme'), postingKey('j5'), ACTING);
    change('j4', { text: 'Cook' });
    version = '"2"';
    const report = await whileWaiting('j4', sync, async () => {
      expect(await undo()).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('is being pulled right now'),
      });
    });
    expect(report).toMatchObject({ rejected: 1, updated: 1, complete: true });
    expect(await undo()).toMatchObject({ kind: 'undone' });
    expect(await sync()).toMatchObject({ seen: 5, rejected: 1, unchanged: 4 });
    expect(await db.query(`select fields->>'title' as title from change`)).toEqual([{ title: 'Nurse j5' }]);
  });

  it('an unreadable record is reopened at once, and the pull deletes nothing', async () => {
    await sync();
    change('j2', { text: 'Cook' });
    missing = new Set(['j2']);
    expect(await sync()).toMatchObject({ complete: false, unreadable: 1 });
    const { db } = await context();
    await db.transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: acme }), 'a person'));
    list = [...list.filter(({ id }) => id !== 'j5'), job('new')];
    const report = await whileWaiting('new', sync, async () => {
      const reopened = await actOnEntries(db, (await mirror.app()).config, 'reopen', [{ feed: acme }], ACTING);
      expect(reopened).toMatchObject({ kind: 'acted', feeds: [{ done: 1 }] });
    });
    expect(report).toMatchObject({ complete: false, created: 1, deleted: 0, gone: 0, unreadable: 1 });
    expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(['j1', 'j2', 'j3', 'j4', 'j5', 'new']);
    expect(await db.query('select source_version from feed_state')).toEqual([{ source_version: null }]);
  });

  it('an entry that is discarded stays so', async () => {
    change('j3', { state: 'Jalisco' });
    await sync();
    const report = await whileWaiting(
      'new',
      () => {
        list = [...list, job('new')];
        return sync();
      },
      async () => {
        const { db } = await context();
        await actOnEntries(db, (await mirror.app()).config, 'discard', [{ ids: [await entryOf('j3')] }], ACTING);
      },
    );
    expect(report).toMatchObject({ created: 1, complete: true });
    const { db } = await context();
    expect(await db.query(`select state from change where key = 'j3'`)).toEqual([{ state: 'discarded' }]);
  });

  it('a worker sends the changes of the feed, also those of postings that the list no longer has', async () => {
    expect(await pull()).toMatchObject({ kind: 'committed', complete: true });
    list = [...list.filter(({ id }) => id !== 'j1'), job('new')];
    change('j2', { text: 'Cook' });
    const report = await whileWaiting('new', sync, async () => {
      await mirror.engine();
      const { db } = await context();
      await expect.poll(() => db.query('select key from change')).toEqual([]);
      expect((await mirror.siteJobs()).size).toBe(5);
    });
    expect(report).toMatchObject({ complete: true, created: 1, updated: 1, deleted: 1, unchanged: 3 });
    const onSite = await mirror.siteJobs();
    expect([...onSite.keys()].sort()).toEqual(['j2', 'j3', 'j4', 'j5', 'new']);
    expect(onSite.get('j2')?.title).toBe('Cook');
    expect(await sync()).toMatchObject({ unchanged: 5, requests: 0 });
  });

  it('a posting loses its job to another one: the next pull reads the list, though it is unchanged', async () => {
    version = '"1"';
    await sync();
    list = [...list, job('new')];
    version = '"2"';
    const report = await whileWaiting('new', sync, async () => {
      const { db } = await context();
      await db.transaction(async (tx) => {
        const [row] = await tx.query<{ id: SiteJobId }>(`select site_job_id as id from mapping where key = 'j1'`);
        const owner = await lockOwner(tx, [siteName('board')], row?.id ?? expect.fail());
        await endOwnership(tx, owner ?? expect.fail(), { feed: acme, key: postingKey('other') });
      });
    });
    expect(report).toMatchObject({ complete: true, created: 1 });
    // The site still has the former job, so a new one is not created blindly.
    expect(await sync()).toMatchObject({ complete: true, created: 0, unchanged: 5, in_doubt: 1 });
    const open = await (await context()).db.query('select key, operation from change');
    expect(open).toEqual([{ key: 'j1', operation: 'create' }]);
  });

  it('a plan shows what is known, and requests nothing', async () => {
    await sync();
    list = [...list.filter(({ id }) => id !== 'j5'), job('new'), job('newer')];
    change('j2', { text: 'Cook' });
    const ended = await whileWaiting('new', sync, async () => {
      const why = /^the details of 3 postings were not requested: a pull or another plan/;
      const shown = { kind: 'planned', seen: 6, unreadable: 3, unchanged: 3, gone: 0 };
      const expected = { ...shown, shortfalls: [expect.stringMatching(why)] };
      expect(await plan()).toMatchObject(expected);
      await withOtherProcess(async (db) => expect(await plan(db)).toMatchObject(expected));
    });
    expect(ended).toMatchObject({ complete: true, created: 2, updated: 1, deleted: 1 });
    expect(requested().sort()).toEqual(['j1', 'j2', 'j2', 'j3', 'j4', 'j5', 'new', 'newer']);
    expect((await plan()).lines).toEqual([]);
  });

  it('somebody begins to edit: the pull waits, and plans once that has ended', async () => {
    const { db } = await context();
    let release: () => Promise<void> = () => Promise.resolve();
    const ended = whileWaiting('j5', sync, async () => {
      release = await holdPullLock(db, acme);
    });
    // It tries again and again. Between two tries, its connection shows the statement that follows a try in vain.
    const tries = new Set<string>();
    const tried = async () => {
      const rows = await db.query<{ at: Date }>(
        `select query_start as at from pg_stat_activity where query like 'select pg_terminate_backend(a.pid)%'
           and datname = current_database() and pid <> pg_backend_pid()`,
      );
      for (const { at } of rows) tries.add(at.toISOString());
      return tries.size;
    };
    await expect.poll(tried).toBeGreaterThan(3);
    expect(requested().sort()).toEqual(['j1', 'j2', 'j3', 'j4', 'j5']);
    expect(await db.query('select from change')).toEqual([]);
    expect(await db.query('select from pull where committed_at is not null')).toEqual([]);
    await release();
    expect(await ended).toMatchObject({ created: 5, complete: true });
  });

  it('a pull that loses its lock stores nothing but details, and the next one repeats no request', async () => {
    let lost: number | undefined;
    const { setup, context: inProcess } = await context();
    const onPull = (number: number) => {
      lost ??= number;
    };
    const ended = await whileWaiting(
      'j5',
      () => pullFeed(setup, { ...inProcess, onPull }),
      async () => {
        const { db } = await context();
        expect(answered).toHaveLength(4);
        await db.query(
          `select pg_terminate_backend(pid, 10000) from pg_locks where locktype = 'advisory'
             and database = (select oid from pg_database where datname = current_database())
             and ((classid::bigint << 32) | objid::bigint) = $1::bigint`,
          [lockKey('details', 'acme')],
        );
        const status = async () => (await findPull(db, lost ?? 0))?.status;
        await expect.poll(status).toBe('failed');
      },
    );
    // It starts again by itself.
    expect(ended).toMatchObject({ kind: 'committed', complete: true });
    expect(
      requested()
        .filter((id) => id !== 'j5')
        .sort(),
    ).toEqual(['j1', 'j2', 'j3', 'j4']);
    expect(await sync()).toMatchObject({ unchanged: 0, created: 5 });
    expect((await mirror.siteJobs()).size).toBe(5);
  });
});

describe('a pull that ends before it plans', () => {
  it('leaves the version of the source as it was: the next one reads the list, and deletes what it lacks', async () => {
    version = '"1"';
    await sync();
    list = [...list.filter(({ id }) => id !== 'j5'), job('new')];
    change('j1', { text: 'Cook' });
    version = '"2"';
    const stopping = new AbortController();
    const stopped = whileWaiting(
      'new',
      () => pull(undefined, stopping.signal),
      async () => stopping.abort(new Error('stop')),
    );
    await expect(stopped).rejects.toThrow('stop');
    const { db } = await context();
    expect(await db.query('select from change')).toEqual([]);
    expect(await db.query('select from pull where complete')).toHaveLength(1);

    const lists = () => source.requests.filter(({ path }) => path === '/jobs');
    expect(await sync()).toMatchObject({ complete: true, created: 1, updated: 1, deleted: 1, unchanged: 3 });
    expect(lists().map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"', '"1"']);
    expect(await sync()).toMatchObject({ status: 'not_modified', seen: 5, unchanged: 5 });
  });

  it('changes nothing when the list is what it was before', async () => {
    version = '"1"';
    await sync();
    const before = list;
    change('j1', { text: 'Cook' });
    version = '"2"';
    const stopping = new AbortController();
    list = [...list.filter(({ id }) => id !== 'j5'), job('new')];
    const stopped = whileWaiting(
      'new',
      () => pull(undefined, stopping.signal),
      async () => stopping.abort(new Error('stop')),
    );
    await expect(stopped).rejects.toThrow('stop');
    [list, version] = [before, '"1"'];
    expect(await sync()).toMatchObject({ status: 'not_modified', seen: 5, unchanged: 5, requests: 0 });
    version = undefined;
    expect(await sync()).toMatchObject({ complete: true, unchanged: 5, requests: 0 });
    expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(['j1', 'j2', 'j3', 'j4', 'j5']);
  });

  it.for([undefined, '"1"'])('details that it had refreshed are mirrored by the next one, version %s', async (etag) => {
    version = etag;
    await sync();
    const { db } = await context();
    await db.query(`update detail set fetched_at = now() - interval '8 days' where key in ('j1', 'j2')`);
    about = 'More about';
    const stopping = new AbortController();
    const stopped = whileWaiting(
      'j2',
      () => pull(undefined, stopping.signal),
      async () => stopping.abort(new Error('stop')),
    );
    await expect(stopped).rejects.toThrow('stop');
    expect(await db.query(`select key from detail where fetched_at > now() - interval '1 day' order by key`)).toEqual(
      ['j1', 'j3', 'j4', 'j5'].map((key) => ({ key })),
    );
    // The other one is no longer due for a while.
    await db.query(`update detail set fetched_at = now() where key = 'j2'`);
    expect(await sync()).toMatchObject({ complete: true, updated: 1, unchanged: 4 });
    expect((await mirror.siteJobs()).get('j1')?.description).toBe('More about j1');
    expect(await sync()).toMatchObject({ unchanged: 5, requests: 0 });
  });

  it('says so if the list cannot be kept, and the next one goes on', async () => {
    await sync();
    const large = 'x'.repeat(1024 * 1024);
    list = [...list.filter(({ id }) => id !== 'j5'), ...['a', 'b', 'c', 'd', 'e'].map((id) => job(id))];
    for (const { id } of list) change(id, { more: large });
    const before = process.env.TMPDIR;
    process.env.TMPDIR = '/nowhere';
    try {
      await expect(pull()).rejects.toThrow(
        /^the list can't be kept in \/nowhere while its details are requested: ENOENT/,
      );
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
    const { db } = await context();
    expect(await db.query('select from change')).toEqual([]);
    expect(await sync()).toMatchObject({ complete: true, created: 5, deleted: 1, unchanged: 4 });
  });
});

describe('while a plan requests details', () => {
  it('postings are edited, no pull begins, and the plan has the edit', async () => {
    change('j4', { state: 'Jalisco' });
    await sync();
    // A worker would send the edit before the plan has its detail.
    await mirror.stopEngine();
    change('j4', { text: 'Cook' });
    const planned = await whileWaiting('j4', plan, async () => {
      const { db, config } = await context();
      expect(await editEntry(db, config, await entryOf('j4'), { 'location-state': 'Texas' }, ACTING)).toMatchObject({
        kind: 'edited',
      });
      expect(await pull()).toEqual({ kind: 'busy' });
    });
    expect(planned).toMatchObject({ kind: 'planned', shortfalls: [] });
    expect(JSON.stringify(planned.lines)).toContain('Texas');
    const { db } = await context();
    expect(await db.query(`select from detail where key = 'j4'`)).toHaveLength(1);
  });
});

it('a plan that another pull overtakes begins again', async () => {
  await sync();
  list = [...list, job('new')];
  let lists = 0;
  const pulling = new AbortController();
  // The list of the plan is asked for before the detail of the pull arrives.
  const planned = await whileWaiting('new', planBeside, async () => {
    await once(gate.signal, 'abort');
  });

  async function planBeside() {
    const ended = sync().finally(() => pulling.abort());
    await once(asked.signal, 'abort');
    onList = async () => {
      lists++;
      if (lists > 1) return;
      // The list of the plan comes once the pull is committed.
      gate.abort();
      if (!pulling.signal.aborted) await once(pulling.signal, 'abort');
    };
    const end = await plan();
    expect(await ended).toMatchObject({ created: 1, complete: true });
    return end;
  }
  expect(planned).toMatchObject({ kind: 'planned', seen: 6, unchanged: 6, shortfalls: [], lines: [] });
  expect(lists).toBe(2);
});

it('details that are removed before their postings are planned are not taken for known ones', async () => {
  await sync();
  list = [...list.filter(({ id }) => id !== 'j5'), job('new'), ...Array.from({ length: 16 }, (_, at) => job(`k${at}`))];
  // The first group has been stored when the last one is requested.
  const report = await whileWaiting('k15', sync, async () => {
    const { db } = await context();
    await db.query(`delete from detail where key = 'new'`);
  });
  expect(report).toMatchObject({ complete: false, created: 16, unreadable: 1, deleted: 0 });
  expect((await mirror.siteJobs()).has('new')).toBe(false);
  expect(await sync()).toMatchObject({ complete: true, created: 1, deleted: 1 });
});
