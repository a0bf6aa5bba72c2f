// Postings that leave the feed while their creates are in flight or in doubt: a configured grace period applies to their jobs.
// @module-tag slow
import { describe, expect } from 'vitest';
import { postingKey, siteJobId } from '../../src/posting/identifiers.ts';
import { adoptDoubt, findDoubt, refuteDoubt } from '../../src/store/change/doubt.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { acme, openStage, type Stage } from '../review/stage.ts';
import { type Ends, endsTest as it } from '../support/ends-test.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import type { Mirror } from '../support/mirror.ts';
import { letAnswer, openDoubtful } from './doubtful.ts';

const guard = (missingPulls: number) => ({
  delete_guard: `{ percent: 20, count: 5, missing_pulls: ${missingPulls} }`,
});

/** Creates in doubt, with the feed's grace period. */
async function openInGrace(ends: Ends, count: number, made: boolean, missingPulls: number): Promise<Mirror> {
  const { mirror } = await openDoubtful(count, made, guard(missingPulls));
  ends.push(() => mirror.close());
  return mirror;
}

const without = (count: number, of: number) => feedXml(postings(of).slice(0, of - count));

describe('a posting that is missing while its create is in doubt', { concurrent: true }, () => {
  it('keeps the job that is found until the configured number of complete pulls missed it', async ({ ends }) => {
    const mirror = await openInGrace(ends, 6, true, 3);
    await mirror.writeFeed(without(2, 6));
    expect(await mirror.sync()).toMatchObject({ gone: 2, grace: 2, in_doubt: 4, deleted: 0, pending_deletes: 0 });
    await letAnswer(mirror);
    expect(await mirror.sync()).toMatchObject({ gone: 2, grace: 2, in_doubt: 0, deleted: 0 });
    expect((await mirror.siteJobs()).size).toBe(6);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', gone: 2, grace: 0, deleted: 2 });
    expect((await mirror.siteJobs()).size).toBe(4);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', gone: 0, requests: 0 });
  });

  it('and returns within its grace period has one job', async ({ ends }) => {
    const mirror = await openInGrace(ends, 6, true, 2);
    await mirror.writeFeed(without(2, 6));
    expect(await mirror.sync()).toMatchObject({ gone: 2, grace: 2 });
    await letAnswer(mirror);
    expect(await mirror.syncOf(postings(6))).toMatchObject({ status: 'mirrored', seen: 6, gone: 0, in_doubt: 0 });
    expect(await mirror.sandbox.inspect.jobs()).toHaveLength(6);
    expect(await mirror.sync()).toMatchObject({ unchanged: 6, requests: 0 });
    // Its grace period begins again.
    await mirror.writeFeed(without(2, 6));
    expect(await mirror.sync()).toMatchObject({ gone: 2, grace: 2, deleted: 0 });
    expect(await mirror.sandbox.inspect.jobs()).toHaveLength(6);
  });

  it('and whose job was never made leaves nothing behind', async ({ ends }) => {
    const mirror = await openInGrace(ends, 6, false, 2);
    await mirror.writeFeed(without(2, 6));
    await letAnswer(mirror);
    expect(await mirror.sync()).toMatchObject({ gone: 2, grace: 2, created: 4 });
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', gone: 0, grace: 0, unchanged: 4, requests: 0 });
    expect((await mirror.siteJobs()).size).toBe(4);
    expect(await mirror.query('select key from change')).toEqual([]);
  });

  it('with more of them than the guard allows: nothing is held within the grace period, and all of them after it', async ({
    ends,
  }) => {
    const mirror = await openInGrace(ends, 6, true, 2);
    expect(await mirror.syncOf([])).toMatchObject({ gone: 6, grace: 6, held: 0 });
    await letAnswer(mirror);
    expect(await mirror.sync()).toMatchObject({ status: 'review', gone: 6, grace: 0, held: 6, deleted: 0 });
    expect((await mirror.siteJobs()).size).toBe(6);
  });
});

