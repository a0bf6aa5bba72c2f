// Addresses that a redirect must not lead to.
import { expect, it } from 'vitest';
import { isPrivateAddress } from '../../src/feed/source/http/redirects.ts';

it.each([
  '127.0.0.1',
  '127.255.0.9',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '0:0:0:0:0:ffff:10.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::1',
  '192.88.99.1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:1ff:ffff::1',
  '3fff:fff::1',
  '5f00::1',
  '::ffff:0:8.8.8.8',
  '100:0:0:1::1',
  'fe80::1',
  'fe80::1%eth0',
  'fd12:3456::1',
  'ff02::1',
  'not an address',
])('%s is private', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

it.each([
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '192.169.0.1',
  '192.88.98.1',
  '2606:4700::1111',
  '2001:200::1',
  '3ffe:ffff::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
])('%s is public', (address) => {
  expect(isPrivateAddress(address)).toBe(false);
});
