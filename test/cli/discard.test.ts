// `jobmirror review discard` asks before it discards many entries; discarded entries are counted, listed and reopened.
import { describe, expect, it } from 'vitest';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);

const mirror = openedForEach(() => openMirror());

async function sync(feed: readonly TestPosting[], rest = ''): Promise<ProgramResult> {
  await mirror.writeFeed(feedXml(feed).replace('</source>', `${rest}</source>`));
  return run('sync', '--json');
}

const ODD = ['a', 'b', 'c'].map((key) => posting(key, { state: 'Jalisco' }));
const NOBODY = '<job><title>Nobody</title></job>';

describe('a discard of several entries of a feed', () => {
  it('is refused if nobody can be asked, with the counts and the commands to go on with', async () => {
    await sync([...postings(2), ...ODD], NOBODY);
    const refused = await run('review', 'discard', 'acme');
    expect(refused).toMatchObject({ status: 1, out: '' });
    expect(refused.errors).toContain('This discards 4 entries of feed acme: 3 rejected, 1 unreadable.');
    expect(refused.errors).toContain('Nothing was discarded.');
    expect(refused.errors).toMatch(/review discard acme --yes --config/);
    expect(refused.errors).toMatch(/review discard acme --kind KIND/);
    expect((await run('review', 'list', '--json')).json()).toHaveLength(4);

    // Restricting to one kind still leaves several entries.
    expect(await run('review', 'discard', 'acme', '--kind', 'rejected')).toMatchObject({ status: 1, out: '' });
    expect(await run('review', 'discard', 'acme', '--kind', 'in_doubt')).toMatchObject({ status: 1, out: '' });
    const one = await run('review', 'discard', 'acme', '--kind', 'unreadable', '--json');
    expect(one.json()).toEqual([
      {
        action: 'discard',
        feed: 'acme',
        done: 1,
        message: '1 discarded (1 unreadable)',
        kinds: { unreadable: 1 },
        now: null,
      },
    ]);
    const all = await run('review', 'discard', 'acme', '--yes');
    expect(all).toMatchObject({ status: 0, out: 'acme: 3 discarded (3 rejected)\n' });
    expect(all.errors).toMatch(/to undo this: .*review list --discarded --config/);
    expect((await run('review', 'list')).out).toBe('Nothing needs a person.\n');
  });

  it('also asks for entries of several kinds that are named one by one', { tags: 'slow' }, async () => {
    await sync([...postings(2), ...ODD], NOBODY);
    const entries = (await run('review', 'list', '--json')).json<{ id: number; kind: string }>();
    const ids = (kind: string) => entries.filter((entry) => entry.kind === kind).map(({ id }) => String(id));
    expect(await run('review', 'discard', ...ids('rejected'), ...ids('unreadable'))).toMatchObject({
      status: 1,
      out: '',
    });
    expect(await run('review', 'discard', ...ids('rejected'))).toMatchObject({ status: 0 });
  });
});

it('discarded entries are shown by sync, pulls, status and why, listed, and reopened', async () => {
  await sync([...postings(2), ...ODD]);
  await run('review', 'discard', 'acme', '--yes');
  const again = await sync([...postings(2), ...ODD]);
  const message = expect.stringMatching(
    /^3 postings are not on the site as the feed has them, because a person discarded them: .*review list acme --discarded/,
  );
  expect(again.status).toBe(0);
  expect(again.json()).toEqual([
    expect.objectContaining({
      status: 'mirrored',
      seen: 5,
      unchanged: 2,
      rejected: 3,
      discarded: 3,
      review: 0,
      message,
    }),
  ]);
  expect((await run('sync')).out).toContain('acme: mirrored, except 3 discarded: 5 seen, 2 unchanged, 3 rejected;');
  expect((await run('pulls', '--json')).json()[0]).toMatchObject({ status: 'mirrored', discarded: 3, message });
  const status = await run('status');
  expect(status.out).toMatch(/acme: 3 postings are discarded, .*: {2}.*review list acme --discarded --config/);
  expect(status.out).toMatch(/mirrored, 3 discarded {2}/);
  expect((await run('pulls')).out).toMatch(/mirrored, 3 discarded {2}/);
  expect((await run('status', '--json')).json()[1]).toMatchObject({ kind: 'feed', rejected: 0, discarded: 3 });

  const listed = (await run('review', 'list', '--discarded', '--json')).json<{ id: number; key: string }>();
  expect(listed).toEqual(
    ['a', 'b', 'c'].map((key) => expect.objectContaining({ key, kind: 'rejected', discarded: true })),
  );
  const [first] = listed;
  expect((await run('why', 'acme', 'a')).out).toContain(`review reopen ${first?.id} --config`);
  expect((await run('review', 'show', String(first?.id))).out).toContain('discarded (it was rejected)');
  expect((await run('review', 'list', '--discarded')).out).toMatch(/\d+ +acme +a +rejected /);
  expect(await run('review', 'reopen', String(first?.id))).toMatchObject({
    status: 0,
    out: `${first?.id} acme a: reopened, waiting for review again\n`,
  });
  expect((await run('review', 'list', '--json')).json()).toEqual([
    expect.objectContaining({ key: 'a', kind: 'rejected' }),
  ]);
  expect(await run('review', 'reopen', 'acme', '--kind', 'rejected')).toMatchObject({
    out: 'acme: 2 reopened, waiting for review again (2 rejected)\n',
  });
  const reopened = await sync([...postings(2), ...ODD]);
  expect(reopened).toMatchObject({ status: 2 });
  expect(reopened.json()[0]).toMatchObject({ status: 'review', discarded: 0, rejected: 3, review: 3 });
});
