// A site that refuses a create whose reference another of its jobs has: postings that move between feeds, and jobs of others.
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { processesOf, SHORT } from '../laws/installation.ts';
import type { Got, Reply } from '../site/scripted-site.ts';
import { concurrentTest as it, type OpenAt } from '../support/ends-test.ts';
import { FAST_TIMING } from '../support/fast-timing.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import type { Mirror, MirrorOptions } from '../support/mirror.ts';

const XML = { 'content-type': 'application/xml' };
const numberOf = (fields: string): string | undefined => /<number>(.*?)<\/number>/.exec(fields)?.[1]?.toLowerCase();

type Says = readonly [status: number, text: string];
const SAYS = [
  [422, '<errors><error>Number has already been taken</error></errors>'],
  [409, "Duplicate entry 'a' for key 'jobs.reference_unique'"],
  [400, '<error><message>E11000 duplicate key error: jobs index: number_1</message></error>'],
] as const satisfies readonly Says[];
/** A job of another user. */
const HIDDEN = '<number>hidden</number>';

/** A site with unique numbers, and a mirror of the feeds `acme` and `globex` into it. */
async function openUnique(
  openAt: OpenAt,
  options: MirrorOptions & {
    readonly refusing?: () => Promise<void>;
    readonly says?: Says;
    /** The fields that no two jobs may have in common. */
    readonly unique?: readonly string[];
  } = {},
) {
  const jobs = new Map<string, string>();
  let lastId = 0;
  const creates: (string | undefined)[] = [];
  const { unique = ['number'], says: [status, text] = SAYS[0] } = options;
  const uniqueOf = (fields: string) =>
    unique.map((name) => new RegExp(`<${name}>(.*?)</`).exec(fields)?.[1]?.toLowerCase()).join();
  const isTaken = (fields: string, own?: string) =>
    [...jobs, ['', HIDDEN] as const].some(([id, job]) => id !== own && uniqueOf(job) === uniqueOf(fields));
  const shown = (id: string) => `<job><id>${id}</id>${jobs.get(id)}</job>`;
  const answer = ({ method, url, body }: Got, response: ServerResponse): Reply | undefined => {
    const fields = /<job>([\s\S]*)<\/job>/.exec(body)?.[1] ?? '';
    if (method === 'POST') {
      creates.push(numberOf(fields));
      if (isTaken(fields)) {
        void (options.refusing?.() ?? Promise.resolve()).then(() => response.writeHead(status).end(text));
        return undefined;
      }
      const id = `${++lastId}`;
      jobs.set(id, `${fields}<created_at>${new Date().toISOString()}</created_at>`);
      return [201, { ...XML, location: `/jobs/${id}` }, shown(id)];
    }
    if (url.startsWith('/jobs.xml')) return [200, XML, `<jobs>${[...jobs.keys()].map(shown).join('')}</jobs>`];
    const id = /\/jobs\/(\d+)/.exec(url)?.[1] ?? '';
    if (!jobs.has(id)) return [404];
    if (method === 'GET') return [200, XML, shown(id)];
    if (method === 'DELETE') jobs.delete(id);
    else {
      let job = jobs.get(id) ?? '';
      for (const [field, name] of fields.matchAll(/<([\w-]+)>.*?<\/\1>/gs))
        job = job.replace(new RegExp(`<${name}>.*?</${name}>`, 's'), field);
      if (unique.some((name) => fields.includes(`<${name}>`)) && isTaken(job, id)) return [status, {}, text];
      jobs.set(id, job);
    }
    return [200];
  };
  const { mirror } = await openAt(
    (got, response) => (got.headers.authorization === own ? answer(got, response) : [401, {}, '']),
    {
      ...options,
      site: { ...SHORT, ...options.site },
      feed: { delete_guard: '{ percent: 100, count: 100 }', ...options.feed },
    },
  );
  const own = `Basic ${Buffer.from(`${mirror.env.BOARD_TOKEN}:X`).toString('base64')}`;
  await mirror.configure(
    /^ {2}acme:/m,
    '  globex:\n    site: board\n    source: globex.xml\n    format: indeed\n  acme:',
  );
  const globex = async (...list: TestPosting[]) => {
    await writeFile(join(mirror.folder, 'globex.xml'), feedXml(list));
    return mirror.sync('globex');
  };
  return { jobs, mirror, globex, creates };
}

