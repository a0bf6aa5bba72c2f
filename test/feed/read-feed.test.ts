// Reading files and standard input: encodings, gzip, limits, and files that change or are unreadable.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFeed } from '../../src/feed/read-feed.ts';
import { canListOpenFiles, isFileOpen } from '../support/open-files.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';
import { read, sourceOf } from './collect.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror feed ä-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a file and returns its path. */
function write(content: Buffer | string, name = 'feed.xml'): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const text = 'Müller & “Söhne” €';
const inner = `<job>${text.replace('&', '&amp;')}</job>`;
const document = (declared?: string) =>
  `${declared === undefined ? '' : `<?xml version="1.0" encoding="${declared}"?>\n`}<source>${inner}</source>`;
const utf8 = document('utf-8');

describe('encodings', () => {
  const mark = '\ufeff';
  const cases: Record<string, { bytes: Buffer; encoding?: string }> = {
    'UTF-8': { bytes: Buffer.from(utf8) },
    'UTF-8 without a declaration': { bytes: Buffer.from(document()) },
    'UTF-8 with a mark, declared as something else': { bytes: Buffer.from(mark + document('iso-8859-1')) },
    'UTF-8 declared as UTF-16': { bytes: Buffer.from(document('utf-16')) },
    'UTF-16 LE with a mark': { bytes: iconv.encode(mark + document('utf-16'), 'utf-16le') },
    'UTF-16 BE with a mark': { bytes: iconv.encode(mark + document('utf-16'), 'utf-16be') },
    'UTF-16 LE without a mark': { bytes: iconv.encode(document('utf-16'), 'utf-16le') },
    'UTF-16 BE without a mark or a declaration': { bytes: iconv.encode(document(), 'utf-16be') },
    'Windows-1252': { bytes: iconv.encode(document('Windows-1252'), 'windows-1252') },
    'Windows-1252 declared as ISO-8859-1': { bytes: iconv.encode(document('ISO-8859-1'), 'windows-1252') },
    'ISO-8859-15': { bytes: iconv.encode(document('iso-8859-15').replace(/[“”]/g, '"'), 'iso-8859-15') },
    'a configured encoding that overrides the declaration': {
      bytes: iconv.encode(document('utf-8'), 'windows-1252'),
      encoding: 'Windows-1252',
    },
  };
  it.each(Object.entries(cases))('%s', async (name, { bytes, encoding }) => {
    for (const content of [bytes, gzipSync(bytes)]) {
      const { reading, records } = await read({ location: write(content), encoding });
      expect(reading).toMatchObject({ kind: 'read', shortfalls: [], bytes: bytes.length });
      expect(records).toEqual([name === 'ISO-8859-15' ? inner.replace(/[“”]/g, '"') : inner]);
    }
  });

  it.each([
    ['csv', 'id,title\r\n1,Müller\r\n'],
    ['json', '[{"id":1,"title":"Müller"}]'],
  ] as const)('UTF-16 of a %s document without a mark', async (format, table) => {
    for (const encoding of ['utf-16le', 'utf-16be']) {
      const { reading, records } = await read({
        location: write(iconv.encode(table, encoding)),
        format,
        recordPath: '',
        table: { skipRows: 0, allowMissingCells: false, keyPaths: ['id'] },
      });
      expect(reading).toMatchObject({ kind: 'read', shortfalls: [] });
      expect(records).toEqual([expect.stringContaining('Müller')]);
    }
  });

  it('UTF-16 with a chunk boundary inside a surrogate pair', async () => {
    const rocket = iconv.encode(`${mark}<source><job>${'🚀'.repeat(700)}</job></source>`, 'utf-16be');
    const chunks = [
      rocket.subarray(0, 1_049),
      rocket.subarray(1_049, 1_052),
      rocket.subarray(1_052, 1_054),
      rocket.subarray(1_054),
    ];
    const { records } = await read({ location: '-' }, { stdin: Readable.from(chunks) });
    expect(records).toEqual([`<job>${'🚀'.repeat(700)}</job>`]);
  });

  it.each(['klingon', 'base64', 'utf-7'])('the encoding %s is refused', async (encoding) => {
    const { reading } = await read({ location: write(document(encoding)) });
    expect(reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(`unknown encoding "${encoding}"`),
    });
  });
});

