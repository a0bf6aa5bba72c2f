// Unreadable records as a person sees them: listed with their posting, discarded, and never a reason to delete.
// @module-tag slow
import { expect, it, vi } from 'vitest';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.
vi.setConfig({ testTimeout: 240_000 });

const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);
const mirror = openedForEach(() => openMirror());

const KEYS = ['p1', 'p2', 'p3'];
const broken = KEYS.reduce(
  (feed, key) => feed.replace(`<title><![CDATA[Nurse ${key}]]></title>`, `<title>R & D ${key}</title>`),
  feedXml(postings(20)),
);

it('a discard of unreadable records deletes no job', async () => {
  await mirror.syncOf(postings(20));
  await mirror.stopEngine();
  await mirror.writeFeed(broken);
  const first = await run('sync', '--json');
  expect(first.status).toBe(1);
  expect(first.json()).toMatchObject([{ status: 'incomplete', unreadable: 3, deleted: 0, review: 3 }]);
  const entries = (await run('review', 'list', '--json')).json<{ id: number; key: string; kind: string }>();
  expect(entries.map(({ key, kind }) => [key, kind])).toEqual(KEYS.map((key) => [key, 'unreadable']));

  const shown = await run('review', 'show', String(entries[0]?.id), '--json');
  expect(shown.json()).toMatchObject([{ key: 'p1', kind: 'unreadable', records: 1, discarded: false }]);
  expect((await run('review', 'discard', 'acme', '--yes')).status).toBe(0);
  for (let pull = 0; pull < 2; pull++) {
    const next = await run('sync', '--json');
    expect(next.json()).toMatchObject([{ complete: true, seen: 20, unreadable: 3, gone: 0, deleted: 0, held: 0 }]);
  }
  expect((await mirror.siteJobs()).size).toBe(20);

  const why = await run('why', 'acme', 'p1');
  expect(why.out).toMatch(
    /The record of posting p1 in feed acme can't be read \(entry \d+, discarded, since .*its job stays/,
  );
  expect((await run('why', 'acme', 'p1', '--json')).json()).toMatchObject([
    { unreadable: [{ id: entries[0]?.id, discarded: true, reason: expect.stringContaining('bare "&"') }] },
  ]);
});

it('a person approves deletes that are held because of a record without a key', async () => {
  const list = postings(20);
  await mirror.syncOf(list);
  await mirror.stopEngine();
  await mirror.writeFeed(feedXml(list.slice(1)).replace('</source>', '<job><title>Nobody</title></job></source>'));
  await run('sync');
  expect((await run('review', 'discard', 'acme', '--yes')).status).toBe(0);
  const held = await run('sync');
  expect(held.status).toBe(2);
  expect(held.out).toContain('1 held');
  expect(held.out).toContain('deletes are held: 1 record could not be read, and its key is not known');
  // The printed commands work as typed.
  for (const words of [['sync'], ['status'], ['review', 'list']]) {
    const { out, errors } = await run(...words);
    expect(out + errors).toMatch(/approve them: .*main\.js review list --kind held/);
  }
  const listed = await run('review', 'list');
  expect(listed.out).toContain(
    '1 record could not be read, and its key is not known: it may be one of the postings that seem to be gone',
  );
  expect((await run('review', 'approve', 'acme')).status).toBe(0);
  expect((await run('sync', '--json')).json()).toMatchObject([{ complete: true, gone: 0, held: 0, requests: 0 }]);
  expect((await mirror.siteJobs()).size).toBe(19);
});
