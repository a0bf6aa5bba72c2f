// A site whose addresses have the titles of jobs (`/jobs/12-nurse`), and whose XML has their numbers.
import { expect } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { SHORT } from '../laws/installation.ts';
import type { Got, Reply } from '../site/scripted-site.ts';
import { ageDoubts } from '../support/age-doubts.ts';
import { concurrentTest as it, type OpenAt } from '../support/ends-test.ts';
import { posting } from '../support/indeed-feed.ts';
import type { MirrorOptions } from '../support/mirror.ts';

type Jobs = Map<string, string>;

const xmlOf = (jobs: Jobs, id: string, name = id): string => `<job><id>${name}</id>${jobs.get(id)}</job>`;

const GUARD = { delete_guard: '{ percent: 100, count: 100 }' };

type NameListed = (id: string) => string;

interface Names {
  readonly nameListed?: NameListed;
  readonly nameMade?: NameListed;
  /** How the site is to be asked for a job; by default by its number. */
  readonly knows?: NameListed;
}

/** Answers all but creates, by the number that the address begins with. */
function answerAbout(jobs: Jobs, got: Got, nameListed: NameListed = (id) => id, knows: NameListed = (id) => id): Reply {
  if (got.url.startsWith('/jobs.xml')) {
    const all = [...jobs.keys()].map((id) => xmlOf(jobs, id, nameListed(id))).join('');
    return [200, { 'content-type': 'application/xml' }, `<jobs>${all}</jobs>`];
  }
  const [, asked = ''] = /\/jobs\/(?:job-|req_)?(\d+)/.exec(got.url) ?? [];
  const id = [...jobs.keys()].find((one) => knows(one) === asked);
  if (id === undefined) return [404];
  if (got.method === 'GET') return [200, {}, xmlOf(jobs, id, knows(id))];
  if (got.method === 'DELETE') jobs.delete(id);
  return [200];
}

const TAKEN: Reply = [422, {}, '<errors><error>Number has already been taken</error></errors>'];

/**
 * @param answer what becomes of a create: it is not answered, or was not even done; a proxy repeats it; the site refuses it because of
 *   another job; absent: it is answered.
 */
async function openTitled(
  openAt: OpenAt,
  answer: (nth: number) => 'lost' | 'failed' | 'repeated' | 'refused' | undefined,
  options: MirrorOptions & Names = {},
) {
  const { nameListed, nameMade = (id) => `${id}-nurse`, knows } = options;
  const jobs = new Map<string, string>();
  let posts = 0;
  let lastId = 0;
  const handle = (got: Got): Reply => {
    if (got.method === 'POST') {
      const end = answer(++posts);
      if (end === 'failed') return [500];
      if (end === 'refused') return TAKEN;
      const id = `${++lastId}`;
      const fields = /<job>([\s\S]*)<\/job>/.exec(got.body)?.[1] ?? '';
      jobs.set(id, `${fields}<created_at>${new Date().toISOString()}</created_at>`);
      if (end === 'repeated') return TAKEN;
      return end === 'lost' ? [500] : [201, { location: `/jobs/${nameMade(id)}` }, xmlOf(jobs, id, knows?.(id))];
    }
    return got.headers.authorization === own ? answerAbout(jobs, got, nameListed, knows) : [401, {}, ''];
  };
  const { mirror, site } = await openAt(handle, {
    ...options,
    site: { ...SHORT, ...options.site },
    feed: { ...GUARD, ...options.feed },
  });
  const own = `Basic ${Buffer.from(`${mirror.env.BOARD_TOKEN}:X`).toString('base64')}`;
  return { jobs, mirror, site };
}

it('a create whose reference is taken gets the job that the list shows for it, or is rejected in the end', async ({
  openAt,
}) => {
  const { jobs, mirror } = await openTitled(openAt, (nth) => (nth === 1 ? 'repeated' : 'refused'));
  expect(await mirror.syncOf([posting('a')])).toMatchObject({ status: 'mirrored', in_doubt: 0, rejected: 0 });
  expect(await mirror.query('select key, site_job_id as id from mapping')).toEqual([{ key: 'a', id: '1' }]);
  expect(await mirror.syncOf([posting('a'), posting('b')])).toMatchObject({ status: 'review', rejected: 1 });
  expect(jobs.size).toBe(1);
});

