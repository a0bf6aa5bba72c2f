// In every encoding, undecodable bytes make their record unreadable, while a real U+FFFD in the feed is data.
import { Readable } from 'node:stream';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../src/feed/decode/charset.ts';
import { parseRecord } from '../../src/feed/format/xml/xml-format.ts';
import { generated, leavesOut } from '../support/extent.ts';
import { cutInto, read } from './collect.ts';

const LONE_HIGH = { le: Buffer.of(0x00, 0xd8), be: Buffer.of(0xd8, 0x00) };
const LONE_LOW = { le: Buffer.of(0x00, 0xdc), be: Buffer.of(0xdc, 0x00) };

/** Encodings, each with bytes that are invalid in it. */
const UNDECODABLE: readonly (readonly [encoding: string, bytes: Buffer])[] = [
  ['utf-8', Buffer.of(0xe9)],
  ['utf-16le', LONE_HIGH.le],
  ['utf-16le', LONE_LOW.le],
  ['utf-16be', LONE_HIGH.be],
  ['utf-16be', LONE_LOW.be],
  ['utf-32le', Buffer.of(0x00, 0xd8, 0x00, 0x00)],
  ['utf-32be', Buffer.of(0x00, 0x11, 0x00, 0x00)],
  ['shift_jis', Buffer.of(0xff)],
  ['shift_jis', Buffer.of(0x81)],
  ['euc-jp', Buffer.of(0xff)],
  ['gbk', Buffer.of(0xff)],
  ['gb18030', Buffer.of(0xff)],
  ['gb18030', Buffer.of(0x84, 0x31)],
  ['big5', Buffer.of(0xff)],
  ['euc-kr', Buffer.of(0xff)],
  ['windows-1252', Buffer.of(0x81)],
  ['iso-8859-1', Buffer.of(0x9d)],
  ['iso-8859-7', Buffer.of(0xff)],
  ['iso-8859-8', Buffer.of(0xa1)],
  ['windows-1253', Buffer.of(0xd2)],
  ['windows-1255', Buffer.of(0xd9)],
];

/** A document of pieces: encoded text, or raw bytes. */
const encoded = (encoding: string, pieces: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? iconv.encode(piece, encoding) : piece)));

const inChunks = (bytes: Buffer, sizes: readonly number[]) => ({ stdin: Readable.from(cutInto(bytes, sizes)) });

