// A posting with an unreadable record is still in the feed: its job and open change stay, whatever their state.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import type { Attempt } from '../../src/store/change/attempt.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { recoverAbandoned } from '../../src/store/change/recover-abandoned.ts';
import { denyRekey } from '../../src/store/change/rekey/deny-rekey.ts';
import { summarisePull } from '../../src/store/pull/pull-summary.ts';
import { readStory } from '../../src/store/review/posting-history.ts';
import { acme, acting, openStage, type Stage, said } from '../review/stage.ts';
import { firstOf, leavesOut, onlyInAllNote, spread } from '../support/extent.ts';
import { itInAll } from '../support/in-all.ts';
import { feedXml, posting, postings, recordXml, type TestPosting } from '../support/indeed-feed.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage({ feed: { delete_guard: '{ missing_pulls: 1, count: 5, percent: 50 }' } });
});
afterEach(() => stage.close());

/** The record of a posting with a bare `&` in its title. */
const broken = (each: TestPosting, noise = ''): string =>
  recordXml(each).replace(/<title>.*<\/title>/, `<title>Research & Development ${noise}</title>`);
/** A record that could be any posting. */
const keyless = (noise = ''): string => `<job><referencenumber>R & D</referencenumber><title>x ${noise}</title></job>`;

/** A feed with these postings and extra records. */
const feedOf = (list: readonly TestPosting[], ...records: readonly string[]): string =>
  feedXml(list).replace('</source>', `${records.join('\n')}</source>`);

const others = postings(12).slice(1);
const p1 = posting('p1');
const acts = (action: 'discard' | 'approve' | 'retry', ids: readonly number[]) =>
  actOnEntries(stage.app.db, action, { ids, feeds: [] }, acting);
const unreadable = () =>
  stage.app.db.query<{ id: number; key: string | null; discarded: boolean; records: number; first_pull: number }>(
    `select id, key, discarded, records, first_pull from record_problem where kind = 'unreadable' order by id`,
  );
const discardUnreadable = async () =>
  acts(
    'discard',
    (await unreadable()).map(({ id }) => id),
  );
const mapped = async () => (await stage.app.db.query('select key from mapping order by key')).map(({ key }) => key);
const absent = () => stage.app.db.query(`select key, state from change where desired = 'absent' order by key`);
/** Pulls and returns the current counts. The summary throws if they do not add up. */
const pull = async (feed: readonly TestPosting[] | string) => {
  const { pull: number } = await stage.pull(feed);
  return (await summarisePull(stage.app.db, number)).summary;
};
const recordOutcome = (attempt: Attempt, kind: 'created' | 'updated' | 'deleted') =>
  outcomeRecorder(stage.app.db.prepared)({
    attempt,
    result: kind === 'created' ? { kind, siteJobId: siteJobId('job-p1'), url: undefined } : { kind },
    record: undefined,
  });
const live = async (list: readonly TestPosting[]) => {
  await pull(list);
  await stage.acceptAll();
};

interface State {
  /** Brings p1 into the state and returns the attempt in flight, if any. */
  readonly prepare: () => Promise<Attempt | undefined>;
  /** The open change once the record is unreadable; `undefined`: none. */
  readonly open: object | undefined;
  /** How the attempt succeeds afterwards. */
  readonly lands?: 'created' | 'updated' | 'deleted';
  /** The open change after that. */
  readonly landed?: object | undefined;
}

const changed = posting('p1', { title: 'Changed' });
const invalid = posting('p1', { state: 'Jalisco' });
const gone = async () => {
  await live([p1, ...others]);
  await pull(others);
};
/** More deletes than the guard allows, so all of them are held. */
const heldWithOthers = async () => {
  await live([p1, ...others]);
  await pull(others.slice(8));
  expect(await stage.change('p1')).toMatchObject({ state: 'held' });
};
const nothing = async () => undefined;

