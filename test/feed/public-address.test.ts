// The part of a source's address that may be shown and stored.
import { expect, test } from 'vitest';
import { publicAddress } from '../../src/feed/source/http/credentials.ts';

test.each<[string, string]>([
  ['/jobs', '/jobs'],
  ['/jobs/?id=7&lang=en#apply', '/jobs/?id=7&lang=en'],
  ['/jobs?', '/jobs'],
  ['/jobs?utm_source=x&id=7&UTM_Campaign=y&gh_src=z&fbclid=1', '/jobs?id=7'],
  ['/jobs?api_key=a&id=7&access-token=b&X-Amz-Signature=c&client_secret=d', '/jobs?id=7'],
  ['/jobs?jobkey=a&sort_key=b&key=c', '/jobs?jobkey=a&sort_key=b'],
  ['/jobs?id=7&feed=zq-from-environment', '/jobs?id=7'],
  ['/jobs?id=7&feed=zq%2Denvironment', '/jobs?id=7'],
  ['/jobs?id=7&v=abc', '/jobs?id=7&v=abc'],
])('%s: %s', (address, expected) => {
  const secrets = ['zq-from-environment', 'zq-environment', 'abc'];
  expect(publicAddress(`https://user:password@acme.example${address}`, secrets)).toBe(
    `https://acme.example${expected}`,
  );
});