describe('the grace period of a posting without a mapping', { concurrent: true }, () => {
  const list = [...postings(9), posting('late')];
  const missing = postings(9);
  const nothingShown = { fields: {}, uncertain: [], isProven: true };
  const differing = { fields: {}, uncertain: ['title'], isProven: true };

  /** Mirrors `missing`, and pulls `list`, whose further postings wait to be created. */
  async function openWith(toClose: Ends, missingPulls = 2, ofPull = list, mirrored = missing): Promise<Stage> {
    const stage = await openStage({ feed: guard(missingPulls) });
    toClose.push(() => stage.close());
    await stage.pull(mirrored);
    await stage.acceptAll();
    await stage.pull(ofPull);
    return stage;
  }
  const row = async (stage: Stage, pull: number) =>
    (await stage.app.db.query('select gone, grace from pull where id = $1', [pull]))[0];
  const deletes = (stage: Stage) => stage.app.db.query(`select key from change where desired = 'absent' order by key`);

  describe('is that of its job', () => {
    /** How the create of a posting ends, which is in flight or in doubt when the posting leaves the feed. */
    const ENDS = {
      'in flight, and accepted': async (stage: Stage, key: string) => {
        const attempt = await stage.claim(key);
        return () =>
          outcomeRecorder(stage.app.db.prepared)({
            attempt,
            result: { kind: 'created', siteJobId: siteJobId(`job-${key}`), url: undefined },
            record: undefined,
          });
      },
      'in doubt, and its job is found as it was sent': async (stage: Stage, key: string) => {
        await stage.fail(key, 'in_doubt');
        return () => adopt(stage, key, nothingShown);
      },
      'in doubt, and its job is found with other content': async (stage: Stage, key: string) => {
        await stage.fail(key, 'in_doubt');
        return () => adopt(stage, key, differing);
      },
    };
    async function adopt(stage: Stage, key: string, shown: typeof differing) {
      const doubt = await findDoubt(stage.app.db, acme, postingKey(key));
      if (doubt === undefined) throw new Error('not in doubt');
      await adoptDoubt(stage.app.db, doubt, siteJobId(`job-${key}`), undefined, shown);
    }
    const keys = Object.keys(ENDS).sort();
    const others = postings(17);
    const all = [...others, ...keys.map((key) => posting(key))];

    /** Begins all of them. Returns what ends them. */
    async function openAll(toClose: Ends) {
      const stage = await openWith(toClose, 2, all, others);
      const ends: (() => Promise<unknown>)[] = [];
      for (const [key, begin] of Object.entries(ENDS)) ends.push(await begin(stage, key));
      return { stage, end: () => Promise.all(ends.map((each) => each())) };
    }
    const mapped = (stage: Stage) =>
      stage.app.db.query('select key, missing_pulls from mapping where key = any($1) order by key', [keys]);
    const missed = (pulls: number) => keys.map((key) => ({ key, missing_pulls: pulls }));

    it('that is found while it is missing', async ({ ends }) => {
      const { stage, end } = await openAll(ends);
      expect(await row(stage, (await stage.pull(others)).pull)).toEqual({ gone: 3, grace: 3 });
      await end();
      expect(await mapped(stage)).toEqual(missed(1));
      expect(await deletes(stage)).toEqual([]);
      expect(await row(stage, (await stage.pull(others)).pull)).toEqual({ gone: 3, grace: 0 });
      expect(await deletes(stage)).toEqual(keys.map((key) => ({ key })));
    });

    it('and ends when it returns', async ({ ends }) => {
      const { stage, end } = await openAll(ends);
      await stage.pull(others);
      await end();
      await stage.pull(all);
      expect(await mapped(stage)).toEqual(missed(0));
      await stage.acceptAll();
      expect(await stage.app.db.query('select key from change')).toEqual([]);
      expect(await row(stage, (await stage.pull(others)).pull)).toEqual({ gone: 3, grace: 3 });
      expect(await deletes(stage)).toEqual([]);
    });

    it('and ends when it returns before the outcome', async ({ ends }) => {
      const { stage, end } = await openAll(ends);
      await stage.pull(others);
      await stage.pull(all);
      await end();
      expect(await mapped(stage)).toEqual(missed(0));
      expect(await row(stage, (await stage.pull(others)).pull)).toEqual({ gone: 3, grace: 3 });
    });
  });

  it('ends if its record returns and cannot be read', async ({ ends }) => {
    const stage = await openWith(ends);
    await stage.fail('late', 'in_doubt');
    await stage.pull(missing);
    await stage.pull(feedXml(list).replace('Nurse late', 'Nurse late]]>&<![CDATA['));
    expect(await stage.change('late')).toMatchObject({ state: 'in_doubt', desired: 'present', missing: false });
    await stage.pull(missing);
    expect(await stage.change('late')).toMatchObject({ desired: 'present', missing: true });
  });

  it('does not count a pull that is not complete', async ({ ends }) => {
    const stage = await openWith(ends);
    await stage.fail('late', 'in_doubt');
    await stage.pull(missing);
    const cut = feedXml(missing).replace('</source>', '');
    expect((await stage.pull(cut)).complete).toBe(false);
    expect(await stage.change('late')).toMatchObject({ state: 'in_doubt', desired: 'present', missing: true });
    await stage.pull(missing);
    expect(await stage.change('late')).toMatchObject({ state: 'in_doubt', desired: 'absent' });
  });

  it('protects nothing if its create is rejected or has failed', async ({ ends }) => {
    const states = ['rejected', 'failed'] as const;
    const stage = await openWith(ends, 2, [...missing, ...states.map((state) => posting(state))]);
    const attempts = [await stage.claim('rejected'), await stage.claim('failed')] as const;
    await stage.pull(missing);
    for (const [at, to] of states.entries()) {
      const attempt = attempts[at] ?? expect.fail();
      const back = { to, reason: { kind: to, message: `it ${to}`, problems: [] } };
      await outcomeRecorder(stage.app.db.prepared)({ attempt, result: { kind: 'returned', back }, record: undefined });
      expect(await stage.change(to)).toMatchObject({ state: to });
    }
    expect(await row(stage, (await stage.pull(missing)).pull)).toEqual({ gone: 0, grace: 0 });
    for (const to of states) expect(await stage.change(to)).toBeUndefined();
  });

  it('sends nothing if a person says that its job is missing, however often it may be tried', async ({ ends }) => {
    const tries = { often: 5, endlessly: Number.POSITIVE_INFINITY };
    const found = [...missing, ...Object.keys(tries).map((key) => posting(key))];
    const stage = await openWith(ends, 2, found);
    for (const key of Object.keys(tries)) await stage.fail(key, 'in_doubt');
    await stage.pull(missing);
    for (const [key, most] of Object.entries(tries)) {
      const doubt = await findDoubt(stage.app.db, acme, postingKey(key));
      if (doubt === undefined) throw new Error('not in doubt');
      expect(await refuteDoubt(stage.app.db, doubt, most)).toBe(true);
      await expect(stage.claim(key)).rejects.toThrow('not ready');
    }
    expect(await row(stage, (await stage.pull(missing)).pull)).toEqual({ gone: 0, grace: 0 });
    for (const key of Object.keys(tries)) expect(await stage.change(key)).toBeUndefined();
    await stage.pull(found);
    for (const key of Object.keys(tries)) expect((await stage.claim(key)).request.kind).toBe('create');
  });
});