const states: Record<string, State> = {
  live: { prepare: () => live([p1, ...others]).then(nothing), open: undefined },
  'not created, ready': {
    prepare: () =>
      live(others)
        .then(() => pull([p1, ...others]))
        .then(nothing),
    open: { state: 'ready', desired: 'present' },
  },
  'not created, rejected by a rule': {
    prepare: () =>
      live(others)
        .then(() => pull([invalid, ...others]))
        .then(nothing),
    open: { state: 'rejected', desired: 'present' },
  },
  'not created, failed': {
    prepare: () =>
      live(others)
        .then(() => pull([p1, ...others]))
        .then(() => stage.fail('p1', 'failed'))
        .then(nothing),
    open: { state: 'failed', desired: 'present' },
  },
  'not created, discarded': {
    prepare: async () => {
      await live(others);
      await pull([invalid, ...others]);
      await acts('discard', [await stage.entry('p1')]);
      return undefined;
    },
    open: { state: 'discarded', desired: 'present' },
  },
  'create in flight': {
    prepare: () =>
      live(others)
        .then(() => pull([p1, ...others]))
        .then(() => stage.claim('p1')),
    open: { state: 'sending', desired: 'present' },
    lands: 'created',
    landed: undefined,
  },
  'in doubt': {
    prepare: () =>
      live(others)
        .then(() => pull([p1, ...others]))
        .then(() => stage.fail('p1', 'in_doubt'))
        .then(nothing),
    open: { state: 'in_doubt', desired: 'present' },
  },
  'gone while its create was in doubt': {
    prepare: async () => {
      await live(others);
      await pull([p1, ...others]);
      await stage.fail('p1', 'in_doubt');
      await pull(others);
      expect(await stage.change('p1')).toMatchObject({ desired: 'absent' });
      return undefined;
    },
    open: {
      state: 'in_doubt',
      desired: 'present',
      operation: 'create',
      fields: expect.objectContaining({ number: 'p1' }),
    },
  },
  'gone while its create was in flight': {
    prepare: async () => {
      await live(others);
      await pull([p1, ...others]);
      const attempt = await stage.claim('p1');
      await pull(others);
      return attempt;
    },
    open: { state: 'sending', desired: 'present', operation: 'create' },
    lands: 'created',
    landed: undefined,
  },
  'live, with an update': {
    prepare: () =>
      live([p1, ...others])
        .then(() => pull([changed, ...others]))
        .then(nothing),
    open: { state: 'ready', desired: 'present', operation: 'update' },
  },
  'live, with an update in flight': {
    prepare: () =>
      live([p1, ...others])
        .then(() => pull([changed, ...others]))
        .then(() => stage.claim('p1')),
    open: { state: 'sending', desired: 'present', operation: 'update' },
    lands: 'updated',
    landed: undefined,
  },
  'live, with a rejected update': {
    prepare: () =>
      live([p1, ...others])
        .then(() => pull([invalid, ...others]))
        .then(nothing),
    open: { state: 'rejected', desired: 'present' },
  },
  'gone while an update was in flight': {
    prepare: async () => {
      await live([p1, ...others]);
      await pull([changed, ...others]);
      const attempt = await stage.claim('p1');
      await pull(others);
      return attempt;
    },
    open: { state: 'sending', desired: 'present', operation: 'update' },
    lands: 'updated',
    landed: undefined,
  },
  'with a pending delete': { prepare: () => gone().then(nothing), open: undefined },
  'with a held delete': { prepare: () => heldWithOthers().then(nothing), open: undefined },
  'with an approved delete': {
    prepare: async () => {
      await heldWithOthers();
      await acts('approve', [await stage.entry('p1')]);
      return undefined;
    },
    open: undefined,
  },
  'with a discarded delete': {
    prepare: async () => {
      await heldWithOthers();
      await acts('discard', [await stage.entry('p1')]);
      return undefined;
    },
    open: undefined,
  },
  'with a failed delete': {
    prepare: () =>
      gone()
        .then(() => stage.fail('p1', 'failed'))
        .then(nothing),
    open: undefined,
  },
  'with an uncertain delete': {
    prepare: async () => {
      await gone();
      const attempt = await stage.claim('p1');
      const reason = { kind: 'unknown', message: 'no answer', problems: [] };
      const back = { to: 'ready', delayMs: 0, reason, mayLandMs: 0, counted: true } as const;
      await outcomeRecorder(stage.app.db.prepared)({ attempt, result: { kind: 'returned', back }, record: undefined });
      return undefined;
    },
    open: { state: 'ready', desired: 'present', operation: 'update' },
  },
  'with an uncertain delete that failed permanently': {
    prepare: async () => {
      await gone();
      const attempt = await stage.claim('p1');
      const reason = { kind: 'unknown', message: 'no answer', problems: [] };
      const back = { to: 'failed', reason, mayLandMs: 0 } as const;
      await outcomeRecorder(stage.app.db.prepared)({ attempt, result: { kind: 'returned', back }, record: undefined });
      return undefined;
    },
    open: { state: 'ready', desired: 'present', operation: 'update' },
  },
  'with a delete in flight': {
    prepare: () => gone().then(() => stage.claim('p1')),
    open: { state: 'sending', desired: 'present', fields: expect.objectContaining({ number: 'p1' }) },
    lands: 'deleted',
    landed: { state: 'ready', desired: 'present', operation: 'create' },
  },
};

