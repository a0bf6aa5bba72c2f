// The address that distinguishes one site from another.
import { expect, it } from 'vitest';
import { addressOf } from '../../src/site/http/job-address.ts';

it.each([
  ['http://jobs.example.com', 'https://jobs.example.com/', true],
  ['http://jobs.example.com:80/board', 'https://JOBS.example.com:443/board/', true],
  ['https://jobs.example.com', 'https://jobs.example.com:8443', false],
  ['https://jobs.example.com', 'https://jobs.example.com/board', false],
  ['http://127.0.0.1:4000/', 'http://127.0.0.1:4000', true],
  ['http://127.0.0.1:4000/', 'http://127.0.0.1:5000', false],
  ['http://127.0.0.1:80', 'https://127.0.0.1:443/', true],
  ['http://127.0.0.1:4000', 'http://127.0.0.2:4000', false],
  ['http://[::1]:4000', 'http://[::1]', false],
  ['http://[::1]:4000', 'http://[0:0:0:0:0:0:0:1]:4000', true],
  ['http://[::1]:4000', 'http://localhost:4000', false],
  ['http://localhost:4000', 'http://localhost:5000', false],
  ['http://localhost:4000', 'http://localhost:4000/board', false],
  ['http://localhost:4000', 'http://127.0.0.1:4000', false],
  ['http://127.0.0.1.example.com:4000', 'http://127.0.0.1.example.com:5000', false],
  ['https://jobs.example.com', 'https://jobs.example.org', false],
])('%s and %s: the same site? %s', (one, other, same) => {
  expect(addressOf({ baseUrl: new URL(one) }) === addressOf({ baseUrl: new URL(other) })).toBe(same);
});

it('differs for jobs below another path, whatever their element is called', () => {
  const at = (url: string, path: string, element = 'job') =>
    addressOf({ baseUrl: new URL(url), resource: { element, path } });
  const plain = addressOf({ baseUrl: new URL('https://jobs.example.com') });
  expect(at('https://jobs.example.com', '/jobs', 'offer')).toBe(plain);
  expect(at('https://jobs.example.com', '/issues')).not.toBe(plain);
  expect(at('https://jobs.example.com', '/issues')).not.toBe(at('https://jobs.example.com', '/offers'));
  expect(at('https://jobs.example.com', '/issues')).not.toBe(at('https://jobs.example.com/issues', '/jobs'));
  expect(at('https://jobs.example.com', '/board/jobs')).toBe(at('https://jobs.example.com/board', '/jobs'));
});
