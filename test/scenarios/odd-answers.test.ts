// Sites that refuse in their own words under 2xx: no such request counts as done, and none is sent over and over.
// @module-tag slow
import type { OutgoingHttpHeaders } from 'node:http';
import { describe, expect, vi } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import type { Got, Reply } from '../site/scripted-site.ts';
import { endsTest as it, type OpenAt } from '../support/ends-test.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import type { Mirror, MirrorOptions } from '../support/mirror.ts';

/** A mirror of a site that makes jobs 1, 2, … unless `answer` responds otherwise, and the requests of a method. */
async function openOdd(openAt: OpenAt, answer: (got: Got) => Reply | undefined, settings: MirrorOptions['site'] = {}) {
  let made = 0;
  const { mirror, site } = await openAt(
    (got) => {
      const odd = answer(got);
      if (odd !== undefined || got.method !== 'POST') return odd ?? [200, {}, ''];
      made++;
      return [201, { location: `/jobs/${made}` }, `<job><id>${made}</id></job>`];
    },
    { site: { list_path: undefined, reference_field: undefined, canary: '{ requests: 0 }', ...settings } },
  );
  return { ...mirror, requests: (method: string) => site.got.filter((got) => got.method === method) };
}

/** A posting for each of these cases, under the name of the case. */
const postingsOf = (cases: object, change: object = {}) =>
  feedXml(Object.keys(cases).map((name) => posting(name, change)));
const titled = (name: string): string => `<title>Nurse ${name}</title>`;
const keyOf = ({ body }: Got): string => /<number>([^<]*)</.exec(body)?.[1] ?? '';

const review = (open: Mirror) =>
  open.query<{ key: string; state: string; message: string }>(
    `select key, state, reason->>'message' as message from change order by key`,
  );

const soapFault =
  '<Envelope><Body><Fault><faultcode>Client</faultcode><faultstring>State is invalid</faultstring></Fault></Body></Envelope>';

describe('creates', { concurrent: true }, () => {
  it('that a site refuses in its own words are rejected with its messages, and not sent again', async ({ openAt }) => {
    const refusals: Record<string, Reply> = {
      fault: [200, {}, soapFault],
      'job without an ID': [201, {}, '<job><title/><errors><error>State is invalid</error></errors></job>'],
      status: [200, {}, '<result><status>error</status><message>State is invalid</message></result>'],
    };
    const open = await openOdd(openAt, (got) => (got.method === 'POST' ? refusals[keyOf(got)] : undefined));
    await open.writeFeed(postingsOf(refusals));
    expect(await open.sync()).toMatchObject({ status: 'review', rejected: 3, in_doubt: 0 });
    expect(await review(open)).toEqual(
      Object.keys(refusals)
        .sort()
        .map((key) => ({ key, state: 'rejected', message: 'State is invalid' })),
    );
    expect(await open.sync()).toMatchObject({ rejected: 3, requests: 0 });
    expect(open.requests('POST')).toHaveLength(3);
  });

  it('whose responses contradict them are in doubt, with the reasons, and map no job', async ({ openAt }) => {
    const contradictions: Record<string, [Record<string, string | string[]>, string, string]> = {
      'another title': [{ location: '/jobs/7' }, '<job><id>7</id><title>Another one</title></job>', 'title'],
      'another reference': [
        { location: '/jobs/17' },
        `<job>${titled('another reference')}<number>z</number></job>`,
        'number "z"',
      ],
      'two job IDs': [
        { location: '/jobs/27' },
        '<job><id>28</id></job>',
        'two jobs, 27 in Location and 28 in its body',
      ],
      'two IDs in its body': [
        {},
        `<job><id>38</id>${titled('two IDs in its body')}<id>39</id></job>`,
        'two jobs, 38 and 39',
      ],
      'an ID and another attribute': [{}, '<job id="49"><id>48</id></job>', 'two jobs, 48 and 49'],
      'two Locations': [{ location: ['/jobs/57', '/jobs/58'] }, '', 'two Location headers'],
    };
    const { mirror } = await openAt(
      (got, response) => {
        const [headers, body] = contradictions[keyOf(got)] ?? expect.fail(got.body);
        response.writeHead(201, headers as OutgoingHttpHeaders).end(body);
        return undefined;
      },
      { site: { list_path: undefined, canary: '{ requests: 0 }' } },
    );
    await mirror.writeFeed(postingsOf(contradictions));
    expect(await mirror.sync()).toMatchObject({ status: 'review', in_doubt: 6, created: 0 });
    const found = await review(mirror);
    expect(Object.fromEntries(found.map(({ key, state, message }) => [key, [state, message]]))).toEqual(
      Object.fromEntries(
        Object.entries(contradictions).map(([key, [, , why]]) => [key, ['in_doubt', expect.stringContaining(why)]]),
      ),
    );
    expect(await mirror.query('select from mapping')).toEqual([]);
  });
});

