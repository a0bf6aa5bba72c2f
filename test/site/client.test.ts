// Every rule of site-interface.md that a client must follow, over real HTTP. Each test names its rule.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { siteJobId } from '../../src/posting/identifiers.ts';
import {
  anyTime,
  closedUrl,
  create,
  openClient,
  openRawSite,
  openSite,
  openTlsSite,
  type RawSite,
  type Reply,
  remove,
  TOKEN,
  update,
} from './scripted-site.ts';

const xml = { 'content-type': 'application/xml' };
const job =
  '<?xml version="1.0"?><job><id>12</id><title>Cook</title><created_at>2024-03-01T10:00:00Z</created_at></job>';
const created: Reply = [201, { ...xml, location: '/jobs/12' }, job];

describe('section 5: authentication', () => {
  it('rules 1 to 3: Basic, the token as user name, X as password, in UTF-8', async () => {
    await using site = await openSite(created);
    await using client = openClient(site.url);
    await client.send(create, anyTime);
    const [scheme, credentials] = site.got[0]?.headers.authorization?.split(' ') ?? [];
    expect([scheme, Buffer.from(credentials ?? '', 'base64').toString()]).toEqual(['Basic', `${TOKEN}:X`]);
  });

  it('every request carries it', async () => {
    await using site = await openSite([404]);
    await using client = openClient(site.url, { listPath: '/jobs.xml' });
    for (const request of [create, update, remove]) await client.send(request, anyTime);
    await client.show(siteJobId('1'));
    await client.probe();
    await client.list(() => {});
    expect(site.got).toHaveLength(6);
    expect(new Set(site.got.map((got) => got.headers.authorization)).size).toBe(1);
    expect(site.got[0]?.headers.authorization).toBeDefined();
  });

  it.each(['', 'a:b', 'a\nb'])('refuses the token %j, which Basic cannot carry, without revealing it', (token) => {
    const open = () => openClient(new URL('http://site.test'), { token: { reveal: () => token } });
    expect(open).toThrow(/^The site's token is empty, or holds a colon/);
  });
});

describe('section 4: endpoints', () => {
  const requests = [
    [
      'create',
      create,
      'POST',
      '/jobs.xml',
      'application/xml',
      '<job><title>Cook</title><location-state>Massachusetts</location-state></job>',
    ],
    ['update', update, 'PUT', '/jobs/12.xml', 'application/xml', '<job><title>Chef</title></job>'],
    ['delete', remove, 'DELETE', '/jobs/12.xml', undefined, ''],
  ] as const;
  it.each(requests)(
    '%s: method, path, content type on bodies only (rule 1), one job per document',
    async (_name, request, method, path, type, body) => {
      await using site = await openSite(created);
      await using client = openClient(site.url);
      const exchange = await client.send(request, anyTime);
      expect(site.got).toHaveLength(1);
      const [got] = site.got;
      expect([got?.method, got?.url, got?.headers['content-type'], got?.headers.accept]).toEqual([
        method,
        path,
        type,
        'application/xml',
      ]);
      expect(got?.body.replace('<?xml version="1.0" encoding="UTF-8"?>', '')).toBe(body);
      expect(exchange.request).toEqual({ method, url: new URL(path, site.url).href, body: got?.body || undefined });
      expect(exchange.durationMs).toBeGreaterThanOrEqual(0);
    },
  );

  it('paths are relative to the base URL, whose path is kept as a prefix', async () => {
    await using site = await openSite(created);
    for (const path of ['/board', '/board/']) {
      await using client = openClient(new URL(path, site.url));
      await client.send(create, anyTime);
      await client.send(update, anyTime);
    }
    expect(site.got.map((got) => got.url)).toEqual([
      '/board/jobs.xml',
      '/board/jobs/12.xml',
      '/board/jobs.xml',
      '/board/jobs/12.xml',
    ]);
  });

  it('an ID is one path segment, whatever it contains', async () => {
    await using site = await openSite([200]);
    await using client = openClient(site.url);
    await client.send({ kind: 'delete', siteJobId: siteJobId('a/../b?c d') }, anyTime);
    expect(site.got[0]?.url).toBe('/jobs/a%2F..%2Fb%3Fc%20d.xml');
  });

  it('create: 201, Location, the complete XML of the job', async () => {
    await using site = await openSite(created);
    await using client = openClient(site.url);
    const { outcome, response } = await client.send(create, anyTime);
    expect(outcome).toEqual({
      kind: 'created',
      siteJob: {
        siteJobId: '12',
        url: new URL('/jobs/12', site.url).href,
        fields: { id: '12', title: 'Cook', 'created-at': '2024-03-01T10:00:00Z' },
        createdAt: new Date('2024-03-01T10:00:00Z'),
      },
    });
    expect(response).toEqual({ status: 201, location: '/jobs/12', body: job });
  });

  it.each([
    ['a job that was created', create, created, true],
    ['an accepted update', update, [200, {}, '<job/>'] as const, true],
    ['a create without an ID, which may be in doubt', create, [202] as const, false],
    ['a refusal', create, [422, {}, '<errors><error>Title is too long</error></errors>'] as const, false],
  ] as const)('records in brief, if asked to: %s', async (_name, request, answer, isBrief) => {
    await using site = await openSite(answer);
    await using client = openClient(site.url);
    const exchange = await client.send(request, { ...anyTime, isBriefIfDone: true });
    expect([exchange.request.body, exchange.response?.body === '']).toEqual([
      isBrief ? undefined : site.got[0]?.body,
      isBrief || answer[2] === undefined,
    ]);
    expect(exchange.response?.status).toBe(answer[0]);
  });

  it.each([
    [undefined, '<root><id>12</id><title>Chef</title><number>A</number></root>'],
    [{ element: 'vacancy', path: '/vacancies' }, '<vacancy><id>12</id><title>Chef</title></vacancy>'],
  ])('update: the job in the answer, as a site of %j names it', async (resource, body) => {
    await using site = await openSite([200, {}, body]);
    await using client = openClient(site.url, resource && { resource });
    expect((await client.send(update, anyTime)).siteJob).toMatchObject({ siteJobId: '12', fields: { title: 'Chef' } });
  });

  const locations: readonly [location: string | undefined, body: string][] = [
    ['https://elsewhere.test/board/jobs/12.xml', ''],
    ['/jobs/12.xml', ''],
    ['jobs/12', ''],
    ['/jobs/12/?locale=en', ''],
    [undefined, job],
    [undefined, '<job id="12"/>'],
    [undefined, '<job><job-id>12</job-id></job>'],
    [undefined, '<job><job_id>12</job_id></job>'],
  ];
  it.each(locations)('create: the ID from Location %s and body %s', async (location, body) => {
    await using site = await openSite([201, location === undefined ? xml : { location }, body]);
    await using client = openClient(site.url);
    expect((await client.send(create, anyTime)).outcome).toMatchObject({
      kind: 'created',
      siteJob: { siteJobId: '12' },
    });
  });

  it.each([
    ['200, empty', [200]],
    ['200, blank, labelled HTML', [200, { 'content-type': 'text/html' }, ' ']],
    ['200, the job', [200, xml, job]],
    ['200, odd', [200, { 'content-type': 'text/plain' }, 'OK']],
    ['204', [204]],
  ] as [string, Reply][])('rules 3 and 5: update and delete accept %s', async (_name, reply) => {
    await using site = await openSite(reply);
    await using client = openClient(site.url);
    for (const request of [update, remove])
      expect((await client.send(request, anyTime)).outcome).toEqual({ kind: 'accepted' });
  });

  it('show: 200 with the XML of the job; 404 means it does not exist; anything else tells nothing', async () => {
    let reply: Reply = [200, xml, job];
    await using site = await openSite(() => reply);
    await using client = openClient(site.url);
    expect(await client.show(siteJobId('12'))).toMatchObject({ siteJobId: '12', fields: { title: 'Cook' } });
    expect(site.got[0]).toMatchObject({ method: 'GET', url: '/jobs/12.xml', body: '' });
    expect(site.got[0]?.headers['content-type']).toBeUndefined();
    // A site may tell the ID of a job in its URL only.
    reply = [200, xml, '<job><title>Cook</title></job>'];
    expect(await client.show(siteJobId('12'))).toEqual({ siteJobId: '12', fields: { title: 'Cook' } });
    reply = [404];
    expect(await client.show(siteJobId('12'))).toBeUndefined();
    for (const [odd, message] of [
      [[500], 'it answered 500'],
      [[401], 'it answered 401'],
      [[200, xml, '<html/>'], 'is not the XML of a job'],
      [[200, xml, '<job/>'], 'is not the XML of a job'],
      [[302, { location: '/x' }], 'it answered 302'],
    ] as [Reply, string][]) {
      reply = odd;
      await expect(client.show(siteJobId('12'))).rejects.toThrow(message);
    }
  });
});

describe('section 7: errors', () => {
  it.each([200, 400, 406, 409, 422, 500])('rules 1 and 2: validation errors under %i', async (status) => {
    const body = '<errors><error field="title">is blank</error></errors>';
    await using site = await openSite([status, xml, body]);
    await using client = openClient(site.url);
    const { outcome, response } = await client.send(create, anyTime);
    expect(outcome).toEqual({ kind: 'rejected', problems: [{ field: 'title', message: 'is blank' }] });
    expect(response).toEqual({ status, body });
  });

  it('rule 3: an unreadable answer is kept and shown unchanged', async () => {
    await using site = await openSite([422, { 'content-type': 'application/json' }, '{"title":["is blank"]}']);
    await using client = openClient(site.url);
    const { outcome } = await client.send(create, anyTime);
    expect(outcome).toEqual({ kind: 'rejected', problems: [{ message: '{"title":["is blank"]}' }] });
  });

  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': 'Fri, 01 Mar 2024 10:00:30 GMT', date: 'Fri, 01 Mar 2024 10:00:00 GMT' }, 30_000],
    [{ 'retry-after': '999999' }, 3_600_000],
  ])('RFC 9110, 10.2.3: 503 with %j', async (headers, retryAfterMs) => {
    await using site = await openSite([503, headers as Record<string, string>]);
    await using client = openClient(site.url);
    expect((await client.send(create, anyTime)).outcome).toEqual({ kind: 'throttled', retryAfterMs });
  });
});

