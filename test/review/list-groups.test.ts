// Review entries by group: what was said about them without values, kept for every change and record, with trends.
import { describe, expect, it } from 'vitest';
import type { SiteName } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { groupTitle, groupWords, type ListedGroup, listGroups } from '../../src/review/list-groups.ts';
import type { EntryQuery } from '../../src/store/review/found-entries.ts';
import { forgetGroupCounts, noteGroupCounts } from '../../src/store/review/review-groups.ts';
import { feedXml, posting, recordXml } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { acme, acting, openStage } from './stage.ts';

const stage = openedForEach(() => openStage());

const list = (query: EntryQuery = {}, groups?: number): Promise<ListedGroup[]> =>
  listGroups(stage.app.db, query, { groups, values: 3 });
const brief = async (query: EntryQuery = {}) =>
  (await list(query)).map(({ kind, field, count }) => [kind, field, count]);

/** All entries and their groups as the tables of changes and records say, and as the groups have them. */
async function isInStep(): Promise<boolean> {
  const [row] = await stage.app.db.query<{ same: boolean }>(
    `with entry as (
       select id, case when state = 'discarded' then coalesce(discarded_from, 'rejected') else state end as kind,
         state = 'discarded' as discarded, feed, key, since from change where state not in ('ready', 'sending')
       union all select id, kind, discarded, feed, key, since from record_problem),
     grouped as (select id, kind, discarded, feed, key, since from review_entry)
     select not exists (select * from entry except select * from grouped)
       and not exists (select * from grouped except select * from entry) as same`,
  );
  return row?.same === true;
}

const STATES = ['Jalisco', 'Sonora', 'Jalisco', 'Ontario', 'Quebec', 'Jalisco', 'Sonora'] as const;
const invalid = STATES.map((state, at) => posting(`p${at}`, { state }));

const LONG = `${Array.from({ length: 20 }, (_, at) => `Springfield ${at}`).join('; ')}`.slice(0, 200);

const FIELDS = { title: 'Nurse', 'location-city': 'Austin', 'location-state': 'Texas', code: 'ab' };
/** Messages about a value, without what differs from entry to entry. */
const FORMS: readonly (readonly [message: string, value: string | undefined, form: string])[] = [
  ['"Jalisco" is not a valid U.S. state; accepted: MA', 'Jalisco', '… is not a valid U.S. state; accepted: MA'],
  ['"a "quoted" value" is refused', 'a "quoted" value', '… is refused'],
  ["Title 'Night nurse' can't be used", undefined, "Title … can't be used"],
  ['title has 24 characters; the site allows at most 10', 'x', 'title has … characters; the site allows at most …'],
  ['Nurse in Austin, Texas exists as job-991 (K-1)', undefined, '… in … exists as … (…)'],
  ['Nurses are not Nurse', undefined, 'Nurses are not …'],
  ['ab is refused', undefined, 'ab is refused'],
  ['ab is refused', 'ab', '… is refused'],
  ['request 6f1a-22,  \n 7 failed', undefined, 'request … failed'],
  ['a.c matches abc', 'a.c', '… matches abc'],
  [
    `city differs between the 3 places of the posting (${LONG.slice(0, 60)}); set it`,
    LONG,
    'city differs between the … places of the posting (…); set it',
  ],
  [`"${LONG.slice(0, 60)}" is refused`, LONG, '… is refused'],
  ["can't be blank", undefined, "can't be blank"],
  ['', undefined, ''],
];

it('messages are grouped by their normal form', async () => {
  for (const [message, value, form] of FORMS) {
    const values = [message, value ?? null, 'K-1', JSON.stringify(FIELDS)];
    const [row] = await stage.app.db.query<{ form: string }>('select normal_message($1, $2, $3, $4) as form', values);
    expect([message, value, row?.form]).toEqual([message, value, form]);
  }
});