describe('an update', { concurrent: true }, () => {
  /** Answers the updates of the jobs 1, 2, … with these bodies, and returns whose updates had which outcome. */
  async function update(openAt: OpenAt, bodies: readonly string[]) {
    const open = await openOdd(openAt, ({ method, url }) =>
      method === 'PUT' ? [200, {}, bodies[Number(/\d+/.exec(url)?.[0]) - 1]] : undefined,
    );
    await open.writeFeed(postingsOf(bodies));
    expect(await open.sync()).toMatchObject({ created: bodies.length });
    await open.writeFeed(postingsOf(bodies, { title: 'Other' }));
    return { report: await open.sync(), rejected: await review(open) };
  }

  it('answered with 200 and words of failure does not count as done', async ({ openAt }) => {
    const refusals = [
      '<validation-result valid="false"><message>State is invalid</message></validation-result>',
      '<answer><text>The job could not be saved</text></answer>',
    ];
    const { report, rejected } = await update(openAt, refusals);
    expect(report).toMatchObject({ status: 'review', updated: 0, rejected: 2 });
    expect(rejected.map(({ state, message }) => [state, message]).sort()).toEqual([
      ['rejected', 'State is invalid'],
      ['rejected', 'The job could not be saved'],
    ]);
  });

  it('answered with 200 and anything else is done', async ({ openAt }) => {
    const bodies = ['<ok/>', '<status>updated</status>', '<posting><title>Other</title></posting>', 'OK', ''];
    expect((await update(openAt, bodies)).report).toMatchObject({ status: 'mirrored', updated: 5 });
  });

  it('refused only by a word in the response may have been done: a feed that reverts it is sent', async ({
    openAt,
  }) => {
    let words = '<answer>Saved, but the mail failed</answer>';
    const open = await openOdd(openAt, ({ method }) => (method === 'PUT' ? [200, {}, words] : undefined));
    await open.syncOf([posting('a'), posting('b')]);
    expect(await open.syncOf([posting('a', { title: 'Other' }), posting('b')])).toMatchObject({ rejected: 1 });
    words = '<ok/>';
    expect(await open.syncOf([posting('a'), posting('b')])).toMatchObject({ status: 'mirrored', rejected: 0 });
    expect(open.requests('PUT').map(({ body }) => body.includes('Other'))).toEqual([true, false]);
  });
});

it.concurrent('a delete answered with 200 and a word of failure does not count as done', async ({ openAt }) => {
  const open = await openOdd(openAt, ({ method }) =>
    method === 'DELETE' ? [200, {}, '<r>You must not delete it</r>'] : undefined,
  );
  await open.syncOf([posting('a'), posting('b')]);
  expect(await open.syncOf([posting('b')])).toMatchObject({ status: 'review', deleted: 0 });
  expect(await review(open)).toEqual([{ key: 'a', state: 'rejected', message: 'You must not delete it' }]);
});