async function showEntry(mirror: Mirror): Promise<string> {
  const [entry] = await mirror.query<{ id: number }>(`select id from change where state = 'rejected'`);
  return (await runProgram(mirror, 'review', 'show', `${entry?.id}`)).out;
}

it('a posting that moves to another feed is created there as soon as its job in the former feed is deleted', async ({
  openAt,
}) => {
  const { jobs, mirror, globex, creates } = await openUnique(openAt);
  await mirror.syncOf([posting('a'), posting('b')]);
  expect(await globex(posting('A'))).toMatchObject({ status: 'review', rejected: 1, in_doubt: 0 });
  expect(creates.sort()).toEqual(['a', 'a', 'b']);
  expect((await showEntry(mirror)).replace(/job \d/, 'job N')).toContain(
    'number: has already been taken; job N of posting a of feed acme has the reference: it is sent again once that job is deleted or gets another one\n',
  );
  expect(await globex(posting('A'))).toMatchObject({ requests: 0, rejected: 1 });
  expect(await mirror.syncOf([posting('b')])).toMatchObject({ deleted: 1 });
  expect(await globex(posting('A'))).toMatchObject({ status: 'mirrored', rejected: 0 });
  expect(await mirror.query('select feed, key from mapping order by feed')).toEqual([
    { feed: 'acme', key: 'b' },
    { feed: 'globex', key: 'A' },
  ]);
  expect([...jobs.values()].map(numberOf)).toEqual(['b', 'a']);
});

const UNLISTED = { list_path: undefined };

it.for(SAYS)(
  'so it is without a list, also if the job is deleted before the refusal is recorded: %i %s',
  async (says, { openAt }) => {
    let deleting: Promise<unknown> | undefined;
    const refusing = async (): Promise<void> => {
      deleting ??= mirror.syncOf([posting('b')]);
      while ((await mirror.query(`select from mapping where key = 'a'`)).length > 0) await pause(5);
    };
    // The site answers after a whole sync, however long that takes.
    const limits = '{ requests_per_second: 5000, concurrency: 8, timeout_seconds: 120 }';
    const site = { ...UNLISTED, limits, doubts: undefined };
    const { jobs, mirror, globex } = await openUnique(openAt, { site, refusing, says });
    await mirror.syncOf([posting('a'), posting('b')]);
    expect(await globex(posting('a'))).toMatchObject({ status: 'mirrored', created: 1 });
    await deleting;
    expect([...jobs.values()].map(numberOf)).toEqual(['b', 'a']);
  },
);

it('a reference that an update of its job replaces is free for another posting', async ({ openAt }) => {
  const { jobs, mirror, globex } = await openUnique(openAt, {
    site: UNLISTED,
    feed: { fields: '{ number: title }' },
  });
  await mirror.syncOf([posting('a', { title: 'One' })]);
  expect(await globex(posting('one'))).toMatchObject({ status: 'review', rejected: 1 });
  expect(await mirror.syncOf([posting('a', { title: 'Two' })])).toMatchObject({ updated: 1 });
  expect(await globex(posting('one'))).toMatchObject({ status: 'mirrored' });
  expect([...jobs.values()].map(numberOf)).toEqual(['two', 'one']);
});

it.for([
  ['without a list', UNLISTED],
  ['with a list that does not show it, tried only twice', { retry: '{ attempts: 2, first_delay_seconds: 0.05 }' }],
] as const)('a reference that a job of others has: %s', async ([, site], { openAt }) => {
  const { mirror, jobs } = await openUnique(openAt, { site });
  expect(await mirror.syncOf([posting('hidden')])).toMatchObject({ status: 'review', rejected: 1, failed: 0 });
  expect(await showEntry(mirror)).toContain(
    'number: has already been taken; which job has the reference is not known. If it is one of ours, it is sent again once that ' +
      "job is deleted or gets another one. If it is this posting's own: ",
  );
  jobs.set('7', '<number>hidden</number><title>Nurse</title>');
  const adopted = await runProgram(mirror, 'mappings', 'adopt', 'acme', '--job', '7', '--posting=hidden');
  expect(adopted.errors).toBe('');
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', rejected: 0 });
  expect(await mirror.query('select key, site_job_id as id from mapping')).toEqual([{ key: 'hidden', id: '7' }]);
});