describe('probe', () => {
  const page = '<!DOCTYPE html><html><head><title>Sign\n in</title></head></html>';
  const html = { 'content-type': 'text/html; charset=utf-8' };
  const jobs = '<jobs type="array"><job><id>1</id></job></jobs>';

  it.each([
    ['a list', [200, xml, jobs], 'accepted', true, '200, application/xml, the element jobs: a list of jobs'],
    ['an empty list', [200, xml, '<nil-classes type="array"/>'], 'accepted', true, 'a list of jobs'],
    ['a page', [200, html, page], 'misconfigured', false, '200, text/html, the page "Sign in": not the XML'],
    ['a page labelled as XML', [200, xml, page], 'misconfigured', false, 'the page "Sign in"'],
    ['a page without a title', [200, html, '<p>hello</p>'], 'misconfigured', false, 'a page without a title'],
    ['a missing page', [404, html, page], 'misconfigured', false, '404, text/html, the page "Sign in"'],
    ['no such list', [404, {}, ''], 'misconfigured', true, '404, no content type, empty'],
    ['other XML', [200, xml, '<status>up</status>'], 'misconfigured', true, 'the element status: not the XML'],
    ['one job', [200, xml, job], 'misconfigured', true, 'the element job: not the XML'],
    ['text', [200, { 'content-type': 'text/plain' }, 'up'], 'misconfigured', true, '200, text/plain: not the XML'],
    [
      '401',
      [401, xml, jobs],
      'unauthorized',
      false,
      'does not accept the token (401): the token or the password was changed',
    ],
    ['403', [403, xml, jobs], 'forbidden', false, 'may not read this address'],
    ['429', [429, {}, ''], 'throttled', false, 'asks to wait'],
    ['503', [503, {}, ''], 'throttled', false, 'asks to wait'],
    ['500', [500, html, page], 'unknown', false, '500, text/html, the page "Sign in"'],
    ['a login', [302, { location: '/login?next=x' }, ''], 'misconfigured', false, '/login. Redirects are not followed'],
    ['a redirect without a target', [304, {}, ''], 'misconfigured', false, 'redirects to nowhere'],
  ] as const)('of a list action, %s', async (_name, reply, kind, mayResume, message) => {
    await using site = await openSite(reply as Reply);
    await using client = openClient(new URL('/board', site.url), { listPath: 'mine.xml?open=1' });
    expect(await client.probe()).toEqual({
      kind,
      mayResume,
      found: kind === 'accepted',
      message: expect.stringContaining(message),
    });
    expect(site.got.map(({ method, url }) => [method, url])).toEqual([['GET', '/board/mine.xml?open=1']]);
  });

  it.each([
    ['a list', [200, xml, jobs], 'accepted', true, '200, application/xml, the element jobs: no more'],
    ['an empty answer', [200, {}, ''], 'accepted', true, 'no more can be proven without list_path'],
    ['nothing to read there', [404, { 'content-type': 'text/plain' }, 'no'], 'accepted', true, 'without list_path'],
    ['another method expected', [405, {}, ''], 'accepted', true, 'without list_path'],
    ['a page', [200, html, page], 'misconfigured', true, '200, text/html, the page "Sign in": a page proves nothing'],
    ['a missing page', [404, html, page], 'misconfigured', true, '404, text/html, the page "Sign in"'],
    ['401', [401, {}, ''], 'unauthorized', false, '(401)'],
    ['a login', [302, { location: '/login' }, ''], 'misconfigured', false, 'redirects to http://127.0.0.1'],
  ] as const)('without a list action, %s', async (_name, reply, kind, mayResume, message) => {
    await using site = await openSite(reply as Reply);
    await using client = openClient(site.url);
    expect(await client.probe()).toEqual({
      kind,
      mayResume,
      found: _name === 'a list',
      message: expect.stringContaining(message),
    });
    expect(site.got.map(({ method, url }) => [method, url])).toEqual([['GET', '/jobs.xml']]);
  });

  it('of a truncated list', async () => {
    await using site = await openSite([200, { ...xml, 'content-encoding': 'gzip' }, 'no gzip']);
    await using client = openClient(site.url, { listPath: '/jobs.xml' });
    expect(await client.probe()).toMatchObject({ kind: 'unknown', message: expect.stringContaining('decompressed') });
  });

  it.each([
    ['a refused connection', 'ECONNREFUSED', async () => closedUrl(), 60_000],
    ['an unknown host', 'host name', async () => new URL('http://no-such-host.invalid'), 60_000],
    ['a self-signed certificate', 'self-signed', async () => tls.url, 60_000],
    ['a handshake that never ends', '300 ms', async () => new URL(mute.url.href.replace('http:', 'https:')), 300],
    ['no answer', '300 ms', async () => mute.url, 300],
  ])('describes the cause as for a request: %s', async (_name, words, place, timeoutMs) => {
    await using client = openClient(await place(), { timeoutMs });
    const [{ outcome }, probed] = await Promise.all([client.send(create, anyTime), client.probe()]);
    const message = 'message' in outcome ? outcome.message : '';
    expect(message).toContain(words);
    expect(probed).toEqual({ kind: 'unreachable', mayResume: false, found: false, message });
  });

  let tls: Awaited<ReturnType<typeof openTlsSite>>;
  let mute: RawSite;
  beforeAll(async () => {
    tls = await openTlsSite();
    mute = await openRawSite(() => {});
  });
  afterAll(async () => {
    await tls[Symbol.asyncDispose]();
    await mute[Symbol.asyncDispose]();
  });
});