describe('a create answered with a redirect to a job', { concurrent: true }, () => {
  it.for([
    ['that it made', 'created_at', { created: 25, in_doubt: 0 }],
    ['that it made, if the site does not tell when', 'made', { created: 25, in_doubt: 0 }],
    ['of which another posting has the reference', 'other', { created: 0 }],
    ['that is old', 'old', { created: 0 }],
  ] as const)('%s', async ([, does, expected], { openAt }) => {
    const jobs: string[] = [];
    const open = await openOdd(
      openAt,
      ({ method, url, body }) => {
        if (method !== 'POST') {
          const all = jobs.map((job, at) => `<job><id>${at + 1}</id>${job}</job>`);
          return [
            200,
            {},
            url.startsWith('/jobs.xml') ? `<jobs>${all.join('')}</jobs>` : all[Number(/\d+/.exec(url)) - 1],
          ];
        }
        const made = does === 'old' ? '2020-01-01T00:00:00Z' : new Date().toISOString();
        const job = (/<job>([\s\S]*)<\/job>/.exec(body)?.[1] ?? '').replace(
          /(<number>)/,
          does === 'other' ? '$1x' : '$1',
        );
        jobs.push(does === 'made' ? job : `${job}<created_at>${made}</created_at>`);
        return [302, { location: `/jobs/${jobs.length}.xml` }];
      },
      { reference_field: 'number', canary: '{ requests: 20 }' },
    );
    const postings = Array.from({ length: 25 }, (_, at) => posting(`p${at}`));
    expect(await open.syncOf(postings)).toMatchObject(expected);
  });

  it.for(['which the list shows then', 'which the list never shows'])(
    'that it does not show until somebody approves it, %s, is not sent again',
    async (which, { openAt }) => {
      const isListed = which.endsWith('then');
      const { open, jobs, approve } = await openModerated(openAt, isListed);
      // An accepted change proves that the list is read with a valid token.
      expect(await open.syncOf([posting('a'), posting('b')])).toMatchObject({ updated: 1, in_doubt: 1 });
      const noteOf = async (key: string): Promise<string | undefined> => {
        await open.sync();
        const [row] = await open.query<{ note: string }>("select reason->>'note' as note from change where key = $1", [
          key,
        ]);
        return row?.note;
      };
      await vi.waitFor(async () => {
        expect(await noteOf('b')).toMatch(/does not show job 2, to which it redirected the create: perhaps somebody/);
      }, 20_000);
      // Nor is another one whose answer was lost.
      await open.syncOf([posting('a'), posting('b'), posting('c')]);
      const cook = posting('a', { title: 'Cook' });
      expect(await open.syncOf([cook, posting('b'), posting('c')])).toMatchObject({ updated: 1, in_doubt: 2 });
      await vi.waitFor(async () => {
        expect(await noteOf('c')).toMatch(/the site does not show each new job at once/);
      }, 20_000);
      approve();
      const left = isListed ? 0 : 1;
      await vi.waitFor(
        async () => expect(await open.sync()).toMatchObject({ unchanged: 3 - left, in_doubt: left }),
        20_000,
      );
      expect(jobs.size).toBe(3);
    },
  );

  it('about which the site does not answer for a while, does not teach that the site hides new ones', async ({
    openAt,
  }) => {
    const { open, approve } = await openModerated(openAt, true, [500]);
    expect(await open.syncOf([posting('a'), posting('b')])).toMatchObject({ in_doubt: 1 });
    await vi.waitFor(async () => {
      await open.sync();
      expect(await open.query("select from change where reason->>'note' ~ 'does not show job 2'")).toHaveLength(1);
    }, 20_000);
    expect(await open.query('select new_hidden_job from site_state')).toEqual([{ new_hidden_job: null }]);
    approve();
    await vi.waitFor(async () => expect(await open.sync()).toMatchObject({ unchanged: 2, in_doubt: 0 }), 20_000);
  });

  type Moderated = Awaited<ReturnType<typeof openModerated>>;
  type Run = (...args: string[]) => Promise<unknown>;
  // What happens while it waits, and which postings have which jobs afterwards.
  it.for<readonly [string, readonly string[], (moderated: Moderated, run: Run) => Promise<unknown>]>([
    [
      'whose site was paused meanwhile',
      ['acme a 1', 'acme b 2'],
      (_, run) => run('pause', 'board').then(() => run('resume', 'board')),
    ],
    [
      'whose feed was renamed meanwhile',
      ['initech a 1', 'initech b 2'],
      ({ open }, run) => open.configure('acme:', 'initech:').then(() => run('feeds', 'rename', 'acme', 'initech')),
    ],
    ['that left its feed meanwhile', ['acme a 1'], ({ open }) => open.syncOf([posting('a', { title: 'Cook' })])],
    [
      'that changed meanwhile',
      ['acme a 1', 'acme b 2'],
      ({ open }) => open.syncOf([posting('a'), posting('b', { title: 'Cook' })]),
    ],
    [
      'of which a backup was restored meanwhile',
      ['acme a 1', 'acme b 2'],
      async ({ open }, run) => {
        await open.stopEngine();
        await run('backup', 'b.gz');
        await run('restore', 'b.gz', '--replace', '--yes');
      },
    ],
    ['whose pull was undone meanwhile', ['acme a 1'], (_, run) => run('undo', '2', '--yes')],
  ])('that somebody approves, %s', async ([, expected, meanwhile], { openAt }) => {
    const moderated = await openModerated(openAt, true);
    const { open, jobs, approve } = moderated;
    await meanwhile(moderated, async (...args) => {
      const { status, errors } = await runProgram(open, ...args);
      if (status === 1) expect.fail(errors);
    });
    approve();
    await vi.waitFor(async () => {
      const [feed] = (await open.app()).config.feeds.keys();
      await open.sync(feed);
      const owners = await open.query<{ name: string }>(
        `select feed || ' ' || key || ' ' || site_job_id as name from mapping order by key`,
      );
      expect(owners.map(({ name }) => name)).toEqual(expected);
    }, 20_000);
    expect([...jobs.keys()]).toEqual(expected.map((name) => name.split(' ')[2]));
  });

  it('that exists, and is that of another feed, leaves it to that one', async ({ openAt }) => {
    let job = '';
    const open = await openOdd(
      openAt,
      ({ method, url, body }) => {
        if (method !== 'POST') return [200, {}, url.startsWith('/jobs.xml') ? `<jobs>${job}</jobs>` : job];
        const fields = /<job>([\s\S]*)<\/job>/.exec(body)?.[1];
        job ||= `<job><id>1</id>${fields}<created_at>${new Date().toISOString()}</created_at></job>`;
        return [302, { location: '/jobs/1' }];
      },
      {
        reference_field: 'number',
        list_path: '/jobs.xml',
        limits: '{ timeout_seconds: 0.5 }',
        doubts: '{ resolve_after_seconds: 0.6 }',
      },
    );
    expect(await open.syncOf([posting('a')])).toMatchObject({ created: 1 });
    await open.configure(/$/, '  globex:\n    { source: feed.xml, site: board, format: indeed }\n');
    await runProgram(open, 'feeds', 'new', 'globex');
    expect(await open.sync('globex')).toMatchObject({ created: 0, in_doubt: 1 });
    expect(await open.sync()).toMatchObject({ unchanged: 1, created: 0 });
    expect((await review(open))[0]?.message).toMatch(/job 1, which belongs to posting a of feed acme/);
  });

  it('that another create may have made is not taken before the list tells whose it is', async ({ openAt }) => {
    let job = '';
    let isListed = false;
    const open = await openOdd(
      openAt,
      ({ method, url, body }) => {
        if (url.startsWith('/jobs.xml') && method === 'GET') return isListed ? [200, {}, `<jobs>${job}</jobs>`] : [500];
        if (method !== 'POST') return [200, {}, job];
        if (job !== '') return [302, { location: '/jobs/1' }];
        const fields = /<job>([\s\S]*)<\/job>/.exec(body)?.[1];
        job = `<job><id>1</id>${fields}<created_at>${new Date().toISOString()}</created_at></job>`;
        return [500];
      },
      {
        reference_field: 'number',
        list_path: '/jobs.xml',
        limits: '{ timeout_seconds: 0.5 }',
        doubts: '{ resolve_after_seconds: 0.6 }',
      },
    );
    expect(await open.syncOf([posting('a')])).toMatchObject({ in_doubt: 1 });
    await open.configure(/$/, '  globex:\n    { source: feed.xml, site: board, format: indeed }\n');
    await runProgram(open, 'feeds', 'new', 'globex');
    await open.writeFeed(feedXml([posting('a', { title: 'Cook' })]));
    expect(await open.sync('globex')).toMatchObject({ created: 0, in_doubt: 1 });
    isListed = true;
    await vi.waitFor(async () => {
      await open.sync('globex');
      expect(await open.query('select feed from mapping')).toEqual([{ feed: 'acme' }]);
    }, 20_000);
  });
});