it('a create without an answer is found in the list, and the jobs of other postings are not taken for unknown ones', async ({
  openAt,
}) => {
  const { jobs, mirror } = await openTitled(openAt, (nth) => (nth === 2 ? 'lost' : undefined));
  await mirror.syncOf([posting('a')]);
  expect(await mirror.syncOf([posting('a'), posting('b')])).toMatchObject({ status: 'mirrored', in_doubt: 0 });
  expect(jobs.size).toBe(2);
  expect(await mirror.query('select key, site_job_id as id from mapping order by key')).toEqual([
    { key: 'a', id: '1-nurse' },
    { key: 'b', id: '2' },
  ]);
  expect(await mirror.syncOf([posting('b')])).toMatchObject({ deleted: 1 });
  expect(await mirror.syncOf([posting('a'), posting('b')])).toMatchObject({
    status: 'mirrored',
    created: 1,
    in_doubt: 0,
  });
});

it.for(['job-1', 'req_1-a2b'])(
  'an ID that only says which job it is, as %s, is not asked for before it is sent',
  async (made, { openAt }) => {
    const { mirror, site } = await openTitled(openAt, () => undefined, { nameMade: () => made });
    await mirror.syncOf([posting('a')]);
    const before = site.got.length;
    expect(await mirror.syncOf([posting('a', { city: 'Salem' })])).toMatchObject({ updated: 1 });
    expect(site.got[before]).toMatchObject({ method: 'PUT', url: `/jobs/${made}.xml` });
  },
);

const filled: NameListed = (id) => id.padStart(4, '0');

// Only the job in doubt has zeros in front.
const fourDigits: NameListed = (id) => (id === '2' ? '0002' : `100${id}`);

const LISTED: Record<string, Names> = {
  'ID-TITLE': { nameListed: (id) => `${id}-nurse`, nameMade: (id) => id },
  'ID-NEW-TITLE, and its address has the former one': { nameListed: (id) => `${id}-senior-nurse` },
  '/jobs/ID': { nameListed: (id) => `/jobs/${id}`, nameMade: (id) => id },
  'an address with ID-TITLE': {
    nameListed: (id) => `https://www.example.com/jobs/${id}-nurse.html`,
    nameMade: (id) => id,
  },
  '000ID': { nameListed: filled, nameMade: (id) => id },
  '000ID, and knows no other form': { nameListed: filled, nameMade: filled, knows: filled },
  'four digits, some of which are zeros': { nameListed: fourDigits, nameMade: fourDigits, knows: fourDigits },
};
it.for(Object.entries(LISTED))(
  'a list that names job ID as %s tells whether a create was done',
  { tags: 'slow' },
  async ([, names], { openAt }) => {
    const { jobs, mirror } = await openTitled(
      openAt,
      (nth) => ({ 2: 'lost', 3: 'failed' })[nth] as 'lost' | undefined,
      names,
    );
    await mirror.syncOf([posting('a')]);
    const all = ['a', 'b', 'c'].map((key) => posting(key));
    expect(await mirror.syncOf(all)).toMatchObject({ status: 'mirrored', in_doubt: 0 });
    expect(jobs.size).toBe(3);
    expect(await mirror.syncOf(all.slice(0, 1))).toMatchObject({ deleted: 2 });
    expect([...jobs.keys()]).toEqual(['1']);
  },
);

it('a list whose IDs begin with the number of something else than the job proves nothing', {
  tags: 'slow',
}, async ({ openAt }) => {
  const { jobs, mirror } = await openTitled(openAt, (nth) => (nth === 2 ? 'lost' : undefined), {
    nameListed: (id) => `7-${id === '1' ? 'first' : 'second'}`,
    nameMade: (id) => id,
  });
  await mirror.syncOf([posting('a')]);
  expect(await mirror.syncOf([posting('a'), posting('b')])).toMatchObject({ status: 'review', in_doubt: 1 });
  expect(jobs.size).toBe(2);
  expect(await mirror.query(`select reason->>'note' as note from change`)).toMatchObject([
    { note: 'The list has two jobs with the number 7: 7-first and 7-second' },
  ]);
});

