// A version of the source belongs to a request digest, which changes with the request and with the way the response is read.
import { describe, expect, it } from 'vitest';
import type { FeedSource } from '../../src/feed/feed-reading.ts';
import { requestDigest } from '../../src/feed/source/request-digest.ts';
import { generousLimits } from './collect.ts';

const secret = (value: string) => ({ reveal: () => value });
const source: FeedSource = {
  location: 'https://ats.example.com/feed.xml?key=k3y-of-the-address',
  headers: { Accept: secret('application/xml'), 'X-Tenant': secret('one') },
  format: 'xml' as const,
  recordPath: 'source/job',
  totalPaths: ['source/total'],
  limits: generousLimits,
  allowPrivateRedirects: false,
};
const rules = { interpretation: Buffer.alloc(16, 1), minRecords: undefined };
const digest = requestDigest(source, rules);

describe('the digest of a request', () => {
  it.each<[string, Partial<FeedSource>, Partial<typeof rules> | { minRecords: number }]>([
    ['the address', { location: 'https://ats.example.com/feed.xml' }, {}],
    ['a header', { headers: { ...source.headers, Accept: secret('text/xml') } }, {}],
    ['a secret header', { headers: { ...source.headers, 'X-Tenant': secret('two') } }, {}],
    ['one header more', { headers: { ...source.headers, 'Accept-Language': secret('en') } }, {}],
    ['one header less', { headers: {} }, {}],
    ['the record path', { recordPath: 'source/*/job' }, {}],
    ['the encoding', { encoding: 'windows-1252' }, {}],
    ['the paths of totals', { totalPaths: [] }, {}],
    ['a limit', { limits: { ...generousLimits, maxRecordBytes: 7 } }, {}],
    ['the interpretation of records', {}, { interpretation: Buffer.alloc(16, 2) }],
    ['the minimum number of records', {}, { minRecords: 10 }],
  ])('changes with %s', (_what, change, rule) => {
    expect(requestDigest({ ...source, ...change }, { ...rules, ...rule })).not.toBe(digest);
  });

  it('is unaffected by irrelevant changes', () => {
    const headers = { 'x-tenant': secret('one'), ACCEPT: secret('application/xml') };
    const limits = { ...generousLimits, totalTimeoutMs: 7, minBytesPerSecond: 7 };
    expect(requestDigest({ ...source, headers, limits }, rules)).toBe(digest);
  });

  it('reveals nothing of an address or a header', () => {
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
  });
});
