import { afterEach, describe, expect, it } from 'vitest';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { runProgram } from '../cli/run-program.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const run = (...args: readonly string[]) => runProgram(mirror, ...args);
/** Eight jobs whose records are drafts by now, or are gone. */
async function held(feed: Readonly<Record<string, string>>, gone = false): Promise<void> {
  mirror = await openMirror({ feed });
  await mirror.syncOf(postings(10));
  const list = postings(10).map((one, at) => (at < 8 ? posting(one.key, { city: 'draft' }) : one));
  expect(await mirror.syncOf(gone ? list.slice(8) : list)).toMatchObject({ held: 8 });
  await mirror.stopEngine();
}
const live = async () => (await mirror.siteJobs()).size;

it.each([
  ['skip is taken away', 'skip: { city: Draft }', 'warnings_unused: 1', 'pull it first'],
  ['another skip', 'skip: { city: Draft }', 'skip: { city: Other }', 'pull it first'],
  ['the policy deletes nothing', 'policy: mirror', 'policy: upsert_only', 'delete nothing now'],
])('%s: refused, by every command', async (_, from, to, why) => {
  await held({ skip: '{ city: Draft }', policy: 'mirror' });
  await mirror.configure(from, to === 'warnings_unused: 1' ? '' : to);
  const [{ id } = { id: 0 }] = (await run('review', 'list', 'acme', '--kind', 'held', '--json')).json<{ id: number }>();
  const { group } = (await run('review', 'groups', '--json')).json<{ group: string }>()[0] ?? { group: '' };
  for (const args of [['acme', '--count', '8'], ['acme'], [String(id)], ['--group', group, '--count', '8']]) {
    const refused = await run('review', 'approve', ...args);
    expect([args.join(' '), refused.status]).toEqual([args.join(' '), 1]);
    expect(refused.out + refused.errors, args.join(' ')).toContain(why);
  }
  expect(await live()).toBe(10);
  // Once a pull has applied it, nothing of it is held.
  expect(await mirror.sync()).toMatchObject({ held: 0, deleted: 0 });
  expect(await live()).toBe(10);
});

it('what decides nothing about it does not matter, nor does a configuration without the feed', async () => {
  await held({ skip: '{ city: Draft }', schedule: '"0 3 * * *"' });
  await mirror.configure('0 3 * * *', '0 4 * * *');
  expect((await run('review', 'approve', 'acme', '--count', '8')).status).toBe(0);
  expect(await live()).toBe(2);
});

it('a rule that a pull has applied is no other one', { tags: 'slow' }, async () => {
  await held({ skip: '{ city: Nowhere }' }, true);
  await mirror.configure('Nowhere', 'Elsewhere');
  const { db, config } = await mirror.app();
  const approve = () => actOnEntries(db, config, 'approve', [{ feed: 'acme' as never }], { actor: 'anna' });
  expect((await approve()).kind).toBe('refused');
  await mirror.sync();
  expect(await approve()).toMatchObject({ kind: 'acted', feeds: [{ done: 8 }] });
});

describe('a delete that failed, before a pull has applied another configuration', () => {
  /** The delete of one of three jobs has failed. */
  async function failed(): Promise<void> {
    mirror = await openMirror({ feed: { policy: 'mirror', skip: '{ city: Draft }' } });
    await mirror.syncOf(postings(3));
    await mirror.query(
      `insert into change (feed, key, site, desired, operation, invalid, state, target_state)
       select feed, key, site, 'absent', 'delete', false, 'failed', 'ready' from mapping where key = 'p3'`,
    );
    await mirror.stopEngine();
  }

  it.each([
    ['the policy deletes nothing', 'policy: mirror', 'policy: create_only'],
    ['another skip', 'skip: { city: Draft }', 'skip: { city: Other }'],
  ])('%s: retrying the whole feed leaves it', async (_, from, to) => {
    await failed();
    await mirror.configure(from, to);
    const retried = await run('review', 'retry', 'acme');
    expect(retried.out).toContain('1 not retried: deletes that the feed, as it is configured now, keeps');
    const { group } = (await run('review', 'groups', '--json')).json<{ group: string }>()[0] ?? { group: '' };
    const many = await run('review', 'retry', '--group', group, '--count', '1');
    expect([many.status, many.errors]).toEqual([1, expect.stringMatching(/acme: 1 failed: .*feed acme is/)]);
    expect(await live()).toBe(3);
  });

  it('no pull has recorded a rule: it is left as well', async () => {
    await failed();
    await mirror.query('update feed_state set membership_rule = null');
    await mirror.stopEngine();
    await run('review', 'retry', 'acme');
    expect(await live()).toBe(3);
  });

  it('the same configuration: it is sent', async () => {
    await failed();
    await run('review', 'retry', 'acme');
    expect(await live()).toBe(2);
  });
});
