// Credentials over HTTP: what is sent where, access tokens and client certificates; and that no message shows a secret.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { httpDescriptions } from '../../src/feed/source/http/http-config.ts';
import type { HttpCredentials } from '../../src/feed/source/sources.ts';
import { read, sourceOf } from './collect.ts';
import { sendJson, serveWeb, type WebRequest, type WebServer } from './web-server.ts';

const FEED = '<source><job>1</job></source>';
const sendFeed = (response: ServerResponse) => void response.writeHead(200).end(FEED);
const secret = (text: string) => ({ reveal: () => text });

const servers: WebServer[] = [];
const serve = async (...parameters: Parameters<typeof serveWeb>) => {
  const server = await serveWeb(...parameters);
  servers.push(server);
  return server;
};
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
const readWith = async (location: string, credentials: HttpCredentials) =>
  (await read({ location, credentials })).reading;

describe('a request', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  it.each<[string, HttpCredentials, string]>([
    [
      'with user and password',
      { authorization: { kind: 'basic', user: secret('jim'), password: secret('p:w') } },
      `Basic ${base64('jim:p:w')}`,
    ],
    ['with a key as user', { authorization: { kind: 'basic', user: secret('k3y') } }, `Basic ${base64('k3y:')}`],
    ['with a token', { authorization: { kind: 'bearer', token: secret('t0ken') } }, 'Bearer t0ken'],
  ])('%s carries it in its header', async (_, credentials, header) => {
    const server = await serve((_request, response) => sendFeed(response));
    expect(await readWith(server.origin, credentials)).toMatchObject({ kind: 'read', shortfalls: [] });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([header]);
  });

  it('carries a key in the query, beside the other parameters as they were written', async () => {
    const server = await serve((_request, response) => sendFeed(response));
    const query = { name: 'api key', value: secret('k&3=y') };
    await readWith(`${server.origin}/jobs`, { query });
    await readWith(`${server.origin}/jobs?q=a%20b`, { query });
    await readWith(`${server.origin}/jobs?api%20key=own`, { query });
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/jobs?api%20key=k%263%3Dy',
      '/jobs?q=a%20b&api%20key=k%263%3Dy',
      '/jobs?api%20key=own',
    ]);
  });

  it('never shows the key in a message', async () => {
    const server = await serve((request, response) => {
      if (request.path.startsWith('/moved')) response.writeHead(302, { location: `ftp://x${request.path}` }).end();
      else response.writeHead(403).end();
    });
    const query = { name: 'key', value: secret('s3cret') };
    for (const path of ['/', '/moved']) {
      const reading = await readWith(`${server.origin}${path}`, { query });
      expect(reading).toMatchObject({ kind: 'failed', message: expect.stringContaining(`${path}?…`) });
      expect(JSON.stringify(reading)).not.toContain('s3cret');
    }
  });

  it('carries credentials only to its own origin', async () => {
    const elsewhere = await serve((_request, response) => sendFeed(response));
    const server = await serve(
      (_request, response) => void response.writeHead(302, { location: elsewhere.origin }).end(),
    );
    const reading = await readWith(server.origin, {
      authorization: { kind: 'bearer', token: secret('t0ken') },
      query: { name: 'key', value: secret('k3y') },
    });
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [] });
    expect(elsewhere.requests).toMatchObject([{ path: '/', headers: {} }]);
    expect(elsewhere.requests[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('OAuth 2.0 client credentials', () => {
  let made = 0;
  /** Settings that no other test has a token for. */
  const oauth2 = (tokenUrl: string) =>
    ({
      kind: 'oauth2',
      tokenUrl,
      clientId: `client ${made++}`,
      clientSecret: secret('c1ient/s3cret'),
      clientIn: 'header',
    }) as const;
  const serveTokens = (life: object = { expires_in: 3600 }) => {
    let count = 0;
    return serve((_request, response) =>
      sendJson(response, { access_token: `t${++count}`, token_type: 'Bearer', ...life }),
    );
  };
  const sentTokens = (requests: readonly WebRequest[]) => requests.map(({ headers }) => headers.authorization);

  it('get a token once, for as long as it is valid', async () => {
    const tokens = await serveTokens();
    const server = await serve((_request, response) => sendFeed(response));
    const authorization = { ...oauth2(tokens.origin), scope: 'jobs:read', audience: 'https://ats.example' };
    for (let times = 0; times < 2; times++) {
      expect(await readWith(server.origin, { authorization })).toMatchObject({ kind: 'read', shortfalls: [] });
    }
    expect(sentTokens(server.requests)).toEqual(['Bearer t1', 'Bearer t1']);
    expect(tokens.requests).toHaveLength(1);
    const { method, headers, body } = tokens.requests[0] as WebRequest;
    expect([method, headers['content-type'], body]).toEqual([
      'POST',
      'application/x-www-form-urlencoded',
      'grant_type=client_credentials&scope=jobs%3Aread&audience=https%3A%2F%2Fats.example',
    ]);
    // RFC 6749, 2.3.1: both are form-encoded first.
    const client = `${authorization.clientId.replace(' ', '+')}:c1ient%2Fs3cret`;
    expect(headers.authorization).toBe(`Basic ${Buffer.from(client).toString('base64')}`);
  });

  it('send ID and secret in the body if configured', async () => {
    const tokens = await serveTokens();
    const server = await serve((_request, response) => sendFeed(response));
    await readWith(server.origin, { authorization: { ...oauth2(tokens.origin), clientIn: 'body' } });
    expect(tokens.requests[0]?.body).toContain('&client_secret=c1ient%2Fs3cret');
    expect(tokens.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each([
    ['in the last minute of its life', 3600, 3540_000],
    ['in the last tenth of a short life', 100, 90_000],
  ])('get another token %s', async (_, seconds, usableMs) => {
    const tokens = await serveTokens({ expires_in: seconds });
    const server = await serve((_request, response) => sendFeed(response));
    const authorization = oauth2(tokens.origin);
    vi.useFakeTimers({ toFake: ['performance'] });
    await readWith(server.origin, { authorization });
    vi.advanceTimersByTime(usableMs - 1);
    await readWith(server.origin, { authorization });
    vi.advanceTimersByTime(1);
    await readWith(server.origin, { authorization });
    expect(sentTokens(server.requests)).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2']);
  });

  it('get another token once if the source refuses the first', async () => {
    const tokens = await serveTokens();
    let valid = 'Bearer t1';
    const server = await serve(({ headers }, response) => {
      if (headers.authorization === valid) sendFeed(response);
      else response.writeHead(401).end();
    });
    const authorization = oauth2(tokens.origin);
    expect(await readWith(server.origin, { authorization })).toMatchObject({ kind: 'read' });
    valid = 'Bearer t2';
    expect(await readWith(server.origin, { authorization })).toMatchObject({ kind: 'read', shortfalls: [] });
    valid = 'none';
    expect(await readWith(server.origin, { authorization })).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('answered 401 Unauthorized; check the credentials'),
    });
    expect(sentTokens(server.requests)).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2', 'Bearer t2', 'Bearer t3']);
  });

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    [
      'invalid_client',
      (response) => sendJson(response, { error: 'invalid_client', error_description: 'c1ient/s3cret is bad' }, 401),
      /answered 401 Unauthorized \(invalid_client\); check client_id, its secret, and client_in$/,
    ],
    [
      'an error of its own',
      (response) => sendJson(response, { error: 'c1ient/s3cret' }, 400),
      /answered 400 Bad Request; check the settings of oauth2$/,
    ],
    [
      'an outage',
      (response) => void response.writeHead(503).end('<html>'),
      /503 Service Unavailable; it may work again/,
    ],
    ['a redirect', (response) => void response.writeHead(302, { location: '/' }).end(), /answered 302 Found/],
    ['a page', (response) => void response.writeHead(200).end('<html>c1ient/s3cret'), /sent no access_token/],
    ['a token that no header can carry', (response) => sendJson(response, { access_token: 'a\nb' }), /no access_token/],
    [
      'another type of token',
      (response) => sendJson(response, { access_token: 't', token_type: 'mac' }),
      /another type than bearer/,
    ],
    [
      'an endless response',
      (response) => void response.writeHead(200).end(Buffer.alloc(100_000, ' ')),
      /larger than 65536 bytes/,
    ],
    ['a reset connection', (response) => void response.socket?.destroy(), /token endpoint http:\S+ can't be reached: /],
  ])('whose endpoint answers with %s fail the reading', async (_, answer, message) => {
    const tokens = await serve((_request, response) => answer(response));
    const server = await serve((_request, response) => sendFeed(response));
    const reading = await readWith(server.origin, { authorization: oauth2(`${tokens.origin}/token?tenant=1`) });
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(message) });
    expect(reading).toMatchObject({ message: expect.stringContaining(`${tokens.origin}/token?…`) });
    expect(JSON.stringify(reading)).not.toContain('s3cret');
    expect(server.requests).toEqual([]);
  });
});