it.for(['number', 'title'])(
  'verify compares the jobs of a list that names them by %s, and asks for none',
  async (name, { openAt }) => {
    const names = name === 'title' ? { nameListed: (id: string) => `${id}-nurse` } : {};
    const { jobs, mirror, site } = await openTitled(openAt, () => undefined, names);
    await mirror.syncOf(['a', 'b', 'c'].map((key) => posting(key)));
    const [[id = '', job = ''] = []] = jobs;
    const before = site.got.length;
    expect(await runProgram(mirror, 'verify', 'acme')).toMatchObject({ status: 0 });
    expect(site.got.slice(before).filter(({ url }) => url.includes('-nurse'))).toEqual([]);
    jobs.set(id, job.replace('Boston', 'Salem'));
    const [found] = (await runProgram(mirror, 'verify', 'acme', '--json')).json();
    expect(found).toMatchObject({ finding: 'changed', key: expect.any(String) });
  },
);

it('the job of an equal posting is not adopted for a create that was not done', async ({ openAt }) => {
  const { jobs, mirror } = await openTitled(openAt, (nth) => (nth === 2 ? 'failed' : undefined), {
    site: { reference_field: undefined },
    feed: { fields: '{ number: null, contact-web-address: null, description: null, title: category }' },
  });
  await mirror.syncOf([posting('a')]);
  await mirror.syncOf([posting('a'), posting('b')]);
  expect(jobs.size).toBe(2);
});

it('a job under the number of an expired one is not changed or deleted for the posting that had that number', async ({
  openAt,
}) => {
  const jobs = new Map<string, string>();
  const handle = (got: Got): Reply => {
    if (got.method === 'POST') {
      const fields = /<job>([\s\S]*)<\/job>/.exec(got.body)?.[1] ?? '';
      const title = /<title>([^<]*)</.exec(fields)?.[1] ?? '';
      // As some databases do after a restart: the number after the highest one.
      const id = `${Math.max(0, ...[...jobs.keys()].map(Number)) + 1}`;
      jobs.set(id, fields);
      return [201, { location: `/jobs/${id}-${title.toLowerCase().replace(/\W+/g, '-')}` }, ''];
    }
    return answerAbout(jobs, got);
  };
  const { mirror, site } = await openAt(handle, { feed: GUARD });
  const stays = posting('stays');
  await mirror.syncOf([stays]);
  await mirror.syncOf([stays, posting('old'), posting('older')]);
  jobs.delete('2');
  jobs.delete('3');
  const added = [posting('new', { title: 'Cook' }), posting('newer', { title: 'Pilot' })];
  expect(await mirror.syncOf([stays, posting('old'), posting('older'), ...added])).toMatchObject({ created: 2 });
  const before = new Map(jobs);
  // A person says which job the changed posting has; of the one that is gone, nothing is left to delete.
  expect(await mirror.syncOf([stays, posting('old', { title: 'Changed' }), ...added])).toMatchObject({
    status: 'review',
    updated: 0,
    in_doubt: 1,
  });
  expect(jobs).toEqual(before);
  expect(site.got.filter(({ method }) => method === 'PUT' || method === 'DELETE')).toEqual([]);
});

const slugOf = (fields: string): string =>
  (/<title>([^<]*)</.exec(fields)?.[1] ?? '').toLowerCase().replace(/\W+/g, '-');

interface Slugs {
  /** What becomes of the former address; by default it is not found. `after changes`: it is, and each change is answered with the new one. */
  readonly redirects?: boolean | 'after changes';
  /** How else a job is found, and what its XML has beside a number, or in its place. */
  readonly also?: 'number' | 'slug' | 'slug as ID';
  readonly delayMs?: (got: Got) => number;
  readonly lists?: (ids: readonly string[]) => readonly string[];
}

