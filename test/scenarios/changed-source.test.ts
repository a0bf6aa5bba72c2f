// The source still has the version that was read last, but the configuration now asks for something else: the feed is read,
// and the version of another request is never asked for.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { chosen } from '../support/extent.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const MARKS = { etag: '"1"', 'last-modified': 'Tue, 03 Mar 2026 10:00:00 GMT' };

interface Source {
  readonly origin: string;
  /** The requests so far. */
  readonly requests: IncomingMessage[];
  /** Where `/moved.xml` leads to. */
  target: string;
  /** Of the postings, unless the request is for others. */
  keys: readonly string[];
  close(): Promise<void>;
}

/** Every path has the same version: any conditional request is answered with 304. */
async function openSource(): Promise<Source> {
  const server = createServer((request, response) => {
    source.requests.push(request);
    if (request.url === '/moved.xml') return void response.writeHead(302, { location: source.target }).end();
    if (isConditional(request)) return void response.writeHead(304).end();
    const keys = request.url?.startsWith('/other') || request.headers['x-tenant'] === 'two' ? ['c', 'd'] : source.keys;
    response.writeHead(200, { 'content-type': 'application/xml', ...MARKS });
    const total = `<total>${keys.length}</total>`;
    response.end(feedXml(keys.map((key) => posting(key))).replace('<source>', `<source>${total}`));
  });
  const port = await listen(server);
  const source: Source = {
    origin: `http://127.0.0.1:${port}`,
    requests: [],
    target: '/monday.xml',
    keys: ['a', 'b'],
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return source;
}

const isConditional = ({ headers }: IncomingMessage): boolean =>
  headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined;

let source: Source;
let mirror: Mirror;
afterEach(async () => {
  await mirror?.close();
  await source?.close();
});

/** Replaces lines of the configuration. */
async function reconfigure(change: (text: string) => string): Promise<void> {
  const text = await readFile(mirror.configPath, 'utf8');
  await mirror.stopEngine();
  await writeFile(mirror.configPath, change(text));
}

const INLINE =
  'format: { records: "source/job", key: referencenumber, fields: { number: referencenumber, title: title, ' +
  'category-name: category, description: description, location-city: city, location-state: { from: state, as: us_state }, ' +
  'contact-web-address: { from: url, as: url } } }';

const addLine = (line: string) => (text: string) =>
  text.replace('    format: indeed', `    format: indeed\n    ${line}`);

const CHANGES: readonly { readonly name: string; readonly change: (text: string) => string }[] = [
  { name: 'the address', change: (text) => text.replace('/feed.xml', '/other.xml') },
  { name: 'the query of the address', change: (text) => text.replace('/feed.xml', '/feed.xml?v=2') },
  { name: 'the address, to one that redirects to the same', change: (text) => text.replace('/feed.xml', '/moved.xml') },
  { name: 'a header', change: addLine('headers: { Accept: text/xml }') },
  { name: 'a header that selects the feed', change: addLine('headers: { X-Tenant: two }') },
  { name: 'the records path', change: (text) => text.replace('format: indeed', INLINE.replace('source/', '*/')) },
  { name: 'the format', change: (text) => text.replace('format: indeed', INLINE) },
  {
    name: 'the path of the total',
    change: (text) => text.replace('format: indeed', INLINE.replace('key:', 'total: "source/total", key:')),
  },
  { name: 'the encoding', change: addLine('encoding: windows-1252') },
  { name: 'the key', change: addLine('key: url') },
  { name: 'a field', change: addLine('fields: { title: category }') },
  { name: 'the fewest records', change: addLine('expect: { min_records: 2 }') },
  { name: 'a limit', change: addLine('limits: { max_record_bytes: 1MB }') },
];

it('is read after each change, and after each change was reverted', async () => {
  source = await openSource();
  source.target = '/feed.xml';
  // Keys that seem to have changed would keep the version from being recorded.
  const rekey_guard = '{ percent: 100, count: 100 }';
  mirror = await openMirror({ feed: { source: `${source.origin}/feed.xml`, rekey_guard } });
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 2 });
  expect(await mirror.sync()).toMatchObject({ status: 'not_modified' });
  const text = await readFile(mirror.configPath, 'utf8');

  async function checkRead(name: string): Promise<void> {
    source.requests.splice(0);
    const report = await mirror.sync();
    expect({ name, ...report }).toMatchObject({ name, complete: true, seen: 2 });
    expect([name, report.status]).not.toEqual([name, 'not_modified']);
    expect([name, source.requests.length]).not.toEqual([name, 0]);
    expect([name, ...source.requests.filter(isConditional)]).toEqual([name]);
    // From then on the new request has its own version.
    await mirror.sync();
    expect([name, source.requests.filter(isConditional).length]).toEqual([name, 1]);
  }
  for (const { name, change } of chosen(CHANGES, (_each, at) => at % 4 === 0)) {
    await reconfigure(change);
    await checkRead(name);
    await reconfigure(() => text);
    await checkRead(`${name}, reverted`);
  }
});

