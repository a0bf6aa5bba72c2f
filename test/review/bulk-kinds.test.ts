// What an action counts is what it acts on: entries of other kinds that the same filter selects are left as they are, everywhere.
import { expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { serve } from '../web/served.ts';
import { openStage } from './stage.ts';

it('entries of other kinds are neither counted nor acted on, on the pages, in the API and in a terminal', async () => {
  const stage = await openStage();
  const served = await serve(stage.mirror);
  try {
    await stage.pull(postings(8));
    await stage.acceptAll();
    await stage.pull([...postings(1), posting('odd')], { percent: 10, count: 1 });
    await stage.fail('odd', 'rejected');
    const states = async () =>
      (
        await stage.app.db.query<{ state: string; n: number }>(
          'select state, count(*) as n from change group by 1 order by 1',
        )
      ).map(({ state, n }) => `${n} ${state}`);
    const counts = async (query = '') => {
      const read = async (action: string) =>
        (await served.api('GET', `review/selection?action=${action}&feed=acme${query}`)).body.count;
      return { approve: await read('approve'), retry: await read('retry'), discard: await read('discard') };
    };
    expect(await counts()).toEqual({ approve: 7, retry: 1, discard: 8 });
    expect(await counts('&kind=rejected')).toEqual({ approve: 0, retry: 1, discard: 1 });
    const anna = await visitorOf(served, 'anna');
    const asked = (await anna.get('/review/confirm?action=approve&feed=acme')).text;
    expect(asked).toContain('Delete 7 jobs?');
    expect(asked).toContain('1 rejected is left as it is: it is rejected, not held.');

    const { mark } = (await served.api('GET', 'review/selection?action=approve&feed=acme')).body;
    const act = (body: object) =>
      served.api('POST', 'review/actions', { filter: { feed: 'acme' }, action: 'approve', mark, ...body });
    const refused = await act({ expected: 8 });
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('7 entries now, not 8')]);
    const none = await act({ expected: 1, filter: { kinds: ['rejected'] } });
    expect(none.body.detail).toBe(
      'this can be done with no selected entry. Nothing was done.\n  acme: 1 rejected: it is rejected, not held',
    );
    expect((await act({ expected: 7 })).body).toMatchObject({ total: 7 });

    const terminal = await runProgram(stage.mirror, 'review', 'retry', '--site', 'board', '--count', '1', '--no-send');
    expect(terminal.errors).toBe('Left as they are:\n  acme: 7 held: it is held\n');
    const done = await runProgram(stage.mirror, 'review', 'approve', '--site', 'board', '--count', '7', '--no-send');
    expect([done.out, done.errors]).toEqual(['acme: 7 approved, ready to be deleted\n', '']);
    expect(await states()).toEqual(['8 ready']);
  } finally {
    await served.close();
    await stage.close();
  }
});