async function utf8Of(bytes: Buffer, configured: string | undefined, sizes: readonly number[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of toUtf8(Readable.from(cutInto(bytes, sizes)), { configured })) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

/** Each record as parsed: its content, or that it is unreadable. */
async function readRecords(bytes: Buffer, encoding: string, sizes: readonly number[]) {
  const found: unknown[] = [];
  const decoded = await utf8Of(bytes, encoding, sizes);
  for (let at = decoded.indexOf('<job>'); at >= 0; at = decoded.indexOf('<job>', at + 1)) {
    const parsed = parseRecord(decoded.subarray(at, decoded.indexOf('</job>', at) + 6));
    found.push(parsed.kind === 'tree' ? parsed.tree : parsed.problems[0]?.message);
  }
  return found;
}

describe('undecodable bytes', () => {
  it.each(UNDECODABLE)('in %s make only their record unreadable', async (encoding, bytes) => {
    const document = encoded(encoding, ['<source><job>A1</job><job>B', bytes, '2</job><job>C3</job></source>']);
    for (const size of [1, 2, 3, 5, 1e6]) {
      expect(await readRecords(document, encoding, [size])).toEqual([
        'A1',
        expect.stringContaining('not valid in the encoding of the feed'),
        'C3',
      ]);
    }
    const { reading } = await read({ location: '-', encoding }, inChunks(document, [7]));
    expect(reading).toMatchObject({ kind: 'read', records: 3, shortfalls: [] });
  });

  it.each(UNDECODABLE)('in %s outside the records make the reading incomplete', async (encoding, bytes) => {
    const layouts: (string | Buffer)[][] = [
      ['<source><job>1</job>', bytes, '\n<job>2</job></source>'],
      ['<source><name>A', bytes, '</name><job>1</job><job>2</job></source>'],
      ['<source><na', bytes, '/><job>1</job><job>2</job></source>'],
      ['<!-- ', bytes, ' --><source><job>1</job><job>2</job></source>'],
      ['<source><job>1</job><job>2</job></source>\n', bytes],
    ];
    for (const [at, pieces] of layouts.entries()) {
      for (const size of [1, 4, 1e6].filter((_, variant) => !leavesOut(at, variant, 3))) {
        const { reading } = await read({ location: '-', encoding }, inChunks(encoded(encoding, pieces), [size]));
        const shortfalls = expect.arrayContaining([expect.stringContaining('outside the records')]);
        expect(reading).toMatchObject({ kind: 'read', records: 2, shortfalls });
      }
    }
  });

  it('are detected when a feed ends in the middle of a character', async () => {
    for (const encoding of ['utf-16le', 'utf-16be', 'utf-32le']) {
      const document = encoded(encoding, ['<source><job>1</job></source>', Buffer.of(0x0a)]);
      const { reading } = await read({ location: '-', encoding }, inChunks(document, [3]));
      const shortfalls = expect.arrayContaining([expect.stringContaining('outside the records')]);
      expect(reading).toMatchObject({ shortfalls });
    }
  });
});

describe('U+FFFD in the feed', () => {
  it.each(['utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'utf-32be', 'gb18030'])('in %s is data', async (encoding) => {
    const document = encoded(encoding, ['<source><job>a\ufffdb</job><job>c&#xFFFD;d</job>\ufffd</source>']);
    for (const size of [1, 3, 1e6]) {
      expect(await readRecords(document, encoding, [size])).toEqual(['a\ufffdb', 'c\ufffdd']);
      const { reading } = await read({ location: '-', encoding }, inChunks(document, [size]));
      expect(reading).toMatchObject({ shortfalls: [] });
    }
  });

  it('as a reference is data in encodings without it', async () => {
    const document = encoded('windows-1252', ['<source><job>caf\xe9&#65533;</job></source>']);
    expect(await readRecords(document, 'windows-1252', [4])).toEqual(['caf\xe9\ufffd']);
  });
});

describe('a feed split into chunks in any way', () => {
  const encodings = [...new Set(UNDECODABLE.map(([encoding]) => encoding))];
  it('is decoded to the same bytes', async () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '<', 'é', '語', '漢', '\u{1f680}', '\ufffd', '\ufeff') });
    const piece = fc.oneof(
      texts,
      fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...encodings),
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        async (encoding, pieces, sizes) => {
          const bytes = encoded(encoding, pieces);
          expect(await utf8Of(bytes, encoding, sizes)).toEqual(await utf8Of(bytes, encoding, [1e6]));
        },
      ),
      { numRuns: generated(500) },
    );
  });

  it('is checked for valid UTF-8 outside the records with the same result', async () => {
    const texts = fc.string({ unit: fc.constantFrom('a', ' ', 'é', '語', '\u{1f680}', '\ufffd') });
    const broken = fc.constantFrom(
      ...['ff', 'c0af', 'eda080', 'f4908080', 'e8aa', 'f09f9a', '80'].map((hex) => Buffer.from(hex, 'hex')),
    );
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.option(broken),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 }),
        async (text, bad, sizes) => {
          const document = Buffer.concat([
            Buffer.from(`<source><a>${text}</a><!-- ${text}`),
            bad ?? Buffer.alloc(0),
            Buffer.from(` -->${text}<job>1</job></source>`),
          ]);
          const { reading } = await read({ location: '-' }, inChunks(document, sizes));
          expect(reading).toMatchObject({ shortfalls: bad === null ? [] : [expect.stringContaining('outside')] });
        },
      ),
      { numRuns: generated(200) },
    );
  });
});