describe('a delete of unknown outcome that was held because of a record without a key', () => {
  const held = async () => {
    await gone();
    const attempt = await stage.claim('p1');
    const reason = { kind: 'unknown', message: 'no answer', problems: [] };
    const back = { to: 'ready', delayMs: 0, reason, mayLandMs: 0, counted: true } as const;
    await outcomeRecorder(stage.app.db)({ attempt, result: { kind: 'returned', back }, record: undefined });
    await pull(feedOf(others, keyless()));
    expect(await stage.change('p1')).toMatchObject({ state: 'held', desired: 'absent' });
  };

  itInAll('becomes an update that waits, if its posting is within its grace now', async () => {
    await held();
    await stage.pull(others, { missingPulls: 2 });
    expect(await stage.change('p1')).toMatchObject({ desired: 'present', operation: 'update', missing: true });
    expect(await mapped()).toContain('p1');
    await stage.pull([p1, ...others], { missingPulls: 2 });
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', desired: 'present', missing: false });
  });

  it('is planned again once the feed is whole', async () => {
    await held();
    await pull(others);
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', desired: 'absent' });
  });

  it('becomes an update if its posting is back', async () => {
    await held();
    await pull([p1, ...others]);
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', desired: 'present', operation: 'update' });
  });
});

describe('a posting that becomes unreadable', () => {
  for (const [end, position] of (['first', 'last'] as const).entries()) {
    for (const [at, [name, { prepare, open, lands, landed }]] of spread(Object.entries(states), end, 2).entries()) {
      const isLeftOut = leavesOut(at, 2 * end, 4);
      const note = isLeftOut ? onlyInAllNote : '';
      it.skipIf(isLeftOut)(`${name}: stays as it is (${position} in the feed)${note}`, async () => {
        const attempt = await prepare();
        const before = await mapped();
        const kept = others.filter(({ key }) => before.includes(key));
        const feed = (noise: number) =>
          position === 'last'
            ? feedOf(kept, broken(p1, `${noise}`))
            : feedOf(kept).replace('<job>', `${broken(p1, `${noise}`)}<job>`);
        const check = async () => {
          const found = await stage.change('p1');
          if (open === undefined) expect(found).toBeUndefined();
          else expect(found).toMatchObject({ ...open, missing: false });
        };
        expect(await pull(feed(1))).toMatchObject({ complete: false, seen: kept.length + 1, unreadable: 1 });
        await check();
        await discardUnreadable();
        expect(await pull(feed(2))).toMatchObject({ complete: true, unreadable: 1, gone: 0, deleted: 0 });
        await check();
        expect(await unreadable()).toMatchObject([{ key: 'p1', discarded: true, records: 1 }]);
        if (attempt !== undefined && lands !== undefined) {
          await recordOutcome(attempt, lands);
          const found = await stage.change('p1');
          if (landed === undefined) expect(found).toBeUndefined();
          else expect(found).toMatchObject(landed);
          expect((await mapped()).includes('p1')).toBe(lands !== 'deleted');
        } else {
          expect(await mapped()).toEqual(before);
        }

        // The source fixes it: the entry is gone, and the posting is like any other.
        expect(await pull([changed, ...kept])).toMatchObject({ complete: true, unreadable: 0, gone: 0 });
        expect(await unreadable()).toEqual([]);
        if ((await stage.change('p1'))?.state !== 'in_doubt') {
          await stage.acceptAll();
          const { live: job } = await readStory(stage.app.db, acme, postingKey('p1'));
          expect(job?.fields?.title).toBe('Changed');
        }
      });
    }
  }

  it('ends its grace period, and its open change is sent', async () => {
    await stage.close();
    stage = await openStage({ feed: { delete_guard: '{ missing_pulls: 2 }' } });
    await live([p1, ...others]);
    await pull([changed, ...others]);
    await pull(others);
    expect(await stage.change('p1')).toMatchObject({ missing: true });
    expect(await pull(feedOf(others, broken(p1)))).toMatchObject({ complete: false });
    await discardUnreadable();
    expect(await pull(feedOf(others, broken(p1)))).toMatchObject({ complete: true, gone: 0, grace: 0, unreadable: 1 });
    await stage.acceptAll();
    // The count of missing pulls starts again at one.
    expect(await pull(others)).toMatchObject({ gone: 1, grace: 1, deleted: 0 });
    expect(await absent()).toEqual([]);
  });

  itInAll('is deleted once it is really gone', async () => {
    await live([p1, ...others]);
    await pull(feedOf(others, broken(p1)));
    await discardUnreadable();
    await pull(feedOf(others, broken(p1)));
    expect(await pull(others)).toMatchObject({ complete: true, gone: 1, pending_deletes: 1, unreadable: 0 });
  });

  it.each(['before', 'after'])('%s a readable record with the same key: the readable one counts', async (order) => {
    await live([p1, ...others]);
    for (const [at, first] of [p1, changed, changed].entries()) {
      const records = [broken(p1), recordXml(first)];
      const summary = await pull(feedOf(others, ...(order === 'before' ? records : records.reverse())));
      expect(summary).toMatchObject({ seen: 13, unreadable: 1, duplicates: 0, gone: 0 });
      if (at === 0) await discardUnreadable();
      else expect(summary.complete).toBe(true);
      if (at === 1) await stage.acceptAll();
    }
    const { live: job, change } = await readStory(stage.app.db, acme, postingKey('p1'));
    expect([job?.fields?.title, change]).toEqual(['Changed', undefined]);
  });

  itInAll('counts once if a readable record matches its open change by hash', async () => {
    await live(others);
    await pull([p1, ...others]);
    expect(await pull(feedOf([p1, ...others], broken(p1)))).toMatchObject({ seen: 13, unreadable: 1, pending: 1 });
    await discardUnreadable();
    expect(await pull(feedOf([p1, ...others], broken(p1)))).toMatchObject({
      complete: true,
      unreadable: 1,
      pending: 1,
    });
  });

  itInAll('is shown with its key', async () => {
    await live([p1, ...others]);
    await pull(feedOf(others, broken(p1)));
    expect(await stage.entries()).toMatchObject([{ kind: 'unreadable', key: 'p1' }]);
    const [{ id } = { id: 0 }] = await unreadable();
    expect(await readStory(stage.app.db, acme, postingKey('p1'))).toMatchObject({
      unreadable: [{ id, discarded: false, reason: expect.stringContaining('bare "&"') }],
    });
  });
});

