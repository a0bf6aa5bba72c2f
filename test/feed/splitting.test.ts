// Splitting in a worker thread gives the same records, in the same order, as splitting in this one.
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { RecordBatch } from '../../src/feed/batch/record-batch.ts';
import { unpackPosting } from '../../src/feed/batch/record-batch.ts';
import type { Splitting, SplittingOptions } from '../../src/feed/batch/splitting.ts';
import { startSplitting } from '../../src/feed/batch/start-splitting.ts';
import type { SplitEnd } from '../../src/feed/format/format.ts';
import { parseRecord } from '../../src/feed/format/xml/xml-format.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { sampleSpec } from '../posting/sample-spec.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';
import { collect, cutInto } from './collect.ts';

const OPTIONS: SplittingOptions = {
  format: 'xml',
  recordPath: 'source/job',
  totalPaths: ['source/total'],
  maxRecordBytes: 300_000,
};
const HERE = Number.POSITIVE_INFINITY;

/** Splits a document in chunks of these sizes. Every chunk is overwritten after use, as a source may do. */
async function split(document: Buffer, sizes: readonly number[], threadsFrom: number, options = OPTIONS) {
  const { ends, ...rest } = await splitAll([document], sizes, threadsFrom, options);
  return { end: ends[0] as SplitEnd, ...rest };
}

/** Splits several documents of one feed, like {@link split}. */
async function splitAll(
  documents: readonly Buffer[],
  sizes: readonly number[],
  threadsFrom: number,
  options: SplittingOptions,
) {
  const sink = collect();
  const splitting = startSplitting(options, sink, { threadsFrom });
  const ends: SplitEnd[] = [];
  try {
    for (const document of documents) {
      for (const chunk of cutInto(document, sizes)) {
        const reused = Buffer.from(chunk);
        await splitting.push(reused);
        reused.fill('<');
      }
      ends.push(await splitting.endDocument(true));
    }
    return { ends, counted: splitting.records, records: sink.records, oversized: sink.oversizedRecords };
  } finally {
    await splitting.close();
  }
}

/** A document of several mebibytes, with some long or hostile records. */
function bigDocument(records: number, filler: (n: number) => string): Buffer {
  const parts = Array.from({ length: records }, (_, n) => `<job id="${n}"><![CDATA[</job>${filler(n)}]]></job>\n`);
  return Buffer.from(`<source><total>${records}</total>\n${parts.join('')}</source>`);
}

