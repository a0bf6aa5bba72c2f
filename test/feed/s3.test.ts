// S3-compatible storage: requests that are signed as Amazon documents it, objects, and folders.
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFeed } from '../../src/feed/read-feed.ts';
import { parseObjectList, signedHeaders } from '../../src/feed/source/folder/open-s3.ts';
import { s3Address } from '../../src/feed/source/folder/remote-config.ts';
import { FeedReadingError } from '../../src/feed/source/source.ts';
import { kindOf, type SourceConfig } from '../../src/feed/source/sources.ts';
import { collect, generousLimits } from './collect.ts';
import { serveWeb, type WebRequest, type WebServer } from './web-server.ts';

type S3Config = Extract<SourceConfig, { kind: 's3' }>;
const secret = (text: string) => ({ reveal: () => text });

describe('the signature', () => {
  // The examples of Amazon's documentation, "Signature Calculations for the Authorization Header".
  const access = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: secret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
    region: 'us-east-1',
  };
  it.each([
    ['test.txt', { range: 'bytes=0-9' }, 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41'],
    ['?lifecycle', {}, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['?max-keys=2&prefix=J', {}, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ])('of %s is the documented one', (path, more, signature) => {
    const url = new URL(`https://examplebucket.s3.amazonaws.com/${path}`);
    const headers = signedHeaders(url, access, new Date('2013-05-24T00:00:00Z'), more);
    expect(headers['x-amz-date']).toBe('20130524T000000Z');
    expect(headers.authorization).toMatch(new RegExp(`Signature=${signature}$`));
  });

  it('covers the token of temporary credentials', () => {
    const url = new URL('https://examplebucket.s3.amazonaws.com/a');
    const headers = signedHeaders(url, { ...access, sessionToken: secret('t0ken') }, new Date());
    expect(headers['x-amz-security-token']).toBe('t0ken');
    expect(headers.authorization).toContain(
      'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, ',
    );
  });
});

const feed = (...ids: number[]) => `<source>${ids.map((id) => `<job>${id}</job>`).join('\n')}</source>`;

describe('a server', () => {
  let server: WebServer;
  /** Objects of the bucket, by key. */
  let objects: Map<string, { text: string; modified: string }>;
  /** Called before each answer. */
  let before: (request: WebRequest) => void;
  const access = { accessKeyId: 'AKIA1', secretAccessKey: secret('s3cret/key+of'), region: 'eu-central-1' };
  const put = (key: string, text: string, modified = '2026-03-03T10:00:00.000Z') =>
    objects.set(key, { text, modified });
  const etagOf = (text: string) => `"${createHash('md5').update(text).digest('hex')}"`;

  /** Whether the request has the signature that the secret makes of what arrived. */
  function isSigned({ path, headers }: WebRequest): boolean {
    const [, year, month, day, hour, minute, second] =
      /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'])) ?? [];
    const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    const expected = signedHeaders(new URL(path, `http://${headers.host}`), access, date);
    return headers.authorization === expected.authorization;
  }
  const sendList = ({ query }: WebRequest, response: ServerResponse) => {
    const keys = [...objects.keys()].sort().filter((key) => key.startsWith(query.get('prefix') ?? ''));
    const from = Number(query.get('continuation-token') ?? 0);
    const contents = keys.slice(from, from + 2).map((key) => {
      const { text, modified } = objects.get(key) ?? { text: '', modified: '' };
      const etag = etagOf(text).replaceAll('"', '&quot;');
      return `<Contents><Key>${key.replaceAll('&', '&amp;')}</Key><LastModified>${modified}</LastModified><ETag>${etag}</ETag><Size>${text.length}</Size></Contents>`;
    });
    const isCut = from + 2 < keys.length;
    const next = isCut ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : '';
    response.end(
      `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${isCut}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    );
  };
  beforeEach(async () => {
    objects = new Map();
    before = () => undefined;
    server = await serveWeb((request, response) => {
      before(request);
      const key = decodeURIComponent(request.path.split('?')[0] ?? '').replace(/^\/jobs\//, '');
      const object = objects.get(key);
      if (!isSigned(request)) response.writeHead(403).end();
      else if (request.query.get('list-type') === '2') sendList(request, response);
      else if (object === undefined) response.writeHead(404).end();
      else if (request.headers['if-none-match'] === etagOf(object.text)) response.writeHead(304).end();
      else response.writeHead(200, { etag: etagOf(object.text) }).end(object.text);
    });
  });
  afterEach(() => server.close());

  const configOf = (key: string, more: Partial<S3Config> = {}): S3Config => ({
    kind: 's3',
    bucket: 'jobs',
    key,
    access: { ...access, endpoint: server.origin },
    ...more,
  });
  async function readFrom(from: S3Config, version?: string) {
    const sink = collect();
    const reading = await readFeed(
      { from, format: 'xml', recordPath: 'source/job', totalPaths: [], limits: generousLimits },
      sink,
      { signal: new AbortController().signal, request: 'r', version },
    );
    const problems = reading.kind === 'read' ? reading.shortfalls.join('\n') : JSON.stringify(reading);
    return { reading, problems, ids: sink.records.map((record) => Number(/\d+/.exec(record)?.[0])) };
  }

  it.each(['feed.xml', 'a b/ü+(1)*.xml', "it's/a=b&c~d!.xml"])('sends the object %s, once per version', async (key) => {
    put(key, feed(1, 2));
    const { reading, ids } = await readFrom(configOf(key));
    expect([reading, ids]).toMatchObject([{ kind: 'read', shortfalls: [] }, [1, 2]]);
    const version = reading.kind === 'read' ? reading.version : undefined;
    expect((await readFrom(configOf(key), version)).reading).toEqual({ kind: 'not_modified' });
    put(key, feed(3));
    expect((await readFrom(configOf(key), version)).ids).toEqual([3]);
  });

  it('sends the newest object of a folder, or all', async () => {
    for (const [key, id, day] of [
      ['in/b.xml', 2, 3],
      ['in/a.xml', 1, 5],
      ['in/c.xml', 3, 4],
      ['in/d.txt', 4, 9],
    ] as const)
      put(key, feed(id), `2026-03-0${day}T10:00:00.000Z`);
    put('in/', '');
    put('in/deeper/e.xml', feed(7));
    put('in/e&ü+(1) 2.xml', feed(5));
    put('other/f.xml', feed(8));
    const all = await readFrom(configOf('in/', { pick: { pattern: '*.xml', pick: 'all' } }));
    expect([all.problems, all.ids]).toEqual(['', [1, 2, 3, 5]]);
    put('a b+c/g.xml', feed(6));
    expect((await readFrom(configOf('a b+c/', { pick: { pattern: '*', pick: 'all' } }))).ids).toEqual([6]);
    expect(server.requests.at(-1)?.path).toContain('prefix=a%20b%2Bc%2F');
    const newest = await readFrom(configOf('in/', { pick: { pattern: '*.xml', pick: 'newest' } }));
    expect([newest.problems, newest.ids]).toEqual(['', [1]]);
    const none = await readFrom(configOf('in/', { pick: { pattern: '*.csv', pick: 'newest' } }));
    expect(none.problems).toContain('no file in s3://jobs/in/ matches *.csv');
  });

  it.each<[string, () => void, RegExp]>([
    ['appears', () => put('in/z.xml', feed(9)), /z.xml appeared/],
    ['changes', () => put('in/a.xml', feed(9)), /a.xml changed/],
    ['disappears', () => objects.delete('in/a.xml'), /a.xml disappeared/],
    ['disappears before it is sent', () => objects.delete('in/b.xml'), /b.xml answered 404 Not Found/],
  ])('of a folder in which an object %s meanwhile makes the reading incomplete', async (_, change, message) => {
    put('in/a.xml', feed(1));
    put('in/b.xml', feed(2));
    let isChanged = false;
    before = ({ path }) => {
      if (path.endsWith('/b.xml') && !isChanged) change();
      isChanged ||= path.endsWith('/b.xml');
    };
    const { problems } = await readFrom(configOf('in/', { pick: { pattern: '*.xml', pick: 'all' } }));
    expect(problems).toMatch(message);
  });

  it('that refuses the key, or has no such object, fails the reading without secrets', async () => {
    put('a.xml', feed(1));
    const wrong = { ...access, endpoint: server.origin, secretAccessKey: secret('zq-wrong') };
    const { reading, problems } = await readFrom(configOf('a.xml', { access: wrong }));
    expect(reading.kind).toBe('failed');
    expect(problems).toMatch(/403 Forbidden; check the credentials or headers of the feed, the region, and the clock/);
    expect(problems).not.toContain('zq');
    expect((await readFrom(configOf('b.xml'))).problems).toMatch(
      /jobs\/b.xml answered 404 Not Found; check its address/,
    );
  });

  it('that redirects elsewhere gets no signature there', async () => {
    const elsewhere = await serveWeb((_request, response) => void response.end(feed(1)));
    before = () => undefined;
    const redirecting = await serveWeb(
      (_request, response) => void response.writeHead(307, { location: elsewhere.origin }).end(),
    );
    const { ids } = await readFrom(configOf('a.xml', { access: { ...access, endpoint: redirecting.origin } }));
    expect(ids).toEqual([1]);
    expect(Object.keys(elsewhere.requests[0]?.headers ?? {}).filter((name) => /amz|auth/.test(name))).toEqual([]);
    await Promise.all([elsewhere.close(), redirecting.close()]);
  });

  it('is at an address of the bucket', () => {
    const amazon = (bucket: string) => s3Address({ ...configOf(''), bucket, access }, 'a b/c.xml').href;
    expect(amazon('jobs')).toBe('https://jobs.s3.eu-central-1.amazonaws.com/a%20b/c.xml');
    expect(amazon('jobs.example')).toBe('https://s3.eu-central-1.amazonaws.com/jobs.example/a%20b/c.xml');
    expect(s3Address(configOf(''), 'c.xml').href).toBe(`${server.origin}/jobs/c.xml`);
  });

  it('is described without secrets', () => {
    const config = configOf('in/', {
      pick: { pattern: '*.xml', pick: 'all' },
      access: { ...access, sessionToken: secret('t0ken') },
    });
    const kind = kindOf(config);
    expect(kind.placeOf(config)).toBe('s3://jobs/in/*.xml');
    expect(kind.secretsOf(config)).toEqual(['s3cret/key+of', 't0ken']);
    expect(JSON.stringify([kind.publicConfig(config), kind.request(config)])).not.toMatch(/s3cret|t0ken/);
  });
});

describe('a list of objects', () => {
  const list = (inner: string) => `<ListBucketResult>${inner}</ListBucketResult>`;
  it.each<[string, string]>([
    ['is cut', list('<IsTruncated>false</IsTruncated>').slice(0, -3)],
    ['does not say whether it is whole', list('<Contents><Key>a</Key></Contents>')],
    ['goes on without a token', list('<IsTruncated>true</IsTruncated>')],
    ['has an object without a key', list('<IsTruncated>false</IsTruncated><Contents><Size>1</Size></Contents>')],
    ['is an error', '<Error><Code>NoSuchBucket</Code></Error>'],
    ['is a page', '<!doctype html><html><p>Login'],
    ['is empty', ''],
  ])('is refused if it %s', (_, xml) => {
    expect(() => parseObjectList(xml)).toThrow(FeedReadingError);
  });
});