describe('an unreadable record without a key', () => {
  it('causes the deletes of a complete pull to be held, with the reason', async () => {
    await live([p1, ...others]);
    await pull(feedOf(others, keyless()));
    await discardUnreadable();
    expect(await pull(feedOf(others, keyless()))).toMatchObject({ complete: true, gone: 1, held: 1, unreadable: 1 });
    const { reason, id } = (await stage.change('p1')) ?? {};
    expect(reason?.message).toMatch(
      /^1 record could not be read, and its key is not known: it may be one of the postings/,
    );

    // The next pull holds nothing again, and approved deletes stay approved.
    await pull(feedOf(others, keyless()));
    expect(await stage.change('p1')).toMatchObject({ id, state: 'held' });
    await acts('approve', [id ?? 0]);
    await pull(feedOf(others, keyless()));
    expect(await stage.change('p1')).toMatchObject({ id, state: 'ready', approved: true });
    await stage.acceptAll();
    expect(await pull(feedOf(others, keyless()))).toMatchObject({ complete: true, gone: 0, held: 0 });
    expect(await mapped()).not.toContain('p1');
  });

  itInAll('that is fixed has the deletes checked against the guard again', async () => {
    await live([p1, ...others]);
    await pull(feedOf(others, keyless()));
    await discardUnreadable();
    await pull(feedOf(others, keyless()));
    expect(await absent()).toEqual([{ key: 'p1', state: 'held' }]);
    expect(await pull(others)).toMatchObject({ gone: 1, held: 0, pending_deletes: 1, unreadable: 0 });
  });

  it.each([true, false])('causes earlier pending deletes to be held (discarded: %s)', async (discarded) => {
    await gone();
    expect(await absent()).toEqual([{ key: 'p1', state: 'ready' }]);
    await pull(feedOf(others, keyless()));
    if (discarded) {
      await discardUnreadable();
      expect(await pull(feedOf(others, keyless()))).toMatchObject({ complete: true, gone: 1, held: 1 });
    }
    expect(await absent()).toEqual([{ key: 'p1', state: 'held' }]);
    expect(await pull(others)).toMatchObject({ complete: true, gone: 1, pending_deletes: 1 });
  });

  it('causes deletes in flight, or due after a request in flight, to be held once it ends', async () => {
    await live([p1, ...others]);
    const p2 = posting('p2', { title: 'Changed' });
    await pull([p1, p2, ...others.slice(1)]);
    const updated = await stage.claim('p2');
    await pull(others.slice(1));
    const deleted = await stage.claim('p1');
    await pull(feedOf(others.slice(1), keyless()));
    const reason = { kind: 'server', message: 'status 500', problems: [] };
    const back = { to: 'ready', delayMs: 0, reason, counted: true } as const;
    await outcomeRecorder(stage.app.db.prepared)({
      attempt: deleted,
      result: { kind: 'returned', back },
      record: undefined,
    });
    await recordOutcome(updated, 'updated');
    expect(await absent()).toEqual(['p1', 'p2'].map((key) => ({ key, state: 'held' })));
    expect(await stage.change('p1')).toMatchObject({ reason: { kind: 'unreadable' } });
    expect(await pull(others.slice(1))).toMatchObject({ complete: true, gone: 2, held: 0, pending_deletes: 2 });
  });

  it('causes deletes that wait for a decision about changed keys to be held, whatever is decided', async () => {
    const under = (prefix: string) =>
      others.map(({ key }) => posting(`${prefix}${key}`, { title: key, description: key }));
    const lax = { percent: 100 };
    await live(under('a'));
    await stage.pull(under('b'), lax);
    expect(await stage.change('ap2')).toMatchObject({ state: 'held', reason: { kind: 'rekey' } });
    await stage.pull(feedOf(under('b'), keyless()), lax);
    expect(await denyRekey(stage.app.db, acme, 'tester')).toMatchObject({ deletes: 0, held: others.length });
    const { reason } = (await stage.change('ap2')) ?? {};
    expect(reason).toMatchObject({ kind: 'unreadable', message: expect.stringMatching(/could not be read.*; .*keys/) });
    await stage.pull(under('b'), lax);
    expect(await stage.change('ap2')).toMatchObject({ state: 'ready', desired: 'absent' });
  });

  it('causes a delete whose worker ended to be held until the record can be read', async () => {
    await gone();
    await stage.claim('p1');
    await pull(feedOf(others, keyless()));
    const limits = { deadlineMs: 60_000, mayLandMs: 0, mostTries: 3 };
    expect(await recoverAbandoned(stage.app.db, siteName('board'), limits)).toBe(1);
    expect(await stage.change('p1')).toMatchObject({ state: 'held', reason: { kind: 'unreadable' } });
    expect(await pull(others)).toMatchObject({ complete: true, gone: 1, held: 0 });
  });

  it('leaves nothing to be held once a delete that was in flight is done', async () => {
    await gone();
    const attempt = await stage.claim('p1');
    await pull(feedOf(others, keyless()));
    await recordOutcome(attempt, 'deleted');
    expect(await mapped()).not.toContain('p1');
    expect(await absent()).toEqual([{ key: 'p1', state: 'ready' }]);
    await stage.acceptAll();
    expect(await absent()).toEqual([]);
    expect(await pull(others)).toMatchObject({ complete: true, gone: 0, held: 0 });
  });

  itInAll('leaves creates that are not done yet as they are', async () => {
    await live(others);
    await pull([p1, ...others]);
    await stage.fail('p1', 'in_doubt');
    await pull(feedOf(others, keyless()));
    await discardUnreadable();
    expect(await pull(feedOf(others, keyless()))).toMatchObject({
      complete: true,
      gone: 0,
      in_doubt: 0,
      unreadable: 1,
    });
    expect(await stage.change('p1')).toMatchObject({ state: 'in_doubt', desired: 'present' });
  });
});