/** A site whose addresses are made of titles alone, and change with them. */
async function openSlugs(
  openAt: OpenAt,
  { redirects = false, also = 'number', delayMs = () => 0, lists = (ids) => ids }: Slugs,
  options: MirrorOptions = {},
) {
  const jobs = new Map<string, string>();
  const former = new Map<string, string>();
  const shownAs = (id: string): string => {
    const fields = jobs.get(id) ?? '';
    return `<job><id>${also === 'slug as ID' ? slugOf(fields) : id}</id>${also === 'slug' ? `<slug>${slugOf(fields)}</slug>` : ''}${fields}</job>`;
  };
  const handle = ({ method, url, body, headers }: Got): Reply => {
    const sent = /<job>([\s\S]*)<\/job>/.exec(body)?.[1] ?? '';
    if (method === 'POST') {
      const id = `${jobs.size + former.size + 1}`;
      jobs.set(id, sent);
      return [201, { location: `/jobs/${slugOf(sent)}` }, shownAs(id)];
    }
    if (headers.authorization !== own) return [401, {}, ''];
    if (url.startsWith('/jobs.xml'))
      return [
        200,
        { 'content-type': 'application/xml' },
        `<jobs>${lists([...jobs.keys()])
          .map(shownAs)
          .join('')}</jobs>`,
      ];
    const asked = /\/jobs\/([^/?]+)\.xml/.exec(url)?.[1] ?? '';
    const [id = redirects === 'after changes' ? former.get(asked) : undefined] =
      [...jobs].find(
        ([one, fields]) =>
          !fields.includes('<deleted_at>') && (slugOf(fields) === asked || (also === 'number' && one === asked)),
      ) ?? [];
    if (id === undefined) {
      const now = jobs.get(former.get(asked) ?? '');
      return redirects && now !== undefined ? [301, { location: `/jobs/${slugOf(now)}.xml` }] : [404];
    }
    if (method === 'GET') return [200, {}, shownAs(id)];
    former.set(slugOf(jobs.get(id) ?? ''), id);
    if (method === 'DELETE') jobs.delete(id);
    else jobs.set(id, withFields(jobs.get(id) ?? '', sent));
    return redirects === 'after changes' ? [302, { location: `/jobs/${slugOf(jobs.get(id) ?? '')}` }] : [204];
  };
  const delayed: Parameters<OpenAt>[0] = (got, response) => {
    const [reply, ms] = [handle(got), delayMs(got)];
    if (ms === 0) return reply;
    const [status, headers, body] = reply;
    setTimeout(() => response.writeHead(status, headers).end(body), ms);
    return undefined;
  };
  const { mirror } = await openAt(delayed, {
    ...options,
    site: { ...SHORT, ...options.site },
    feed: { ...GUARD, ...options.feed },
  });
  const own = `Basic ${Buffer.from(`${mirror.env.BOARD_TOKEN}:X`).toString('base64')}`;
  return { jobs, mirror };
}

/** The job's fields with those that are sent in place of its own. */
function withFields(fields: string, sent: string): string {
  const names = [...sent.matchAll(/<([\w-]+)[ >/]/g)].flatMap(([, name]) => name ?? []);
  return names.reduce((left, name) => left.replace(new RegExp(`<${name}>[^<]*</${name}>`), ''), fields) + sent;
}

const SLUGS: Record<string, Slugs> = {
  'finds no more': {},
  'redirects to the new one': { redirects: true },
  'finds no more, and knows jobs by nothing else': { also: 'slug' },
};
it.for(Object.entries(SLUGS))(
  'the job of a posting has a new title, and an address that the site %s is replaced by its own',
  { tags: 'slow' },
  async ([, slugs], { openAt }) => {
    const { jobs, mirror } = await openSlugs(openAt, slugs);
    const others = [posting('a'), posting('b', { title: 'Cook' })];
    await mirror.syncOf([...others, posting('c', { title: 'Pilot' })]);
    await mirror.syncOf([...others, posting('c', { title: 'Captain' })]);
    const changed = posting('c', { title: 'Captain', city: 'Salem' });
    // Made by hand, without a reference.
    jobs.set('99', '<title>Captain</title>');
    expect(await mirror.syncOf([...others, changed])).toMatchObject({ status: 'mirrored', created: 0, updated: 1 });
    jobs.delete('99');
    expect(jobs.size).toBe(3);
    expect([...jobs.values()].filter((fields) => fields.includes('Salem'))).toHaveLength(1);
    await mirror.syncOf([...others, { ...changed, title: 'First pilot' }]);
    await mirror.query(`update mapping set site_job_id = 'captain' where key = 'c'`);
    expect(await mirror.syncOf(others.slice(0, 1))).toMatchObject({ status: 'mirrored', deleted: 2 });
    expect([...jobs.values()]).toEqual([expect.stringContaining('Nurse a')]);
  },
);