describe('client certificates', () => {
  let folder: string;
  const file = (name: string) => readFileSync(join(folder, name), 'utf8');
  const openssl = (...parameters: string[]) => execFileSync('openssl', parameters, { cwd: folder, stdio: 'pipe' });
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'jobmirror-tls-'));
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    openssl('req', '-x509', ...key, '-nodes', '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=ca', '-days', '2');
    const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-days', '2', '-x509'];
    const address = ['-addext', 'subjectAltName=IP:127.0.0.1'];
    const server = ['-keyout', 'server.key', '-out', 'server.crt', '-subj', '/CN=server'];
    openssl('req', ...key, ...signed, '-nodes', ...server, ...address);
    const client = ['-keyout', 'client.key', '-out', 'client.crt', '-subj', '/CN=jobmirror'];
    openssl('req', ...key, ...signed, '-passout', 'pass:hush', ...client);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('identify the reader to a server of a private authority', async () => {
    const tls = { cert: file('server.crt'), key: file('server.key'), ca: file('ca.crt'), requestCert: true };
    const server = await serve((_request, response) => sendFeed(response), { ...tls, rejectUnauthorized: true });
    const own = { cert: file('client.crt'), key: secret(file('client.key')), passphrase: secret('hush') };
    const reading = await readWith(server.origin, { tls: { ...own, ca: file('ca.crt') } });
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [] });
    expect(server.requests).toMatchObject([{ client: 'jobmirror' }]);
    expect(await readWith(server.origin, { tls: own })).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/can't be reached: .*certificate/),
    });
    expect(await readWith(server.origin, { tls: { ca: file('ca.crt') } })).toMatchObject({ kind: 'failed' });
  });
});

