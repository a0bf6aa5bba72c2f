// Reading a feed that consists of several documents, from a source that the test defines.
import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FeedLimits, FeedSource } from '../../src/feed/feed-reading.ts';
import { openFeed, type ReadingContext } from '../../src/feed/read-feed.ts';
import { FeedReadingError, type OpenedDocuments, type SourceDocument } from '../../src/feed/source/source.ts';
import { leavesOut } from '../support/extent.ts';
import { collect, cutInto, sourceOf } from './collect.ts';

interface Page extends Partial<Omit<SourceDocument, 'chunks'>> {
  readonly body: string | Buffer;
  /** What happens after the body instead of its proven end. */
  readonly end?: () => unknown;
}

/** A source with these pages, and what it was asked for. */
function pagesOf(pages: readonly Page[], { end, ...opened }: Partial<OpenedDocuments> & { end?: () => unknown } = {}) {
  const log: string[] = [];
  async function* chunksOf(name: string, { body, end: pageEnd }: Page): AsyncGenerator<Buffer> {
    try {
      for (const chunk of cutInto(Buffer.from(body), [1_000])) yield chunk;
      await pageEnd?.();
    } finally {
      log.push(`${name} left`);
    }
  }
  async function* documents(): AsyncGenerator<SourceDocument> {
    for (const [at, page] of pages.entries()) {
      const { name = `page ${at + 1}`, charset, isEndProven, totalBytes } = page;
      log.push(name);
      yield { name, charset, isEndProven, totalBytes, chunks: chunksOf(name, page) };
    }
    await end?.();
  }
  const openSource = async (): Promise<OpenedDocuments> => ({ ...opened, kind: 'documents', documents: documents() });
  return { openSource, log };
}

const page = (from: number, count: number, filler = ''): string => {
  const jobs = Array.from({ length: count }, (_, at) => `<job>${from + at}${filler}</job>`);
  return `<source>${jobs.join('\n')}</source>`;
};
const numbers = (from: number, count: number, filler = ''): string[] =>
  Array.from({ length: count }, (_, at) => `<job>${from + at}${filler}</job>`);
const breakOff = (why: string) => () => {
  throw new FeedReadingError(why);
};
/** What is said about a document that is not whole. */
const unclosed = (name: string) => [
  expect.stringMatching(`^${name}: the document ends inside`),
  expect.stringMatching(`^${name}: the document ends before its element`),
];
/** Lets this time pass, and no more bytes arrive. */
function hang(ms = 0): Promise<never> {
  vi.advanceTimersByTime(ms);
  return new Promise(() => undefined);
}
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const HERE = Number.POSITIVE_INFINITY;
const MODES = [
  { mode: 'here', threadsFromBytes: HERE, gather: undefined, variant: undefined },
  { mode: 'in a thread', threadsFromBytes: 0, gather: undefined, variant: 0 },
  { mode: 'in a thread from the second document on', threadsFromBytes: 3_000, gather: undefined, variant: 1 },
  { mode: 'here, gathered whole', threadsFromBytes: HERE, gather: 1e6, variant: undefined },
  { mode: 'in a thread, gathered in part', threadsFromBytes: 3_000, gather: 3_500, variant: 2 },
] as const;
type Mode = Pick<(typeof MODES)[number], 'threadsFromBytes' | 'gather'>;

const SIGNAL = new AbortController().signal;

/** Reads a source with generous limits; one that was gathered whole twice, which must give the same. */
async function read(
  { openSource }: Pick<ReturnType<typeof pagesOf>, 'openSource'>,
  { threadsFromBytes, gather }: Mode,
  source: Partial<Omit<FeedSource, 'limits'>> & { limits?: Partial<FeedLimits> } = {},
  context: Partial<ReadingContext> = {},
) {
  const { limits, ...others } = source;
  const feed = {
    ...sourceOf({ location: '-', limits }),
    ...others,
    limits: sourceOf({ location: '-', limits }).limits,
  };
  const opened = await openFeed(feed, { signal: SIGNAL, request: 'asked', openSource, ...context });
  if (opened.kind !== 'opened') return { reading: opened, records: [] };
  try {
    const whole = gather === undefined ? false : await opened.gather(gather);
    const results = [];
    for (let times = whole ? 2 : 1; times > 0; times--) {
      const sink = collect();
      const reading = await opened.read(sink, { threadsFromBytes, ...context });
      results.push({ reading, records: sink.records });
    }
    if (whole) expect(results[1]).toEqual(results[0]);
    return results[0] as (typeof results)[number];
  } finally {
    opened.close();
  }
}