it.for(['none', 'only the newest', 'all'])(
  'with a list of %s, the job tells whether a change was done that is answered with its new address',
  async (listed, { openAt }) => {
    const { jobs, mirror } = await openSlugs(
      openAt,
      { redirects: 'after changes', lists: (ids) => (listed === 'all' ? ids : ids.slice(-1)) },
      listed === 'none' ? { site: { list_path: undefined } } : {},
    );
    const list = (title: string) => ['a', 'b', 'c', 'd'].map((key) => posting(key, { title: `${title} ${key}` }));
    await mirror.syncOf(list('Pilot'));
    expect(await mirror.syncOf(list('Captain'))).toMatchObject({ status: 'mirrored', updated: 4 });
    expect([...jobs.values()].filter((fields) => fields.includes('Captain'))).toHaveLength(4);
  },
);

it('a job to which the site redirects is not made again because a list lacks it', async ({ openAt }) => {
  const { jobs, mirror } = await openSlugs(openAt, { redirects: true, lists: (ids) => ids.slice(-1) });
  const list = (title: string, city: string) =>
    ['a', 'b', 'c'].map((key) => posting(key, { title: `${title} ${key}`, city }));
  await mirror.syncOf(list('Pilot', 'Boston'));
  await mirror.syncOf(list('Captain', 'Boston'));
  expect(await mirror.syncOf(list('Captain', 'Salem'))).toMatchObject({ status: 'review', created: 0, updated: 1 });
  expect(jobs.size).toBe(3);
  const messages = await mirror.query("select reason->>'message' as why from change where state = 'failed'");
  expect(messages).toEqual(
    [1, 2].map(() => ({ why: expect.stringMatching(/redirects to job captain-\w, which may be/) })),
  );
});

it('without references, a job of another posting with the same title is no sign that a job is there', async ({
  openAt,
}) => {
  const { jobs, mirror } = await openSlugs(
    openAt,
    { also: 'slug as ID' },
    { site: { reference_field: undefined }, feed: { fields: '{ number: null }' } },
  );
  // Equal when they are compared, with two addresses.
  await mirror.syncOf([posting('a', { title: 'Nurse' }), posting('b', { title: 'Nurse...' })]);
  for (const [id, fields] of jobs) if (fields.includes('...')) jobs.delete(id);
  expect(await mirror.syncOf([posting('a', { title: 'Nurse' })])).toMatchObject({ status: 'mirrored', deleted: 1 });
  expect(jobs.size).toBe(1);
});

it('a job that waits to be looked up under a new address is not sent meanwhile', { tags: 'slow' }, async ({
  openAt,
}) => {
  const waiting: Promise<{ until: Date }[]>[] = [];
  let isChanged = false;
  let first: string | undefined;
  const delayMs = ({ method, url }: Got): number => {
    const asked = isChanged && method === 'GET' ? /jobs\/(\d)\.xml/.exec(url)?.[1] : undefined;
    if (asked === undefined || asked === first) return 0;
    waiting.push(mirror.query('select max(not_before) as until from change'));
    if (first !== undefined) return 0;
    first = asked;
    return 9_000;
  };
  const { mirror } = await openSlugs(
    openAt,
    { delayMs },
    {
      site: {
        limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 20 }',
        doubts: '{ resolve_after_seconds: 21 }',
      },
    },
  );
  const withCity = (city: string, titles: readonly string[]) => [
    posting('a'),
    ...titles.map((title, at) => posting(at === 0 ? 'b' : 'c', { title, city })),
  ];
  await mirror.syncOf(withCity('Boston', ['Pilot', 'Cook']));
  await mirror.syncOf(withCity('Boston', ['Captain', 'Chef']));
  isChanged = true;
  const list = withCity('Salem', ['Captain', 'Chef']);
  expect(await mirror.syncOf(list)).toMatchObject({ status: 'mirrored', created: 0, updated: 2 });
  const [before, after] = (await Promise.all(waiting)).map(([row]) => row?.until.getTime() ?? 0);
  expect(after).toBeGreaterThan(before ?? 0);
});