describe('gzip', () => {
  const bytes = Buffer.from(utf8);
  const zipped = gzipSync(bytes);
  const half = Math.floor(bytes.length / 2);
  const members = Buffer.concat([
    gzipSync(bytes.subarray(0, half)),
    gzipSync(Buffer.alloc(0)),
    gzipSync(bytes.subarray(half)),
  ]);
  const chunksOf = (body: Buffer, size: number) =>
    Readable.from(
      Array.from({ length: Math.ceil(body.length / size) }, (_, at) => body.subarray(at * size, (at + 1) * size)),
    );

  it.each([1, 2, 10, 1e6])('in several members, in chunks of %d', async (size) => {
    const { reading } = await read({ location: '-' }, { stdin: chunksOf(members, size) });
    expect(reading).toMatchObject({ kind: 'read', records: 1, shortfalls: [], bytes: bytes.length });
  });

  const damaged: Record<string, [Buffer, RegExp]> = {
    'without its trailer': [zipped.subarray(0, -8), /ends in the middle/],
    'without the last byte of its trailer': [zipped.subarray(0, -1), /ends in the middle/],
    'with a wrong checksum': [
      Buffer.from(zipped.map((byte, at) => (at === zipped.length - 6 ? byte ^ 1 : byte))),
      /damaged/,
    ],
    'followed by text': [Buffer.concat([zipped, Buffer.from('more')]), /followed by other data/],
    'followed by zeros': [Buffer.concat([zipped, Buffer.alloc(600)]), /followed by other data/],
    'followed by half a member': [Buffer.concat([zipped, zipped.subarray(0, 12)]), /ends in the middle/],
  };
  it.each(Object.entries(damaged))('%s', async (_, [body, reason]) => {
    for (const size of [3, 1e6]) {
      const { reading } = await read({ location: '-' }, { stdin: chunksOf(body, size) });
      const reasons =
        reading.kind === 'read' ? reading.shortfalls.join() : reading.kind === 'failed' ? reading.message : '';
      expect(reasons).toMatch(reason);
    }
  });

  it('with more than two layers is refused', async () => {
    const { reading } = await read({ location: write(gzipSync(gzipSync(zipped))) });
    expect(reading).toMatchObject({ kind: 'failed', message: 'the feed is compressed more than 2 times' });
  });
});

describe('limits', () => {
  const record = `<job>${'x'.repeat(1_000)}</job>`;
  const long = `<job>${'x'.repeat(4_000)}</job>`;
  const large = `<source>${long.repeat(3_000)}</source>`;

  it('stop a gzip bomb at the ratio', async () => {
    const { reading, records } = await read({ location: write(gzipSync(large)), limits: { maxRatio: 100 } });
    expect(reading).toMatchObject({
      kind: 'read',
      shortfalls: ['the feed decompresses to more than 100 times its size', expect.anything(), expect.anything()],
    });
    expect(records.length).toBeLessThan(3_000);
  });

  it('stop a feed at the size limit', async () => {
    const { reading, records } = await read({ location: write(large), limits: { maxBytes: 1_000_000 } });
    expect(records).toHaveLength(Math.floor((1_000_000 - '<source>'.length) / long.length));
    expect(reading).toMatchObject({
      kind: 'read',
      shortfalls: expect.arrayContaining(['the feed is larger than the limit of 1000000 bytes']),
    });
  });

  it('hand over a record above the size limit as oversized, and read the others', async () => {
    const location = write(`<source><job>1</job>${record}<job>3</job></source>`);
    const { reading, records, oversized } = await read({ location, limits: { maxRecordBytes: 500 } });
    expect(records).toEqual(['<job>1</job>', '<job>3</job>']);
    expect(oversized).toEqual([{ head: record, length: record.length }]);
    expect(reading).toMatchObject({
      kind: 'read',
      records: 3,
      shortfalls: [],
    });
  });
});

describe('files', () => {
  it('that do not exist', async () => {
    const location = join(folder, 'none.xml');
    expect((await read({ location })).reading).toEqual({
      kind: 'failed',
      message: `there is no file "${location}"`,
      bytes: 0,
    });
  });

  it('that are folders', async () => {
    expect((await read({ location: folder })).reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/is a folder/),
    });
  });

  it('that can\u2019t be opened for another reason', async () => {
    const location = join(write(utf8), 'below-a-file.xml');
    expect((await read({ location })).reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/can't be opened: ENOTDIR/),
    });
  });

  it('that are empty', async () => {
    expect((await read({ location: write('') })).reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/empty/),
      bytes: 0,
    });
  });

  const many = `<source>${`<job>${'x'.repeat(1_000)}</job>`.repeat(1_200)}</source>`;
  it.each([
    ['appended to', (path: string) => appendFileSync(path, '\n')],
    ['overwritten with the same size', (path: string) => writeFileSync(path, many)],
  ])('that are %s while being read are incomplete', async (_, change) => {
    const location = write(many);
    let changed = false;
    const { reading } = await read(
      { location },
      {
        onProgress: () => {
          if (!changed) change(location);
          changed = true;
        },
      },
    );
    expect(reading).toMatchObject({
      kind: 'read',
      shortfalls: expect.arrayContaining(['the file changed while it was being read']),
    });
  });

  it('longer than the read buffers arrive unchanged', async () => {
    const records = Array.from({ length: 600 }, (_, index) => `<job>${String(index).padStart(5_000, '.')}</job>`);
    const result = await read({ location: write(`<source>${records.join('\n')}</source>`) });
    expect(result.records).toEqual(records);
    expect(result.reading).toMatchObject({ kind: 'read', shortfalls: [] });
  });
});