/**
 * A mirror with a job for a, and b in doubt: a site that redirects each create to its job, and shows all but the first only once they are
 * approved. What becomes of the create of c it does not say.
 */
async function openModerated(openAt: OpenAt, isListed: boolean, hides: Reply = [404, {}, '<error>Not found</error>']) {
  const jobs = new Map<string, string>();
  let isApproved = false;
  let made = 0;
  const open = await openOdd(
    openAt,
    (got) => {
      const { method, url, body } = got;
      const fields = /<job>([\s\S]*)<\/job>/.exec(body)?.[1] ?? '';
      if (method === 'POST') {
        jobs.set(`${++made}`, `${fields}<created_at>${new Date().toISOString()}</created_at>`);
        return keyOf(got) === 'c' ? [500] : [302, { location: `/jobs/${made}` }];
      }
      const shown = (id: string): string => `<job><id>${id}</id>${jobs.get(id)}</job>`;
      if (url.startsWith('/jobs.xml'))
        return [200, {}, `<jobs>${(isApproved && isListed ? [...jobs.keys()] : ['1']).map(shown).join('')}</jobs>`];
      const id = /jobs\/(\d+)/.exec(url)?.[1] ?? '';
      if (!jobs.has(id) || !(isApproved || id === '1')) return hides;
      if (method === 'DELETE') jobs.delete(id);
      if (method === 'PUT') jobs.set(id, (jobs.get(id) ?? '').replace(/<title>[^<]*<\/title>/, fields));
      return [200, {}, method === 'GET' ? shown(id) : ''];
    },
    {
      reference_field: 'number',
      list_path: '/jobs.xml',
      limits: '{ timeout_seconds: 0.5 }',
      doubts: '{ resolve_after_seconds: 0.6, list_checks: 1 }',
    },
  );
  const approve = (): void => {
    isApproved = true;
  };
  await open.syncOf([posting('a')]);
  await open.syncOf([posting('a', { title: 'Cook' }), posting('b')]);
  return { open, jobs, approve };
}

/** Keeps jobs, redirects every update and delete to this address, and does it or not. */
async function openRedirecting(
  openAt: OpenAt,
  fields: Partial<TestPosting> = {},
  settings: MirrorOptions['site'] = {},
) {
  const jobs = new Map<string, string>();
  let lastId = 0;
  const does = {
    it: true,
    to: '/jobs',
    page: undefined as Reply | undefined,
    always: false,
    shows: (job: string): string | undefined => job,
  };
  const open = await openOdd(
    openAt,
    ({ method, url, body, headers }) => {
      if (headers.authorization !== own) return [401];
      if (method === 'GET' && url.startsWith('/jobs.xml'))
        return [200, {}, `<jobs>${[...jobs].map(([id, job]) => `<job><id>${id}</id>${job}</job>`).join('')}</jobs>`];
      const id = /\d+/.exec(url)?.[0] ?? '';
      const fields = /<job>([\s\S]*)<\/job>/.exec(body)?.[1] ?? '';
      if (method === 'POST') return void jobs.set(String(++lastId), fields);
      const job = jobs.get(id);
      if (job === undefined)
        return does.always && method !== 'GET' ? (does.page ?? [302, { location: does.to }]) : [404];
      const shown = does.shows(job);
      if (method === 'GET' && shown === '') return [302, { location: '/jobs' }];
      if (method === 'GET') return shown === undefined ? [404] : [200, {}, `<job><id>${id}</id>${shown}</job>`];
      if (does.it && method === 'DELETE') jobs.delete(id);
      if (does.it && method === 'PUT') jobs.set(id, job.replace(/<title>[^<]*<\/title>/, fields));
      return does.page ?? [302, { location: does.to.replace('ID', id) }];
    },
    settings,
  );
  const own = `Basic ${Buffer.from(`${open.env.BOARD_TOKEN}:X`).toString('base64')}`;
  await open.syncOf(['a', 'b', 'c'].map((key) => posting(key, fields)));
  const change = () => open.syncOf([posting('a', { title: 'Other' }), posting('b')]);
  return { open, jobs, does, change };
}

