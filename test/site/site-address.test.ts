// What tells one site from another.
import { expect, it } from 'vitest';
import { addressOf } from '../../src/site/site-address.ts';

it.each([
  ['http://jobs.example.com', 'https://jobs.example.com/', true],
  ['http://jobs.example.com:80/board', 'https://JOBS.example.com:443/board/', true],
  ['https://jobs.example.com', 'https://jobs.example.com:8443', false],
  ['https://jobs.example.com', 'https://jobs.example.com/board', false],
  ['https://jobs.example.com', 'https://jobs.example.org', false],
])('%s and %s: the same site? %s', (one, other, same) => {
  expect(addressOf(new URL(one)) === addressOf(new URL(other))).toBe(same);
});
