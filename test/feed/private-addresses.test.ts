// Addresses that a redirect must not lead to, and that a network of public addresses does not connect to.
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPrivateAddress } from '../../src/feed/source/http/redirects.ts';
import { openSource, publicNetwork, type SingleConfig } from '../../src/feed/source/sources.ts';

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

describe('a network of public addresses', () => {
  let connections = 0;
  let server: Server;
  let port = 0;
  beforeAll(async () => {
    server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as { port: number }).port;
  });
  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));

  const http = { headers: {}, accept: '*/*', maxRedirects: 5, allowPrivateRedirects: true } as const;
  const secret = { reveal: () => 'secret' };
  const login = { user: 'anna', password: secret, key: undefined, passphrase: undefined, hostKeys: [] };
  it.each<[string, () => SingleConfig]>([
    ['http', () => ({ kind: 'http', url: `http://127.0.0.1:${port}/`, ...http })],
    ['a name', () => ({ kind: 'http', url: `http://localhost:${port}/`, ...http })],
    ['sftp', () => ({ kind: 'sftp', host: '127.0.0.1', port, path: '/x', pick: undefined, login })],
    ['sftp by name', () => ({ kind: 'sftp', host: 'localhost', port, path: '/x', pick: undefined, login })],
  ])('connects to no other one by %s', async (_, config) => {
    const { signal } = new AbortController();
    const opened = openSource(config(), { signal, network: publicNetwork }).then(
      (end) => (end.kind === 'failed' ? end.message : end.kind),
      (error: Error) => error.message,
    );
    expect(await opened).toContain('not a public address');
    expect(connections).toBe(0);
  });
});
