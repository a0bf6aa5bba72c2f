// A site that shows a new job only once somebody has looked at it, not even to its owner: what it does not show may exist.
import { describe, expect } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type AtBoard, boardTest as it, type OpenAtBoard } from './board-test.ts';

/** From now on, new jobs are hidden until {@link publish}. */
const moderate = ({ board }: AtBoard): void => {
  board.habits.publishes = false;
  board.habits.hidesFromOwner = true;
};
const publish = ({ board }: AtBoard): void => {
  for (const job of board.jobs.values()) job.published = true;
};
const edited = (count: number) => postings(count).map((one) => ({ ...one, title: `${one.key} edited` }));
const reads = ({ board }: AtBoard) => board.requests.filter((line) => line.startsWith('GET'));

describe('a create without an answer', { concurrent: true }, () => {
  it('is not sent again after a list that shows older jobs, also those updated since', {
    timeout: 120_000,
  }, async ({ open }) => {
    const at = await open();
    const { mirror, board } = at;
    moderate(at);
    await mirror.syncOf(postings(6));
    await mirror.stopEngine();
    publish(at);
    board.habits.loses = 1;
    expect(await mirror.syncOf([posting('new'), ...edited(6)])).toMatchObject({ updated: 6, in_doubt: 1 });
    expect(board.jobs.size).toBe(7);
    expect(await mirror.query(`select reason->>'note' as note from change`)).toEqual([
      { note: expect.stringContaining('does not show each new job at once') },
    ]);
  });

  it('is not sent again either if the jobs are older than a day', { timeout: 120_000 }, async ({ open }) => {
    const at = await open();
    const { mirror, board } = at;
    moderate(at);
    await mirror.syncOf(postings(6));
    await mirror.stopEngine();
    publish(at);
    await mirror.query(`update request set at = at - interval '3 days'`);
    await mirror.query(`update mapping set mapped_at = mapped_at - interval '3 days'`);
    board.habits.loses = 1;
    expect(await mirror.syncOf([posting('new'), ...postings(6)])).toMatchObject({ in_doubt: 1 });
    expect(board.jobs.size).toBe(7);
  });

  it('is sent again where the site shows each new job at once', { timeout: 120_000 }, async ({ open }) => {
    const at = await open();
    const { mirror, board } = at;
    await mirror.syncOf(postings(6));
    board.habits.drops = 1;
    expect(await mirror.syncOf([posting('new'), ...edited(6)])).toMatchObject({ created: 1, updated: 6, in_doubt: 0 });
    expect(board.jobs.size).toBe(7);
  });
});

describe('a job that the site has not shown since it created it', { concurrent: true }, () => {
  async function hideOne(open: OpenAtBoard): Promise<AtBoard> {
    const at = await open();
    const { mirror } = at;
    await mirror.syncOf(postings(3));
    moderate(at);
    expect(await mirror.syncOf([...postings(3), posting('new')])).toMatchObject({ created: 1 });
    await mirror.stopEngine();
    return at;
  }

  it('is not created again if an update of it is answered with 404', { timeout: 120_000 }, async ({ open }) => {
    const at = await hideOne(open);
    const { mirror, board } = at;
    await mirror.writeFeed(feedXml([...edited(3), posting('new', { title: 'New title' })]));
    for (let round = 0; round < 3; round++) await mirror.sync();
    expect(board.jobs.size).toBe(4);
    publish(at);
    await mirror.query(`update change set not_before = '-infinity' where state = 'ready'`);
    await runProgram(mirror, 'review', 'retry', 'acme');
    await mirror.sync();
    expect([...board.jobs.values()].map(({ fields }) => fields.title)).toContain('New title');
    expect(board.jobs.size).toBe(4);
    expect(await mirror.query('select key from change')).toEqual([]);
  });

  it('is not forgotten if its delete is answered with 404', { timeout: 120_000 }, async ({ open }) => {
    const at = await hideOne(open);
    const { mirror } = at;
    await mirror.writeFeed(feedXml(edited(3)));
    for (let round = 0; round < 2; round++) await mirror.sync();
    expect(await mirror.query(`select site_job_id from mapping where key = 'new'`)).toEqual([{ site_job_id: '4' }]);
  });

  it('is not set again by verify --repair', { timeout: 120_000 }, async ({ open }) => {
    const at = await hideOne(open);
    const { mirror, board } = at;
    const verified = await runProgram(mirror, 'verify', 'acme', '--repair', '--json');
    expect(verified.out).not.toContain('"gone":1');
    await mirror.sync();
    expect(board.jobs.size).toBe(4);
  });
});

describe('on a site that shows each new job at once', { concurrent: true }, () => {
  it('one job of each pull is asked for', { timeout: 120_000 }, async ({ open }) => {
    const at = await open();
    const { mirror } = at;
    await mirror.syncOf(postings(20));
    await mirror.stopEngine();
    expect(reads(at)).toHaveLength(1);
    await mirror.syncOf(edited(20));
    expect(reads(at)).toHaveLength(1);
  });

  it('a job that was never asked for, and that somebody has deleted, is created again', {
    timeout: 120_000,
  }, async ({ open }) => {
    const at = await open();
    const { mirror, board } = at;
    await mirror.syncOf(postings(5));
    const [never] = await mirror.query<{ id: string }>(
      'select site_job_id as id from mapping where never_shown limit 1',
    );
    board.jobs.delete(never?.id ?? '');
    await mirror.syncOf(edited(5));
    expect(board.jobs.size).toBe(5);
    expect(await mirror.query('select key from change')).toEqual([]);
  });
});