it('a field name that is not an element name is a configuration error: thrown, nothing sent', async () => {
  await using site = await openSite(created);
  await using client = openClient(site.url);
  await expect(client.send({ kind: 'create', fields: { 'a b': 'x' } }, anyTime)).rejects.toThrow(
    'The site field "a b"',
  );
  expect(site.got).toEqual([]);
});

describe('bodies', () => {
  it.each([
    ['gzip', { 'content-encoding': 'gzip' }, gzipSync(job)],
    ['UTF-16', xml, Buffer.from(`\uFEFF${job}`, 'utf16le')],
    ['UTF-16, big-endian', xml, Buffer.from(`\uFEFF${job}`, 'utf16le').swap16()],
    ['a byte order mark', xml, Buffer.from(`\uFEFF${job}`)],
    [
      'ISO-8859-1 by its header',
      { 'content-type': 'application/xml; charset=ISO-8859-1' },
      Buffer.from(job.replace('Cook', 'K\u00f6chin'), 'latin1'),
    ],
    [
      'ISO-8859-1 by its declaration',
      xml,
      Buffer.from(
        '<?xml version="1.0" encoding="iso-8859-1"?><job><id>12</id><title>K\u00f6chin</title></job>',
        'latin1',
      ),
    ],
    ['an unknown charset', { 'content-type': 'application/xml; charset=klingon' }, Buffer.from(job)],
  ] as [string, Record<string, string>, Buffer][])('reads %s', async (_name, headers, body) => {
    await using site = await openSite([201, headers, body]);
    await using client = openClient(site.url);
    const title = /K\u00f6chin/.test(body.toString('latin1')) ? 'K\u00f6chin' : 'Cook';
    const { outcome } = await client.send({ kind: 'create', fields: { title } }, anyTime);
    expect(outcome).toMatchObject({
      kind: 'created',
      siteJob: {
        siteJobId: '12',
        fields: { title: /K\u00f6chin/.test(body.toString('latin1')) ? 'K\u00f6chin' : 'Cook' },
      },
    });
  });

  it('records bodies cut at 64 KiB, pages at 8 KiB, without NUL', async () => {
    const page = `<!DOCTYPE html><html>\0${'ü'.repeat(50_000)}</html>`;
    let reply: Reply = [500, { 'content-type': 'text/html' }, page];
    await using site = await openSite(() => reply);
    await using client = openClient(site.url);
    const ofPage = (await client.send(create, anyTime)).response?.body ?? '';
    expect(Buffer.byteLength(ofPage)).toBeLessThanOrEqual(8192);
    expect(ofPage).toMatch(/^<!DOCTYPE html><html>\uFFFDü+\n\[cut: \d+ bytes in all\]$/);
    reply = [500, xml, 'x'.repeat(100_000)];
    expect((await client.send(create, anyTime)).response?.body).toHaveLength(65_536);
    const sent = await client.send({ kind: 'create', fields: { title: 'y'.repeat(100_000) } }, anyTime);
    expect(sent.request.body).toHaveLength(65_536);
  });
});

it('refuses a base URL with another scheme', () => {
  expect(() => openClient(new URL('ftp://site.test'))).toThrow(
    "The site's base_url must begin with http:// or https://, not with ftp:",
  );
});