describe('a change answered with a redirect', { concurrent: true }, () => {
  const LONG = `Care for patients of all ages, in a team of nurses and doctors, in ${'large and small '.repeat(4)}wards.`;

  it.for(['/jobs', '/jobs/ID', '/jobs/ID.xml', '/jobs/9', 'https://www.example.com/jobs/ID', '/'])(
    'to %s is done if the job shows it',
    async (to, { openAt }) => {
      const { jobs, does, change } = await openRedirecting(openAt);
      does.to = to;
      expect(await change()).toMatchObject({ status: 'mirrored', updated: 1, deleted: 1 });
      const titles = [...jobs.values()].map((job) => /<title>([^<]*)/.exec(job)?.[1]);
      expect(titles.sort()).toEqual(['Nurse b', 'Other']);
    },
  );

  it.for(['/jobs', '/jobs/9', '/', '/login', 'https://www.example.com/'])(
    'to %s is not done if the job is as before, and the site is paused',
    async (to, { openAt }) => {
      const { open, jobs, does, change } = await openRedirecting(openAt);
      Object.assign(does, { it: false, to });
      expect(await change()).toMatchObject({ updated: 0, deleted: 0 });
      expect(jobs.size).toBe(3);
      const [state] = await open.query<{ cause: string }>('select pause_cause::text as cause from site_state');
      expect(state?.cause).toMatch(/redirects to .*correct base_url/);
    },
  );

  it('to its job is not done if the job is as before, which review says', async ({ openAt }) => {
    const { open, does, change } = await openRedirecting(openAt);
    Object.assign(does, { it: false, to: '/jobs/ID' });
    expect(await change()).toMatchObject({ status: 'review', updated: 0, failed: 1, deleted: 0, failed_deletes: 1 });
    const said = await review(open);
    expect(said.map(({ key }) => key)).toEqual(['a', 'c']);
    for (const { message } of said)
      expect(message).toMatch(/redirects to .*, but job \d does not show that it was done/);
  });

  const UNSEEN = [
    ['does not show the field that was sent', { description: 'Other' }, /<description>.*?<\/description>/gs],
    [
      'never showed the field that was emptied',
      { city: '' },
      /<location-city>.*?<\/location-city>|<location-city\/>/gs,
    ],
    [
      'shows only the beginning, which is the same',
      { description: `${LONG} Days.` },
      /(?<=<description>.{60}).*?(?=<\/description>)/gs,
    ],
  ] as const;
  it.for(UNSEEN)(
    'to its job is not done if the job %s, as the redirect may be a refusal',
    async ([, change, unseen], { openAt }) => {
      const { open, does } = await openRedirecting(openAt, { description: LONG });
      const shows = (job: string) => job.replace(unseen, '');
      const [b, c] = ['b', 'c'].map((key) => posting(key, { description: LONG }));
      Object.assign(does, { it: false, to: '/jobs/ID', shows });
      const changed = [posting('a', { description: LONG, ...change }), b, c] as TestPosting[];
      expect(await open.syncOf(changed)).toMatchObject({ status: 'review', updated: 0, failed: 1 });
    },
  );

  const [A, B, C] = ['a', 'b', 'c'].map((key) => posting(key)) as [TestPosting, TestPosting, TestPosting];
  const OTHER = { ...A, title: 'Other' };
  type Act = (run: (...words: string[]) => Promise<unknown>) => Promise<unknown>;
  const discard: Act = (run) => run('review', 'discard', 'acme', '--yes');
  /** What happens then, the feed from then on, and the titles that the site has in the end. */
  const AFTERWARDS: Record<string, readonly [Act | undefined, readonly TestPosting[], string]> = {
    'are discarded, and the feed is as before': [discard, [A, B, C], 'Nurse a, Nurse b, Nurse c'],
    'are undone by a person': [(run) => run('undo', '2', '--yes'), [A, B, C], 'Nurse a, Nurse b, Nurse c'],
    'are followed by an edit': [
      (run) => run('review', 'edit', 'acme', 'a', '--set', 'title=Cook'),
      [OTHER, B],
      'Cook, Nurse b',
    ],
    'are followed by other keys': [undefined, [{ ...OTHER, key: 'd' }, B], 'Nurse b, Other'],
    'wait while the site is paused': [
      (run) => run('pause', 'board').then(() => run('resume', 'board')),
      [OTHER, B],
      'Nurse b, Other',
    ],
  };
  it.for(Object.entries(AFTERWARDS))(
    'and not done: an update and a delete %s',
    async ([, [act, feed, titles]], { openAt }) => {
      const { open, jobs, does, change } = await openRedirecting(openAt);
      Object.assign(does, { it: false, to: '/jobs/ID' });
      expect(await change()).toMatchObject({ failed: 1, failed_deletes: 1 });
      const run = async (...words: string[]) => {
        await open.stopEngine();
        expect((await runProgram(open, ...words)).status).not.toBe(1);
      };
      await act?.(run);
      does.it = true;
      await open.syncOf(feed);
      await run('review', 'retry', 'acme');
      await open.sync();
      const shown = [...jobs.values()].map((job) => /<title>([^<]*)/.exec(job)?.[1]);
      expect(shown.sort().join(', ')).toBe(titles);
    },
  );

  it('to its job is not done if the job shows what a person has made of it, and the change sets that right', async ({
    openAt,
  }) => {
    const { open, jobs, does } = await openRedirecting(openAt);
    for (const [id, job] of jobs) jobs.set(id, job.replace('Nurse a<', 'Nurse a (night)<'));
    expect((await runProgram(open, 'verify', 'acme', '--each', '--repair')).out).toContain('1 changed');
    Object.assign(does, { it: false, to: '/jobs/ID' });
    expect(await open.sync()).toMatchObject({ status: 'review', updated: 0, failed: 1 });
  });

  it.for([
    ['is done once neither the list nor the site has the job', '/jobs', true, { deleted: 1 }],
    ['waits if the list has the job', '/jobs', false, { deleted: 0, failed_deletes: 1 }],
    ['waits if it leads to the job, which may be hidden', '/jobs/ID', true, { deleted: 0, failed_deletes: 1 }],
  ] as const)('of each delete, also of jobs that are gone, %s', async ([, to, it, expected], { openAt }) => {
    const { open, does } = await openRedirecting(openAt, {}, { list_path: '/jobs.xml' });
    Object.assign(does, { it, to, always: true, shows: (job: string) => (job.includes('Nurse a') ? undefined : job) });
    expect(await open.syncOf([B, C])).toMatchObject(expected);
    expect(await open.query('select from mapping')).toHaveLength(3 - expected.deleted);
  });

  it('leaves a job alone that shows the reference of another posting', async ({ openAt }) => {
    const { jobs, change } = await openRedirecting(openAt, {}, { reference_field: 'number' });
    for (const [id, job] of jobs) jobs.set(id, job.replace('<number>a<', '<number>z<'));
    expect(await change()).toMatchObject({ status: 'review', updated: 0, in_doubt: 1 });
  });

  const HIDDEN = {
    'is hidden until somebody has approved the change': () => undefined,
    'is shown as removed, as moderators do': (job: string) => `${job}<status>Removed</status>`,
  };
  it.for(Object.entries(HIDDEN))('creates no second job of an update whose job %s', async ([, shows], { openAt }) => {
    const { open, jobs, does } = await openRedirecting(openAt);
    Object.assign(does, { to: '/jobs/ID', shows });
    const changed = [posting('a', { title: 'Other' }), posting('b'), posting('c')];
    expect(await open.syncOf(changed)).toMatchObject({ created: 0, deleted: 0 });
    expect(jobs.size).toBe(3);
  });

  it.for([302, 301, 308])(
    'leaves the site open if it redirects by %i only what concerns a job that it no longer has',
    async (status, { openAt }) => {
      const { open, jobs, does } = await openRedirecting(openAt);
      const page: Reply = [status, { location: '/jobs' }];
      Object.assign(does, { it: false, page, shows: (job: string) => (job.includes('Nurse a') ? '' : job) });
      const changed = [posting('a', { title: 'Other' }), posting('b'), posting('c')];
      expect(await open.syncOf(changed)).toMatchObject({ status: 'review', updated: 0, failed: 1, created: 0 });
      expect(await review(open)).toMatchObject([
        { key: 'a', message: expect.stringContaining('it may be deleted or hidden') },
      ]);
      expect(await open.syncOf([...changed, posting('d')])).toMatchObject({ created: 1 });
      expect(jobs.size).toBe(4);
    },
  );

  it('keeps the mapping of a job whose delete was refused so, and which is hidden from strangers', async ({
    openAt,
  }) => {
    const { open, jobs, does } = await openRedirecting(openAt);
    Object.assign(does, { it: false, to: '/jobs/9', shows: () => undefined });
    expect(await open.syncOf([posting('a'), posting('b')])).toMatchObject({ deleted: 0, failed_deletes: 1 });
    expect(jobs.size).toBe(3);
    expect(await open.query('select from mapping')).toHaveLength(3);
  });
});

