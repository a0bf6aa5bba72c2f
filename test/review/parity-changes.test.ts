// What was done on the sites is the same list in a terminal, in the API and on the page, with the reason of each change.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { momentOf } from '../../src/operations/scalars.ts';
import { runProgram } from '../cli/run-program.ts';
import { type feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { type Served, serve } from '../web/served.ts';

interface Listed {
  readonly change: number;
  readonly key: string;
  readonly operation: string;
  readonly why: string;
}

let served: Served;
const mirror = openedForAll(() => openMirror({ feed: { delete_guard: '{ count: 1, percent: 1 }' } }));
beforeAll(async () => {
  const pull = async (list: Parameters<typeof feedXml>[0]) => {
    await mirror.syncOf(list);
    await mirror.stopEngine();
  };
  const odd = posting('odd', { state: 'Jalisco', title: '=Cook "b"' });
  await pull([...postings(4), odd]);
  await pull([posting('p1', { title: 'Nurse' }), posting('p2'), odd]);
  const run = async (...args: readonly string[]) => {
    const { status, errors } = await runProgram(mirror, ...args, '--as', 'ana');
    expect([args[1], errors, status]).not.toEqual([args[1], errors, 1]);
  };
  await run('review', 'approve', 'acme');
  const [entry] = (await runProgram(mirror, 'review', 'list', '--json')).json<{ id: number }>();
  await run('review', 'edit', String(entry?.id), '--set', 'location-state=Texas');
  await run('undo', '2', '--yes');
  served = await serve(mirror);
});
afterAll(() => served.close());

const why = ({ key, operation, why }: Listed) => `${operation} ${key}: ${why}`;
const listed = async (...args: readonly string[]) =>
  (await runProgram(mirror, 'changes', ...args, '--json')).json<Listed & Record<string, unknown>>();

it('says of each change why it was made and who decided', async () => {
  const all = await listed();
  expect(all.map(why).sort()).toEqual([
    'create odd: new in pull 1, edited by ana',
    'create p1: new in pull 1',
    'create p2: new in pull 1',
    'create p3: new in pull 1',
    'create p3: undo of pull 2 by ana',
    'create p4: new in pull 1',
    'create p4: undo of pull 2 by ana',
    'delete p3: gone from pull 2, approved by ana',
    'delete p4: gone from pull 2, approved by ana',
    'update p1: changed in pull 2',
    'update p1: undo of pull 2 by ana',
  ]);
  expect(all.map(({ change }) => change)).toEqual(all.map(({ change }) => change).sort((a, b) => b - a));
  expect(all.find(({ key, operation }) => key === 'p3' && operation === 'delete')).toMatchObject({
    title: 'Nurse p3',
    cause: 'pull',
    pull: 2,
    actor: 'ana',
    undoes: null,
    site_job_id: expect.any(String),
    site_job_url: null,
  });
  expect(all.find(({ operation }) => operation === 'update')).toMatchObject({
    fields: ['title'],
    cause: 'undo',
    undoes: 2,
  });
});

it('lists the same everywhere, with the same filters', async () => {
  const anna = await visitorOf(served, 'anna');
  for (const [query, args, count] of [
    ['', [], 11],
    [
      '?since=yesterday&operation=delete&feed=acme',
      ['--since', 'yesterday', '--operation', 'delete', '--feed', 'acme'],
      2,
    ],
    ['?feed=acme', ['--feed', 'acme'], 11],
    ['?operation=update&since=12h', ['--operation', 'update', '--since', '12h'], 2],
    ['?until=today', ['--until', 'today'], 0],
  ] as const) {
    const {
      items,
      next_cursor: next,
      kept_since: kept,
    } = (await served.api('GET', `changes${query}`, undefined, { as: 'reader' })).body;
    expect([query, items.length, next, Date.parse(kept) < Date.now()]).toEqual([query, count, null, true]);
    expect(await listed(...args)).toEqual(items);
    const page = (await anna.get(`/changes${query}`)).text;
    expect([query, page.split('<tbody>')[1]?.match(/<tr>/g)?.length ?? 0]).toEqual([query, count]);
    const { out } = await runProgram(mirror, 'changes', ...args, '--csv');
    const [file, answer] = [
      await anna.get(`/changes.csv${query}`),
      await served.api('GET', `changes${query}`, undefined, { headers: { accept: 'text/csv' } }),
    ];
    expect([file.text, answer.text]).toEqual([out, out]);
    expect(answer.headers.get('content-type')).toContain('text/csv');
    expect(out.trim().split('\n')).toHaveLength(count + 1);
  }
});

it('names the operations if it is asked for another one', async () => {
  const wrong = await runProgram(mirror, 'changes', '--operation', 'eat');
  expect([wrong.status, wrong.errors]).toEqual([
    1,
    expect.stringContaining('It must be one of create, update, delete.'),
  ]);
});

it('guards cells against being taken for formulas', async () => {
  const { out } = await runProgram(mirror, 'changes', '--operation', 'create', '--csv');
  expect(out).toContain(`,"'=Cook ""b""",`);
});

it('goes on where a page ended', async () => {
  const all = await listed();
  const first = (await served.api('GET', 'changes?limit=4')).body;
  const rest = (await served.api('GET', `changes?cursor=${first.next_cursor}`)).body;
  expect([...first.items, ...rest.items]).toEqual(all);
  const { out } = await runProgram(mirror, 'changes', '--feed', 'acme', '--limit', '4');
  const [, older = ''] = /Older ones: .*(changes --feed acme --before \d+)/.exec(out) ?? [];
  expect((await runProgram(mirror, ...older.split(' '))).out).toMatch(/is not kept \(retention: requests_days\)/);
  expect(await listed('--before', String(all[3]?.change))).toEqual(all.slice(4));
});

it('refuses what can not be meant', async () => {
  for (const [query, status] of [
    ['since=soon', 400],
    ['since=2026-02-30', 400],
    ['operation=create,update', 400],
    ['feed=nobody', 404],
    ['since=today&until=yesterday', 422],
  ] as const) {
    expect([query, (await served.api('GET', `changes?${query}`)).status]).toEqual([query, status]);
    const csv = { headers: { accept: 'text/csv' } };
    expect([query, (await served.api('GET', `changes?${query}`, undefined, csv)).status]).toEqual([query, status]);
  }
  expect((await runProgram(mirror, 'changes', '--since', 'soon')).errors).toContain('must be today, yesterday, a date');
});

it('reads moments in the time zone of the machine', () => {
  const now = new Date(2026, 2, 20, 14, 5);
  expect(
    ['today', 'yesterday', '2026-03-19', '2026-03-19T08:30', '2026-03-19 08:30:01', '2h'].map((text) =>
      momentOf(text, now),
    ),
  ).toEqual([
    new Date(2026, 2, 20),
    new Date(2026, 2, 19),
    new Date(2026, 2, 19),
    new Date(2026, 2, 19, 8, 30),
    new Date(2026, 2, 19, 8, 30, 1),
    new Date(2026, 2, 20, 12, 5),
  ]);
  expect(momentOf('2026-03-19T08:30Z', now)).toEqual(new Date('2026-03-19T08:30:00Z'));
  expect(momentOf('2026-13-01', now)).toBeUndefined();
});
