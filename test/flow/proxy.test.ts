// The site's client, sources and webhooks through an HTTP proxy: what is sent where, what was certainly not sent, and what is said of it.
import { connect } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readFeed } from '../../src/feed/read-feed.ts';
import { systemNetwork } from '../../src/feed/source/http/redirects.ts';
import type { SingleConfig } from '../../src/feed/source/sources.ts';
import { type ProxySettings, routeTo } from '../../src/flow/proxy.ts';
import { postWebhook } from '../../src/telemetry/deliver.ts';
import { collect, generousLimits } from '../feed/collect.ts';
import { anyTime, create, openClient, openSite, type ScriptedSite } from '../site/scripted-site.ts';
import { certificate, key } from '../site/tls-identity.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { listen } from '../support/listen.ts';
import { setEnv } from '../support/with-env.ts';

const xml = { 'content-type': 'application/xml' };
const LOGIN = 'anna:pr0xy s3cret/x';
const through = ({ url: { protocol, host } }: ForwardProxy, login?: string): ProxySettings => {
  const address = `${protocol}//${login === undefined ? '' : `${login.split(':').map(encodeURIComponent).join(':')}@`}${host}`;
  return { http: { reveal: () => address }, https: { reveal: () => address }, except: '' };
};

describe('through a proxy', () => {
  let proxy: ForwardProxy;
  let secureProxy: ForwardProxy;
  let site: ScriptedSite;
  /** The same site, encrypted. */
  let secureUrl: URL;
  let restore: () => void;
  /** The proxy breaks off as soon as the site has got something. */
  let isBroken = false;
  const tlsSite = createTlsServer({ cert: certificate, key }, (socket) => {
    socket
      .pipe(connect(Number(site.url.port), '127.0.0.1'))
      .pipe(socket)
      .on('error', () => undefined);
  });
  beforeAll(async () => {
    // The certificates of tests are signed by themselves.
    restore = setEnv({ NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    proxy = await startForwardProxy();
    secureProxy = await startForwardProxy({ cert: certificate, key });
    site = await openSite(({ method, url, headers }) => {
      if (isBroken) return void proxy.breakConnections();
      if (url === '/away') return [302, { location: `http://localhost:${site.url.port}/feed.xml` }];
      if (method === 'GET') return [200, xml, '<jobs><job><id>12</id><title>Cook</title></job></jobs>'];
      return [
        201,
        { ...xml, location: '/jobs/12' },
        `<job><id>12</id><note>${headers['proxy-authorization'] ?? ''}</note></job>`,
      ];
    });
    secureUrl = new URL(`https://localhost:${await listen(tlsSite)}`);
  });
  beforeEach(() => {
    const none = { login: undefined, refusal: undefined, isSilent: false, passesLogin: false };
    Object.assign(proxy, none, { challenge: 'Basic realm="proxy"' });
    isBroken = false;
    proxy.got.length = 0;
    site.got.length = 0;
  });
  afterAll(async () => {
    restore();
    await Promise.all([proxy, secureProxy, site].map((each) => each[Symbol.asyncDispose]()));
    tlsSite.close();
  });

  const targets = () => [['http', site.url] as const, ['https', secureUrl] as const];

  it('reaches sites: http forwarded, https in a tunnel that is kept, and keeps its credentials from them', async () => {
    proxy.login = LOGIN;
    secureProxy.login = LOGIN;
    for (const each of [proxy, secureProxy]) {
      for (const [scheme, url] of targets()) {
        each.got.length = 0;
        site.got.length = 0;
        await using client = openClient(url, { proxy: through(each, LOGIN), listPath: '/jobs.xml', concurrency: 1 });
        expect((await client.send(create, anyTime)).outcome.kind).toBe('created');
        expect((await client.send(create, anyTime)).outcome.kind).toBe('created');
        expect((await client.probe()).kind).toBe('accepted');
        // The list is read on a connection of its own.
        const forwarded = ['POST', 'POST', 'GET'].map((method) => `${method} ${url.origin}/jobs.xml`);
        expect(each.got).toEqual(scheme === 'http' ? forwarded : Array(2).fill(`CONNECT ${url.host}`));
        expect(site.got.map(({ url: path, headers }) => [path, headers.host])).toEqual(
          Array(3).fill(['/jobs.xml', url.host]),
        );
        expect(JSON.stringify(site.got)).not.toContain('proxy-authorization');
      }
    }
  });

  it('reports a proxy that refuses as a site that nothing was sent to', async () => {
    const cases: readonly (readonly [Partial<ForwardProxy>, string | undefined, RegExp, 'https'?])[] = [
      [{ login: LOGIN }, undefined, /wants a user and a password \(407\): write them into proxy/],
      [{ login: LOGIN }, 'anna:wr0ng s3cret', /refuses the user and the password of proxy \(407\)$/],
      [{ login: LOGIN, challenge: 'Negotiate, NTLM' }, LOGIN.slice(1), /takes no Basic credentials/],
      [
        { refusal: 403 },
        LOGIN,
        /does not connect to localhost:\d+: it answered 403 Forbidden; ask its operator .*proxy: none/,
        'https',
      ],
      [{ refusal: 401 }, LOGIN, /refuses the user and the password of proxy \(401\)$/],
      [{ refusal: 502 }, LOGIN, /it answered 502 Bad Gateway$/, 'https'],
      [{ refusal: 503 }, LOGIN, /it answered 503 Service Unavailable$/, 'https'],
    ];
    for (const [state, login, words, only] of cases) {
      Object.assign(proxy, { login: undefined, refusal: undefined }, state);
      for (const [scheme, url] of targets()) {
        if (only !== undefined && scheme !== only) continue;
        await using client = openClient(url, { proxy: through(proxy, login), listPath: '/jobs.xml' });
        const sent = await client.send(create, anyTime);
        const message = expect.stringMatching(new RegExp(`^Not sent: the proxy localhost:\\d+ .*${words.source}`));
        expect(sent).toMatchObject({ outcome: { kind: 'unreachable', message } });
        expect(sent.response).toBeUndefined();
        expect(await client.probe()).toMatchObject({ kind: 'unreachable', message: expect.stringMatching(words) });
        expect(JSON.stringify(sent)).not.toMatch(/s3cret|czNjcmV0/);
      }
    }
    expect(site.got).toEqual([]);
  });

  it('says that the proxy cannot be reached, or does not answer', async () => {
    const closed = await startForwardProxy();
    await closed[Symbol.asyncDispose]();
    for (const [scheme, url] of targets()) {
      await using client = openClient(url, { proxy: through(closed, LOGIN) });
      const message = expect.stringMatching(
        /^Not sent: the proxy localhost:\d+ can't be reached: .*ECONNREFUSED.*; check proxy$/,
      );
      expect((await client.send(create, anyTime)).outcome).toEqual({ kind: 'unreachable', message });
      proxy.isSilent = true;
      await using waiting = openClient(url, { proxy: through(proxy), timeoutMs: 100 });
      expect((await waiting.send(create, anyTime)).outcome).toMatchObject({
        // A proxy that forwards may have sent it.
        kind: scheme === 'http' ? 'unknown' : 'unreachable',
      });
    }
    expect(site.got).toEqual([]);
  });

  it('does not know what became of a request once it was sent', async () => {
    isBroken = true;
    for (const [, url] of targets()) {
      await using client = openClient(url, { proxy: through(proxy) });
      const { outcome } = await client.send(create, anyTime);
      expect(JSON.stringify(outcome)).toMatch(/"unknown".*No answer: .*, through the proxy localhost:\d+/);
    }
    proxy.refusal = 502;
    await using client = openClient(site.url, { proxy: through(proxy) });
    expect((await client.send(create, anyTime)).outcome.kind).toBe('unknown');
  });

  it('records no credentials of a proxy that passes them on', async () => {
    proxy.passesLogin = true;
    await using client = openClient(site.url, { proxy: through(proxy, LOGIN) });
    const sent = await client.send(create, anyTime);
    expect(site.got[0]?.headers['proxy-authorization']).toBe(`Basic ${btoa(LOGIN)}`);
    expect(sent.response?.body).toContain('<note>Basic [token removed]</note>');
    expect(JSON.stringify(sent)).not.toContain(btoa(LOGIN));
  });

  const readSource = (from: Partial<SingleConfig> & { url?: string }, network = systemNetwork) => {
    const http = { kind: 'http', headers: {}, accept: '*/*', maxRedirects: 3, allowPrivateRedirects: false, ...from };
    const source = {
      from: http as SingleConfig,
      format: 'xml',
      recordPath: 'jobs/job',
      totalPaths: [],
      limits: generousLimits,
    } as const;
    return readFeed(source, collect(), { signal: AbortSignal.timeout(60_000), network });
  };

  it('reads sources: with the certificates of the source, and with words that name the proxy', async () => {
    proxy.login = LOGIN;
    for (const [scheme, { href }] of targets()) {
      const own = scheme === 'https' ? { credentials: { tls: { ca: certificate } } } : {};
      expect(await readSource({ url: href, proxy: through(proxy, LOGIN), ...own })).toMatchObject({
        kind: 'read',
        shortfalls: [],
      });
      const refused = await readSource({ url: href, proxy: through(proxy, 'anna:wr0ng s3cret') });
      expect(refused).toMatchObject({
        message: expect.stringMatching(/can't be reached: the proxy localhost:\d+ refuses/),
      });
      expect(JSON.stringify(refused)).not.toMatch(/s3cret/);
    }
    proxy.refusal = 503;
    const failed = await readSource({ url: site.url.href, proxy: through(proxy, LOGIN) });
    expect(failed).toMatchObject({
      message: expect.stringMatching(/answered 503 Service Unavailable, through the proxy localhost:\d+; it may/),
    });
    expect(JSON.stringify(site.got)).not.toContain('proxy-authorization');
  });

  it('follows no redirect to an address that is not public, as far as this machine can tell', async () => {
    const refused = { message: expect.stringMatching(/not (?:a )?public/) };
    // Where the source itself is, only the proxy knows.
    expect(
      await readSource({
        url: `http://localhost:${site.url.port}/away`,
        proxy: through(proxy),
      }),
    ).toMatchObject(refused);
    const publicOnly = { ...systemNetwork, publicOnly: true };
    for (const host of ['127.0.0.1', 'localhost'])
      expect(
        await readSource({ url: `http://${host}:${site.url.port}/`, proxy: through(proxy) }, publicOnly),
      ).toMatchObject(refused);
    // Nobody here knows the name, which the proxy may know.
    proxy.refusal = 418;
    expect(await readSource({ url: 'http://feeds.invalid/', proxy: through(proxy) }, publicOnly)).toMatchObject({
      message: expect.stringMatching(/answered 418/),
    });
    // Somebody who may name only public addresses names the proxy, too.
    const own = { ...through(proxy), isOfFeed: true } as const;
    expect(await readSource({ url: 'http://feeds.invalid/', proxy: own }, publicOnly)).toMatchObject(refused);
    expect(proxy.got.filter((line) => !/away|feeds\.invalid/.test(line))).toEqual([]);
  });

  it('delivers to webhooks', async () => {
    proxy.login = LOGIN;
    const message = { id: 'm1', payload: { timestamp: '2026-03-03T10:00:00Z', type: 'test', data: {} } } as never;
    for (const [, { href }] of targets()) {
      const target = { url: href, secret: `whsec_${btoa('x'.repeat(24))}` };
      expect(await postWebhook(target, message, { proxy: through(proxy, LOGIN) })).toEqual({ kind: 'delivered' });
      await expect(postWebhook(target, message, { proxy: through(proxy) })).rejects.toThrow(
        /wants a user and a password/,
      );
    }
    expect(JSON.stringify(site.got)).not.toContain('proxy-authorization');
  });
});

it.each([
  ['', 'http://a.example', true],
  ['*', 'http://a.example', false],
  ['b.example,a.example', 'http://a.example', false],
  ['a.example', 'https://jobs.A.example', false],
  ['.a.example *.b.example', 'http://x.b.example', false],
  ['a.example', 'http://ba.example', true],
  ['a.example:8080', 'http://a.example', true],
  ['a.example:443', 'https://a.example', false],
  ['10.0.0.0/8', 'http://10.2.3.4', false],
  ['10.0.0.0/8', 'http://11.2.3.4', true],
  ['0.0.1', 'http://10.0.0.1', true],
  ['::1', 'http://[::1]:80', false],
  ['fd00::/8', 'http://[fd00::5]', false],
  ['10.0.0.0/99', 'http://10.0.0.0', true],
])('NO_PROXY %s: %s through the proxy: %s', (except, url, isProxied) => {
  const address = { reveal: () => 'http://proxy.example:3128' };
  expect(routeTo(new URL(url), { http: address, https: address, except }) !== undefined).toBe(isProxied);
});
