// What validators belong to: any other request, or another way of reading what comes, has another digest.
import { describe, expect, it } from 'vitest';
import type { FeedSource } from '../../src/feed/feed-reading.ts';
import { addressDigest, requestDigest } from '../../src/feed/source/request-digest.ts';
import { roomyLimits } from './collect.ts';

const secret = (value: string) => ({ reveal: () => value });
const source: FeedSource = {
  location: 'https://ats.example.com/feed.xml?key=k3y-of-the-address',
  headers: { Accept: secret('application/xml'), 'X-Tenant': secret('one') },
  recordPath: 'source/job',
  totalPaths: ['source/total'],
  limits: roomyLimits,
  allowPrivateRedirects: false,
};
const rules = { interpretation: Buffer.alloc(16, 1), minRecords: undefined };
const digest = requestDigest(source, rules);

describe('the digest of a request', () => {
  it.each<[string, Partial<FeedSource>, Partial<typeof rules> | { minRecords: number }]>([
    ['the address', { location: 'https://ats.example.com/feed.xml' }, {}],
    ['a header', { headers: { ...source.headers, Accept: secret('text/xml') } }, {}],
    ['a secret header', { headers: { ...source.headers, 'X-Tenant': secret('two') } }, {}],
    ['a header more', { headers: { ...source.headers, 'Accept-Language': secret('en') } }, {}],
    ['a header less', { headers: {} }, {}],
    ['the path of records', { recordPath: 'source/*/job' }, {}],
    ['the encoding', { encoding: 'windows-1252' }, {}],
    ['where totals stand', { totalPaths: [] }, {}],
    ['a limit', { limits: { ...roomyLimits, maxRecordBytes: 7 } }, {}],
    ['how records are read', {}, { interpretation: Buffer.alloc(16, 2) }],
    ['how many records there are at least', {}, { minRecords: 10 }],
  ])('changes with %s', (_what, change, rule) => {
    expect(requestDigest({ ...source, ...change }, { ...rules, ...rule })).not.toBe(digest);
  });

  it('stays with what makes no difference', () => {
    const headers = { 'x-tenant': secret('one'), ACCEPT: secret('application/xml') };
    const limits = { ...roomyLimits, totalTimeoutMs: 7, minBytesPerSecond: 7 };
    expect(requestDigest({ ...source, headers, limits }, rules)).toBe(digest);
  });

  it('shows nothing of an address or a header', () => {
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(addressDigest(new URL(source.location))).toMatch(/^[0-9a-f]{64}$/);
  });
});