describe('splitting in a thread', () => {
  it('gives the same result as splitting here, for any documents, chunks and thread threshold', async () => {
    const piece = fc.constantFrom(
      '<job>1</job>',
      '<job/>',
      '<job><job/></job>',
      '<job>',
      '</job>',
      '<!-- <job> -->',
      '<![CDATA[</job>]]>',
      `<job>${'é'.repeat(60_000)}</job>`,
      '<total>3</total>',
      '</source>',
      '<?pi <job> ?>',
    );
    const sizes = fc.array(fc.integer({ min: 1_000, max: 1_500_000 }), { minLength: 1, maxLength: 3 });
    const feed = fc.array(fc.array(piece, { maxLength: 30 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(feed, sizes, fc.nat(2_000_000), async (feedPieces, cut, from) => {
        const documents = feedPieces.map((pieces) => Buffer.from(`<source>${pieces.join('')}</source>`));
        // Whether an oversized record may contain others depends on how much of it is seen at once.
        const roomy = { ...OPTIONS, maxRecordBytes: 1e9 };
        const whole = await splitAll(documents, cut, from, roomy);
        expect(whole).toEqual(await splitAll(documents, cut, HERE, roomy));
        // Each document is split as if it were alone.
        const alone = await Promise.all(documents.map((document) => split(document, [1e9], HERE, roomy)));
        expect(whole.ends).toEqual(alone.map(({ end }) => end));
        expect(whole.records).toEqual(alone.flatMap(({ records }) => records));
        expect(whole.counted).toBe(whole.ends.reduce((sum, { records }) => sum + records, 0));
      }),
      { numRuns: generated(40) },
    );
  });

  it('hands over the first bytes of an oversized record, wherever it is', async () => {
    const long = (letter: string, length: number) => `<job>${letter.repeat(length)}</job>`;
    const lengths = [10, 400_000, 20, 3_000_000, 299_000, 30, 1_500_000];
    const document = Buffer.from(`<source>${lengths.map((length) => long('x', length)).join('\n')}</source>`);
    const inThread = await split(document, [100_000], 0);
    expect(inThread).toEqual(await split(document, [100_000], HERE));
    expect(inThread.oversized.map(({ length }) => length)).toEqual([400_011, 3_000_011, 1_500_011]);
    expect(inThread.end.oversizedRecords).toBe(3);
  });

  it('keeps the order and all records of a feed longer than the limit in flight', async () => {
    const records = 1_300;
    const document = bigDocument(records, (n) => 'ä'.repeat(n % 800) + 'x'.repeat((n % 800) * 32));
    expect(document.length).toBeGreaterThan(14 * 1024 * 1024);
    const { end, ...rest } = await split(document, [65_536], 2 * 1024 * 1024);
    expect(end).toMatchObject({ records, oversizedRecords: 0, shortfalls: [], declaredTotal: records });
    expect(rest.counted).toBe(records);
    expect(rest.records).toEqual((await split(document, [1e9], HERE)).records);
  });

  it('parses the same postings ahead as here if it has time, and leaves unreadable records', async () => {
    const spec = sampleSpec({ requiredFields: ['title'], maxLengths: { title: 40 } });
    const reader = compileReader(spec);
    const jobs = Array.from({ length: 1_200 }, (_, n) => {
      const id = n % 11 === 0 ? '' : `<id>${n}</id>`;
      const title = n % 7 === 0 ? `${n}\u0001 – "quoted" \\ <![CDATA[<b>\t]]>` : 'Nurse &amp; nurse '.repeat(n % 4);
      const state = n % 5 === 0 ? 'Nowhere' : 'Texas';
      return `<job>${id}<title>${title}</title><state>${state}</state><x>${'x'.repeat((n % 900) * 10)}</x>${n % 13 === 0 ? '&nope;' : ''}</job>`;
    });
    const found = { prefetched: 0, here: 0 };
    const take = (batch: RecordBatch) => {
      for (let record = 0; record < batch.count; record++) {
        const parsed = parseRecord(batch.bytes.subarray(batch.startOf(record), batch.endOf(record)));
        const here = parsed.kind === 'tree' ? reader.read(parsed.tree) : parsed;
        const packed = batch.packedPostingOf(record);
        if (packed === undefined) {
          if (here.kind !== 'unreadable') found.here++;
          continue;
        }
        found.prefetched++;
        const prefetched = unpackPosting(packed);
        const fields = JSON.parse(prefetched.posting.fields.toString());
        expectEqual(
          { ...prefetched, posting: { ...prefetched.posting, fields } },
          'posting' in here ? { ...here, posting: { ...here.posting, fields: { ...here.posting.fields } } } : undefined,
        );
      }
    };
    const splitting = startSplitting(
      OPTIONS,
      { take, drain: () => undefined },
      { threadsFrom: 0, prefetchMapping: spec },
    );
    await pushAll(splitting, Buffer.from(`<source>${jobs.join('\n')}</source>`));
    await splitting.close();
    expect(found.prefetched).toBeGreaterThan(400);
    expect(found.prefetched + found.here).toBe(jobs.filter((_, n) => n % 11 !== 0 && n % 13 !== 0).length);
  });

  it('reports why a feed is refused while it is still being read', async () => {
    const sink = collect();
    const splitting = startSplitting(OPTIONS, sink, { threadsFrom: 0 });
    const pages = async () => {
      const page = Buffer.from(`<!DOCTYPE html><html><title>Log in</title>${' '.repeat(1_100_000)}`);
      for (let pushed = 0; splitting.refusal === undefined; pushed++) {
        expect(pushed).toBeLessThan(100);
        await splitting.push(page);
      }
    };
    await pages().finally(() => splitting.close());
    expect(splitting.refusal).toMatch(/HTML where an XML feed was expected; the page's title is "Log in"/);
  });

  it('refuses a short one at its first chunk, even if its source never ends', async () => {
    const splitting = startSplitting(OPTIONS, collect(), { threadsFrom: 1e6 });
    await splitting.push(Buffer.from('<!DOCTYPE html><html>'));
    expect(splitting.refusal).toMatch(/HTML/);
    await splitting.close();
  });

  it('throws what the sink throws, from taking and from draining', async () => {
    const document = bigDocument(1_000, (n) => 'x'.repeat((n % 400) * 10));
    const faults = [
      { take: () => fail('full'), drain: () => undefined },
      { take: () => undefined, drain: () => Promise.reject(new Error('full')) },
    ];
    for (const sink of faults) {
      for (const threadsFrom of [0, HERE]) {
        const splitting = startSplitting(OPTIONS, sink, { threadsFrom });
        await expect(pushAll(splitting, document)).rejects.toThrow('full');
        await splitting.close();
      }
    }
  });

  it('pauses while the sink drains', async () => {
    const document = bigDocument(1_000, (n) => 'x'.repeat((n % 800) * 40));
    let taken = 0;
    let goOn = () => {};
    const pause = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const sink = { take: () => void taken++, drain: () => pause };
    const splitting = startSplitting(OPTIONS, sink, { threadsFrom: 0 });
    let pushed = 0;
    const pushing = pushAll(splitting, document, () => pushed++);
    await expect.poll(() => taken).toBe(1);
    const before = pushed;
    await new Promise((resolve) => setImmediate(resolve));
    expect([taken, pushed]).toEqual([1, before]);
    expect(pushed).toBeLessThan(document.length / 65_536);
    goOn();
    await pushing;
    await splitting.close();
    expect(taken).toBeGreaterThan(10);
  });

  it('fails if a batch is lost in transfer, which would look like gone postings', async () => {
    const { emit } = Worker.prototype;
    let messages = 0;
    const lossy = vi.spyOn(Worker.prototype, 'emit').mockImplementation(function (this: Worker, event, ...values) {
      return event === 'message' && ++messages === 2 ? true : emit.call(this, event, ...values);
    });
    const splitting = startSplitting(OPTIONS, collect(), { threadsFrom: 0 });
    const document = bigDocument(1_000, (n) => 'x'.repeat((n % 800) * 10));
    await expect(pushAll(splitting, document)).rejects.toThrow(/splitting the feed failed: \d+ of 1000 records/);
    await splitting.close();
    lossy.mockRestore();
  });

  it('fails if the thread exits unexpectedly', async () => {
    const threads: Worker[] = [];
    const { postMessage } = Worker.prototype;
    const seen = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...message) {
      threads.push(this);
      return postMessage.apply(this, message);
    });
    const splitting = startSplitting(OPTIONS, collect(), { threadsFrom: 0 });
    await splitting.push(Buffer.alloc(1_100_000, 'x'));
    await threads[0]?.terminate();
    await expect(
      pushAll(
        splitting,
        bigDocument(240, () => 'x'.repeat(100_000)),
      ),
    ).rejects.toThrow('exited unexpectedly');
    await splitting.close();
    seen.mockRestore();
  });

  it('refuses an invalid path before splitting anything', () => {
    for (const threadsFrom of [0, HERE])
      expect(() => startSplitting({ ...OPTIONS, recordPath: 'source//job' }, collect(), { threadsFrom })).toThrow();
  });
});

async function pushAll(splitting: Splitting, document: Buffer, onPush = () => {}): Promise<void> {
  for (const chunk of cutInto(document, [65_536])) {
    await splitting.push(chunk);
    onPush();
  }
  await splitting.endDocument(true);
}

const fail = (message: string): never => {
  throw new Error(message);
};