describe('what is told about credentials', () => {
  const all = (mark: string): HttpCredentials[] => [
    { authorization: { kind: 'basic', user: secret(`user-${mark}`), password: secret(`zq-${mark}`) } },
    { authorization: { kind: 'bearer', token: secret(`zq-${mark}`) } },
    {
      authorization: {
        kind: 'oauth2',
        tokenUrl: 'https://login.example/',
        clientId: 'id',
        clientSecret: secret(`zq-${mark}`),
        clientIn: 'body',
      },
    },
    { query: { name: 'key', value: secret(`zq-${mark}`) } },
    { tls: { cert: 'certificate', key: secret(`zq-${mark}`), passphrase: secret(`zq-${mark}`) } },
  ];
  const configOf = (credentials?: HttpCredentials) => {
    const { from } = sourceOf({ location: 'https://ats.example/jobs?a=1', credentials });
    if (from.kind !== 'http') throw new Error('no http source');
    return from;
  };
  const { request, secretsOf, publicConfig, placeOf } = httpDescriptions;

  it.each(all('one').map((each, at) => [Object.keys(each)[0], each, all('two')[at]] as const))(
    '%s: a change of a secret changes the request, and shows nowhere',
    (_, one, two) => {
      const json = (credentials?: HttpCredentials) => JSON.stringify(request(configOf(credentials)));
      expect(new Set([json(one), json(two), json()]).size).toBe(3);
      expect(JSON.stringify(publicConfig(configOf(one)))).toEqual(JSON.stringify(publicConfig(configOf(two))));
      expect(JSON.stringify(publicConfig(configOf(one)))).not.toMatch(/zq-/);
      expect(placeOf(configOf(one))).toBe('https://ats.example/jobs?…');
      expect(secretsOf(configOf(one))).toContain('zq-one');
    },
  );

  it('a user without a password is a secret', () => {
    expect(secretsOf(configOf({ authorization: { kind: 'basic', user: secret('zq-user') } }))).toEqual(['zq-user']);
  });
});
