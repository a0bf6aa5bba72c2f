// Details of postings: the request that a record leads to, and how its document is read.
import { describe, expect, it } from 'vitest';
import { compileDetailReader } from '../../src/feed/detail-record.ts';
import { isSameResource } from '../../src/feed/source/http/redirects.ts';
import { compileDetailRequest, isRelativeTemplate, templateFault } from '../../src/feed/source/pages/detail-request.ts';
import { credentialsMask, type DetailsConfig, openDetailFetcher } from '../../src/feed/source/sources.ts';
import { rateLimiterFor } from '../../src/flow/rate-limiter.ts';
import { recordHash } from '../../src/posting/hash.ts';
import { postingKey } from '../../src/posting/identifiers.ts';
import { parseValuePath } from '../../src/posting/paths/value-path.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { sourceOf } from './collect.ts';
import { sendJson, serveWeb } from './web-server.ts';

const secret = (text: string) => ({ reveal: () => text });
const DETAILS: DetailsConfig = {
  request: { url: '', accept: '' },
  document: { format: 'json', recordPath: '', lenient: false },
  name: 'detail',
  match: [],
  ignore: [],
  concurrency: 1,
  requestsPerSecond: 1,
  limits: { maxPageBytes: 1e6, firstByteTimeoutMs: 10_000, minBytesPerSecond: 1 },
  retry: { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 },
  totalTimeoutMs: 10_000,
};
const SOURCE = 'https://ats.example.com/v1/acme/jobs?finder=findReqs;siteNumber=CX_1,limit=25&domain=acme.com';
const requestOf = (url: string, record: RecordTree, body?: unknown) => {
  const request = compileDetailRequest({ url, body, accept: '' }, new URL(SOURCE))(record);
  return { url: request.url.href, body: request.body === undefined ? undefined : JSON.parse(request.body) };
};

describe('the request of a detail', () => {
  it.each<[string, RecordTree, string]>([
    ['jobs/{id}', { id: '7' }, 'https://ats.example.com/v1/acme/jobs/7'],
    ['/jobs/{id}', { id: 'a/b?c#d e' }, 'https://ats.example.com/jobs/a%2Fb%3Fc%23d%20e'],
    ['.{+path}', { path: '/job/Austin/Cook_R1?x=1#top' }, 'https://ats.example.com/v1/acme/job/Austin/Cook_R1?x=1'],
    ['{+ref}', { ref: ' https://ats.example.com/é%20%zz ' }, 'https://ats.example.com/%C3%A9%20%25zz'],
    ['{+ref}', { ref: 'http://ats.example.com/7' }, 'https://ats.example.com/7'],
    [
      'detail?Id={data/id}&site={source:siteNumber}&domain={source:domain}',
      { data: [{ id: '' }, { id: '7' }] },
      'https://ats.example.com/v1/acme/detail?Id=7&site=CX_1&domain=acme.com',
    ],
  ])('%s of %j', (url, record, expected) => {
    expect(requestOf(url, record).url).toBe(expected);
  });

  it('has a body with the texts as they are', () => {
    const body = { ddo: ['jobDetail', { seq: '{id}', at: 'x {a/b} {source:domain}' }], n: 1, none: null };
    expect(requestOf('/widgets', { id: '"7"', a: { b: 'é/' } }, body).body).toEqual({
      ddo: ['jobDetail', { seq: '"7"', at: 'x é/ acme.com' }],
      n: 1,
      none: null,
    });
  });

  it.each<[string, RecordTree, RegExp]>([
    ['jobs/{id}', { id: ' ' }, /its record has no id, which the request of its detail needs/],
    ['{+ref}', { ref: 'https://other.example.com/7' }, /its detail is at another origin, https:\/\/other/],
    ['{+ref}', { ref: '//other.example.com/7' }, /another origin/],
    ['{+ref}', { ref: 'https://ats.example.com:99/7' }, /another origin/],
    ['{+ref}', { ref: 'https://[' }, /is not an address/],
  ])('%s of %j is none', (url, record, message) => {
    expect(() => requestOf(url, record)).toThrow(message);
  });

  it.each<[string, RegExp | undefined]>([
    ['jobs/{id}', undefined],
    ['https://ats.example.com/jobs/{id}', undefined],
    ['https://other.example.com/jobs/{id}', /another origin than the source/],
    ['jobs/{id/}', /path/],
    ['jobs/{source:site}', /needs the parameter site/],
  ])('%s is checked before', (url, fault) => {
    const found = templateFault({ url }, new URL(SOURCE));
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(fault);
  });

  it('is relative to the path or the query of one list, or not', () => {
    const relative = ['jobs/{id}', '.{+path}', '?id={id}', '/jobs?site={source:site}'];
    expect(relative.map(isRelativeTemplate)).toEqual([true, true, true, true]);
    expect(['/jobs/{id}', '{+ref}', 'https://x.example/{id}'].map(isRelativeTemplate)).toEqual([false, false, false]);
  });
});

