// A site that shows jobs to everybody and refuses only writes: what it shows to a reader whose token it may refuse proves nothing.
import { describe, expect } from 'vitest';
import { siteName } from '../../src/posting/identifiers.ts';
import { readSiteState } from '../../src/store/site/site-state.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type AtBoard, boardTest as it, type OpenAtBoard } from './board-test.ts';

const posts = ({ board }: AtBoard) => board.requests.filter((line) => line.startsWith('POST')).length;
const notes = async ({ mirror }: AtBoard) => {
  return (await mirror.query(`select state, reason->>'note' as note from change`)) as {
    state: string;
    note: string | null;
  }[];
};
/** Lets the next list check be due at once. */
const hasten = async ({ mirror }: AtBoard) => {
  await mirror.query(`update change set not_before = '-infinity' where state = 'in_doubt' and not_before < 'infinity'`);
};
/** Mirrors until nothing is open, or ten times. */
const finish = async (at: AtBoard) => {
  for (let round = 0; round < 10 && (await notes(at)).length > 0; round++) {
    await hasten(at);
    await probe(at);
    await at.mirror.sync();
  }
};
/** Lets a refused token be tried at once. */
const probe = async ({ mirror }: AtBoard) => {
  await mirror.query('update refused_token set next_probe = now() where refused_since is not null');
};

describe('a create without an answer, while the token is refused from then on', { concurrent: true }, () => {
  it.for([false, true])(
    'is not sent again after a list that everybody sees; written before: %s',
    async (written, { open }) => {
      const at = await open();
      const { mirror, board } = at;
      board.habits.publishes = written;
      if (written) {
        expect(await mirror.syncOf([posting('a')])).toMatchObject({ created: 1 });
      }
      board.habits.publishes = false;
      board.habits.loses = 1;
      board.habits.before = (method) => {
        if (method === 'GET') board.habits.accepts = false;
      };
      const feed = [...(written ? [posting('a')] : []), posting('b')];
      expect(await mirror.syncOf(feed)).toMatchObject({ created: 0, in_doubt: 1 });
      await hasten(at);
      expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 1 });
      expect((await notes(at))[0]).toMatchObject({ state: 'in_doubt', note: expect.stringContaining('not proven') });
      expect(posts(at)).toBe(feed.length);
      expect(board.jobs.size).toBe(feed.length);

      board.habits.before = () => undefined;
      board.habits.accepts = true;
      await mirror.writeFeed(feedXml(feed.map((one) => ({ ...one, title: `${one.key} edited` }))));
      await finish(at);
      expect(board.jobs.size).toBe(feed.length);
      expect(await notes(at)).toEqual([]);
    },
  );

  it('is in doubt again if the site refuses the token when it is sent again', async ({ open }) => {
    const at = await open();
    const { mirror, board } = at;
    await mirror.syncOf([posting('a')]);
    board.habits.publishes = false;
    // As if the site had accepted another change since, whose token it has begun to refuse unnoticed.
    await mirror.query(`update refused_token set accepted_at = now() + interval '1 minute'`);
    board.habits.loses = 1;
    board.habits.before = (method) => {
      if (method === 'GET') board.habits.accepts = false;
    };
    await mirror.syncOf([posting('a'), posting('b')]);
    expect(posts(at)).toBe(3);
    expect(await notes(at)).toMatchObject([{ state: 'in_doubt' }]);
    expect(board.jobs.size).toBe(2);
    board.habits.before = () => undefined;
    await mirror.query('update refused_token set accepted_at = null');
    board.habits.accepts = true;
    await mirror.writeFeed(feedXml([posting('a', { title: 'Head nurse' }), posting('b')]));
    await finish(at);
    expect(board.jobs.size).toBe(2);
    expect(await notes(at)).toEqual([]);
  });

  it('is decided at once where the account page proves the token', async ({ open }) => {
    const at = await open({ site: { account_path: '/account.xml' } });
    const { mirror, board } = at;
    board.habits.drops = 1;
    expect(await mirror.syncOf([posting('a')])).toMatchObject({ in_doubt: 0 });
    expect(posts(at)).toBe(2);
    expect(board.jobs.size).toBe(1);
  });

  it('is decided at once where reading needs the token', async ({ open }) => {
    const at = await open();
    const { mirror, board } = at;
    board.habits.private = true;
    board.habits.drops = 1;
    expect(await mirror.syncOf([posting('a')])).toMatchObject({ in_doubt: 0 });
    expect(board.jobs.size).toBe(1);
  });
});