describe('a record that is too large', () => {
  beforeEach(async () => {
    await stage.close();
    stage = await openStage({ feed: { limits: '{ max_record_bytes: 4000 }' } });
  });
  const large = 'x'.repeat(5_000);
  const late = `<job><description>${large}</description><referencenumber>p1</referencenumber></job>`;

  it.each([
    ['protects its posting if the key is at its beginning', recordXml({ ...p1, description: large }), { gone: 0 }],
    ['could be any posting otherwise', late, { gone: 1, held: 1 }],
  ])('%s', async (_, record, counts) => {
    await live([p1, ...others]);
    expect(await pull(feedOf(others, record))).toMatchObject({ complete: false, unreadable: 1 });
    await discardUnreadable();
    expect(await pull(feedOf(others, record))).toMatchObject({ complete: true, unreadable: 1, ...counts });
    expect(await mapped()).toContain('p1');
  });
});

describe('an unreadable record whose bytes differ on every pull', () => {
  const cases: Record<string, (noise: string) => string> = {
    'with a key': (noise) => broken(p1, noise),
    'without a key, differing in a number': (noise) => keyless(noise),
    'without a key, differing in letters': (noise) =>
      keyless(noise.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')),
    'without an element for a key': (noise) => `<job><title>x</title><session>${noise}</session></job>`,
    'differing where it is broken': (noise) => `<job><referencenumber>R&${noise}</referencenumber></job>`,
  };
  it.each(firstOf(Object.entries(cases), 2))('%s keeps one entry, which stays discarded', async (_, record) => {
    const first = await pull(feedOf(others, record('1')));
    const [entry] = await unreadable();
    for (const noise of ['22', '333'])
      expect(await pull(feedOf(others, record(noise)))).toMatchObject({ complete: false });
    expect(await unreadable()).toEqual([{ ...entry, first_pull: first.pull }]);
    await discardUnreadable();
    for (const noise of ['4', '55'])
      expect(await pull(feedOf(others, record(noise)))).toMatchObject({ complete: true });
    expect(await unreadable()).toEqual([{ ...entry, discarded: true }]);
    const [{ excerpt } = { excerpt: '' }] = await stage.app.db.query('select excerpt from record_problem');
    expect(excerpt).toBe(record('55').slice(0, 2_048));
    await pull(others);
    expect(await unreadable()).toEqual([]);
  });

  itInAll('is not confused with another one: each further record gets its own entry', async () => {
    await pull(feedOf(others, keyless('1')));
    await discardUnreadable();
    expect(await pull(feedOf(others, keyless('2'), keyless('3')))).toMatchObject({ complete: false, unreadable: 2 });
    expect(await unreadable()).toMatchObject([{ discarded: true }, { discarded: false }]);
  });

  itInAll('shares an entry, with a count, only with records that nothing distinguishes from it', async () => {
    expect(await pull(feedOf(others, keyless(), keyless(), broken(p1, 'a'), broken(p1, 'b')))).toMatchObject({
      unreadable: 4,
      review: 2,
    });
    expect(await unreadable()).toMatchObject([
      { key: null, records: 2 },
      { key: 'p1', records: 2 },
    ]);
    expect((await stage.entries()).map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^2 records: /),
      expect.stringMatching(/^2 records: /),
    ]);
  });
});

