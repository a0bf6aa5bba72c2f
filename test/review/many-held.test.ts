// What is printed for a group of very many held deletes is bound to exactly those, as pasting it deletes jobs.
import { expect, it } from 'vitest';
import { listGroups } from '../../src/review/list-groups.ts';
import { runProgram } from '../cli/run-program.ts';
import { postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { openStage } from './stage.ts';

const stage = openedForEach(() => openStage());

/** More than are read one by one to show them. */
const MANY = 5_001;

it('the approval of a group is refused once another delete has taken the place of one', async () => {
  const { db } = stage.app;
  await stage.pull(postings(1));
  const hold = `insert into change (feed, key, site, desired, operation, state, reason, since)
    select 'acme', 'held-' || n, 'board', 'absent', 'delete', 'held',
      '{"kind": "guard", "message": "too many deletes"}', now() from generate_series($1::int, $2::int) n`;
  await db.query(hold, [1, MANY]);
  const [group] = await listGroups(db, { kinds: ['held'] }, { groups: 1, values: 1 });
  const { out } = await runProgram(stage.mirror, 'review', 'show', '--group', String(group?.id));
  const shown = /review approve .*--group (\S+) --count (\d+) --mark (\S+)/.exec(out);
  expect(shown?.[2], out).toBe(String(MANY));
  await db.query(`delete from change where key = 'held-1'`);
  await db.query(hold, [MANY + 1, MANY + 1]);
  const [, id = '', count = '', mark = ''] = shown ?? [];
  const pasted = await runProgram(stage.mirror, 'review', 'approve', '--group', id, '--count', count, '--mark', mark);
  expect(pasted.status, pasted.out).toBe(1);
  expect(await db.query(`select from change where state = 'held'`)).toHaveLength(MANY);
});
