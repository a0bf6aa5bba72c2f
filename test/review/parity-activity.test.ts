// What people did is the same list on the page, in the API and in a terminal, with the same filters and places to go on from.
import { expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { posting } from '../support/indeed-feed.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { serve } from '../web/served.ts';
import { openStage } from './stage.ts';

it('activity has the same entries, filters and values before and after everywhere', async () => {
  const stage = await openStage();
  const served = await serve(stage.mirror);
  try {
    await stage.pull([posting('one', { state: 'Jalisco' }), posting('two', { state: 'Sonora' })]);
    const edit = { fields: { 'location-state': 'Texas' } };
    expect((await served.api('POST', `review/${await stage.entry('one')}/edit`, edit)).status).toBe(200);
    const two = String(await stage.entry('two'));
    const run = (...args: readonly string[]) => runProgram(stage.mirror, 'review', ...args);
    expect((await run('discard', two, '--reason', 'not ours', '--as', 'ann')).status).toBe(0);
    expect((await run('reopen', two, '--as', 'ann')).status).toBe(0);
    await stage.app.db.query(
      `insert into audit (actor, action, detail) values ('old', 'edit', '{"edits":{"title":"New"}}')`,
    );

    const anna = await visitorOf(served, 'anna');
    const all = { api: '', terminal: [] };
    const cases = [
      { ...all, keys: [null, 'two', 'two', 'one'] },
      { api: '?feed=acme', terminal: ['acme'], keys: ['two', 'two', 'one'] },
      { api: '?actor=ann', terminal: ['--by', 'ann'], keys: ['two', 'two'] },
      { api: '?actor=nobody&feed=acme', terminal: ['acme', '--by', 'nobody'], keys: [] },
    ];
    for (const { api, terminal, keys } of cases) {
      const { items, next_cursor: next } = (await served.api('GET', `activity${api}`, undefined, { as: 'reader' }))
        .body;
      expect([api, items.map(({ key }: { key: string }) => key), next]).toEqual([api, keys, null]);
      expect((await run('activity', ...terminal, '--json')).json()).toEqual(items);
      const page = (await anna.get(`/activity${api}`)).text;
      expect([api, page.split('<tbody>')[1]?.match(/<tr>/g)?.length ?? 0]).toEqual([api, keys.length]);
    }
    const { items } = (await served.api('GET', 'activity')).body;
    expect(items.map(({ activity: _n, at: _at, ...rest }: Record<string, unknown>) => rest)).toMatchObject([
      { actor: 'old', action: 'edit', edits: [{ field: 'title', before: null, after: 'New' }], detail: {} },
      { actor: 'ann', action: 'reopen', feed: 'acme', key: 'two', edits: [] },
      { actor: 'ann', action: 'discard', edits: [], detail: { reason: 'not ours' } },
      {
        actor: 'token reviewer',
        action: 'edit',
        feed: 'acme',
        key: 'one',
        edits: [{ field: 'location-state', before: 'Jalisco', after: 'Texas' }],
      },
    ]);

    const first = (await served.api('GET', 'activity?limit=3')).body;
    const rest = (await served.api('GET', `activity?limit=3&cursor=${first.next_cursor}`)).body;
    expect([...first.items, ...rest.items]).toEqual(items);
    expect((await served.api('GET', 'activity?actor=')).status).toBe(400);
    const begun = await run('activity', 'acme', '--limit', '1');
    const [, older = ''] = /Older ones: .*review (activity acme --before \d+)/.exec(begun.out) ?? [];
    const { out } = await run(...older.split(' '));
    expect(out).toMatch(/ {2}ann +discard +acme +two +.*reason: not ours/);
    expect(out).toMatch(/ {2}token reviewer +edit +acme +one +location-state: Jalisco → Texas/);
    expect((await run('activity', '--before', '1')).out).toBe('There is nothing like that.\n');
  } finally {
    await served.close();
    await stage.close();
  }
});