it.concurrent('asks for one job of each pull with creates, and nothing more, while the site accepts what is sent', async ({
  open,
}) => {
  const at = await open();
  const { mirror, board } = at;
  await mirror.syncOf(postings(20));
  await mirror.syncOf(postings(20).map((one) => ({ ...one, title: `${one.key} edited` })));
  expect(board.requests.filter((line) => line.startsWith('GET'))).toHaveLength(1);
});

it.concurrent('a job that the site denies to a reader whose token it refuses is not made again', async ({ open }) => {
  const at = await open();
  const { mirror, board } = at;
  await mirror.syncOf(postings(3));
  await mirror.query('update refused_token set refused_at = now(), accepted_at = null');
  board.habits.before = (method) => {
    board.habits.accepts = method === 'PUT';
  };
  for (const job of board.jobs.values()) job.published = job.id === '1';
  const seen = await mirror.query<{ key: string }>('select key from mapping order by site_job_id');
  board.habits.hidesFromOwner = true;
  await mirror.syncOf(postings(3).map((one) => (one.key === seen[1]?.key ? { ...one, title: 'X' } : one)));
  expect(posts(at)).toBe(3);
});

it.concurrent('a site that can be read again is resumed, and says what is not proven', async ({ open }) => {
  const at = await open();
  const { mirror, board } = at;
  board.habits.accepts = false;
  expect(await mirror.syncOf(postings(2))).toMatchObject({ created: 0, pending: 2 });
  const online = await runProgram(mirror, 'check', '--online');
  expect(online.out).toContain('readable; that the token may write is not proven');
  expect(online.out).not.toMatch(/accepts the token|is right/);
  const asJson = await runProgram(mirror, 'check', '--online', '--json');
  expect(asJson.json()[0]).toMatchObject({ right: false, sites: [{ answer: 'accepted', token_proven: false }] });
  expect((await runProgram(mirror, 'resume', 'board')).out).toContain('its token may write is not proven');
  board.habits.private = true;
  expect((await runProgram(mirror, 'check', '--online')).out).toContain('refuses the token');
  board.habits.accepts = true;
  expect((await runProgram(mirror, 'check', '--online')).out).toMatch(/accepts the token[\s\S]*is right/);
  await finish(at);
  expect(board.jobs.size).toBe(2);
  const { db } = await mirror.app();
  expect(await readSiteState(db, siteName('board'))).toMatchObject({ pausedSince: undefined });
});

describe('the first search of an empty database, while the site refuses the token', { concurrent: true }, () => {
  async function lose(open: OpenAtBoard, site: Record<string, string | undefined> = {}): Promise<AtBoard> {
    const at = await open({ site, searched: true });
    const { mirror, board } = at;
    await mirror.writeFeed(feedXml(postings(4)));
    // The lost database has made them; everybody sees the first one.
    for (const [at, key] of ['p1', 'p2', 'p3', 'p4'].entries()) {
      const fields = {
        number: key,
        title: `Nurse ${key}`,
        'location-city': 'Boston',
        'location-state': 'Massachusetts',
      };
      board.jobs.set(String(100 + at), { id: String(100 + at), published: at === 0, fields });
    }
    board.habits.accepts = false;
    expect(await mirror.sync()).toMatchObject({ created: 0 });
    board.habits.accepts = true;
    await runProgram(mirror, 'resume', 'board');
    return at;
  }

  it('ends nothing: no job is made twice', async ({ open }) => {
    const { mirror, board } = await lose(open);
    expect(await mirror.sync()).toMatchObject({ created: 0 });
    expect(board.jobs.size).toBe(4);
    const [feed] = await mirror.query<{ note: unknown }>('select site_check_note as note from feed_state');
    expect(JSON.stringify(feed?.note)).toContain('not proven');
  });

  it('is done again once the account page proves the token', async ({ open }) => {
    const { mirror, board } = await lose(open, { account_path: '/account.xml' });
    expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 4 });
    expect(board.jobs.size).toBe(4);
  });
});