it('a job that a person has removed, and that the list shows as deleted, is gone', async ({ openAt }) => {
  const { jobs, mirror } = await openSlugs(openAt, { also: 'slug as ID' });
  const others = [posting('a'), posting('b', { title: 'Cook' })];
  await mirror.syncOf([...others, posting('c', { title: 'Pilot' })]);
  for (const [id, fields] of jobs)
    if (/Cook|Pilot/.test(fields)) jobs.set(id, `${fields}<deleted_at>2026-01-01T00:00:00Z</deleted_at>`);
  const changed = posting('b', { title: 'Cook', city: 'Salem' });
  expect(await mirror.syncOf([posting('a'), changed])).toMatchObject({ status: 'mirrored', deleted: 1, created: 1 });
});

it.for(Object.entries({ ...SLUGS, 'lists as the ID': { also: 'slug as ID' } as Slugs }))(
  "a job that got the address of another one with its title is not changed or deleted in that one's place, by a site that %s",
  { tags: 'slow' },
  async ([, slugs], { openAt }) => {
    const { jobs, mirror } = await openSlugs(openAt, slugs);
    const others = [posting('a'), posting('b', { title: 'Cook' })];
    await mirror.syncOf([...others, posting('c', { title: 'Pilot' }), posting('d', { title: 'Driver' })]);
    await mirror.syncOf([...others, posting('c', { title: 'Captain' }), posting('d', { title: 'Trucker' })]);
    for (const [id, title] of Object.entries({ 90: 'Pilot', 91: 'Driver' }))
      jobs.set(id, `<number>${id}</number><title>${title}</title>`);
    const foreign = [jobs.get('90'), jobs.get('91')];
    const changed = [...others, posting('d', { title: 'Trucker', city: 'Salem' })];
    expect(await mirror.syncOf(changed)).toMatchObject({ status: 'mirrored', deleted: 1, updated: 1 });
    expect([jobs.get('90'), jobs.get('91')]).toEqual(foreign);
    const numbers = [...jobs.values()].map((fields) => /<number>(.*?)</.exec(fields)?.[1]);
    expect(numbers.sort()).toEqual(['90', '91', 'a', 'b', 'd']);
    expect([...jobs.values()].filter((fields) => fields.includes('Salem'))).toHaveLength(1);
  },
);

it('a job that a person has given another title and text is deleted by a person', { tags: 'slow' }, async ({
  openAt,
}) => {
  const { jobs, mirror } = await openSlugs(openAt, {});
  const others = [posting('a'), posting('b', { title: 'Cook' })];
  await mirror.syncOf([...others, posting('c', { title: 'Pilot' })]);
  const [id = ''] = [...jobs.keys()].filter((one) => jobs.get(one)?.includes('Pilot'));
  jobs.set(id, '<number>c</number><title>Captain</title><description>Other</description>');
  expect(await mirror.syncOf(others)).toMatchObject({ status: 'review', deleted: 0, failed_deletes: 1 });
  expect(await mirror.query(`select reason->>'message' as message from change`)).toMatchObject([
    { message: expect.stringContaining("another posting's; delete this posting's job there and retry") },
  ]);
  jobs.delete(id);
  await mirror.stopEngine();
  await runProgram(mirror, 'review', 'retry', 'acme');
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', failed_deletes: 0 });
  expect(await mirror.query('select key from mapping order by key')).toEqual([{ key: 'a' }, { key: 'b' }]);
});

it('the repair of verify gives a posting the new address of its job', { tags: 'slow' }, async ({ openAt }) => {
  const { jobs, mirror } = await openSlugs(openAt, {});
  await mirror.syncOf([posting('a'), posting('b', { title: 'Pilot' })]);
  const list = [posting('a'), posting('b', { title: 'Captain' })];
  await mirror.syncOf(list);
  await mirror.stopEngine();
  await runProgram(mirror, 'verify', 'acme', '--repair');
  expect(await mirror.syncOf(list)).toMatchObject({ status: 'mirrored', created: 0, updated: 1 });
  await mirror.stopEngine();
  expect(await runProgram(mirror, 'verify', 'acme')).toMatchObject({ status: 0 });
  expect(jobs.size).toBe(2);
});

