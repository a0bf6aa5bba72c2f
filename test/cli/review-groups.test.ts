// `jobmirror review groups`, and `review list` narrowed by group and other options.
import { beforeAll, expect, it } from 'vitest';
import { posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);

const mirror = openedForAll(() => openMirror());
beforeAll(async () => {
  const states = ['Jalisco', 'Sonora', 'Jalisco', 'Ontario'];
  const odd = states.map((state, at) => posting(`odd${at}`, { state }));
  await mirror.syncOf([...odd, posting('untitled', { title: '' })]);
  await mirror.stopEngine();
});

it('groups are listed for people and for scripts', async () => {
  const table = await run('review', 'groups');
  expect(table.errors).toBe('');
  expect(table.out).toMatch(
    /GROUP +COUNT +KIND +TREND .*\ng[0-9a-f]{10} +4 +rejected +new .* acme +- +- +location-state: is not a valid .*: Jalisco, Ontario and 1 more\n/,
  );
  expect(table.out).toMatch(/\ng[0-9a-f]{10} +1 +rejected .* title is missing; the site requires it\n/);
  const [group] = (await run('review', 'groups', 'acme', '--json', '--limit', '1')).json();
  expect(group).toEqual({
    group: expect.stringMatching(/^g[0-9a-f]{10}$/),
    kind: 'rejected',
    field: 'location-state',
    message: expect.stringMatching(/^… is not a valid U\.S\. state/),
    count: 4,
    first_seen: expect.stringMatching(/Z$/),
    last_seen: expect.stringMatching(/Z$/),
    trend: 'new',
    values: [
      { value: 'Jalisco', count: 2 },
      { value: 'Ontario', count: 1 },
      { value: 'Sonora', count: 1 },
    ],
    value_count: 3,
    feeds: [{ feed: 'acme', count: 4 }],
    notes: [],
    rules: [],
    sites: [{ site: 'board', count: 4 }],
    example: {
      id: expect.any(Number),
      feed: 'acme',
      key: 'odd0',
      value: 'Jalisco',
      reason: expect.stringContaining('"Jalisco" is not a valid'),
    },
  });

  const id = (group as { group: string }).group;
  expect((await run('review', 'list', '--group', id, '--json')).json()).toHaveLength(4);
  expect((await run('review', 'list', 'acme', '--group', id, '--text', 'sonora', '--json')).json()).toMatchObject([
    { key: 'odd1' },
  ]);
  expect((await run('review', 'list', '--older-than', '1d')).out).toBe('No entry matches.\n');
});

it('a wrong option says what is expected', async () => {
  const wrong = async (...args: readonly string[]) => {
    const result = await run('review', 'groups', ...args);
    expect(result.status).toBe(1);
    return result.errors;
  };
  expect(await wrong('--older-than', 'yesterday')).toContain('such as 30min, 12h or 3d');
  expect(await wrong('--site', 'nowhere')).toContain('there is no site nowhere; sites: board');
  expect(await wrong('nobody')).toContain('there is no feed nobody; feeds: acme');
  expect((await run('review', 'list', '--group', '12')).errors).toContain('It must be the ID of a group');
});