describe('a fetched detail', () => {
  it('has none of the credentials that the source repeats', async () => {
    const secrets = { key: 'k3y/of+the&feed', header: 'h3ader-of-the-feed', short: 'us' };
    const server = await serveWeb(({ path, headers }, response) =>
      sendJson(response, { self: path, sent: headers, html: 'Write to us &amp; k3y/of+the&amp;feed' }),
    );
    const { from } = sourceOf({ location: `${server.origin}/jobs` });
    if (from.kind !== 'http') throw new Error('no web address');
    const http = {
      ...from,
      headers: { 'X-Token': secret(`Bearer ${secrets.header}`), 'X-Company': secret('us') },
      credentials: { query: { name: 'api_key', value: secret(secrets.key) } },
    };
    const config = { ...DETAILS, request: { url: 'jobs/{id}', accept: '*/*' } };
    const context = { limiter: rateLimiterFor(Number.POSITIVE_INFINITY), mask: credentialsMask(http) };
    const fetcher = await openDetailFetcher(http, config, context);
    const fetched = await fetcher.fetch({ id: '7' }, new AbortController().signal);
    await server.close();
    expect(fetched.kind).toBe('fetched');
    const text = 'bytes' in fetched ? fetched.bytes.toString() : '';
    expect(decodeURIComponent(server.requests[0]?.path ?? '')).toBe(`/jobs/7?api_key=${secrets.key}`);
    expect(JSON.parse(text)).toMatchObject({
      self: '/jobs/7?api_key=[secret]',
      sent: { 'x-token': 'Bearer [secret]', 'x-company': 'us' },
      html: 'Write to us &amp; [secret]',
    });
  });
});

const reader = (
  document: Partial<DetailsConfig['document']>,
  match: Readonly<Record<string, string>> = {},
  used: readonly string[] = [],
) =>
  compileDetailReader(
    {
      document: { format: 'json', recordPath: '', lenient: false, ...document },
      name: 'detail',
      match: Object.entries(match).map(([detail, record]) => ({ detail, record })),
    } as Partial<DetailsConfig> as DetailsConfig,
    used.map((path) => ({ field: undefined, path, parsed: parseValuePath(path) })),
  );
const bytes = (text: string) => Buffer.from(text);

