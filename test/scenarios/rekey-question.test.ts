// An open question about changed keys protects the jobs that it is about: whatever ends a job refuses and names the comparison, and no
// command, page or list offers anything else before.
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FeedName } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

const ACME = 'acme' as FeedName;
let mirror: Mirror;
afterEach(() => mirror?.close());

const wards = (prefix: string, count: number): TestPosting[] =>
  Array.from({ length: count }, (_, at) =>
    posting(`${prefix}${at}`, { title: `Nurse ${at}`, description: `<p>Ward ${at}</p>` }),
  );
const open = async (options: MirrorOptions = {}) => {
  mirror = await openMirror(options);
  await mirror.syncOf(wards('a', 8));
};
const run = (...args: readonly string[]) => runProgram(mirror, ...args);
const db = async () => (await mirror.app()).db;
const heldIds = async () =>
  (await (await db()).query<{ id: number }>(`select id from change where state = 'held' order by key`)).map(
    ({ id }) => id,
  );
const keysOnSite = async () => [...(await mirror.siteJobs()).keys()].sort();
const OLD = wards('a', 8).map(({ key }) => key);
const COMPARE = 'feeds rekey acme';

/** How the question arises, with the deletes of the old postings held for it, or for something else before. */
const ways: Readonly<Record<string, () => Promise<void>>> = {
  'all keys change at once': async () => {
    await mirror.syncOf(wards('b', 8));
  },
  'the feed was empty before': async () => {
    await mirror.syncOf([]);
    await mirror.syncOf(wards('b', 8));
  },
  'the feed was cut before, and its new keys arrive in an incomplete pull': async () => {
    await mirror.syncOf([]);
    const xml = feedXml(wards('b', 8));
    await mirror.writeFeed(xml.slice(0, xml.lastIndexOf('<job>')));
    await mirror.sync();
  },
};

describe.each(Object.keys(ways))('%s', (way) => {
  beforeEach(async () => {
    await open();
    await ways[way]?.();
    await mirror.stopEngine();
  });

  it('no command decides about the deletes; each names the comparison', async () => {
    const ids = await heldIds();
    expect(ids).toHaveLength(8);
    // Nothing fails: the creates wait for a person, not for a process.
    expect(await run('status', '--check')).toMatchObject({ status: 2, out: expect.not.stringContaining('FAILING') });
    const [first = 0] = ids;
    const { group } = (await run('review', 'groups', '--json'))
      .json<{ group: string; kind: string }>()
      .find(({ kind }) => kind === 'held') ?? { group: '' };
    await mirror.stopEngine();
    for (const args of [
      ['approve', 'acme'],
      ['approve', 'acme', '--count', '8'],
      ['approve', String(first)],
      ['approve', ...ids.map(String)],
      ['approve', '--group', group, '--count', '8'],
      ['approve', 'acme', '--group', group, '--count', '8'],
      ['discard', 'acme'],
      ['discard', 'acme', '--yes'],
      ['discard', 'acme', '--kind', 'held', '--yes'],
      ['discard', String(first)],
      ['discard', '--group', group, '--count', '8'],
      ['retry', String(first)],
    ]) {
      const refused = await run('review', ...args);
      expect(refused.status, args.join(' ')).toBe(1);
      expect(refused.out + refused.errors, args.join(' ')).toContain(COMPARE);
      await mirror.stopEngine();
    }
    expect(await heldIds()).toEqual(ids);
    expect(await keysOnSite()).toEqual(OLD);
    const kept = await run('feeds', 'rekey', 'acme', '--json');
    expect(kept.json()).toHaveLength(8);
  });

  it('nothing that is printed offers to approve or discard them', async () => {
    const ids = await heldIds();
    const [first = 0] = ids;
    const { group } = (await run('review', 'groups', '--json'))
      .json<{ group: string; kind: string }>()
      .find(({ kind }) => kind === 'held') ?? { group: '' };
    const shown = [
      ['status'],
      ['status', '--json'],
      ['review', 'list'],
      ['review', 'list', 'acme', '--kind', 'held'],
      ['review', 'show', String(first)],
      ['review', 'show', String(first), '--json'],
      ['review', 'show', '--group', group],
      ['review', 'show', '--group', group, '--json'],
      ['why', 'acme', 'a0'],
      ['why', 'acme', 'b0'],
      ['feeds', 'rekey', 'acme'],
    ];
    for (const args of shown) {
      const { out, errors } = await run(...args);
      expect(out + errors, args.join(' ')).not.toMatch(/review (approve|discard)|"kind":"(approve|discard)"/);
      if (!args.includes('feeds') && !args.includes('--json')) expect(out, args.join(' ')).toContain(COMPARE);
    }
    const report = await run('sync', 'acme');
    expect(report.out + report.errors).not.toContain('review approve');
    expect(report.out + report.errors).toContain(COMPARE);
  });
});

