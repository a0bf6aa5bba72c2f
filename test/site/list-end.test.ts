// Where a list ends, and whether it changed: a job that a reading missed would be created a second time.
import { describe, expect, it } from 'vitest';
import { openClient, openSite, type Reply } from './scripted-site.ts';

const xml = { 'content-type': 'application/xml' };
const render = (ids: readonly number[], attributes = '', headers = {}): Reply => [
  200,
  { ...xml, ...headers },
  `<jobs${attributes}>${ids.map((id) => `<job><id>${id}</id></job>`).join('')}</jobs>`,
];

/** A list in pages of `size`; `answer` is called for each request, numbered from 1. */
interface Script {
  readonly ids: readonly number[];
  readonly size: number;
  /** Changes the list before the request with this number is answered. */
  readonly before?: Readonly<Record<number, (ids: readonly number[]) => readonly number[]>>;
  readonly answer?: (page: number, ids: readonly number[], all: readonly number[], request: number) => Reply;
  /** How old a cached copy may be. */
  readonly maxAgeMs?: number;
}

async function read({ ids, size, before = {}, answer = (_page, some) => render(some), maxAgeMs }: Script) {
  let all = ids;
  await using site = await openSite((got) => {
    const request = site.got.length;
    all = before[request]?.(all) ?? all;
    const page = Number(new URL(got.url, 'http://site.test').searchParams.get('page') ?? 1);
    return answer(page, all.slice((page - 1) * size, page * size), all, request);
  });
  await using client = openClient(site.url, { listPath: '/mine.xml' });
  const taken: number[] = [];
  const listing = await client.list((siteJob) => taken.push(Number(siteJob.siteJobId)), undefined, undefined, maxAgeMs);
  return { listing, ids: taken.sort((a, b) => a - b), requests: site.got.map((got) => got.url) };
}

const unreadable = (why: string, changed: boolean = expect.any(Boolean)) => ({
  kind: 'unreadable',
  message: expect.stringContaining(why),
  changed,
});
const linked = (page: number, ids: readonly number[], all: readonly number[], size: number): Reply =>
  render(ids, '', page * size < all.length ? { link: `</mine.xml?page=${page + 1}>; rel="next"` } : {});
const totalled = (page: number, ids: readonly number[], all: readonly number[], size: number): Reply =>
  render(ids, ` page="${page}" total-pages="${Math.ceil(all.length / size)}" total="${all.length}"`);
const six = [6, 5, 4, 3, 2, 1];

describe('the number of jobs in a header', () => {
  it.each(['x-total-count', 'x-total', 'total-count', 'content-range'])('must be reached: %s', async (name) => {
    const total = (all: readonly number[]) => ({
      [name]: name === 'content-range' ? `jobs 0-1/${all.length}` : `${all.length}`,
    });
    const cut = await read({ ids: six, size: 2, answer: (_p, _i, all) => render(all.slice(0, 2), '', total(all)) });
    expect(cut.listing).toMatchObject({ kind: 'unreadable' });
    const whole = await read({ ids: six, size: 6, answer: (_p, ids, all) => render(ids, '', total(all)) });
    expect(whole.listing.kind).toBe('listed');
  });
});