describe('a detail', () => {
  it('is a JSON document, the only record at a path, or an element', () => {
    expect(reader({})({ id: '7' }, bytes(' {"text": 1.50}\n'))).toEqual({
      kind: 'record',
      tree: { id: '7', detail: { text: '1.50' } },
    });
    expect(reader({ recordPath: 'data/job' })({ id: '7' }, bytes('{"data": {"job": {"a": "b"}}}'))).toMatchObject({
      tree: { id: '7', detail: { a: 'b' } },
    });
    const xml = reader({ format: 'xml', recordPath: 'job' });
    expect(xml({ id: '7' }, bytes('<?xml version="1.0"?><job><a>b</a></job>'))).toMatchObject({
      tree: { id: '7', detail: { a: 'b' } },
    });
  });

  it.each<[string, Partial<DetailsConfig['document']>, string, RegExp]>([
    ['text after it', {}, '{"a": 1} {"a": 2}', /can't be read/],
    [
      'no record',
      { recordPath: 'items' },
      '{"items": []}',
      /0 records at items, instead of one; check details.records/,
    ],
    ['several records', { recordPath: 'items' }, '{"items": [{"a": 1}, {"a": 2}]}', /2 records/],
    ['no such path', { recordPath: 'item' }, '{"error": "gone"}', /can't be read: /],
    ['null', {}, 'null', /no object/],
    ['a cut element', { format: 'xml', recordPath: 'job' }, '<job><a>b</a>', /can't be read/],
    ['HTML', { format: 'xml', recordPath: 'job' }, '<!DOCTYPE html><html><title>Sorry</title></html>', /HTML/],
    ['an XML document', {}, '<error/>', /no JSON: XML/],
  ])('with %s is refused', (_, document, text, message) => {
    expect(reader(document)({ id: '7' }, bytes(text))).toEqual({
      kind: 'failed',
      message: expect.stringMatching(message),
    });
  });

  it('must be that of its posting, and must not replace what the record has', () => {
    const matching = reader({}, { 'job/id': 'id' });
    expect(matching({ id: ' 7 ' }, bytes('{"job": {"id": 7}}')).kind).toBe('record');
    expect(matching({ id: '7' }, bytes('{"job": {"id": 8}}')).kind).toBe('failed');
    expect(matching({}, bytes('{"job": {}}')).kind).toBe('failed');
    expect(reader({})({ detail: 'x' }, bytes('{}'))).toMatchObject({ message: expect.stringMatching(/details\.name/) });
    expect(reader({})('text', bytes('{}')).kind).toBe('failed');
  });

  it('is one only with a text that the mapping reads from it, unless match proves it', () => {
    const used = ['detail/text', '*/part/*'];
    const plain = reader({}, {}, used);
    for (const text of ['{}', '{"error": "x"}', '{"text": " "}']) {
      expect(plain({ id: '7' }, bytes(text))).toMatchObject({
        message: expect.stringMatching(/detail\/text, \*\/part/),
      });
    }
    expect(plain({ id: '7' }, bytes('{"part": {"a": "b"}}'))).not.toHaveProperty('isBare');
    expect(reader({}, { id: 'id' }, used)({ id: '7' }, bytes('{"id": 7}'))).toMatchObject({ isBare: true });
  });

  it('says what was repaired in it', () => {
    const xml = reader({ format: 'xml', recordPath: 'job', lenient: true });
    expect(xml({ id: '7' }, bytes('<job><a>b & c</a></job>'))).toMatchObject({
      tree: { detail: { a: 'b & c' } },
      repairs: ['1 bare "&"'],
    });
  });
});

describe('a redirect', () => {
  it.each([
    ['/jobs/1', '/jobs/1/', true],
    ['/jobs/1', '/en/jobs/1?lang=en', true],
    ['/jobs/1', 'https://other.example/jobs/1', true],
    ['/jobs/1', '/jobs/1-nurse', true],
    ['/jobs/1', '/jobs/1.html', true],
    ['/jobs/nurse', '/jobs/nurse/index.html', true],
    ['/Jobs/Z%C3%BCrich', '/jobs/z%c3%bcrich', true],
    ['/en/jobs/1', '/jobs/1', true],
    ['/jobs/1', '/jobs/2', false],
    ['/jobs/nurse', '/jobs/nurse-2', false],
    ['/jobs/1', '/jobs/1-nurse/2', false],
    ['/acme/jobs', '/jobs', false],
    ['/en/1', '', false],
    ['/jobs/1', '/jobs/11', false],
    ['/jobs/1', '/jobs', false],
    ['/job?id=1', '/job?lang=en&id=1', true],
    ['/job?id=1', '/job?id=2', false],
    ['/job?id=1', '/job', false],
  ])('from %s to %s stays with one posting: %s', (from, to, isSame) => {
    const base = 'https://ats.example.com';
    expect(isSameResource(new URL(from, base), new URL(to, base))).toBe(isSame);
  });

  it('is not requested again for a list in another order that is named unordered', async () => {
    const { from } = sourceOf({ location: SOURCE });
    if (from.kind !== 'http') throw new Error('no web address');
    const config = { ...DETAILS, request: { url: '{id}', accept: '' } };
    const identities = async (unordered: readonly string[]) => {
      const fetcher = await openDetailFetcher(from, { ...config, unordered }, { limiter: rateLimiterFor(1) });
      const identity = (...places: string[]) =>
        fetcher
          .identityOf(recordHash(Buffer.from(`${places}`)), { key: postingKey('7'), tree: { id: '7', places } })
          .toString('hex');
      return [identity('Boston', 'Reno'), identity('Reno', 'Boston'), identity('Reno')];
    };
    const [one, other, fewer] = await identities(['places']);
    expect([other, fewer === one]).toEqual([one, false]);
    expect(new Set(await identities([])).size).toBe(3);
  });
});
