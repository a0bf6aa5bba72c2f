// Zip archives: the files in them are the documents of the feed, each checked to its end.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { countOf } from '../support/extent.ts';
import { isComplete, read } from './collect.ts';
import { type RawServer, respond, serveRaw } from './raw-server.ts';
import { type ZippedFile, zipOf } from './zip-writer.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-zip-test-'));
  // Other processes may read archives at the same time.
  vi.stubEnv('TMPDIR', folder);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});
const archives = () => readdirSync(folder).filter((name) => name !== 'feed.zip');
const servers: RawServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const feed = (from: number, count: number, filler = '') => {
  const jobs = Array.from({ length: count }, (_, at) => `<job>${from + at}${filler}</job>`);
  return `<source>${jobs.join('\n')}</source>`;
};
const a = { name: 'a.xml', content: feed(1, 3) };
const b = { name: 'b.xml', content: feed(4, 2) };

async function readZip(bytes: Buffer, limits = {}) {
  const location = join(folder, 'feed.zip');
  writeFileSync(location, bytes);
  const result = await read({ location, limits });
  expect(archives()).toEqual([]);
  return result;
}
const shortfallsOf = ({ reading }: Awaited<ReturnType<typeof readZip>>) =>
  reading.kind === 'read' ? reading.shortfalls.join('\n') : JSON.stringify(reading);

