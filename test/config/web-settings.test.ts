// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests are about ${NAME} in the configuration.
// The setting `web`: who may use pages and API, and that nothing is open to a network without users or tokens.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { hashPassword, parsePasswordHash, verifyPassword } from '../../src/config/password-hash.ts';
import { configSecrets } from '../../src/runtime/app.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HASH = '$scrypt$ln=10,r=8,p=1$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI';
const TOKEN = 'zq-hr-51f0c2d7-51f0c2d7';
const env = { BOARD_TOKEN: 'zq-51f0c2d7', ANNA: HASH, HR: TOKEN, SHORT: 'zq-short', PLAIN: 'zq correct horse' };

const folder = temporaryFolder();
beforeAll(() => {
  writeFileSync(join(folder, 'anna.hash'), `${HASH}\n`, { mode: 0o600 });
});

function load(text: string): Promise<Config> {
  const rest = 'sites: { board: { base_url: "https://jobs.example.com", token: "${BOARD_TOKEN}" } }\nfeeds: {}\n';
  writeFileSync(join(folder, 'jobmirror.yaml'), `${text}\n${rest}`);
  return loadConfig({ env, cwd: folder });
}

describe('accepted', () => {
  it('users and tokens, whose secrets stay wrapped', async () => {
    const config = await load(
      'web: { listen: "0.0.0.0:8090", users: { anna: { password_hash: "${ANNA}", role: reviewer }, ben: { password_hash_file: anna.hash, role: viewer } }, tokens: { hr: { token: "${HR}", scopes: [read, pull] } } }',
    );
    expect(config.listen).toEqual({ host: '0.0.0.0', port: 8090 });
    expect(config.web.served).toBe(true);
    expect([...config.web.users].map(([name, { role }]) => [name, role])).toEqual([
      ['anna', 'reviewer'],
      ['ben', 'viewer'],
    ]);
    expect(config.web.users.get('ben')?.passwordHash.reveal()).toBe(HASH);
    expect(config.web.tokens.get('hr')?.scopes).toEqual(new Set(['read', 'pull']));
    expect(JSON.stringify([...config.web.tokens])).not.toContain(TOKEN);
    expect(configSecrets(config)).toEqual(expect.arrayContaining([HASH, TOKEN]));
  });

  it.each([
    ['nothing', '', { host: '127.0.0.1', port: 8080 }, true],
    ['an empty web', 'web: {}', { host: '127.0.0.1', port: 8080 }, true],
    ['IPv6 loopback', 'web: { listen: "[::1]:8090" }', { host: '::1', port: 8090 }, true],
    ['localhost', 'web: { listen: "localhost:8090" }', { host: 'localhost', port: 8090 }, true],
    [
      'the former setting at another address: health only',
      'listen: { host: 0.0.0.0 }',
      { host: '0.0.0.0', port: 8080 },
      false,
    ],
  ])('%s', async (_name, text, listen, served) => {
    const config = await load(text);
    expect([config.listen, config.web.served]).toEqual([listen, served]);
  });
});

describe('refused', () => {
  it.each([
    [
      'an open address',
      'web: { listen: "0.0.0.0:8080" }',
      /0\.0\.0\.0 can be reached from other machines, so pages and API need users or tokens/,
    ],
    ['an open name', 'web: { listen: "jobs.example.com:8080" }', /jobs\.example\.com can be reached/],
    ['all of IPv6', 'web: { listen: "[::]:8080" }', /:: can be reached/],
    ['the former setting with web', 'listen: { host: 0.0.0.0 }\nweb: {}', /0\.0\.0\.0 can be reached/],
    ['two addresses', 'listen: { port: 1 }\nweb: { listen: "127.0.0.1:2" }', /both say where to listen; remove one/],
    ['no port', 'web: { listen: 127.0.0.1 }', /must be HOST:PORT/],
    ['a port too high', 'web: { listen: "127.0.0.1:70000" }', /must be HOST:PORT/],
    [
      'a password in the file',
      'web: { users: { anna: { password_hash: secret, role: viewer } } }',
      /must be exactly \$\{NAME\}/,
    ],
    [
      'a password instead of its hash',
      'web: { users: { anna: { password_hash: "${PLAIN}", role: viewer } } }',
      /not the hash of a password; jobmirror users hash/,
    ],
    ['no hash', 'web: { users: { anna: { role: viewer } } }', /exactly one of password_hash/],
    [
      'an unknown role',
      'web: { users: { anna: { password_hash: "${ANNA}", role: owner } } }',
      /must be one of viewer, reviewer, admin/,
    ],
    ['a short token', 'web: { tokens: { hr: { token: "${SHORT}", scopes: [read] } } }', /at least 20 characters/],
    [
      'a token with a space',
      'web: { tokens: { hr: { token: "${PLAIN} and more", scopes: [read] } } }',
      /must be exactly/,
    ],
    [
      'a guessable secret of a webhook',
      'web: { webhooks: { ats: { secret: "${SHORT}" } } }',
      /must have 24 to 64 bytes in Base64; make one with: openssl rand -base64 32/,
    ],
    ['no scope', 'web: { tokens: { hr: { token: "${HR}", scopes: [] } } }', /at least 1 entry/],
    ['a proxy that is none', 'web: { trusted_proxies: [everyone] }', /must be an IP address/],
    [
      'a proxy without users',
      'web: { trusted_proxies: [127.0.0.1] }',
      /through the proxy, so pages and API need users/,
    ],
    ['a proxy out of range', 'web: { trusted_proxies: [300.1.1.1] }', /300\.1\.1\.1 is not an IP address/],
  ])('%s', async (_name, text, complaint) => {
    const error: unknown = await load(text).catch((reason) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toMatch(complaint);
    expect(String(error)).not.toMatch(/zq-short|correct horse/);
  });
});

describe('passwords', () => {
  it('a hash fits its password only, and no two hashes are the same', async () => {
    const [one, two] = await Promise.all([hashPassword('pässword'), hashPassword('pässword')]);
    expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(two);
    expect(await verifyPassword('pa\u0308ssword', one)).toBe(true);
    expect(await verifyPassword('password', one)).toBe(false);
    expect(await verifyPassword('', undefined)).toBe(false);
  });

  it.each([
    ['too much memory', HASH.replace('ln=10', 'ln=20')],
    ['too many passes', HASH.replace('p=1', 'p=99')],
    ['too cheap', HASH.replace('ln=10', 'ln=9')],
    ['another algorithm', HASH.replace('scrypt', 'md5')],
    ['nothing', ''],
  ])('refused: %s', (_name, hash) => {
    expect(parsePasswordHash(hash)).toBeUndefined();
    expect(parsePasswordHash(HASH)).toBeDefined();
  });
});