it('without references, a person says which job has a new address', { tags: 'slow' }, async ({ openAt }) => {
  const { jobs, mirror } = await openSlugs(
    openAt,
    {},
    { site: { reference_field: undefined }, feed: { fields: '{ number: null }' } },
  );
  const others = [posting('a'), posting('b', { title: 'Cook' })];
  await mirror.syncOf([...others, posting('c', { title: 'Pilot' })]);
  await mirror.syncOf([...others, posting('c', { title: 'Captain' })]);
  const changed = posting('c', { title: 'Captain', city: 'Salem' });
  expect(await mirror.syncOf([...others, changed])).toMatchObject({ status: 'review', created: 0, in_doubt: 1 });
  expect(jobs.size).toBe(3);
});

it('without a list, a person says where a job is whose title is no longer that of its address', {
  tags: 'slow',
}, async ({ openAt }) => {
  const { jobs, mirror } = await openSlugs(openAt, { also: 'slug as ID' }, { site: { list_path: undefined } });
  const withCity = (city: string, pilot: string) => [
    posting('a'),
    ...[pilot, 'Cook', 'Driver'].map((title, at) => posting('bcd'[at] ?? '', { title, city })),
  ];
  await mirror.syncOf(withCity('Boston', 'Pilot'));
  await mirror.syncOf(withCity('Boston', 'Captain'));
  for (const [id, fields] of jobs) if (/Cook/.test(fields)) jobs.delete(id);
  // The address of a job that keeps its title is still its own: it is gone, and made again.
  const changed = withCity('Salem', 'Captain');
  expect(await mirror.syncOf(changed)).toMatchObject({ status: 'review', created: 1, updated: 1, in_doubt: 1 });
  expect(jobs.size).toBe(4);
  await mirror.stopEngine();
  const [entry] = await mirror.query<{ id: number; message: string }>(
    "select id, reason->>'message' as message from change",
  );
  expect(entry?.message).toMatch(/no job pilot, and may have given it another address.*Say which job/);
  await runProgram(mirror, 'review', 'settle', `${entry?.id}`, '--exists', 'captain');
  expect(await mirror.syncOf(changed)).toMatchObject({ status: 'mirrored', created: 0 });
  expect([...jobs.values()].filter((fields) => fields.includes('Salem'))).toHaveLength(3);
  await mirror.syncOf(withCity('Salem', 'Aviator'));
  expect(await mirror.syncOf([posting('a')])).toMatchObject({ status: 'review', deleted: 2, failed_deletes: 1 });
  expect(jobs.size).toBe(2);
});