it('so it is if the site only fails, and the list shows the reference', async ({ openAt }) => {
  const { jobs, mirror, globex } = await openUnique(openAt, {
    says: [500, '<error>Internal Server Error</error>'],
    site: { retry: '{ attempts: 2, first_delay_seconds: 0.05 }' },
  });
  await mirror.syncOf([posting('a'), posting('b')]);
  expect(await globex(posting('a'))).toMatchObject({ status: 'review', rejected: 1, failed: 0 });
  expect((await showEntry(mirror)).replace(/job \d/, 'job N')).toContain(
    'The site answered 500: Internal Server Error; job N of posting a of feed acme has the reference: it is sent again once',
  );
  await mirror.syncOf([posting('b')]);
  expect(await globex(posting('a'))).toMatchObject({ status: 'mirrored' });
  expect([...jobs.values()].map(numberOf)).toEqual(['b', 'a']);
});

it('an update follows as soon as the job that has its reference has got another one', async ({ openAt }) => {
  const { jobs, mirror } = await openUnique(openAt, {
    site: { limits: '{ requests_per_second: 5000, concurrency: 1, timeout_seconds: 2 }' },
    feed: { fields: '{ number: title }' },
  });
  const titled = (...titles: string[]) => mirror.syncOf(titles.map((title, at) => posting(`${9 - at}`, { title })));
  await titled('One', 'Two', 'Three');
  expect(await titled('Two', 'Three', 'Four')).toMatchObject({ status: 'mirrored', updated: 3, rejected: 0 });
  expect([...jobs.values()].map(numberOf).sort()).toEqual(['four', 'three', 'two']);
  expect(await titled('Two', 'Hidden', 'Four')).toMatchObject({ status: 'review', rejected: 1 });
  expect(await showEntry(mirror)).not.toContain('own:');
});

const BY_TITLE = ['title', 'location-city'];
const COMBINED = [422, '<errors><error>Title and location city: such a job already exists</error></errors>'] as const;
const NAMED = [
  422,
  '<errors><error field="title">has already been taken</error><error field="location-city">is in use</error></errors>',
] as const;

it.for<readonly [string, Says, readonly string[]]>([
  ['a combination', COMBINED, BY_TITLE],
  ['fields by name', NAMED, BY_TITLE],
  [
    'an address made of the title',
    [422, '<errors><error field="slug">has already been taken</error></errors>'],
    ['title'],
  ],
  ['an index', [409, "Duplicate entry 'nurse-boston' for key 'jobs.title_location_city'"], BY_TITLE],
])(
  'values that only one job may have, by %s, are free once it is deleted or changed',
  async ([, says, unique], { openAt }) => {
    const { mirror, globex, creates } = await openUnique(openAt, { says, unique });
    const [nurse, cook] = [
      posting('a', { title: 'Nurse', city: 'Boston' }),
      posting('b', { title: 'Cook', city: 'Boston' }),
    ];
    await mirror.syncOf([nurse, cook]);
    const same = [posting('c', { title: 'Nurse', city: 'Boston' }), posting('d', { title: 'Cook', city: 'Boston' })];
    expect(await globex(...same)).toMatchObject({ status: 'review', rejected: 2 });
    expect(await showEntry(mirror)).toContain(
      `it is sent again once a job of ours with the same ${unique.join(', ')} is deleted or changed`,
    );
    expect(await globex(...same)).toMatchObject({ requests: 0, rejected: 2 });
    creates.splice(0);
    // What another job frees, and what this one keeps, sends nothing.
    await mirror.syncOf([nurse, { ...cook, description: 'Cooks.' }, posting('e')]);
    await mirror.syncOf([nurse, { ...cook, description: 'Cooks.' }]);
    expect(await globex(...same)).toMatchObject({ requests: 0, rejected: 2 });
    await mirror.syncOf([{ ...cook, title: 'Chef' }]);
    expect(await globex(...same)).toMatchObject({ status: 'mirrored', rejected: 0 });
    expect(creates.splice(0).sort()).toEqual(['c', 'd', 'e']);
  },
);