describe.each(MODES)('several documents, read $mode', (mode) => {
  const pages = [{ body: page(1, 100) }, { body: page(101, 200) }, { body: page(301, 50) }];
  let cases = 0;
  /** A thread takes long to start: `npm test` and CI run every other case with one of the ways to use threads. */
  const inMode = (title: string, test: () => Promise<void>) => {
    const at = cases++;
    if (mode.variant === undefined || !leavesOut(at, mode.variant, 6)) it(title, test);
  };
  const bytes = pages.reduce((sum, { body }) => sum + body.length, 0);

  inMode('have their own headers, if they are tables', async () => {
    const rows = (from: number) => Array.from({ length: 300 }, (_, at) => `${from + at},Nurse ${from + at}`);
    const table = { skipRows: 0, allowMissingCells: false, keyPaths: ['id'] };
    const documents = [
      { body: `id,title\n${rows(1).join('\n')}\n` },
      {
        body: `nr;id;title\n${rows(301)
          .join('\n')
          .replace(/^(\d+),/gm, '$1;$1;')}`,
        isEndProven: true,
      },
      { body: `id,title\n${rows(601).join('\n')}` },
    ];
    const { reading, records } = await read(pagesOf(documents), mode, { format: 'csv', recordPath: '', table });
    expect(records).toHaveLength(899);
    expect(records[299]).toBe('"id","title"\n300,Nurse 300');
    expect(records[599]).toBe('"nr";"id";"title"\n600;600;Nurse 600');
    expect(records[898]).toBe('"id","title"\n899,Nurse 899');
    expect(reading).toMatchObject({
      shortfalls: [expect.stringMatching(/^page 3: the document ends inside record 300/)],
    });
  });

  inMode('are one feed, complete once every document ended and none follows', async () => {
    const { reading, records } = await read(pagesOf(pages, { version: () => 'v1' }), mode);
    expect(records).toEqual(numbers(1, 350));
    expect(reading).toEqual({
      kind: 'read',
      records: 350,
      bytes,
      shortfalls: [],
      version: 'asked v1',
      declaredTotal: undefined,
      sources: [
        { source: 'page 1', records: 100 },
        { source: 'page 2', records: 200 },
        { source: 'page 3', records: 50 },
      ],
    });
  });

  inMode('are decompressed and decoded each by itself', async () => {
    const text = '<job>Müller €</job>';
    const encoded: Page[] = [
      { body: gzipSync(`<source>${text}</source>`) },
      { body: iconv.encode(`\ufeff<source>${text}</source>`, 'utf-16le') },
      { body: iconv.encode(`<source>${text}</source>`, 'windows-1252'), charset: 'windows-1252' },
      { body: `<source>${text}</source>` },
    ];
    const { reading, records } = await read(pagesOf(encoded), mode);
    expect(records).toEqual([text, text, text, text]);
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [] });
  });

  inMode('are incomplete if the bytes of one break off, which is named, and the others are read', async () => {
    const cut = { body: page(101, 200).slice(0, -20), end: breakOff('the connection broke off') };
    const { reading, records } = await read(
      pagesOf([pages[0], cut, pages[2]] as Page[], { version: () => 'v1' }),
      mode,
    );
    expect(records).toEqual([...numbers(1, 100), ...numbers(101, 199), ...numbers(301, 50)]);
    expect(reading).toMatchObject({
      kind: 'read',
      records: 349,
      version: undefined,
      shortfalls: ['page 2: the connection broke off', ...unclosed('page 2')],
    });
  });

  inMode('are incomplete if one has ended, but is not whole', async () => {
    const cut = { body: page(301, 50).slice(0, -10) };
    const { reading, records } = await read(pagesOf([...pages.slice(0, 2), cut, { body: page(351, 10) }]), mode);
    expect(records).toHaveLength(359);
    expect(reading).toMatchObject({ version: undefined, shortfalls: unclosed('page 3') });
  });

  inMode('are incomplete if the source breaks off between two of them', async () => {
    const source = pagesOf(pages.slice(0, 2), { end: breakOff('page 3 answered 500'), version: () => 'v1' });
    const { reading, records } = await read(source, mode);
    expect(records).toEqual(numbers(1, 300));
    expect(reading).toMatchObject({ kind: 'read', version: undefined, shortfalls: ['page 3 answered 500'] });
  });

  inMode('share one size limit', async () => {
    const [first = { body: '' }, second = { body: '' }] = pages;
    const maxBytes = first.body.length + second.body.length - 1;
    const source = pagesOf(pages);
    const { reading, records } = await read(source, mode, { limits: { maxBytes } });
    expect(records).toEqual(numbers(1, 300));
    expect(reading).toMatchObject({
      kind: 'read',
      shortfalls: [`page 2: the feed is larger than the limit of ${maxBytes} bytes`, ...unclosed('page 2')],
    });
    if (mode.gather === undefined) expect(source.log).not.toContain('page 3');
  });

  inMode('have declared totals of their own, which are added up', async () => {
    const declaring = (total: number, from: number, count: number) => ({
      body: page(from, count).replace('<source>', `<source><total>${total}</total>`),
    });
    const right = pagesOf([declaring(2, 1, 2), declaring(300, 3, 300)]);
    expect(await read(right, mode, { totalPaths: ['source/total'] })).toMatchObject({
      reading: { shortfalls: [], declaredTotal: 302 },
    });
    const wrong = pagesOf([declaring(3, 1, 2), declaring(299, 3, 300)]);
    expect(await read(wrong, mode, { totalPaths: ['source/total'] })).toMatchObject({
      reading: { shortfalls: [expect.stringMatching(/^page 1: /), expect.stringMatching(/^page 2: /)] },
    });
  });

  inMode('end with one that is not a feed', async () => {
    const login = { body: '<!doctype html><html><title>Log in</title></html>' };
    const source = pagesOf([pages[0], login, pages[2]] as Page[]);
    const { reading, records } = await read(source, mode);
    expect(records).toEqual(numbers(1, 100));
    expect(reading).toMatchObject({
      kind: 'read',
      version: undefined,
      shortfalls: expect.arrayContaining([expect.stringMatching(/^page 2: .*HTML/)]),
    });
    if (mode.gather === undefined) expect(source.log).not.toContain('page 3');
  });

  inMode('without any record that break off are a failure', async () => {
    const empty = { body: '<source/>' };
    const cut = { body: '<source>', end: breakOff('the connection broke off') };
    expect(await read(pagesOf([empty, cut, empty]), mode)).toMatchObject({
      reading: { kind: 'failed', message: 'page 2: the connection broke off' },
    });
    expect(await read(pagesOf([empty], { end: breakOff('page 2 answered 500') }), mode)).toMatchObject({
      reading: { kind: 'failed', message: 'page 2 answered 500' },
    });
  });

  inMode('may be none, which is a failure and no empty feed', async () => {
    const { reading } = await read(pagesOf([]), mode);
    expect(reading).toEqual({ kind: 'failed', message: 'the source has no documents', bytes: 0 });
  });

  inMode('may have no bytes, which is no empty feed either', async () => {
    const { reading } = await read(pagesOf([pages[0], { body: '' }] as Page[]), mode);
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [expect.stringMatching(/^page 2: .*empty/)] });
  });

  inMode('that hang are stopped by the deadline, for one reason', async () => {
    const limits = { totalTimeoutMs: 150 };
    const within = pagesOf([pages[0], { body: page(101, 200).slice(0, -9), end: () => hang(150) }, pages[2]] as Page[]);
    expect(await read(within, mode, { limits })).toMatchObject({
      reading: {
        shortfalls: ['page 2: reading took longer than 0.15 s', expect.stringMatching(/^page 2: the document/)],
      },
    });
    const between = pagesOf(pages.slice(0, 2), { end: () => hang(150) });
    expect(await read(between, mode, { limits })).toMatchObject({
      reading: { records: 300, shortfalls: ['reading took longer than 0.15 s'] },
    });
  });
});

