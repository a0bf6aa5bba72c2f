// Reasons why postings are not mirrored: in the plan, for each posting, and in the summary of a pull that mirrored nothing.
// @module-tag slow
import { expect, it } from 'vitest';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);

const mirror = openedForEach(() => openMirror());

const NOBODY = '<job><title>Nobody</title></job>';
const odd = (count: number) =>
  postings(count).map(({ key }) => posting(key, { state: key === 'p1' ? 'Ontario' : 'Jalisco' }));

it('plan shows the reason for each posting that is not sent, in its line format', async () => {
  await mirror.writeFeed(
    feedXml([posting('fine'), posting('odd', { state: 'Jalisco' })]).replace('</source>', `${NOBODY}</source>`),
  );
  const text = await run('plan');
  expect(text.out).toMatch(/^\+ create acme fine$/m);
  expect(text.out).toMatch(/^! rejected acme odd: .*"Jalisco" is not a valid U\.S\. state/m);
  expect(text.out).toMatch(/^! unreadable acme \(no usable key\): .+\n {4}<job><title>Nobody/m);
  const lines = (await run('plan', '--json')).json();
  expect(lines).toEqual([
    expect.objectContaining({ feed: 'acme', key: 'fine', operation: 'create' }),
    {
      feed: 'acme',
      key: 'odd',
      operation: 'none',
      fields: {},
      kind: 'rejected',
      reason: expect.stringContaining('not a valid U.S. state'),
      problems: [expect.objectContaining({ field: 'location-state', value: 'Jalisco' })],
    },
    expect.objectContaining({
      feed: 'acme',
      key: null,
      operation: 'none',
      fields: {},
      kind: 'unreadable',
      reason: expect.any(String),
      excerpt: expect.stringContaining('Nobody'),
    }),
  ]);
  // The plan stores nothing.
  expect((await run('review', 'list')).out).toBe('Nothing needs a person.\n');
});

it('plan, sync and pulls report that nothing is mirrored if 31 of 31 are rejected, with the most frequent reason', async () => {
  await mirror.writeFeed(feedXml(odd(31)));
  const reason = 'all 31 postings were rejected: .*"Jalisco" is not a valid U\\.S\\. state.* \\(30 of 31\\)';
  expect((await run('plan')).errors).toMatch(
    /nothing would be mirrored: all 31 postings would be rejected: .*\(30 of 31\)/,
  );
  const { out, status } = await run('sync');
  expect(status).toBe(2);
  expect(out).toContain('acme: nothing mirrored: 31 seen, 31 rejected;');
  expect(out).not.toMatch(/acme: mirrored/);
  expect(out).toMatch(new RegExp(`nothing was mirrored: ${reason}`));
  const message = expect.stringMatching(new RegExp(`^nothing was mirrored: ${reason}$`));
  expect((await run('sync', '--json')).json()).toEqual([
    expect.objectContaining({ status: 'review', rejected: 31, message }),
  ]);
  expect((await run('pulls', '--json')).json()[0]).toMatchObject({ status: 'review', message });

  await run('review', 'discard', 'acme', '--yes');
  const discarded = await run('sync');
  expect(discarded.status).toBe(0);
  expect(discarded.out).toContain('acme: nothing mirrored, 31 discarded: 31 seen, 31 rejected;');
});

it('live jobs stay, and the summary says so', async () => {
  await mirror.writeFeed(feedXml(postings(2)));
  await run('sync');
  await mirror.writeFeed(feedXml(odd(2)));
  const { out } = await run('sync');
  expect(out).toContain('acme: nothing mirrored: 2 seen, 2 rejected;');
  expect(out).toContain('2 jobs of earlier pulls stay as they are');
});

it('one mirrored posting is enough to omit the reasons', async () => {
  await mirror.writeFeed(feedXml([...odd(3), posting('fine')]));
  const { out } = await run('sync');
  expect(out).toContain('acme: mirrored, with review: 4 seen, 1 created, 3 rejected;');
  expect(out).not.toContain('nothing was mirrored');
});

it('already held deletes show their reason, in text and JSON', async () => {
  await mirror.writeFeed(feedXml(postings(12)));
  await run('sync');
  await mirror.writeFeed(feedXml(postings(4)));
  const desired = /^- delete acme p12 \(held for approval\)\n {4}reason: .*8 .*12/m;
  // Held by the plan itself, and by the previous pull.
  expect((await run('plan')).out).toMatch(desired);
  expect((await run('sync')).status).toBe(2);
  expect((await run('plan')).out).toMatch(desired);
  const lines = (await run('plan', '--json')).json();
  const held = { operation: 'delete', held: true, reason: expect.stringMatching(/8 .*12/) };
  expect(lines).toEqual(Array.from({ length: 8 }, () => expect.objectContaining(held)));
});