describe('a change answered with a page', { concurrent: true }, () => {
  const page = (body: string): Reply => [200, { 'content-type': 'text/html' }, `<!DOCTYPE html><html>${body}</html>`];
  const saved = page('<p>The job was saved, or deleted.</p>');
  const blocked = page('<title>Checking your browser</title>');
  const signIn = page('<form><input name="p" type="password"></form>');
  const closed: Reply = [200, {}, '<maintenance><message>Back at 5 pm</message></maintenance>'];

  it.for([false, true])(
    'is done if the job shows it; with a page for jobs that are gone: %s',
    async (always, { openAt }) => {
      const { open, jobs, does, change } = await openRedirecting(openAt);
      Object.assign(does, { page: saved, always });
      expect(await change()).toMatchObject({ status: 'mirrored', updated: 1, deleted: 1 });
      expect(jobs.size).toBe(2);
      expect(open.requests('DELETE')).toHaveLength(1);
    },
  );

  it.for([
    ['that a proxy made', blocked, {}, /an HTML page, not XML; check base_url/],
    ['in XML that says that the site is closed', closed, {}, /closed for a while \(status 200: Back at 5 pm/],
    ['to sign in', signIn, {}, /a page to sign in, not XML; check the token/],
    [
      'to sign in, and hidden from strangers',
      signIn,
      { shows: (job: string) => (/Nurse c/.test(job) ? undefined : job) },
      /sign in/,
    ],
  ] as const)('%s is not done, and the site is paused', async ([, answer, more, cause], { openAt }) => {
    const { open, jobs, does, change } = await openRedirecting(openAt);
    Object.assign(does, { it: false, page: answer, ...more });
    expect(await change()).toMatchObject({ updated: 0, deleted: 0 });
    expect(jobs.size).toBe(3);
    expect(await open.query('select from mapping')).toHaveLength(3);
    const [state] = await open.query<{ cause: string }>('select pause_cause::text as cause from site_state');
    expect(state?.cause).toMatch(cause);
  });
});

describe('a job that a person has removed from the site', { concurrent: true }, () => {
  const PAGE: Reply = [500, { 'content-type': 'text/html' }, '<html><body>Something went wrong</body></html>'];
  const ERRORS: Reply = [422, {}, "<errors><error>Couldn't find Job with 'id'=5</error></errors>"];

  const FIVE = ['a', 'b', 'c', 'd', 'e'].map((key) => posting(key));

  /**
   * Mirrors `a` to `e`; then the site loses the jobs of `a` and `b`, and answers so about them. Its list is whole unless `list` changes
   * it. The feed changes `a` and leaves out `b`.
   */
  async function syncWithout(
    openAt: OpenAt,
    answer: (got: Got, isOurs: boolean) => Reply | undefined,
    list: (jobs: readonly string[]) => string = (jobs) => `<jobs>${jobs.join('')}</jobs>`,
    feed: readonly TestPosting[] = [posting('a', { title: 'Other' }), ...FIVE.slice(2)],
    { all = FIVE, isLost = /Nurse [ab]</, settings = {} as MirrorOptions['site'] } = {},
  ) {
    const jobs = new Map<string, string>();
    const lost = new Map<string, string>();
    const does = { show: true };
    const open = await openOdd(
      openAt,
      (got) => {
        const { method, url, body, headers } = got;
        const xmlOf = ([id, job]: readonly [string, string]): string => `<job><id>${id}</id>${job}</job>`;
        if (headers.authorization !== own) return [401];
        if (url.startsWith('/jobs.xml') && method === 'GET') return [200, {}, list([...jobs].map(xmlOf))];
        const id = /\d+/.exec(url)?.[0] ?? '';
        const fields = /<job>([\s\S]*)<\/job>/.exec(body)?.[1] ?? '';
        if (method === 'POST') return void jobs.set(String(jobs.size + lost.size + 1), fields);
        const job = jobs.get(id);
        if (method === 'GET' && !does.show) return PAGE;
        if (job === undefined) return answer(got, lost.has(id)) ?? [404];
        return method === 'GET' ? [200, {}, xmlOf([id, job])] : [200];
      },
      { list_path: '/jobs.xml', ...settings },
    );
    const own = `Basic ${Buffer.from(`${open.env.BOARD_TOKEN}:X`).toString('base64')}`;
    await open.syncOf(all);
    for (const [id, job] of jobs) if (isLost.test(job)) lost.set(id, job);
    for (const id of lost.keys()) jobs.delete(id);
    const report = await open.syncOf(feed);
    return { open, jobs, report, does };
  }

  const SAYS: Record<string, (got: Got) => Reply | undefined> = {
    'a page of an exception': () => PAGE,
    'errors under 422': ({ url }) => [422, {}, ERRORS[2]?.toString().replace('5', /\d+/.exec(url)?.[0] ?? '')],
    'text under 400': () => [400, {}, 'Bad request'],
    'an error under 200': () => [200, {}, '<error>Job not found</error>'],
    'a page under 200': () => [200, PAGE[1], PAGE[2]],
    'an exception to all but GET': ({ method }) =>
      method === 'GET' ? undefined : [500, {}, 'undefined method for nil'],
  };
  it.for(Object.entries(SAYS))(
    'is made again, or done with, if the site says so with %s',
    async ([, says], { openAt }) => {
      const { jobs, report } = await syncWithout(openAt, says);
      expect(report).toMatchObject({ status: 'mirrored', created: 1, deleted: 1, unchanged: 3 });
      expect(jobs.size).toBe(4);
    },
  );

  it.for(Object.entries(SAYS))('does not pause the site if many are: %s', async ([, says], { openAt }) => {
    const all = Array.from({ length: 40 }, (_, at) => posting(`k${at}`));
    const changed = all.map((one, at) => (at < 30 ? { ...one, title: `Other ${one.key}` } : one));
    const isLost = /Nurse k[12]?\d</;
    const { jobs, report } = await syncWithout(openAt, says, undefined, changed, {
      all,
      isLost,
      settings: { canary: undefined },
    });
    expect(report).toMatchObject({ status: 'mirrored', created: 30, unchanged: 10 });
    expect(jobs.size).toBe(40);
  });

  type Site = Parameters<typeof syncWithout> extends [OpenAt, ...infer Rest] ? Rest : never;
  const STAYS: Record<string, Site> = {
    'the list is known to be cut': [() => PAGE, (jobs) => `<jobs total="9">${jobs.join('')}</jobs>`],
    'the site answers otherwise about jobs that never existed': [(_, isOurs) => (isOurs ? PAGE : undefined)],
    'the site redirects, as it may do after a change that hides the job': [
      ({ method, url }) => (method === 'GET' ? [404, {}, 'No'] : [302, { location: url }, 'No']),
    ],
    'the site gives another reason': [
      ({ method }, isOurs) =>
        method === 'GET' || !isOurs ? undefined : [422, {}, '<errors><error>Locked</error></errors>'],
    ],
  };
  it.for(Object.entries(STAYS))('stays in review if %s', async ([, site], { openAt }) => {
    const { open, jobs, report } = await syncWithout(openAt, ...site);
    expect(report).toMatchObject({ status: 'review', created: 0, deleted: 0, failed_deletes: 1 });
    expect(jobs.size).toBe(3);
    expect(await open.query('select from mapping')).toHaveLength(5);
  });

  const [A, B, C, D, E] = FIVE as [TestPosting, TestPosting, TestPosting, TestPosting, TestPosting];
  const OTHER = { ...A, title: 'Other' };
  /** What happens while a list that is cut leaves both changes in review, the feed from then on, and the titles once the list is whole. */
  const MEANWHILE: Record<string, readonly [readonly (readonly string[])[], readonly TestPosting[], string]> = {
    'are sent again': [[], [OTHER, C, D, E], 'Nurse c, Nurse d, Nurse e, Other'],
    'are discarded': [[['review', 'discard', 'acme', '--yes']], [OTHER, C, D, E], 'Nurse c, Nurse d, Nurse e'],
    'are reverted by the feed': [[], FIVE, 'Nurse a, Nurse b, Nurse c, Nurse d, Nurse e'],
    'are undone by a person': [
      [
        ['undo', '2', '--yes'],
        ['feeds', 'resume', 'acme'],
      ],
      FIVE,
      'Nurse a, Nurse b, Nurse c, Nurse d, Nurse e',
    ],
    'are followed by an edit': [
      [['review', 'edit', 'acme', 'a', '--set', 'title=Cook']],
      [OTHER, C, D, E],
      'Cook, Nurse c, Nurse d, Nurse e',
    ],
    'are followed by other keys': [[], [{ ...OTHER, key: 'f' }, C, D, E], 'Nurse c, Nurse d, Nurse e, Other'],
    'are followed by the deleted posting': [[], [OTHER, B, C, D, E], 'Nurse b, Nurse c, Nurse d, Nurse e, Other'],
    'wait while the site is paused': [
      [
        ['pause', 'board'],
        ['resume', 'board'],
      ],
      [C, D, E],
      'Nurse c, Nurse d, Nurse e',
    ],
  };
  it.for(Object.entries(MEANWHILE))('%s', async ([, [acts, feed, titles]], { openAt }) => {
    let isCut = true;
    const { open, jobs } = await syncWithout(
      openAt,
      () => PAGE,
      (all) => `<jobs${isCut ? ' total="9"' : ''}>${all.join('')}</jobs>`,
    );
    const run = async (...words: readonly string[]) => {
      await open.stopEngine();
      expect((await runProgram(open, ...words)).status, words.join(' ')).not.toBe(1);
    };
    for (const words of acts) await run(...words);
    isCut = false;
    await open.syncOf(feed);
    await run('review', 'retry', 'acme');
    await open.sync();
    expect(await open.sync()).toMatchObject({ requests: 0, in_doubt: 0 });
    const shown = [...jobs.values()].map((job) => /<title>([^<]*)/.exec(job)?.[1]);
    expect(shown.sort().join(', ')).toBe(titles);
  });

  it('is found by verify, which has it made again', async ({ openAt }) => {
    const { open, jobs } = await syncWithout(openAt, () => PAGE, undefined, FIVE);
    expect((await runProgram(open, 'verify', 'acme', '--repair')).out).toContain('2 gone');
    expect(await open.sync()).toMatchObject({ status: 'mirrored', created: 2, unchanged: 3 });
    expect(jobs.size).toBe(5);
  });

  it('is not taken for gone by verify while the site shows no job at all', async ({ openAt }) => {
    const { open, does } = await syncWithout(openAt, () => PAGE, undefined, FIVE);
    does.show = false;
    expect((await runProgram(open, 'verify', 'acme', '--repair')).out).not.toMatch(/[1-9]\d* gone/);
    expect(await open.query('select from uncertain_write')).toEqual([]);
  });

  it('stays in review if the list shows it: then the site fails for another reason', async ({ openAt }) => {
    const shown = (jobs: readonly string[]) => {
      const all = ['1', '2', '3', '4', '5'].map((id) => `<id>${id}</id>`);
      return `<jobs>${all.map((id) => jobs.find((job) => job.includes(id)) ?? `<job>${id}</job>`).join('')}</jobs>`;
    };
    const { open, report } = await syncWithout(openAt, () => PAGE, shown);
    expect(report).toMatchObject({ status: 'review', created: 0, failed: 1, failed_deletes: 1 });
    for (const { message } of await review(open)) expect(message).toContain('but its list shows this one');
  });
});