const STREAMED: Mode = MODES[0];

it('a document that cannot be decoded is left before the next one is requested', async () => {
  const source = pagesOf([{ body: page(1, 300), charset: 'klingon' }, { body: page(301, 10) }]);
  const { reading, records } = await read(source, STREAMED);
  expect(records).toEqual(numbers(301, 10));
  expect(reading).toMatchObject({
    shortfalls: [expect.stringMatching(/^page 1: unknown encoding/), expect.anything()],
  });
  expect(source.log).toEqual(['page 1', 'page 1 left', 'page 2', 'page 2 left']);
});

it('shortfalls of many documents are counted beyond a limit', async () => {
  const cut = { body: '<source><job>1</job>' };
  const { reading } = await read(pagesOf(Array.from({ length: 80 }, () => cut)), STREAMED);
  expect(reading.kind === 'read' && reading.shortfalls).toHaveLength(51);
  expect(reading).toMatchObject({ shortfalls: expect.arrayContaining(['and 30 more']) });
});

describe('gathering', () => {
  const opening = async (source: ReturnType<typeof pagesOf>) => {
    const opened = await openFeed(sourceOf({ location: '-' }), { signal: SIGNAL, openSource: source.openSource });
    if (opened.kind !== 'opened') throw new Error(opened.kind);
    return opened;
  };

  it('is whole if all documents together are below the limit', async () => {
    const documents = [{ body: 'x'.repeat(3_000) }, { body: 'x'.repeat(3_000) }, { body: 'x'.repeat(3_000) }];
    for (const [limit, whole, requested] of [
      [12_000, true, 3],
      [8_000, false, 3],
      [5_000, false, 2],
      [2_000, false, 1],
    ] as const) {
      const source = pagesOf(documents);
      const opened = await opening(source);
      expect([limit, await opened.gather(limit)]).toEqual([limit, whole]);
      expect(source.log.filter((entry) => !entry.endsWith('left'))).toHaveLength(requested);
      opened.close();
    }
  });

  it('begins nothing that is declared to be larger', async () => {
    const large = pagesOf([{ body: page(1, 1) }], { totalBytes: 5_001 });
    const opened = await opening(large);
    expect(await opened.gather(5_000)).toBe(false);
    expect(large.log).toEqual([]);
    opened.close();
  });

  it('ends with many documents, however small', async () => {
    const source = pagesOf(Array.from({ length: 1_000 }, () => ({ body: '' })));
    const opened = await opening(source);
    expect(await opened.gather(100_000)).toBe(false);
    expect(source.log.length).toBeLessThan(250);
    opened.close();
  });

  it('needs the proof that none follows', async () => {
    const source = pagesOf([{ body: page(1, 10) }], { end: () => new Promise((resolve) => setImmediate(resolve)) });
    const opened = await opening(source);
    expect(await opened.gather(5_000)).toBe(true);
    expect(await opened.read(collect(), {})).toMatchObject({ kind: 'read', records: 10, shortfalls: [] });
    opened.close();
  });
});