it('once it is answered, what is left is decided as always', async () => {
  await open();
  await mirror.syncOf(wards('b', 8));
  await mirror.stopEngine();
  expect((await run('feeds', 'rekey', 'acme', '--not-rekey')).status).toBe(0);
  expect((await run('status')).out).toContain('review approve acme --count 8');
  expect((await run('review', 'approve', 'acme', '--count', '8')).status).toBe(0);
  await mirror.syncOf(wards('b', 8));
  expect(await keysOnSite()).toEqual(wards('b', 8).map(({ key }) => key));
});

it('a question that opens between showing and acting refuses as well, for single entries, feeds and many', async () => {
  await open();
  await mirror.syncOf([]);
  const ids = await heldIds();
  const database = await db();
  const { config } = await mirror.app();
  const started = await startBulk(database, config, {
    action: 'approve',
    actor: 'anna',
    detail: { query: { feed: ACME, kinds: ['held'] } },
  });
  if (started.kind !== 'started') throw new Error('not started');
  const [version] = (await run('review', 'show', String(ids[0]), '--json')).json<{ version: string }>();
  await mirror.stopEngine();
  await mirror.syncOf(wards('b', 8));
  await mirror.stopEngine();
  const again = await db();
  const ended = await runBulk(again, config, started.bulk.id, { signal: new AbortController().signal });
  expect(ended).toMatchObject({ acted: [], bulk: { done: 0, skipped: 8, state: 'done' } });
  const byVersion = await actOnEntries(again, config, 'approve', [{ ids: ids.slice(0, 1) }], {
    actor: 'anna',
    seen: { tokens: [version?.version ?? ''] },
  });
  const byCount = await actOnEntries(again, config, 'approve', [{ feed: ACME }], { actor: 'anna', seen: { count: 8 } });
  expect([byVersion.kind, byCount.kind]).toEqual(['refused', 'refused']);
  expect(await heldIds()).toEqual(ids);
  expect(await keysOnSite()).toEqual(OLD);
});

it('a policy that deletes nothing, and back, ends no job of it', async () => {
  await open({ feed: { policy: 'mirror' } });
  await mirror.syncOf(wards('b', 8));
  expect(await heldIds()).toHaveLength(8);
  expect(await mirror.syncOf(wards('b', 8))).toMatchObject({ deleted: 0, held: 8, created: 0 });
  expect(await keysOnSite()).toEqual(OLD);
});

it('after a restore that forgot the answer, the question waits until it is answered again, and the jobs stay with the new keys', async () => {
  await open();
  await mirror.syncOf(wards('b', 8));
  await mirror.stopEngine();
  const file = join(mirror.folder, 'open.backup');
  await run('backup', file);
  await run('feeds', 'rekey', 'acme', '--sure');
  await run('sync');
  const answered = await keysOnSite();
  expect((await run('restore', file, '--replace', '--yes')).status).toBe(0);
  expect((await run('recover', 'acme')).out).toMatch(
    /8 jobs of another posting, as the site shows them: the keys of the feed seem to have changed\. .* feeds rekey acme/,
  );
  await mirror.sync();
  // The site shows that the jobs have the new keys.
  const inDoubt = async () => (await (await db()).query(`select from change where state = 'in_doubt'`)).length;
  await vi.waitFor(async () => expect(await inDoubt()).toBe(8), { timeout: 20_000 });
  expect(await mirror.sync()).toMatchObject({ held: 8, in_doubt: 8 });
  const [waiting] = await (await db()).query<{ why: string }>(
    `select reason->>'message' as why from change where key = 'b1'`,
  );
  expect(waiting?.why).toMatch(/ although posting a\d of feed acme has it, whose reference it does not show; decide/);
  await mirror.stopEngine();
  expect((await run('status')).out).toMatch(/answer first whether the keys have changed: .* feeds rekey acme/);
  expect(await run('feeds', 'rekey', 'acme', '--sure')).toMatchObject({
    status: 0,
    out: expect.stringContaining('8 jobs kept for their new keys'),
  });
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', held: 0, in_doubt: 0, created: 0, deleted: 0 });
  expect(await keysOnSite()).toEqual(answered);
});