itInAll('a duplicate whose bytes differ on every pull keeps one entry, which stays discarded', async () => {
  const duplicates = () =>
    stage.app.db.query<{ id: number; discarded: boolean }>(
      `select id, discarded from record_problem where kind = 'duplicate' order by id`,
    );
  const twice = (noise: string) => feedOf([p1, ...others], recordXml(posting('p1', { title: `Other ${noise}` })));
  await pull(twice('1'));
  const [entry] = await duplicates();
  await pull(twice('2'));
  expect(await duplicates()).toEqual([entry]);
  await acts('discard', [entry?.id ?? 0]);
  expect(await pull(twice('3'))).toMatchObject({ duplicates: 1, review: 0 });
  expect(await duplicates()).toEqual([{ ...entry, discarded: true }]);
  await pull([p1, ...others]);
  expect(await duplicates()).toEqual([]);
});

itInAll('says that records without their own review entry cannot be discarded', async () => {
  await live([p1, ...others]);
  const many = feedOf([p1, ...others], ...Array.from({ length: 5_003 }, (_, at) => keyless(`number ${at}`)));
  expect((await pull(many)).shortfalls.map(said)).toEqual([
    expect.stringMatching(/^5003 records could not be read.*review list/),
  ]);
  await discardUnreadable();
  const { complete, gone, shortfalls, discarded } = await pull(many);
  // The single entry for the other three is not a record and covers none of them.
  expect({ complete, gone, discarded }).toEqual({ complete: false, gone: 0, discarded: 5_000 });
  expect(shortfalls).toEqual([
    expect.stringMatching(/^3 records could not be read.*can't be discarded: fix the feed$/),
  ]);
});