describe('a page that promises a next one but has nothing new is not the end', () => {
  it('a cache that ignores the query, with links', async () => {
    const { listing } = await read({ ids: six, size: 2, answer: (_p, _i, all) => linked(1, all.slice(0, 2), all, 2) });
    expect(listing).toEqual(unreadable('had nothing new'));
  });

  it('a cache that ignores the query, with an absolute next link', async () => {
    const { listing } = await read({
      ids: six,
      size: 2,
      answer: (_p, _i, all) => render(all.slice(0, 2), ' next="/mine.xml?page=2"'),
    });
    expect(listing).toEqual(unreadable('had nothing new'));
  });

  it('links in a circle', async () => {
    const { listing } = await read({
      ids: six,
      size: 2,
      answer: (page, ids) => render(ids, ` next="/mine.xml?page=${(page % 3) + 1}"`),
    });
    expect(listing.kind).toBe('unreadable');
  });

  it('a cache that states the age of its copy', async () => {
    const { listing } = await read({ ids: six, size: 9, answer: (_p, ids) => render(ids, ' total="6"', { age: '7' }) });
    expect(listing).toEqual(unreadable('from a cache, 7 s old'));
  });

  it.each([
    ['a link', () => render([], ' next="/mine.xml?page=2"'), 'page 1 had nothing new'],
    ['a number of pages', () => render([], ' total-pages="3"'), 'announces 3 pages, but page 1 had nothing new'],
    ['a total', () => render([], ' total="6"'), 'announces 6 jobs but returned 0'],
  ])('an empty first page although %s announces more', async (_name, first, why) => {
    const { listing } = await read({
      ids: six,
      size: 2,
      answer: (page, ids) => (page === 1 ? first() : render(ids)),
    });
    expect(listing).toEqual(unreadable(why));
  });

  it.each([
    [
      'links',
      (page: number, ids: readonly number[], all: readonly number[]) => linked(page, page === 2 ? [] : ids, all, 2),
    ],
    [
      'numbers',
      (page: number, ids: readonly number[], all: readonly number[]) => totalled(page, page === 2 ? [] : ids, all, 2),
    ],
    ['no paging hints', (page: number, ids: readonly number[]) => render(page === 2 ? [] : ids)],
    ['no paging hints, on the first page', (page: number, ids: readonly number[]) => render(page === 1 ? [] : ids)],
  ])('an empty page in the middle, with %s', async (_name, answer) => {
    expect((await read({ ids: six, size: 2, answer })).listing.kind).toBe('unreadable');
  });

  it('more jobs than the announced total', async () => {
    const { listing } = await read({ ids: six, size: 9, answer: (_p, ids) => render(ids, ' total="5"') });
    expect(listing).toEqual(unreadable('announces 5 jobs but returned 6'));
  });
});

describe('a list that changes while it is read', () => {
  const paging = [
    ['links', (page: number, ids: readonly number[], all: readonly number[]) => linked(page, ids, all, 2)],
    ['numbers', (page: number, ids: readonly number[], all: readonly number[]) => totalled(page, ids, all, 2)],
    ['no word of paging', (_page: number, ids: readonly number[]) => render(ids)],
  ] as const;

  describe.each(paging)('%s', (_name, answer) => {
    it('no change: it is complete', async () => {
      expect(await read({ ids: six, size: 2, answer })).toMatchObject({
        listing: { kind: 'listed', pages: 3 },
        ids: [1, 2, 3, 4, 5, 6],
      });
    });

    it('exactly one page of jobs is added at its beginning: none is missed, or the list is not complete', async () => {
      const { listing, ids } = await read({ ids: six, size: 2, answer, before: { 2: (all) => [8, 7, ...all] } });
      if (listing.kind === 'listed') expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      else expect(listing).toEqual(unreadable(''));
    });

    it('a job is added at its beginning, as our own are: it is complete', async () => {
      const { listing, ids } = await read({ ids: six, size: 2, answer, before: { 2: (all) => [7, ...all] } });
      expect(listing.kind).toBe('listed');
      expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7]);
    });

    it('a job is added at its end: it is complete', async () => {
      const { listing, ids } = await read({ ids: six, size: 2, answer, before: { 2: (all) => [...all, 7] } });
      expect(listing.kind).toBe('listed');
      expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7]);
    });

    it('a job already read leaves the list: another one is missed', async () => {
      expect((await read({ ids: six, size: 2, answer, before: { 2: (all) => all.slice(1) } })).listing.kind).toBe(
        'unreadable',
      );
    });

    it('one job leaves and another is added, so the counts stay the same', async () => {
      const { listing } = await read({ ids: six, size: 2, answer, before: { 2: (all) => [...all.slice(1), 7] } });
      expect(listing).toEqual(unreadable('one of its jobs was missing when it was read again', true));
    });

    it('a job already read moves to the end', async () => {
      const { listing } = await read({
        ids: six,
        size: 2,
        answer,
        before: { 2: ([first, ...all]) => [...all, first as number] },
      });
      expect(listing).toEqual(unreadable('changed while it was read', true));
    });
  });

  it('a site without paging whose list grows with each request: it is complete', async () => {
    const grow = (all: readonly number[]) => [all.length + 1, ...all];
    const before = { 1: grow, 2: grow, 3: grow };
    const { listing, ids } = await read({ ids: six, size: 2, before, answer: (_page, _ids, all) => render(all) });
    expect(listing).toEqual({ kind: 'listed', pages: 1 });
    expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('a total that shrinks', async () => {
    const answer = (page: number, ids: readonly number[], _all: readonly number[], request: number) =>
      render(ids, ` total="${request === 1 ? 6 : 5}" page="${page}"`);
    expect((await read({ ids: six, size: 2, answer })).listing).toEqual(unreadable('announced 6 jobs and then 5'));
  });
});

