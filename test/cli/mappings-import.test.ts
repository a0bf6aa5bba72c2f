// An import first asks the site about its jobs: it refuses missing jobs and those of other postings.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { firstOf } from '../support/extent.ts';
import { makeJob } from '../support/hand-made-jobs.ts';
import { postings } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { runProgram } from './run-program.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const open = async (options: MirrorOptions = {}): Promise<void> => {
  mirror = await openMirror(options);
};
const run = (...args: readonly string[]) => runProgram(mirror, ...args);
const mapped = async () => mirror.query('select key, site_job_id as id from mapping order by key');

/** Creates a job on the site; returns its ID. */
const make = (number: string) => makeJob(mirror, { title: 'Made earlier', number, 'location-state': 'Ohio' });

async function imports(lines: readonly (readonly [key: string, id: string])[], ...args: readonly string[]) {
  const file = join(mirror.folder, 'mappings.csv');
  await writeFile(file, ['feed,key,site_job_id', ...lines.map(([key, id]) => `acme,${key},${id}`), ''].join('\n'));
  return run('mappings', 'import', file, ...args);
}

const requests = () => mirror.sandbox.requests.recent().map(({ method, path }) => `${method} ${path.split('?')[0]}`);

describe.each([
  { way: 'each job', more: 0 },
  { way: 'the list', more: 30 },
])('checking $way', ({ more }) => {
  it('the site is asked for the jobs; each contradicted line is reported, and nothing is imported', async () => {
    await open({ sandbox: { pageSize: 10 } });
    const first = await make('p1');
    const second = await make(' P2 ');
    const third = await make('p3');
    const others: [string, string][] = [];
    for (let at = 0; at < more; at++) others.push([`more-${at}`, await make(`more-${at}`)]);
    mirror.sandbox.requests.clear();
    const refused = await imports([['p1', first], ['p2', '999999'], ['p4', third], ...others, ['p5', '888888']]);
    expect(refused.status).toBe(1);
    const named = refused.errors.split('\n').filter((line) => /mappings\.csv:\d+:/.test(line));
    expect(named).toEqual([
      expect.stringMatching(/:3: the site board has no job 999999$/),
      expect.stringMatching(new RegExp(`:4: the job ${third} shows the reference "p3", not that of posting p4$`)),
      expect.stringMatching(new RegExp(`:${5 + more}: the site board has no job 888888$`)),
    ]);
    expect(refused.errors).toContain('Nothing was imported.');
    expect(await mapped()).toEqual([]);
    const shown = requests().filter((one) => /^GET \/jobs\/\d+\.xml$/.test(one));
    // One more asks with a wrong token whether the site refuses it.
    expect(shown).toHaveLength(more === 0 ? 5 : 3);
    expect(requests().every((one) => one.startsWith('GET '))).toBe(true);
    await mirror.stopEngine();

    const taken = await imports([['p1', first], ['p2', second], ['p3', third], ...others], '--json');
    expect(taken.json()).toEqual([{ added: 3 + more, known: 0, checked: true }]);
    mirror.sandbox.requests.clear();
    // Jobs already in the database are not requested again.
    expect((await imports([['p1', first]], '--json')).json()).toEqual([{ added: 0, known: 1, checked: true }]);
    expect(requests()).toEqual([]);
  });
});

it('a reference that starts with the key, but belongs to another line, is refused', async () => {
  await open();
  const short = await make('10001');
  const long = await make('1000123');
  const refused = await imports([
    ['10001', long],
    ['1000123', short],
  ]);
  expect(refused.errors).toContain(`shows the reference "10001", which is that of posting 10001 of feed acme`);
  expect(refused.errors).toContain(`shows the reference "1000123", which is that of posting 1000123 of feed acme`);
});

describe('a site that cannot be asked', () => {
  const SITES: readonly [string, MirrorOptions['site'], number][] = [
    ['is out of reach', { base_url: 'http://127.0.0.1:9' }, 2],
    ['refuses the token', { token: undefined, token_file: 'token' }, 2],
    ['has a list that cannot be read', { list_path: '/no-such-list.xml' }, 30],
  ];
  it.each(firstOf(SITES, 1))('%s: nothing is imported, unless --unchecked is given', async (_, site, jobs) => {
    await open({ site });
    await writeFile(join(mirror.folder, 'token'), 'a-token-of-nobody', { mode: 0o600 });
    const lines = Array.from({ length: jobs }, (_, at): [string, string] => [`p${at}`, `${at + 1}`]);
    const refused = await imports(lines);
    expect(refused.status).toBe(1);
    expect(refused.errors).toMatch(/mappings\.csv:2: site board could not be asked: .*--unchecked/);
    const taken = await imports(lines, '--unchecked');
    expect(taken.errors).toContain('The site was not asked');
    expect(taken.out).toContain(`${jobs} mappings imported.`);
    expect(await mirror.query('select detail from audit')).toEqual([{ detail: { added: jobs, unchecked: true } }]);
  });

  it('is paused', { tags: 'slow' }, async () => {
    await open();
    await mirror.query(
      `insert into site_state (site, paused_since, pause_cause) values ('board', now(), '"it refuses all"')`,
    );
    await mirror.stopEngine();
    const refused = await imports([['p1', await make('p1')]]);
    expect(refused.errors).toMatch(
      /mappings\.csv:2: site board is paused \(it refuses all\).*resume board.*--unchecked/,
    );
    expect(await mapped()).toEqual([]);
  });

  it('has moved', { tags: 'slow' }, async () => {
    await open();
    await mirror.syncOf(postings(1));
    await mirror.query(`update site_state set address = 'elsewhere.example.com'`);
    await mirror.stopEngine();
    const refused = await imports([['p2', await make('p2')]]);
    expect(refused.errors).toMatch(/mappings\.csv:2: base_url leads to .*resume board --moved/);
  });
});
