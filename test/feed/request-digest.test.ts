// A version of the source belongs to a request digest, which changes with the request and with the way the response is read.
import { describe, expect, it } from 'vitest';
import type { FeedSource } from '../../src/feed/feed-reading.ts';
import type { HttpConfig } from '../../src/feed/source/http/http-config.ts';
import { type ReadingRules, requestDigest } from '../../src/feed/source/request-digest.ts';
import { generousLimits } from './collect.ts';

const secret = (value: string) => ({ reveal: () => value });
const http: HttpConfig = {
  kind: 'http',
  url: 'https://ats.example.com/feed.xml?key=k3y-of-the-address',
  headers: { Accept: secret('application/xml'), 'X-Tenant': secret('one') },
  accept: 'application/xml',
  maxRedirects: 5,
  allowPrivateRedirects: false,
};
const source: FeedSource = {
  from: http,
  format: 'xml' as const,
  recordPath: 'source/job',
  totalPaths: ['source/total'],
  limits: generousLimits,
};
const rules = { interpretation: Buffer.alloc(16, 1), minRecords: undefined };
const digest = requestDigest(source, rules);

describe('the digest of a request', () => {
  it.each<[string, Partial<FeedSource>, Partial<ReadingRules>]>([
    ['the address', { from: { ...http, url: 'https://ats.example.com/feed.xml' } }, {}],
    ['a header', { from: { ...http, headers: { ...http.headers, Accept: secret('text/xml') } } }, {}],
    ['a secret header', { from: { ...http, headers: { ...http.headers, 'X-Tenant': secret('two') } } }, {}],
    ['one header more', { from: { ...http, headers: { ...http.headers, 'Accept-Language': secret('en') } } }, {}],
    ['one header less', { from: { ...http, headers: {} } }, {}],
    ['the media types', { from: { ...http, accept: 'application/json' } }, {}],
    ['the kind of source', { from: { kind: 'file', path: http.url } }, {}],
    ['the path of a file', { from: { kind: 'file', path: '/feed.xml' } }, {}],
    ['the record path', { recordPath: 'source/*/job' }, {}],
    ['the encoding', { encoding: 'windows-1252' }, {}],
    ['the paths of totals', { totalPaths: [] }, {}],
    ['a limit', { limits: { ...generousLimits, maxRecordBytes: 7 } }, {}],
    ['the interpretation of records', {}, { interpretation: Buffer.alloc(16, 2) }],
    ['the minimum number of records', {}, { minRecords: 10 }],
    ['the days after which postings end', {}, { expireAfterDays: 30 }],
    ['a policy that deletes nothing', {}, { policy: 'upsert_only' }],
  ])('changes with %s', (_what, change, rule) => {
    expect(requestDigest({ ...source, ...change }, { ...rules, ...rule })).not.toBe(digest);
  });

  it('is unaffected by irrelevant changes', () => {
    const headers = { 'x-tenant': secret('one'), ACCEPT: secret('application/xml') };
    const limits = { ...generousLimits, totalTimeoutMs: 7, minBytesPerSecond: 7 };
    const from = { ...http, headers, maxRedirects: 7, allowPrivateRedirects: true };
    expect(requestDigest({ ...source, from, limits }, rules)).toBe(digest);
  });

  it('reveals nothing of an address or a header', () => {
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
  });
});