it('waits for documents and their bytes with the given function', async () => {
  let waits = 0;
  const wait = <T>(next: Promise<T>): Promise<T> => {
    waits++;
    return next;
  };
  await read(pagesOf([{ body: page(1, 1) }, { body: page(2, 1) }]), STREAMED, {}, { wait });
  // Two chunks, the ends of two documents, two documents, the end of all.
  expect(waits).toBe(7);
});

it('throws the reason of an abort between two documents', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const source = pagesOf([{ body: page(1, 1) }], {
    end: () => {
      controller.abort(reason);
      return hang();
    },
  });
  await expect(read(source, STREAMED, {}, { signal: controller.signal })).rejects.toBe(reason);
});

it('throws what the source throws for reasons of the program, and what the sink throws', async () => {
  const fault = () => {
    throw new TypeError('a mistake');
  };
  const chosen = MODES.filter(({ variant = 0 }) => !leavesOut(0, variant, 3));
  for (const source of [pagesOf([{ body: page(1, 1) }], { end: fault }), pagesOf([{ body: page(1, 1), end: fault }])]) {
    for (const mode of chosen) await expect(read(source, mode)).rejects.toThrow('a mistake');
  }
});

it('leaves a hanging source at once if the sink throws', async () => {
  const source = pagesOf([{ body: page(1, 300) }, { body: page(301, 300), end: hang }]);
  const opened = await openFeed(sourceOf({ location: '-' }), { signal: SIGNAL, openSource: source.openSource });
  if (opened.kind !== 'opened') throw new Error(opened.kind);
  let taken = 0;
  const take = () => {
    if (++taken > 5) throw new Error('sink is full');
  };
  const reading = opened.read({ take, drain: () => undefined }, { threadsFromBytes: HERE });
  await expect(reading).rejects.toThrow('sink is full');
  opened.close();
});

it('the rate is averaged over the waits for documents too', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const source = pagesOf([{ body: page(1, 300) }], { end: () => hang(60) });
  const from = sourceOf({ location: 'http://127.0.0.1:1/' }).from;
  const limits = { minBytesPerSecond: 100_000 };
  const { reading } = await read(source, STREAMED, { from, limits }, { rateWindowMs: 60 });
  expect(reading).toMatchObject({ records: 300, shortfalls: [expect.stringMatching(/bytes arrived in 0\.06 s/)] });
});