describe('groups', () => {
  it('have the count, values, feeds, sites and an example of the entries with one message, and keep their ID', async () => {
    await stage.pull(invalid.slice(0, 1));
    const [before] = await list();
    await stage.pull(invalid);
    const [group, ...others] = await list();
    expect(others).toEqual([]);
    expect(group).toMatchObject({
      id: expect.stringMatching(/^g[0-9a-f]{10}$/),
      kind: 'rejected',
      field: 'location-state',
      message: expect.stringMatching(/^… is not a valid U\.S\. state; accepted: /),
      count: 7,
      values: [
        { of: 'Jalisco', count: 3 },
        { of: 'Sonora', count: 2 },
        { of: 'Ontario', count: 1 },
      ],
      valueCount: 4,
      feeds: [{ of: 'acme', count: 7 }],
      sites: [{ of: 'board', count: 7 }],
      example: { feed: 'acme', key: 'p0', value: 'Jalisco', reason: expect.stringMatching(/^"Jalisco" is not/) },
      trend: 'new',
    });
    expect(groupTitle(groupWords(group as ListedGroup))).toMatch(
      /^location-state: is not a .*: Jalisco, Sonora and 2 more$/,
    );
    await stage.pull(invalid.slice(1));
    expect((await list()).map(({ id, count }) => [id, count])).toEqual([[before?.id, 6]]);
    expect(group?.id).toBe(before?.id);
  });

  it('separate kinds, fields and messages, and follow each entry wherever it goes', async () => {
    const bad = '<job><title>Nobody</title><state>MA</state></job>';
    const twice = [recordXml(posting('twice')), recordXml(posting('twice', { title: 'Another' }))];
    const good = ['refused', 'broken', 'doubtful'].map((key) => recordXml(posting(key)));
    const odd = recordXml(posting('odd', { state: 'Jalisco' }));
    await stage.pull(feedXml([]).replace('</source>', [odd, ...good, ...twice, bad].join('').concat('</source>')));
    await stage.fail('refused', 'rejected', 'Title "X" is taken');
    await stage.fail('broken', 'failed', 'Title "Y" is taken');
    await stage.fail('doubtful', 'in_doubt');
    expect(await isInStep()).toBe(true);
    const groups = await list();
    expect(groups.map(({ kind }) => kind).sort()).toEqual([
      'duplicate',
      'failed',
      'in_doubt',
      'rejected',
      'rejected',
      'unreadable',
    ]);
    expect(groups.every(({ sites }) => sites[0]?.of === 'board')).toBe(true);

    const act = (action: 'discard' | 'reopen' | 'retry') =>
      actOnEntries(stage.app.db, stage.app.config, action, [{ feed: acme }], acting);
    await act('discard');
    expect(await isInStep()).toBe(true);
    expect(await brief()).toEqual([['in_doubt', 'title', 1]]);
    const discarded = await list({ discarded: true });
    expect(new Set(discarded.map(({ id }) => id))).toEqual(
      new Set(groups.filter(({ kind }) => kind !== 'in_doubt').map(({ id }) => id)),
    );
    await act('reopen');
    expect(await isInStep()).toBe(true);
    expect((await list()).map(({ id }) => id).sort()).toEqual(groups.map(({ id }) => id).sort());
    await act('retry');
    expect(await isInStep()).toBe(true);
    expect((await list()).map(({ kind }) => kind)).not.toContain('failed');
    await stage.acceptAll();
    await stage.pull([posting('ok'), posting('odd')]);
    expect(await isInStep()).toBe(true);
    expect((await list()).map(({ kind }) => kind)).not.toContain('rejected');
  });

  it('of held deletes count them', { tags: 'slow' }, async () => {
    const live = Array.from({ length: 8 }, (_, at) => posting(`live${at}`));
    await stage.pull(live);
    await stage.acceptAll();
    await stage.pull(live.slice(0, 1), { percent: 10, count: 1 });
    expect(await brief()).toEqual([['held', undefined, 7]]);
    expect(await isInStep()).toBe(true);
  });

  it('are selected by feed, site, kind, text and age', async () => {
    await stage.pull([...invalid, posting('fine')]);
    await stage.fail('fine', 'failed', 'Title is taken');
    await stage.app.db.query(`update change set since = now() - interval '2 days' where key = 'p1'`);
    const counts = async (query: EntryQuery) => (await list(query)).map(({ count }) => count);
    expect(await counts({ feed: acme })).toEqual([7, 1]);
    expect(await counts({ feed: 'other' as typeof acme })).toEqual([]);
    expect(await counts({ site: 'board' as SiteName })).toEqual([7, 1]);
    expect(await counts({ site: 'other' as SiteName })).toEqual([]);
    expect(await counts({ kinds: ['failed'] })).toEqual([1]);
    expect(await counts({ text: 'SONORA' })).toEqual([2]);
    expect(await counts({ text: 'p3' })).toEqual([1]);
    expect(await counts({ text: '%' })).toEqual([]);
    expect(await counts({ olderThanMs: 86_400_000 })).toEqual([1]);
    expect(await counts({ newerThanMs: 86_400_000 })).toEqual([6, 1]);
    const [first] = await list();
    expect(await counts({ groups: [first?.id ?? ''] })).toEqual([7]);
    expect((await list({}, 1)).length).toBe(1);
  });

  it('selected by age have the counts and values of these entries, whether most are selected or few', {
    tags: 'slow',
  }, async () => {
    await stage.pull([...invalid, posting('fine')]);
    await stage.fail('fine', 'failed', 'Title is taken');
    await stage.app.db.query(
      `update change set since = now() - make_interval(hours => case when key = 'fine' then 50 else 10 * substr(key, 2)::int end)`,
    );
    const hours = 3_600_000;
    const found = async (query: EntryQuery) =>
      (await list(query)).map(({ count, values, valueCount }) => [
        count,
        values.map(({ of, count: n }) => [of, n]),
        valueCount,
      ]);
    const ages = [-5, 5, 25, 45, 65];
    for (const older of ages) {
      for (const newer of ages.filter((age) => age > older)) {
        const states = STATES.filter((_, at) => 10 * at >= older && 10 * at < newer);
        const byState = [...new Set(states)].map(
          (state) => [state, states.filter((each) => each === state).length] as const,
        );
        byState.sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
        const refused = 50 >= older && 50 < newer ? [[1, [['Nurse fine', 1]], 1]] : [];
        const expected = [
          ...(states.length > 0 ? [[states.length, byState.slice(0, 3), byState.length]] : []),
          ...refused,
        ];
        const actual = await found({ olderThanMs: Math.max(0, older) * hours, newerThanMs: newer * hours });
        expect([older, newer, actual]).toEqual([older, newer, expected]);
      }
    }
  });
});