it('of many that were refused for the same, a deleted job sends few again, the longest refused first', async ({
  openAt,
}) => {
  const { mirror, globex, creates } = await openUnique(openAt, {
    says: NAMED,
    unique: BY_TITLE,
    site: { canary: '{ requests: 0 }' },
  });
  await mirror.syncOf([posting('a', { title: 'Nurse' }), posting('b')]);
  const many = Array.from({ length: 80 }, (_, at) => posting(`c${at}`, { title: 'Nurse' }));
  expect(await globex(...many)).toMatchObject({ rejected: 80 });
  creates.splice(0);
  await mirror.syncOf([posting('b')]);
  expect(await globex(...many)).toMatchObject({ rejected: 79 });
  expect(creates).toHaveLength(50);
});

interface Meanwhile {
  readonly mirror: Mirror;
  readonly entry: string;
  run(...args: string[]): Promise<void>;
  /** Deletes the job that has the reference. */
  free(feed?: string): Promise<void>;
}

const FREED = ['acme b', 'globex A'];

// What happens before the refused create of posting A can be sent again, and which postings have jobs afterwards.
it.for<readonly [string, readonly string[], (meanwhile: Meanwhile) => Promise<unknown>]>([
  ['edited', FREED, ({ run, entry, free }) => run('review', 'edit', entry, '--set', 'title=Cook').then(() => free())],
  [
    'edited afterwards',
    FREED,
    ({ run, entry, free }) =>
      free().then(() => run('review', 'edit', entry, '--set', 'title=Cook').catch(() => undefined)),
  ],
  [
    'edited to another reference',
    ['acme a', ...FREED],
    ({ run, entry }) => run('review', 'edit', entry, '--set', 'number=z'),
  ],
  ['discarded', ['acme b'], ({ run, entry, free }) => run('review', 'discard', entry).then(() => free())],
  [
    'discarded, and reopened afterwards',
    FREED,
    async ({ run, entry, free }) => {
      await run('review', 'discard', entry);
      await free();
      await run('review', 'reopen', entry);
    },
  ],
  [
    'its feed is paused',
    FREED,
    ({ run, free }) =>
      run('pause', 'globex')
        .then(() => free())
        .then(() => run('resume', 'globex')),
  ],
  [
    'its site is paused',
    FREED,
    ({ run, free }) =>
      run('pause', 'board')
        .then(() => free())
        .then(() => run('resume', 'board')),
  ],
  [
    'the feed of the job is renamed',
    ['initech b', 'globex A'],
    async ({ mirror, run, free }) => {
      await mirror.configure('acme:', 'initech:');
      await run('feeds', 'rename', 'acme', 'initech');
      await free('initech');
    },
  ],
  [
    'its feed is renamed',
    ['acme b', 'initech A'],
    async ({ mirror, run, free }) => {
      await mirror.configure('globex:', 'initech:');
      await run('feeds', 'rename', 'globex', 'initech');
      await free();
    },
  ],
  [
    'the feed of the job is retired',
    ['acme a', 'acme b'],
    async ({ mirror, run }) => {
      await mirror.configure(/ {2}acme:[\s\S]*$/, '');
      await run('feeds', 'retire', 'acme');
    },
  ],
  [
    'the delete is undone before it is sent again',
    ['acme a', 'acme b'],
    async ({ mirror, run, free }) => {
      await run('pause', 'globex');
      await free();
      const [{ pull } = { pull: 0 }] = await mirror.query<{ pull: number }>(
        `select max(id) as pull from pull where feed = 'acme'`,
      );
      await run('undo', `${pull}`, '--yes');
      await run('resume', 'globex');
    },
  ],
  [
    'a backup of before is restored once it was sent again',
    FREED,
    async ({ mirror, run, free }) => {
      await mirror.stopEngine();
      await run('backup', 'b.gz');
      await free();
      await mirror.stopEngine();
      await run('restore', 'b.gz', '--replace', '--yes');
      await run('recover', 'globex', '--yes');
    },
  ],
  [
    'the process ends once the job is deleted',
    FREED,
    async ({ mirror, free }) => {
      await mirror.stopEngine();
      await mirror.writeFeed(feedXml([posting('b')]));
      const { spawn, close } = processesOf({ ...mirror, close: async () => undefined }, FAST_TIMING);
      expect((await spawn(['sync', 'acme'], { FAULT_AT: 'answer-received' }).ended).signal).toBe('SIGKILL');
      await close();
      await free();
    },
  ],
  [
    'two processes send',
    FREED,
    async ({ mirror, free }) => {
      await mirror.stopEngine();
      await mirror.writeFeed(feedXml([posting('b')]));
      const { spawn, close } = processesOf({ ...mirror, close: async () => undefined }, FAST_TIMING);
      await Promise.all(['acme', 'globex', 'globex'].map((feed) => spawn(['sync', feed]).ended));
      await close();
      await free();
    },
  ],
])('a refused create: %s', { tags: 'slow' }, async ([, expected, meanwhile], { openAt }) => {
  const { jobs, mirror, globex } = await openUnique(openAt);
  await mirror.syncOf([posting('a'), posting('b')]);
  expect(await globex(posting('A'))).toMatchObject({ status: 'review', rejected: 1 });
  const [{ id } = { id: 0 }] = await mirror.query<{ id: number }>('select id from change');
  const run = async (...args: string[]): Promise<void> => {
    const { status, out, errors } = await runProgram(mirror, ...args);
    if (status === 1) expect.fail(`${args.join(' ')}: ${out}${errors}`);
  };
  const free = async (feed = 'acme'): Promise<void> => {
    await mirror.writeFeed(feedXml([posting('b')]));
    await mirror.sync(feed);
  };
  await meanwhile({ mirror, entry: `${id}`, run, free });
  const feeds = [...(await mirror.app()).config.feeds.keys()].reverse();
  for (const feed of [...feeds, feeds.find((each) => each !== 'acme') ?? '']) await mirror.sync(feed);
  const owners = await mirror.query<{ name: string }>(`select feed || ' ' || key as name from mapping`);
  const [change] = await mirror.query('select state, reason, attempts from change');
  expect(owners.map(({ name }) => name).sort(), JSON.stringify(change)).toEqual([...expected].sort());
  expect(jobs.size).toBe(expected.length);
});

