// One action is one row, however many postings it reached, in a terminal, in the API and on the page.
import { expect, it } from 'vitest';
import { startBulkRunner } from '../../src/runtime/bulk-runner.ts';
import { runProgram } from '../cli/run-program.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { serve } from '../web/served.ts';
import { openStage } from './stage.ts';

interface Taken {
  readonly kind: string;
  readonly actor: string | null;
  readonly action: string;
  readonly count: number;
  readonly activity: number | null;
  readonly bulk: number | null;
}

it('an action on many is one row with what it leads to, and pulls that deleted are listed', async () => {
  const stage = await openStage();
  const served = await serve(stage.mirror);
  try {
    const odd = Array.from({ length: 6 }, (_, n) => posting(`odd${n}`, { state: 'Jalisco' }));
    await stage.pull([...postings(9), ...odd]);
    await stage.acceptAll();
    const run = (...args: readonly string[]) => runProgram(stage.mirror, ...args);
    // At once, in batches, and alone.
    await stage.app.db.query(
      `insert into audit (actor, action, feed, key, detail) select 'ann', 'approve', 'acme', 'p' || n, '{}' from generate_series(3, 9) n`,
    );
    const bulk = await served.api('POST', 'review/actions', {
      action: 'discard',
      filter: { feed: 'acme', kinds: ['rejected'] },
      expected: 6,
      reason: 'not ours',
    });
    const runner = startBulkRunner(served.app, () => undefined);
    runner.begin(bulk.body.bulk);
    await expect
      .poll(async () => (await served.api('GET', `review/actions/${bulk.body.bulk}`)).body.state)
      .toBe('done');
    await runner.stop(5_000);
    await run('review', 'reopen', String(await stage.entry('odd1')), '--as', 'ann');
    // A pull that deletes by itself.
    const { pull } = await stage.pull([...postings(5), ...odd]);
    await stage.acceptAll();
    await stage.app.db.query(
      `insert into alert_message (destination, payload, created_at)
       values ('ops', '{"type":"alert.opened","data":{"alert":"held","feed":"acme","message":"7 deletes wait"}}', now())`,
    );

    const { items } = (await served.api('GET', 'activity/actions', undefined, { as: 'reader' })).body;
    expect(items.map(({ kind, actor, action, count }: Taken) => [kind, actor, action, count])).toEqual([
      ['alert', null, 'alert.opened', 1],
      ['pull', null, 'delete', 4],
      ['person', 'ann', 'reopen', 1],
      ['person', 'token reviewer', 'discard', 6],
      ['person', 'ann', 'approve', 7],
    ]);
    expect(items[1]).toMatchObject({ pull, feed: 'acme' });
    expect(items[2]).toMatchObject({ key: 'odd1', feed: 'acme' });
    expect(items[3]).toMatchObject({ bulk: bulk.body.bulk, detail: { reason: 'not ours' } });
    expect((await run('activity', '--json')).json()).toEqual(items);

    const [one, rest] = [(await served.api('GET', 'activity/actions?limit=2')).body, [] as Taken[]];
    for (let cursor = one.next_cursor; cursor !== null; ) {
      const { items: more, next_cursor: next } = (await served.api('GET', `activity/actions?limit=2&cursor=${cursor}`))
        .body;
      rest.push(...more);
      cursor = next;
    }
    expect([...one.items, ...rest]).toEqual(items);
    for (const [query, count] of [
      ['feed=acme', 5],
      ['actor=ann', 2],
      ['feed=acme&actor=ann', 2],
      ['actor=nobody', 0],
    ] as const) {
      expect([query, (await served.api('GET', `activity/actions?${query}`)).body.items.length]).toEqual([query, count]);
    }

    const anna = await visitorOf(served, 'anna');
    const page = (await anna.get('/activity')).text;
    expect(page.split('<tbody>')[1]?.match(/<tr>/g)).toHaveLength(5);
    expect(page).toContain('>7 postings</a>');
    expect(page).toContain(`/review/actions/${bulk.body.bulk}">6 postings</a>`);
    expect(page).toContain(`/pulls/${pull}?show=deleted">4 jobs by pull ${pull}</a>`);
    const each = (await anna.get(`/activity?of=${items[4].activity}`)).text;
    expect(each.split('<tbody>')[1]?.match(/<tr>/g)).toHaveLength(7);
    const table = (await run('activity', 'acme', '--by', 'ann')).out;
    expect(table).toMatch(/ann +approve +acme +7 postings/);
  } finally {
    await served.close();
    await stage.close();
  }
});