it('without a list, a job whose former address the site gave to another one is not made again', async ({ openAt }) => {
  const { jobs, mirror } = await openSlugs(openAt, { also: 'slug as ID' }, { site: { list_path: undefined } });
  const [a, c] = [posting('a'), posting('c', { title: 'Captain' })];
  await mirror.syncOf([a, { ...c, title: 'Pilot' }]);
  await mirror.syncOf([a, c]);
  const all = [a, c, posting('d', { title: 'Pilot' })];
  expect(await mirror.syncOf(all)).toMatchObject({ created: 1 });
  expect(await mirror.syncOf(all)).toMatchObject({ status: 'review', created: 0, in_doubt: 1 });
  expect(jobs.size).toBe(3);
  for (const [id, fields] of jobs) if (fields.includes('Captain')) jobs.delete(id);
  await mirror.stopEngine();
  await ageDoubts(mirror);
  const [entry] = await mirror.query<{ id: number; message: string }>(
    "select id, reason->>'message' as message from change",
  );
  expect(entry?.message).toMatch(/gave the address of this posting's job pilot to another job.*Say which job/);
  await runProgram(mirror, 'review', 'settle', `${entry?.id}`, '--missing');
  expect(await mirror.syncOf(all)).toMatchObject({ status: 'mirrored', in_doubt: 0 });
  expect([...jobs.values()].filter((fields) => fields.includes('Captain'))).toHaveLength(1);
});

it.for(['/jobs.xml', undefined])(
  'with the list %s, a job is not made again that the site gave another ID when it was changed',
  { tags: 'slow' },
  async (list_path, { openAt }) => {
    const jobs = new Map<string, string>();
    let lastId = 0;
    const make = (fields: string): string => {
      jobs.set(`${++lastId}`, fields);
      return xmlOf(jobs, `${lastId}`);
    };
    const handle = (got: Got): Reply => {
      if (got.headers.authorization !== own) return [401, {}, ''];
      const sent = /<job>([\s\S]*)<\/job>/.exec(got.body)?.[1] ?? '';
      if (got.method === 'POST') return [201, {}, make(sent)];
      if (got.method !== 'PUT') return answerAbout(jobs, got);
      const [, id = ''] = /\/jobs\/(\d+)\.xml/.exec(got.url) ?? [];
      const fields = jobs.get(id);
      jobs.delete(id);
      return fields === undefined ? [404] : [200, {}, make(withFields(fields, sent))];
    };
    const { mirror } = await openAt(handle, { site: { ...SHORT, list_path }, feed: GUARD });
    const own = `Basic ${Buffer.from(`${mirror.env.BOARD_TOKEN}:X`).toString('base64')}`;
    await mirror.syncOf([posting('a'), posting('b')]);
    const changed = [posting('a'), posting('b', { city: 'Salem' })];
    expect(await mirror.syncOf(changed)).toMatchObject({ status: 'review', created: 0, in_doubt: 1 });
    expect(jobs.size).toBe(2);
  },
);

it('without references, a job that got the former address of another one is neither made again nor left on the site', {
  tags: 'slow',
}, async ({ openAt }) => {
  const { jobs, mirror } = await openSlugs(
    openAt,
    { also: 'slug as ID' },
    { site: { reference_field: undefined }, feed: { fields: '{ number: null }' } },
  );
  const withTitles = (...titles: readonly string[]) => [
    posting('a'),
    ...titles.map((title, at) => posting(`${at}`, { title })),
  ];
  await mirror.syncOf(withTitles('Pilot', 'Cook', 'Driver'));
  await mirror.syncOf(withTitles('Captain', 'Cook', 'Driver'));
  await mirror.syncOf(withTitles('Captain', 'Pilot', 'Driver'));
  const changed = withTitles('Captain').concat(posting('2', { title: 'Driver' }));
  expect(await mirror.syncOf(changed)).toMatchObject({ status: 'review', deleted: 0, failed_deletes: 1 });
  expect(jobs.size).toBe(4);
  const all = [...changed, posting('1', { title: 'Pilot', city: 'Salem' })];
  expect(await mirror.syncOf(all)).toMatchObject({ status: 'review', created: 0, failed: 1 });
  expect(jobs.size).toBe(4);
});

it('without references, an update does not reach the job of somebody else at the former address of its own', async ({
  openAt,
}) => {
  const { jobs, mirror } = await openSlugs(
    openAt,
    { also: 'slug as ID' },
    { site: { reference_field: undefined }, feed: { fields: '{ number: null }' } },
  );
  const all = (city: string, pilot: string) =>
    [pilot, 'Cook', 'Driver', 'Welder', 'Nurse'].map((title, at) => posting(`${at}`, { title, city }));
  await mirror.syncOf(all('Boston', 'Pilot'));
  await mirror.syncOf(all('Boston', 'Captain'));
  // Somebody makes one at the address that ours had, and another one with the title of ours, in its place.
  jobs.set('90', '<title>Pilot</title><description>Fly</description>');
  const others =
    '<title>Cook</title><description>Cook for guests who know what they want.</description><contact-web-address>https://kitchen.example.com/1</contact-web-address>';
  for (const [id, job] of jobs) if (job.includes('<title>Cook<')) jobs.set(id, others);
  const before = jobs.get('90');
  expect(await mirror.syncOf(all('Salem', 'Captain'))).toMatchObject({ status: 'review', in_doubt: 2, updated: 3 });
  expect([...jobs.values()]).toEqual(expect.arrayContaining([before, others]));
  expect(await mirror.query(`select reason->>'message' as message from change order by key`)).toEqual(
    ['another title', 'another text'].map((what) => ({
      message: expect.stringMatching(new RegExp(`${what} than this posting had.* Say which job this posting has`)),
    })),
  );
});