describe('standard input', () => {
  it('is read to its end', async () => {
    const { reading } = await read({ location: '-' }, { stdin: Readable.from([Buffer.from(utf8)]) });
    expect(reading).toMatchObject({ kind: 'read', records: 1, shortfalls: [] });
  });

  it.each([
    ['a table', 'csv', 'id,title\n1,Nurse\n', /the program before the pipe closes it in the same way if it fails/],
    ['JSON Lines', 'jsonl', '{"id":1}\n', /an hour between them; to delete at once, save the feed in a file first/],
    ['a list that shows its end', 'json', '[{"id":1}]', undefined],
    ['a table that was compressed on the way', 'csv', gzipSync('id,title\n1,Nurse\n'), /the program before the pipe/],
  ] as const)('proves the end of %s only weakly, unless it shows it', async (_, format, content, reason) => {
    const { reading } = await read(
      { location: '-', format, recordPath: '' },
      { stdin: Readable.from([Buffer.from(content)]) },
    );
    expect(reading).toMatchObject({ kind: 'read', records: 1, shortfalls: [] });
    const { weak } = reading as { readonly weak?: { readonly reason: string } };
    if (reason === undefined) expect(weak).toBeUndefined();
    else expect(weak?.reason).toMatch(reason);
  });

  it('has the same proof by the name of a pipe', async () => {
    const path = join(folder, 'pipe.csv');
    execFileSync('mkfifo', [path]);
    const [{ reading }] = await Promise.all([
      read({ location: path, format: 'csv' }),
      writeFile(path, 'id,title\n1,Nurse\n'),
    ]);
    expect(reading).toMatchObject({ kind: 'read', records: 1, weak: { reason: expect.stringContaining('the pipe') } });
  });

  it('that fails is incomplete', async () => {
    const stdin = Readable.from(
      (function* () {
        yield Buffer.from(utf8);
        throw new Error('pipe gone');
      })(),
    );
    const { reading } = await read({ location: '-' }, { stdin });
    expect(reading).toMatchObject({
      kind: 'read',
      records: 1,
      shortfalls: ['reading standard input failed: pipe gone'],
    });
  });

  it('that never ends is stopped by the deadline', async () => {
    const stdin = new Readable({ read: () => undefined });
    stdin.push(utf8);
    const { reading } = await read({ location: '-', limits: { totalTimeoutMs: 1_000 } }, { stdin });
    expect(reading).toMatchObject({ kind: 'read', records: 1, shortfalls: ['reading took longer than 1 s'] });
  });
});

it('throws what the sink throws', async () => {
  const { readFeed } = await import('../../src/feed/read-feed.ts');
  const source = sourceOf({ location: write(utf8) });
  const sink = {
    take: () => {
      throw new Error('sink is full');
    },
    drain: () => undefined,
  };
  await expect(readFeed(source, sink, { signal: new AbortController().signal })).rejects.toThrow('sink is full');
});

describe.skipIf(!hasSharedFeeds)(`hostile feeds${sharedFeedsNote}`, () => {
  it.each(['cyclic', 'dtd_element', 'external', 'external_file', 'quadratic', 'xmlbomb', 'xmlbomb2'])(
    '%s.xml is refused',
    async (name) => {
      const { reading, records } = await read({ location: sharedFeed(`hostile/${name}.xml`), recordPath: '*/*' });
      expect(reading).toMatchObject({
        kind: 'failed',
        message: expect.stringMatching(/document type declaration .* is refused/),
      });
      expect(records).toEqual([]);
    },
  );

  it('dtd.xml is HTML', async () => {
    const { reading } = await read({ location: sharedFeed('hostile/dtd.xml'), recordPath: '*/*' });
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(/HTML/) });
  });

  it.each(['simple', 'simple-ns'])('%s.xml is read', async (name) => {
    const { reading, records } = await read({
      location: sharedFeed(`hostile/${name}.xml`),
      recordPath: 'root/element',
    });
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [] });
    expect(records).toEqual([`<element key='value'>text</element>`, '<element>text</element>']);
  });

  it.each(['json/greenhouse.json', 'csv/cgs.csv'])('%s is not XML', async (name) => {
    const { reading } = await read({ location: sharedFeed(name) });
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(/JSON where|not an XML feed/) });
  });
});

it.skipIf(!canListOpenFiles)('a file is closed if reading never starts', async () => {
  const path = write(utf8, 'given-up.xml');
  const opened = await openFeed(sourceOf({ location: path }), { signal: new AbortController().signal });
  expect(isFileOpen(path)).toBe(true);
  if (opened.kind === 'opened') opened.close();
  await expect.poll(() => isFileOpen(path)).toBe(false);
});