it('is read after a change that makes it incomplete, and after that change was reverted', {
  tags: 'slow',
}, async () => {
  source = await openSource();
  mirror = await openMirror({ feed: { source: `${source.origin}/feed.xml` } });
  await mirror.sync();
  await reconfigure(addLine('expect: { min_records: 3 }'));
  expect(await mirror.sync()).toMatchObject({ status: 'incomplete', seen: 2 });
  await reconfigure((text) => text.replace('    expect: { min_records: 3 }\n', ''));
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 2 });
  expect(source.requests.filter(isConditional)).toEqual([]);
});

it('is read if its address redirects elsewhere than before', { tags: 'slow' }, async () => {
  source = await openSource();
  mirror = await openMirror({ feed: { source: `${source.origin}/moved.xml` } });
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 2 });
  expect(await mirror.sync()).toMatchObject({ status: 'not_modified' });
  source.target = '/other.xml';
  source.requests.splice(0);
  expect(await mirror.sync()).toMatchObject({ created: 2, seen: 2 });
  expect(source.requests.filter(isConditional)).toEqual([]);
});

it('is read once a day whatever its marks say: they may be those of its newest posting', async () => {
  source = await openSource();
  mirror = await openMirror({ feed: { source: `${source.origin}/feed.xml` } });
  const sinceRead = (time: string) => mirror.query(`update feed_state set read_at = now() ${time}`);
  await mirror.sync();
  source.keys = ['b'];
  await sinceRead(`- interval '22 hours'`);
  expect(await mirror.sync()).toMatchObject({ status: 'not_modified', seen: 2 });
  // An answer "not modified" is no reading.
  await sinceRead(`- interval '24 hours'`);
  expect(await mirror.sync()).toMatchObject({ complete: true, seen: 1, deleted: 1 });
  expect(await mirror.sync()).toMatchObject({ status: 'not_modified' });
  source.keys = ['a', 'b'];
  // The clock of the database was ahead.
  await sinceRead(`+ interval '3 days'`);
  expect(await mirror.sync()).toMatchObject({ complete: true, seen: 2, created: 1 });
});

it('keeps no address and no header in the database', async () => {
  source = await openSource();
  const location = `${source.origin}/feed.xml?key=k3y-of-the-address`;
  mirror = await openMirror({ feed: { source: location, headers: '{ X-Tenant: two }' } });
  await mirror.sync();
  const [state] = await mirror.query('select * from feed_state');
  expect(state).toMatchObject({
    source_version: expect.stringMatching(/^[0-9a-f]{64} \{"etag":.*"address":"[0-9a-f]{64}"\}$/),
  });
  expect(JSON.stringify(state)).not.toMatch(/k3y|feed\.xml|two/);
});