describe('cached copies', () => {
  const maxAgeMs = 60_000;
  const age = (seconds: number | string) => ({ age: String(seconds) });
  const whole = (ids: readonly number[], headers = {}) => render(ids, ' total="6"', headers);

  it('one page, just recent enough: it is complete, and its age is reported', async () => {
    const answer = (_page: number, ids: readonly number[]) => whole(ids, age(7));
    const { listing, requests } = await read({ ids: six, size: 9, answer, maxAgeMs });
    expect(listing).toEqual({ kind: 'listed', pages: 1, ageMs: expect.closeTo(8_000, -4) });
    expect(requests).toEqual(['/mine.xml']);
  });

  it.each([
    ['too old', 61],
    ['too young by less than the resolution of Age', 60],
    ['of unknown age', 'Mon, 07 Sep 2026'],
    ['of two ages', '7, 9'],
  ])('one page, %s', async (_name, seconds) => {
    const answer = (_page: number, ids: readonly number[]) => whole(ids, age(seconds));
    expect((await read({ ids: six, size: 9, answer, maxAgeMs })).listing).toEqual(unreadable('it comes from a cache'));
  });

  it('a site without paging whose first page is cached: it is read once more with another URL', async () => {
    const answer = (_p: number, _ids: readonly number[], all: readonly number[], request: number) =>
      render(all, '', request === 1 ? age(7) : {});
    const { listing, requests } = await read({ ids: six, size: 9, answer, maxAgeMs });
    expect(listing).toMatchObject({ kind: 'listed', pages: 1 });
    expect(requests).toEqual(['/mine.xml', '/mine.xml?page=2', expect.stringMatching(/^\/mine\.xml\?_=/)]);
  });

  it('a cache that ignores the query of a list without paging hints', async () => {
    const answer = (_p: number, _ids: readonly number[], all: readonly number[]) => render(all.slice(0, 2), '', age(7));
    expect((await read({ ids: six, size: 2, answer, maxAgeMs })).listing).toEqual(unreadable('may have changed'));
  });

  const pages = [
    ['links', (page: number, ids: readonly number[], all: readonly number[]) => linked(page, ids, all, 2)],
    ['numbers', (page: number, ids: readonly number[], all: readonly number[]) => totalled(page, ids, all, 2)],
    ['no word of paging', (_page: number, ids: readonly number[]) => render(ids)],
  ] as const;
  describe.each(pages)('of several pages with %s', (_name, plain) => {
    /** Ages by request number. */
    const readAged = (ages: Readonly<Record<number, number>>) =>
      read({
        ids: six,
        size: 2,
        maxAgeMs,
        answer(page, ids, all, request) {
          const [status, headers, body] = plain(page, ids, all);
          return [status, { ...headers, ...(ages[request] === undefined ? {} : age(ages[request])) }, body];
        },
      });

    it('made in the order of the pages, and uncached the second time: it is complete', async () => {
      expect((await readAged({ 1: 50, 2: 40, 3: 5 })).listing).toMatchObject({ kind: 'listed', pages: 3 });
    });

    it('a page older than the previous one', async () => {
      expect((await readAged({ 2: 7 })).listing).toEqual(unreadable('may have changed'));
      expect((await readAged({ 1: 20, 2: 40 })).listing).toEqual(unreadable('may have changed'));
    });

    it('two pages made within one second', async () => {
      expect((await readAged({ 1: 20, 2: 20 })).listing).toEqual(unreadable('may have changed'));
    });

    it('the same copies the second time', async () => {
      const passes = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [at + 4, 30]));
      expect((await readAged({ 1: 50, 2: 40, ...passes })).listing).toEqual(unreadable('may have changed'));
    });

    it('a page whose Date lags behind, without an Age header', async () => {
      const now = Date.now();
      const { listing } = await read({
        ids: six,
        size: 2,
        answer(page, ids, all, request) {
          const [status, headers, body] = plain(page, ids, all);
          const date = new Date(now - (request === 2 ? 120_000 : 0)).toUTCString();
          return [status, { ...headers, date }, body];
        },
      });
      expect(listing).toEqual(unreadable('show that some come from a cache'));
    });
  });

  const refusals = [
    ['refuses', (): Reply => [400, {}, 'unknown parameter']],
    ['redirects', (): Reply => [301, { location: '/mine.xml' }]],
    ['filters by', (): Reply => render([], ' total="0"')],
  ] as const;
  const onOne = (_page: number, ids: readonly number[], all: readonly number[]) =>
    render(ids, ` total="${all.length}"`);
  const hinted = [...pages, ['all on one page', onOne]] as const;
  describe.each(hinted)('without any sign of it, with %s', (name, plain) => {
    const size = name === 'all on one page' ? 9 : 2;
    /** nginx and its like: the first answer to each address for good, with the present Date and without Age. */
    async function readKept(
      answerQuery = plain as (page: number, ids: readonly number[], all: readonly number[]) => Reply,
    ) {
      let all = six.slice(1);
      const kept = new Map<string, Reply>();
      const pageOf = (url: string, answer: typeof answerQuery): Reply => {
        const page = Number(new URL(url, 'http://site.test').searchParams.get('page') ?? 1);
        return answer(page, all.slice((page - 1) * size, page * size), all);
      };
      await using site = await openSite(({ url }) => {
        const reply = kept.get(url) ?? pageOf(url, url.includes('_=') ? answerQuery : plain);
        kept.set(url, reply);
        return reply;
      });
      await using client = openClient(site.url, { listPath: '/mine.xml' });
      await client.list(() => {});
      all = six;
      const taken: number[] = [];
      const listing = await client.list((siteJob) => taken.push(Number(siteJob.siteJobId)));
      return { listing, taken };
    }

    it('it shows a job that the cache does not have', async () => {
      expect((await readKept()).taken).toContain(6);
    });

    it.each(refusals)('a site that %s an unknown query is read as before', async (_name, answer) => {
      const { listing, taken } = await readKept(answer);
      expect(listing).toMatchObject({ kind: 'listed' });
      expect(taken.sort()).toEqual([1, 2, 3, 4, 5]);
    });
  });

  it('a cached "no such page" from before the page existed', async () => {
    const answer = (page: number, ids: readonly number[]): Reply =>
      page === 2 ? [404, age(30), 'no such page'] : render(ids);
    expect((await read({ ids: six.slice(0, 2), size: 2, answer, maxAgeMs })).listing).toEqual(
      unreadable('may have changed'),
    );
  });
});

it('offsets', async () => {
  await using site = await openSite((got) => {
    const offset = Number(new URL(got.url, 'http://site.test').searchParams.get('offset') ?? 0);
    return render(six.slice(offset, offset + 4), ` total="6" offset="${offset}" limit="4"`);
  });
  await using client = openClient(site.url, { listPath: '/mine.xml' });
  expect(await client.list(() => {})).toEqual({ kind: 'listed', pages: 2 });
  expect(site.got.map((got) => got.url)).toContain('/mine.xml?offset=4');
});

it('asks caches not to use their copies', async () => {
  await using site = await openSite(render(six));
  await using client = openClient(site.url, { listPath: '/mine.xml' });
  await client.list(() => {});
  expect(new Set(site.got.map((got) => got.headers['cache-control']))).toEqual(new Set(['no-cache']));
});
