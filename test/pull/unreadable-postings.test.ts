// A posting with an unreadable record is still in the feed: its job and open change stay, whatever their state.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeleteGuard } from '../../src/plan/delete-guard.ts';
import { postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { PULL_LIMITS } from '../../src/pull/unusable-records.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import type { Attempt } from '../../src/store/change/attempt.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { denyRekey } from '../../src/store/change/rekey/rekey-postings.ts';
import { recoverAbandoned } from '../../src/store/change/restored-database.ts';
import { readStory } from '../../src/store/review/posting-history.ts';
import { summarisePull } from '../../src/store/status/pull-summary.ts';
import { acme, acting, openStage, type Stage, said } from '../review/stage.ts';
import { firstOf } from '../support/extent.ts';
import { feedXml, posting, postings, recordXml, type TestPosting } from '../support/indeed-feed.ts';

/** More than any readable record here has. */
const MOST_RECORD_BYTES = 4_000;

let stage: Stage;
beforeEach(async () => {
  stage = await openStage({
    feed: {
      delete_guard: '{ missing_pulls: 1, count: 5, percent: 50 }',
      limits: `{ max_record_bytes: ${MOST_RECORD_BYTES} }`,
    },
  });
});
const { entries: usualLimit } = PULL_LIMITS;
afterEach(() => {
  PULL_LIMITS.entries = usualLimit;
  return stage.close();
});

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
  actOnEntries(stage.app.db, stage.app.config, action, [{ ids }], acting);
const unreadable = () =>
  stage.app.db.query<{ id: number; key: string | null; discarded: boolean; records: number; first_pull: number }>(
    `select id, key, discarded, records, first_pull from record_problem where kind = 'unreadable' order by id`,
  );
const discardUnreadable = async () =>
  acts(
    'discard',
    (await unreadable()).map(({ id }) => id),
  );
const mapped = async () =>
  (await stage.app.db.query<{ key: string }>('select key from mapping order by key')).map(({ key }) => key);
const absent = () => stage.app.db.query(`select key, state from change where desired = 'absent' order by key`);
/** Pulls and returns the current counts. The summary throws if they do not add up. */
const pull = async (feed: readonly TestPosting[] | string, guard: Partial<DeleteGuard> = {}) => {
  const { pull: number } = await stage.pull(feed, guard);
  return (await summarisePull(stage.app.db, number)).summary;
};
const recordOutcome = (attempt: Attempt, kind: 'created' | 'updated' | 'deleted', key = 'p1') =>
  outcomeRecorder(stage.app.db.prepared)({
    attempt,
    result: kind === 'created' ? { kind, siteJobId: siteJobId(`job-${key}`), url: undefined } : { kind },
    record: undefined,
  });
/** Claims a change, and gets no answer to its request. */
const getNoAnswer = async (key: string, to: 'ready' | 'failed') => {
  const attempt = await stage.claim(key);
  const reason = { kind: 'unknown', message: 'no answer', problems: [] };
  const back =
    to === 'failed'
      ? ({ to, reason, mayLandMs: 0 } as const)
      : ({ to, delayMs: 0, reason, mayLandMs: 0, counted: true } as const);
  await outcomeRecorder(stage.app.db.prepared)({ attempt, result: { kind: 'returned', back }, record: undefined });
};
const live = async (list: readonly TestPosting[]) => {
  await pull(list);
  await stage.acceptAll();
};

const changed = posting('p1', { title: 'Changed' });
const gone = async () => {
  await live([p1, ...others]);
  await pull(others);
};

/** How a feed has a posting, if it has it. */
const versions = {
  usual: (key: string) => posting(key),
  changed: (key: string) => posting(key, { title: 'Changed' }),
  invalid: (key: string) => posting(key, { state: 'Jalisco' }),
};
type Version = keyof typeof versions | 'none';

interface State {
  /** How the feeds have the posting, one after the other. */
  readonly feeds: {
    /** What is new in it is accepted. */
    readonly accepted: 'usual' | 'none';
    /** Every delete of it is held. */
    readonly held?: 'none';
    readonly next: Version;
    readonly last?: 'none';
  };
  /** What happens to its change, before the last feed if that lacks the posting. Returns an attempt that stays in flight. */
  readonly act?: (key: string) => Promise<unknown>;
  /** The open change once the record is unreadable; `undefined`: none. */
  readonly open: object | undefined;
  /** How the attempt succeeds afterwards. */
  readonly lands?: 'created' | 'updated' | 'deleted';
  /** The open change after that. */
  readonly landed?: object | undefined;
}

const claims = (key: string) => stage.claim(key);
const fails = (to: 'failed' | 'in_doubt') => (key: string) => stage.fail(key, to);
const decides = (action: 'approve' | 'discard') => async (key: string) => acts(action, [await stage.entry(key)]);
const fresh = { accepted: 'none', next: 'usual' } as const;
const updated = { accepted: 'usual', next: 'changed' } as const;
const deleted = { accepted: 'usual', next: 'none' } as const;
const heldBack = { accepted: 'usual', held: 'none', next: 'none' } as const;

const states: Record<string, State> = {
  live: { feeds: { accepted: 'usual', next: 'usual' }, open: undefined },
  'not created, ready': { feeds: fresh, open: { state: 'ready', desired: 'present' } },
  'not created, rejected by a rule': {
    feeds: { accepted: 'none', next: 'invalid' },
    open: { state: 'rejected', desired: 'present' },
  },
  'not created, failed': { feeds: fresh, act: fails('failed'), open: { state: 'failed', desired: 'present' } },
  'not created, discarded': {
    feeds: { accepted: 'none', next: 'invalid' },
    act: decides('discard'),
    open: { state: 'discarded', desired: 'present' },
  },
  'create in flight': {
    feeds: fresh,
    act: claims,
    open: { state: 'sending', desired: 'present' },
    lands: 'created',
    landed: undefined,
  },
  'in doubt': { feeds: fresh, act: fails('in_doubt'), open: { state: 'in_doubt', desired: 'present' } },
  'gone while its create was in doubt': {
    feeds: { ...fresh, last: 'none' },
    act: fails('in_doubt'),
    open: { state: 'in_doubt', desired: 'present', operation: 'create' },
  },
  'gone while its create was in flight': {
    feeds: { ...fresh, last: 'none' },
    act: claims,
    open: { state: 'sending', desired: 'present', operation: 'create' },
    lands: 'created',
    landed: undefined,
  },
  'live, with an update': { feeds: updated, open: { state: 'ready', desired: 'present', operation: 'update' } },
  'live, with an update in flight': {
    feeds: updated,
    act: claims,
    open: { state: 'sending', desired: 'present', operation: 'update' },
    lands: 'updated',
    landed: undefined,
  },
  'live, with a rejected update': {
    feeds: { accepted: 'usual', next: 'invalid' },
    open: { state: 'rejected', desired: 'present' },
  },
  'gone while an update was in flight': {
    feeds: { ...updated, last: 'none' },
    act: claims,
    open: { state: 'sending', desired: 'present', operation: 'update' },
    lands: 'updated',
    landed: undefined,
  },
  'with a pending delete': { feeds: deleted, open: undefined },
  'with a held delete': { feeds: heldBack, open: undefined },
  'with an approved delete': { feeds: heldBack, act: decides('approve'), open: undefined },
  'with a discarded delete': { feeds: heldBack, act: decides('discard'), open: undefined },
  'with a failed delete': { feeds: deleted, act: fails('failed'), open: undefined },
  'with an uncertain delete': {
    feeds: deleted,
    act: (key) => getNoAnswer(key, 'ready'),
    open: { state: 'ready', desired: 'present', operation: 'update' },
  },
  'with an uncertain delete that failed permanently': {
    feeds: deleted,
    act: (key) => getNoAnswer(key, 'failed'),
    open: { state: 'ready', desired: 'present', operation: 'update' },
  },
  'with a delete in flight': {
    feeds: deleted,
    act: claims,
    open: { state: 'sending', desired: 'present' },
    lands: 'deleted',
    landed: { state: 'ready', desired: 'present', operation: 'create' },
  },
};

describe('a delete of unknown outcome that was held because of a record without a key', () => {
  const p2 = posting('p2');
  const rest = others.slice(1);
  const held = async () => {
    await live([p1, p2, ...rest]);
    await pull(rest);
    for (const { key } of [p1, p2]) await getNoAnswer(key, 'ready');
    await pull(feedOf(rest, keyless()));
    for (const { key } of [p1, p2]) expect(await stage.change(key)).toMatchObject({ state: 'held', desired: 'absent' });
  };

  it('becomes an update that waits, if its posting is within its grace now', { tags: 'slow' }, async () => {
    await held();
    await pull(rest, { missingPulls: 2 });
    expect(await stage.change('p1')).toMatchObject({ desired: 'present', operation: 'update', missing: true });
    expect(await mapped()).toContain('p1');
    await pull([p1, ...rest], { missingPulls: 2 });
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', desired: 'present', missing: false });
  });

  it('is planned again once the feed is whole, and becomes an update if its posting is back', async () => {
    await held();
    await pull([p2, ...rest]);
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', desired: 'absent' });
    expect(await stage.change('p2')).toMatchObject({ state: 'ready', desired: 'present', operation: 'update' });
  });
});

describe('a posting that becomes unreadable', () => {
  const all = Object.entries(states).map(([name, state], at) => ({ name, key: `s${at}`, ...state }));
  const feedAt = (step: 'accepted' | 'held' | 'next' | 'last') => {
    const found = all.flatMap(({ key, feeds }) => {
      const version = feeds[step] ?? (step === 'held' ? feeds.accepted : feeds.next);
      return version === 'none' ? [] : [versions[version](key)];
    });
    return [...found, ...others];
  };
  /** Brings a posting into each state, and returns what is in flight. */
  const prepare = async () => {
    const attempts = new Map<string, unknown>();
    const act = async (chosen: typeof all) => {
      for (const { name, key, act } of chosen) attempts.set(name, await act?.(key));
    };
    await live(feedAt('accepted'));
    await stage.pull(feedAt('held'), { count: 0, percent: 0 });
    await stage.pull(feedAt('next'), { percent: 100 });
    await act(all.filter(({ feeds }) => feeds.last !== undefined));
    await stage.pull(feedAt('last'), { percent: 100 });
    await act(all.filter(({ feeds }) => feeds.last === undefined));
    return attempts;
  };
  const found = async () => {
    const entries = all.map(async ({ name, key }) => [name, await stage.change(key)] as const);
    return Object.fromEntries(await Promise.all(entries));
  };
  const before: Readonly<Record<string, object>> = {
    'gone while its create was in doubt': { state: 'in_doubt', desired: 'absent' },
    'gone while its create was in flight': { state: 'sending', desired: 'absent' },
    'gone while an update was in flight': { state: 'sending', desired: 'absent' },
    'with a pending delete': { state: 'ready', desired: 'absent' },
    'with a held delete': { state: 'held', desired: 'absent' },
    'with an approved delete': { state: 'ready', desired: 'absent', approved: true },
    'with a discarded delete': { state: 'discarded', desired: 'absent' },
    'with a failed delete': { state: 'failed', desired: 'absent' },
    'with an uncertain delete': { state: 'ready', desired: 'absent' },
    'with an uncertain delete that failed permanently': { state: 'failed', desired: 'absent' },
    'with a delete in flight': { state: 'sending', desired: 'absent' },
  };

  // A feed with a posting in each state, of which every other one is before all that can be read.
  for (const [parity, order] of firstOf([...(['first, last', 'last, first'] as const).entries()], 1)) {
    it(`stays as it is, in each state (${order}, … in the feed)`, async () => {
      const attempts = await prepare();
      expect(await found()).toMatchObject(before);
      const jobs = await mapped();
      const feed = (noise: number) => {
        const [begin, end] = [0, 1].map((rest) =>
          all.filter((_, at) => at % 2 === (rest + parity) % 2).map(({ key }) => broken(posting(key), `${noise}`)),
        ) as [string[], string[]];
        return feedOf(others, ...end).replace('<job>', `${begin.join('\n')}<job>`);
      };
      const open = Object.fromEntries(
        all.map(({ name, key, open }) => {
          const fields = expect.objectContaining({ number: key });
          return [name, open === undefined ? undefined : { fields, ...open, missing: false }];
        }),
      );
      const counts = { seen: all.length + others.length, unreadable: all.length, gone: 0 };
      expect(await pull(feed(1))).toMatchObject({ ...counts, complete: false });
      expect(await found()).toMatchObject(open);
      await discardUnreadable();
      expect(await pull(feed(2))).toMatchObject({ ...counts, complete: true, deleted: 0 });
      expect(await found()).toMatchObject(open);
      expect(await unreadable()).toMatchObject(all.map(() => ({ discarded: true, records: 1 })));
      expect((await unreadable()).map(({ key }) => key).sort()).toEqual(all.map(({ key }) => key).sort());

      const after: Record<string, object | undefined> = { ...open };
      for (const { name, key, lands, landed } of all) {
        if (lands === undefined) continue;
        await recordOutcome(attempts.get(name) as Attempt, lands, key);
        after[name] = landed;
      }
      expect(await found()).toMatchObject(after);
      const keysThat = (does: State['lands']) => all.flatMap(({ key, lands }) => (lands === does ? [key] : []));
      const expected = [...jobs, ...keysThat('created')].filter((key) => !keysThat('deleted').includes(`${key}`));
      expect(new Set(await mapped())).toEqual(new Set(expected));

      // The source fixes it: the entry is gone, and the posting is like any other.
      const fixed = [...all.map(({ key }) => versions.changed(key)), ...others];
      expect(await pull(fixed)).toMatchObject({ complete: true, unreadable: 0, gone: 0 });
      expect(await unreadable()).toEqual([]);
      const doubts = all.filter(({ open }) => open !== undefined && 'state' in open && open.state === 'in_doubt');
      await stage.acceptAll();
      for (const { name, key } of all) {
        if (doubts.some((each) => each.key === key)) continue;
        const { live: job } = await readStory(stage.app.db, acme, postingKey(key));
        expect([name, job?.fields?.title]).toEqual([name, 'Changed']);
      }
    });
  }

  it('ends its grace period, and its open change is sent', async () => {
    const guard = { missingPulls: 2 };
    await live([p1, ...others]);
    await pull([changed, ...others], guard);
    await pull(others, guard);
    expect(await stage.change('p1')).toMatchObject({ missing: true });
    expect(await pull(feedOf(others, broken(p1)), guard)).toMatchObject({ complete: false });
    await discardUnreadable();
    const counts = { complete: true, gone: 0, grace: 0, unreadable: 1 };
    expect(await pull(feedOf(others, broken(p1)), guard)).toMatchObject(counts);
    await stage.acceptAll();
    // The count of missing pulls starts again at one.
    expect(await pull(others, guard)).toMatchObject({ gone: 1, grace: 1, deleted: 0 });
    expect(await absent()).toEqual([]);
  });

  it('is deleted once it is really gone', { tags: 'slow' }, async () => {
    await live([p1, ...others]);
    await pull(feedOf(others, broken(p1)));
    await discardUnreadable();
    await pull(feedOf(others, broken(p1)));
    expect(await pull(others)).toMatchObject({ complete: true, gone: 1, pending_deletes: 1, unreadable: 0 });
  });

  it('before or after a readable record with the same key: the readable one counts', async () => {
    const keys = ['p1', 'p2'] as const;
    const rest = others.slice(1);
    await live([p1, ...others]);
    for (const [at, version] of (['usual', 'changed', 'changed'] as const).entries()) {
      const [before, after] = keys.map(versions[version]) as [TestPosting, TestPosting];
      const records = [broken(before), recordXml(before), recordXml(after), broken(after)];
      const summary = await pull(feedOf(rest, ...records));
      expect(summary).toMatchObject({ seen: 14, unreadable: 2, duplicates: 0, gone: 0 });
      if (at === 0) await discardUnreadable();
      else expect(summary.complete).toBe(true);
      if (at === 1) await stage.acceptAll();
    }
    for (const key of keys) {
      const { live: job, change } = await readStory(stage.app.db, acme, postingKey(key));
      expect([key, job?.fields?.title, change]).toEqual([key, 'Changed', undefined]);
    }
  });

  it('counts once if a readable record matches its open change by hash', { tags: 'slow' }, async () => {
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

  it('is shown with its key', { tags: 'slow' }, async () => {
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

  it('that is fixed has the deletes checked against the guard again', { tags: 'slow' }, async () => {
    await live([p1, ...others]);
    await pull(feedOf(others, keyless()));
    await discardUnreadable();
    await pull(feedOf(others, keyless()));
    expect(await absent()).toEqual([{ key: 'p1', state: 'held' }]);
    expect(await pull(others)).toMatchObject({ gone: 1, held: 0, pending_deletes: 1, unreadable: 0 });
  });

  it('causes earlier pending deletes to be held, whether it is discarded or not', async () => {
    await gone();
    for (const isDiscarded of [false, true]) {
      expect(await absent()).toEqual([{ key: 'p1', state: 'ready' }]);
      await pull(feedOf(others, keyless()));
      if (isDiscarded) {
        await discardUnreadable();
        expect(await pull(feedOf(others, keyless()))).toMatchObject({ complete: true, gone: 1, held: 1 });
      }
      expect(await absent()).toEqual([{ key: 'p1', state: 'held' }]);
      expect(await pull(others)).toMatchObject({ complete: true, gone: 1, pending_deletes: 1 });
    }
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

  it('leaves creates that are not done yet as they are', { tags: 'slow' }, async () => {
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
  const large = 'x'.repeat(MOST_RECORD_BYTES + 1_000);
  const late = `<job><description>${large}</description><referencenumber>p1</referencenumber></job>`;

  it('protects its posting if the key is at its beginning, and could be any posting otherwise', async () => {
    await live([p1, ...others]);
    for (const [record, counts] of [
      [recordXml({ ...p1, description: large }), { gone: 0 }],
      [late, { gone: 1, held: 1 }],
    ] as const) {
      expect(await pull(feedOf(others, record))).toMatchObject({ complete: false, unreadable: 1 });
      await discardUnreadable();
      expect(await pull(feedOf(others, record))).toMatchObject({ complete: true, unreadable: 1, ...counts });
      expect(await mapped()).toContain('p1');
    }
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
    const [{ excerpt } = { excerpt: '' }] = await stage.app.db.query<{ excerpt: string }>(
      'select excerpt from record_problem',
    );
    expect(excerpt).toBe(record('55').slice(0, 2_048));
    await pull(others);
    expect(await unreadable()).toEqual([]);
  });

  it('is not confused with another one: each further record gets its own entry', { tags: 'slow' }, async () => {
    await pull(feedOf(others, keyless('1')));
    await discardUnreadable();
    expect(await pull(feedOf(others, keyless('2'), keyless('3')))).toMatchObject({ complete: false, unreadable: 2 });
    expect(await unreadable()).toMatchObject([{ discarded: true }, { discarded: false }]);
  });

  it('shares an entry, with a count, only with records that nothing distinguishes from it', {
    tags: 'slow',
  }, async () => {
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

it('a duplicate whose bytes differ on every pull keeps one entry, which stays discarded', {
  tags: 'slow',
}, async () => {
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

it('says that records without their own review entry cannot be discarded', { tags: 'slow' }, async () => {
  PULL_LIMITS.entries = 50;
  await live([p1, ...others]);
  const many = feedOf([p1, ...others], ...Array.from({ length: 53 }, (_, at) => keyless(`number ${at}`)));
  expect((await pull(many)).shortfalls.map(said)).toEqual([
    expect.stringMatching(/^53 records could not be read.*review list/),
  ]);
  // As a person discards them, one by one.
  await stage.app.db.query(`update record_problem set discarded = true where kind = 'unreadable'`);
  const { complete, gone, shortfalls, discarded } = await pull(many);
  // The single entry for the other three is not a record and covers none of them.
  expect({ complete, gone, discarded }).toEqual({ complete: false, gone: 0, discarded: 50 });
  expect(shortfalls).toEqual([
    expect.stringMatching(/^3 records could not be read.*can't be discarded: fix the feed$/),
  ]);
});