describe('an archive', () => {
  it.each<[string, ZippedFile[]]>([
    ['of one file', [{ name: 'a.xml', content: feed(1, 5) }]],
    ['of several files', [a, b]],
    [
      'of stored files',
      [
        { ...a, stored: true },
        { ...b, stored: true },
      ],
    ],
    ['of compressed files', [{ name: 'a.xml.gz', content: gzipSync(a.content) }, b]],
    [
      'with folders and what desktop systems add',
      [
        { name: 'feed/', content: '', stored: true },
        { ...a, name: 'feed/a.xml' },
        { name: '__MACOSX/feed/._a.xml', content: 'x' },
        { name: 'feed/.DS_Store', content: 'x' },
        b,
      ],
    ],
    [
      'with a name so long that a message shows only the folders in it',
      [a, { ...b, name: `${'x'.repeat(199)}/b.xml` }],
    ],
    [
      'with names that escape, which are never used as paths',
      [
        { ...a, name: '../../etc/a.xml' },
        { ...b, name: '/b.xml' },
      ],
    ],
  ])('%s is one feed', async (_, files) => {
    const result = await readZip(zipOf(files));
    expect(result.reading).toMatchObject({ kind: 'read', shortfalls: [] });
    expect(result.records).toEqual([1, 2, 3, 4, 5].map((id) => `<job>${id}</job>`));
    expect(existsSync('/b.xml')).toBe(false);
  });

  it('may come over HTTP, and be larger than what is kept in memory', async () => {
    const large = zipOf([{ name: 'a.xml', content: feed(1, 30_000, Math.random().toString()), stored: true }, b]);
    const server = await serveRaw((socket, path) =>
      respond(socket, 'Content-Length', large, path === '/whole' ? large.length : large.length - 1_000),
    );
    servers.push(server);
    const whole = await read({ location: `${server.origin}/whole` });
    expect([whole.reading, whole.records.length]).toMatchObject([{ kind: 'read', shortfalls: [] }, 30_002]);
    const cut = await read({ location: `${server.origin}/cut` });
    expect(cut.reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(/broke off before the end/) });
  });

  it('that is cut anywhere is not complete', async () => {
    const whole = zipOf([a, b]);
    for (let length = 4; length < whole.length; length += countOf(undefined, 1, 3)) {
      const { reading, records } = await readZip(whole.subarray(0, length));
      expect([length, isComplete(reading), records]).toEqual([length, false, []]);
    }
    expect(shortfallsOf(await readZip(whole.subarray(0, -1)))).toMatch(/the zip archive is cut or damaged: /);
  });

  it('with any byte changed in a file is not complete', async () => {
    const whole = zipOf([{ ...a, stored: true }, b]);
    const start = whole.indexOf('<source>');
    for (let at = start; at < start + a.content.length; at += 7) {
      const changed = Buffer.from(whole);
      changed.writeUInt8((changed.readUInt8(at) + 1) % 256, at);
      const result = await readZip(changed);
      expect(shortfallsOf(result)).toMatch(/feed.zip, a.xml: it is damaged in the zip archive: its checksum is wrong/);
      // The other file is whole.
      expect(result.records.slice(-2)).toEqual(['<job>4</job>', '<job>5</job>']);
    }
  });

  it.each<[string, ZippedFile[] | Buffer, object, RegExp]>([
    ['that is encrypted', [a, { ...b, flags: 1 }], {}, /b.xml: it is encrypted/],
    [
      'with an unknown compression',
      [a, { ...b, method: 12 }],
      {},
      /b.xml: it is compressed by method 12; jobmirror reads only/,
    ],
    [
      'with a wrong checksum',
      [{ ...a, crc: 7 }, b],
      {},
      /a.xml: it is damaged in the zip archive: its checksum is wrong/,
    ],
    [
      'with a file that is longer than declared',
      [{ ...a, size: 9 }, b],
      {},
      /a.xml: it is damaged in the zip archive: too many bytes/,
    ],
    [
      'with a file that is shorter than declared',
      [{ ...a, size: 999 }, b],
      {},
      /a.xml: it is damaged in the zip archive: not enough bytes/,
    ],
    ['with a file that is no feed', [a, { name: 'README.txt', content: 'Hello' }], {}, /README.txt: /],
    ['without files', [], {}, /the zip archive has no files/],
    ['with folders only', [{ name: 'a/', content: '', stored: true }], {}, /the zip archive has no files/],
    ['in an archive', [{ name: 'inner.zip', content: zipOf([a]) }], {}, /instead of XML|not XML|no XML|is not/i],
    ['that is a workbook', [{ name: '[Content_Types].xml', content: '<Types/>' }, a], {}, /a workbook, as of Excel/],
    ['with two versions of a file', [a, b, { ...a, content: feed(1, 2) }], {}, /two versions of a.xml; let the source/],
    ['that is too large', [a, b], { maxBytes: 100 }, /larger than the limit of 100 bytes/],
    [
      'whose files are too large',
      [{ name: 'a.xml', content: feed(1, 1, ' '.repeat(10_000)) }],
      { maxBytes: 5_000 },
      /larger than the limit of 5000 bytes/,
    ],
    [
      'that is a bomb',
      [{ name: 'a.xml', content: Buffer.alloc(11 * 1024 * 1024, ' ') }],
      { maxRatio: 100 },
      /the zip archive decompresses to more than 100 times its size/,
    ],
    [
      'that does not declare what a bomb has',
      [{ name: 'a.xml', content: feed(1, 1, ' '.repeat(12 << 20)), size: 50 }],
      {},
      /too many bytes/,
    ],
    ['followed by other data', Buffer.concat([zipOf([a]), Buffer.from('<source/>')]), {}, /cut or damaged/],
  ])('%s is not complete', async (_, files, limits, message) => {
    const result = await readZip(Buffer.isBuffer(files) ? files : zipOf(files), limits);
    expect(isComplete(result.reading)).toBe(false);
    expect(shortfallsOf(result)).toMatch(message);
  });

  it('with a file twice is complete', async () => {
    expect((await readZip(zipOf([a, a]))).reading).toMatchObject({ kind: 'read', shortfalls: [] });
  });

  it('with too many files is refused', async () => {
    const files = Array.from({ length: 10_001 }, (_, at) => ({ name: `${at}.xml`, content: '' }));
    expect(shortfallsOf(await readZip(zipOf(files)))).toMatch(/more than 10000 files/);
  });
});

it('a text that begins as an archive does is none', async () => {
  expect(shortfallsOf(await readZip(Buffer.from('PK is a name')))).not.toMatch(/zip/);
  expect(shortfallsOf(await readZip(Buffer.from('PK')))).not.toMatch(/zip/);
});
