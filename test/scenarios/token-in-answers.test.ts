// A token that occurs in IDs, addresses and values of a site's responses: values are read as sent, and stored without it.
// @module-tag slow
import { describe, expect } from 'vitest';
import type { Got, Reply } from '../site/scripted-site.ts';
import { endsTest as it, type OpenAt } from '../support/ends-test.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';

/** The site's jobs by ID: the fields of each as XML elements. */
type Jobs = Map<string, Map<string, string>>;

interface Play {
  readonly token: string;
  /** The ID of the nth job. */
  readonly idOf?: (nth: number) => string;
  /** Responds instead of the site, which has already done the request. */
  readonly answer?: (got: Got, id: string) => Reply | undefined;
  /** How the site changes a value before it stores it. */
  readonly store?: (name: string, value: string) => string;
  readonly searched?: boolean;
  readonly siteLines?: Readonly<Record<string, string | undefined>>;
}

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function readFields(xml: string): [string, string][] {
  const asText = (text: string) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  const body = /<job>([\s\S]*)<\/job>/.exec(xml)?.[1] ?? '';
  return [...body.matchAll(/<([\w-]+)>([^<]*)<\/\1>/g)].map(([, name = '', value = '']) => [name, asText(value)]);
}

/** A site with show, list, create, update and delete, which puts the token into each `Location`. */
async function openStage(openAt: OpenAt, play: Play) {
  const { token, idOf = String, store = (_name, value) => value } = play;
  const jobs: Jobs = new Map();
  let made = 0;
  const xmlOf = (id: string) =>
    `<job><id>${id}</id>${[...(jobs.get(id) ?? [])].map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`).join('')}</job>`;
  const handle = (got: Got): Reply => {
    const id = /^\/jobs\/([^/?]+)\.xml$/.exec(got.url)?.[1] ?? '';
    if (got.method === 'GET' && got.url.startsWith('/jobs.xml')) {
      const page = got.url.includes('page=') ? '' : [...jobs.keys()].map(xmlOf).join('');
      return [200, {}, `<jobs total="${jobs.size}">${page}</jobs>`];
    }
    if (got.method === 'POST') {
      made++;
      const added = idOf(made);
      jobs.set(added, new Map(readFields(got.body).map(([name, value]) => [name, store(name, value)])));
      return play.answer?.(got, added) ?? [201, { location: `/jobs/${added}?user=${token}` }, xmlOf(added)];
    }
    const job = jobs.get(id);
    if (job === undefined) return [404];
    if (got.method === 'DELETE') jobs.delete(id);
    if (got.method === 'PUT') for (const [name, value] of readFields(got.body)) job.set(name, store(name, value));
    return play.answer?.(got, id) ?? [200, {}, xmlOf(id)];
  };
  const { mirror, site } = await openAt(handle, {
    searched: play.searched,
    site: {
      limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 2 }',
      doubts: '{ resolve_after_seconds: 2.5 }',
      ...play.siteLines,
    },
  });
  Object.assign(mirror.env, { BOARD_TOKEN: token });
  const requests = (...methods: string[]) =>
    site.got.filter(({ method }) => methods.includes(method)).map(({ method, url }) => `${method} ${url}`);
  return { jobs, mirror, requests, feed: (...list: TestPosting[]) => mirror.writeFeed(feedXml(list)) };
}

const titles = (jobs: Jobs) => [...jobs.values()].map((fields) => fields.get('title')).sort();

const SHORT_TOKENS: readonly [token: string, idOf: (nth: number) => string][] = [
  ['100', (nth) => `${1000 + nth}`],
  ['job', (nth) => `job-${nth}-job`],
  ['10002', (nth) => `${10000 + nth}`],
  ['nurse', (nth) => `${nth}-nurse-nurse`],
];

describe('a short token, which occurs in IDs and Location', { concurrent: true }, () => {
  it.for(SHORT_TOKENS)(
    'sends creates, updates and deletes to the right jobs: %s',
    async ([token, idOf], { openAt }) => {
      const { jobs, mirror, requests, feed } = await openStage(openAt, { token, idOf, siteLines: patientSite(30) });
      await feed(posting('a'), posting('b'), posting('c'));
      expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 3 });
      const mapped = await mirror.query<{ key: string; id: string }>(
        'select key, site_job_id as id from mapping order by key',
      );
      for (const { key, id } of mapped) expect(jobs.get(id)?.get('number')).toBe(key);
      await feed(posting('a'), posting('b', { title: 'Changed' }));
      expect(await mirror.sync()).toMatchObject({ status: 'mirrored', updated: 1, deleted: 1 });
      expect(titles(jobs)).toEqual(['Changed', 'Nurse a']);
      const [, b, c] = mapped.map(({ id }) => `/jobs/${id}.xml`);
      expect(requests('PUT', 'DELETE').sort()).toEqual([`DELETE ${c}`, `PUT ${b}`]);
      expect(await mirror.sync()).toMatchObject({ status: 'mirrored', requests: 0 });
    },
  );

  it.for(SHORT_TOKENS)('resolves a doubt with the job that the list shows: %s', async ([token, idOf], { openAt }) => {
    const doubtful = new Set(['b']);
    const { jobs, mirror, feed } = await openStage(openAt, {
      token,
      idOf,
      answer: ({ method, body }) =>
        method === 'POST' && [...doubtful].some((key) => body.includes(`<number>${key}<`))
          ? [500, {}, `<error>server, token ${token}</error>`]
          : undefined,
    });
    await feed(posting('a'), posting('b'), posting('c'));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', in_doubt: 0 });
    expect(jobs.size).toBe(3);
    await feed(posting('a'), posting('b', { title: 'Changed' }), posting('c'));
    expect(await mirror.sync()).toMatchObject({ updated: 1 });
    const changed = [...jobs].filter(([, fields]) => fields.get('title') === 'Changed').map(([id]) => id);
    expect(changed.map((id) => jobs.get(id)?.get('number'))).toEqual(['b']);
    await feed(posting('a'), posting('c'));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', deleted: 1 });
    expect(titles(jobs)).toEqual(['Nurse a', 'Nurse c']);
  });
});

describe('a long token that is a word of the feed as well', { concurrent: true }, () => {
  const token = 'frontend-developer';
  const wordy = (key: string) =>
    posting(key, { title: `Senior frontend-developer ${key}`, description: `A ${token}.` });
  const lost = (got: Got): Reply | undefined =>
    got.method === 'POST' ? [500, {}, '<error>database</error>'] : undefined;

  it('is compared as the site shows it: a doubt without a reference adopts its own job', async ({ openAt }) => {
    const { jobs, mirror, requests, feed } = await openStage(openAt, {
      token,
      answer: lost,
      siteLines: { reference_field: undefined },
    });
    // The site shows creation times, which are needed without a reference.
    const original = jobs.set.bind(jobs);
    jobs.set = (id, fields) => original(id, new Map([...fields, ['created-at', new Date().toISOString()]]));
    await feed(wordy('a'), wordy('b'));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', in_doubt: 0 });
    expect(titles(jobs)).toEqual(['Senior frontend-developer a', 'Senior frontend-developer b']);
    expect(requests('POST')).toHaveLength(2);
    expect(requests('PUT')).toEqual([]);
    const kept = await mirror.query<{ title: string }>(`select fields->>'title' as title from document order by 1`);
    expect(kept.map(({ title }) => title)).toEqual(titles(jobs));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', requests: 0 });
  });

  it('in its reference causes no second job for a create in doubt', async ({ openAt }) => {
    const { jobs, mirror, requests, feed } = await openStage(openAt, { token, answer: lost });
    await feed(wordy(`${token}/1`), wordy(`${token}/2`));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', in_doubt: 0 });
    expect(requests('POST')).toHaveLength(2);
    expect(jobs.size).toBe(2);
    expect(requests('PUT')).toEqual([]);
  });

  it('in its reference does not hide an existing job', async ({ openAt }) => {
    const { jobs, mirror, requests, feed } = await openStage(openAt, {
      token,
      searched: true,
      siteLines: patientSite(30),
    });
    for (const nth of ['1', '2'])
      jobs.set(
        `9${nth}`,
        new Map([
          ['number', `${token}-${nth}`],
          ['title', 'Made earlier'],
        ]),
      );
    await feed(wordy(`${token}-1`), wordy(`${token}-3`));
    expect(await mirror.sync()).toMatchObject({ status: 'review', created: 1, in_doubt: 1 });
    expect(requests('POST')).toHaveLength(1);
    expect(JSON.stringify(await mirror.query('select * from site_reference'))).not.toMatch(/frontend/i);
    await feed(wordy(`${token}-1`), wordy(`${token}-2`), wordy(`${token}-3`));
    expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 2 });
    expect(jobs.size).toBe(3);
  });

  it('counts as shown exactly, and no update follows a create', async ({ openAt }) => {
    const { jobs, mirror, feed } = await openStage(openAt, { token, siteLines: patientSite(30) });
    await feed(wordy('a'), wordy('b'));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 2 });
    expect(await mirror.query(`select distinct kind, detail from value_rewrite`)).toEqual([
      { kind: 'exact', detail: '' },
    ]);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', requests: 0 });
    expect(jobs.size).toBe(2);
  });

  it('that a site puts into the job of a doubt is not stored, and is corrected once', async ({ openAt }) => {
    const store = (name: string, value: string) => (name === 'location-city' ? `${value} ${token}` : value);
    let isLost = true;
    const { jobs, mirror, requests, feed } = await openStage(openAt, {
      token,
      store,
      answer: (got) => (isLost ? lost(got) : undefined),
      siteLines: patientSite(6),
    });
    await feed(posting('a', { city: 'Salem' }), posting('b'));
    expect(await mirror.sync()).toMatchObject({ in_doubt: 0 });
    isLost = false;
    await mirror.sync();
    const puts = requests('PUT').length;
    expect(puts).toBe(2);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', requests: 0 });
    expect(requests('PUT')).toHaveLength(puts);
    expect(jobs.size).toBe(2);
    for (const table of ['document', 'change', 'value_rewrite', 'failure', 'request', 'mapping', 'site_reference']) {
      expect(JSON.stringify(await mirror.query(`select * from ${table}`))).not.toContain(token);
    }
  });
});