describe('the trend of a group', () => {
  const DAY = 86_400_000;

  /** Moves everything noted and waiting into the past. */
  const daysLater = async (days: number) => {
    await stage.app.db.query('update review_group_count set at = at - make_interval(days => $1)', [days]);
    await stage.app.db.query('update change set since = since - make_interval(days => $1)', [days]);
  };
  const trend = async () => (await list())[0]?.trend;
  const note = () => noteGroupCounts(stage.app.db);

  it('follows from counts that were noted when they changed', async () => {
    await stage.pull(invalid.slice(0, 2));
    await note();
    await note();
    expect(await stage.app.db.query('select n from review_group_count')).toEqual([{ n: 2 }]);
    expect(await trend()).toBe('new');
    await daysLater(2);
    expect(await trend()).toBe('steady');
    await stage.pull(invalid.slice(0, 5));
    expect(await trend()).toBe('growing');
    await note();
    await daysLater(2);
    await stage.pull(invalid.slice(0, 1));
    expect(await trend()).toBe('shrinking');
    await note();
    await daysLater(2);
    await stage.pull([posting('fine')]);
    await note();
    expect(await list()).toEqual([]);
    await daysLater(2);
    await stage.pull(invalid.slice(0, 1));
    expect(await trend()).toBe('back');
    const [group] = await list();
    expect(Date.now() - (group?.firstSeen.getTime() ?? 0)).toBeGreaterThan(7 * DAY);
    await note();
    await daysLater(2);
    expect(await trend()).toBe('steady');
  });

  it('needs few counts: old ones are removed except the first and the newest of a group that has entries', {
    tags: 'slow',
  }, async () => {
    await stage.pull(invalid);
    await note();
    const [group] = await list();
    await stage.app.db.query(
      `insert into review_group_count select $1, now() - make_interval(days => d), d from unnest(array[100, 200, 300]) d`,
      [group?.id],
    );
    await stage.app.db.query(
      `insert into review_group_count select 'gone', now() - make_interval(days => d), d - 100 from unnest(array[100, 200]) d`,
    );
    await forgetGroupCounts(stage.app.db);
    expect(await stage.app.db.query('select group_id, n from review_group_count order by at')).toEqual([
      { group_id: group?.id, n: 300 },
      { group_id: group?.id, n: 7 },
    ]);
  });
});