it.for<readonly [string, (opened: Awaited<ReturnType<typeof openUnique>>) => Promise<unknown>]>([
  [
    'is deleted as surplus',
    async ({ jobs, mirror, globex }) => {
      jobs.set('7', '<number>x</number>');
      await mirror.query(
        `insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '7', 'acme', 'x')`,
      );
      expect(await globex(posting('x'))).toMatchObject({ rejected: 1 });
      await runProgram(mirror, 'resume', 'acme');
    },
  ],
  [
    'is gone, and not created again',
    async ({ jobs, mirror, globex }) => {
      expect(await globex(posting('a'))).toMatchObject({ rejected: 1 });
      for (const [id, job] of jobs) if (numberOf(job) === 'a') jobs.delete(id);
      await runProgram(mirror, 'resume', 'acme');
      await mirror.syncOf([posting('a', { title: 'Cook' }), posting('b')]);
    },
  ],
])(
  'a refused create follows once the job that has its reference %s',
  { tags: 'slow' },
  async ([, free], { openAt }) => {
    const opened = await openUnique(openAt, { site: { ...UNLISTED, on_missing: 'leave' } });
    const { mirror } = opened;
    await mirror.syncOf([posting('a'), posting('b')]);
    await runProgram(mirror, 'pause', 'acme');
    await free(opened);
    await vi.waitFor(async () => {
      await mirror.sync('globex');
      expect(await mirror.query(`select from mapping where feed = 'globex'`)).toHaveLength(1);
    }, 10_000);
  },
);

it('a refused create gets the job that has its reference once a person says that its key has changed', {
  tags: 'slow',
}, async ({ openAt }) => {
  const { jobs, mirror } = await openUnique(openAt, { feed: { fields: '{ number: title }' } });
  const keyed = (...keys: string[]) =>
    mirror.syncOf(keys.map((key) => posting(key, { title: key.endsWith('1') ? 'One' : 'Two' })));
  await keyed('a1', 'a2');
  expect(await keyed('a1', 'a2', 'b1', 'b2')).toMatchObject({ rejected: 2 });
  expect(await keyed('b1', 'b2')).toMatchObject({ status: 'review', deleted: 0, held: 2 });
  expect((await runProgram(mirror, 'feeds', 'rekey', 'acme', '--sure')).errors).toBe('');
  expect(await keyed('b1', 'b2')).toMatchObject({ status: 'mirrored', rejected: 0 });
  expect(jobs.size).toBe(2);
});
