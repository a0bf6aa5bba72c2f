// Who is let in: behind a reverse proxy, without users and tokens, and by role.
import { afterEach, describe, expect, it } from 'vitest';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { PASSWORD, rawRequest, type Served, type ServeOptions, serve } from './served.ts';

let served: Served;
const mirror = openedForEach(() => openMirror());
afterEach(() => served.close());
const start = async (options: ServeOptions = {}) => {
  served = await serve(mirror, options);
};
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const signIn = (headers: Readonly<Record<string, string>>, name = 'anna') =>
  rawRequest(served.url, {
    method: 'POST',
    path: '/sign-in',
    headers: { ...FORM, ...headers },
    body: new URLSearchParams({ name, password: PASSWORD }).toString(),
  });

describe('behind a reverse proxy', () => {
  const FORWARDED = {
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'jobs.example.com',
    'X-Forwarded-Prefix': '/mirror',
    'X-Forwarded-For': '203.0.113.9',
  };

  it('that is trusted: its address, scheme and path count', async () => {
    await start({ trustedProxies: ['127.0.0.0/8'] });
    const answer = await signIn({ ...FORWARDED, Origin: 'https://jobs.example.com' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/mirror/']);
    expect(answer.headers.get('set-cookie')).toMatch(/; Path=\/mirror; HttpOnly; Secure; SameSite=Strict$/);
    expect((await signIn({ ...FORWARDED, Origin: served.url })).status).toBe(403);
    const page = await rawRequest(served.url, { path: '/sign-in', headers: FORWARDED });
    expect(page.text).toContain('action="/mirror/sign-in"');
    expect(page.text).toContain('href="/mirror/style.css"');
    expect(page.text).toContain('<link rel="icon" href="/mirror/icon.svg" type="image/svg+xml"/>');
    const icon = await served.api('GET', '/icon.svg', undefined, { as: null });
    expect([icon.status, icon.headers.get('content-type'), icon.text]).toEqual([
      200,
      'image/svg+xml',
      expect.stringMatching(/^<svg .*<\/svg>$/),
    ]);
    const document = await rawRequest(served.url, { path: '/openapi.json', headers: FORWARDED });
    expect(document.body.servers).toEqual([{ url: 'https://jobs.example.com/mirror/api/v1' }]);
  });

  it('that is trusted: each of its clients has attempts of its own', async () => {
    await start({ trustedProxies: ['127.0.0.1'] });
    const wrong = (address: string) =>
      rawRequest(served.url, {
        method: 'POST',
        path: '/sign-in',
        headers: { ...FORM, Origin: served.url, 'X-Forwarded-For': address },
        body: 'name=anna&password=wrong',
      });
    for (let n = 0; n < 10; n++) await wrong('203.0.113.9');
    expect((await wrong('203.0.113.9')).status).toBe(429);
    // All addresses of a network of 64 bits are one, however they are written.
    for (let n = 0; n < 10; n++) await wrong(`2001:db8::a:${n.toString(16)}`);
    expect((await wrong('2001:db8:0:0:7::1')).status).toBe(429);
    expect((await wrong('2001:db8:0:1::1')).status).not.toBe(429);
    // What a client claims before its own address changes nothing.
    expect((await wrong('198.51.100.7, 203.0.113.9')).status).toBe(429);
    expect((await wrong('198.51.100.7')).status).toBe(401);
  });

  it('that is not: its headers are ignored', async () => {
    await start();
    const answer = await signIn({ ...FORWARDED, Origin: served.url });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    expect(answer.headers.get('set-cookie')).not.toContain('Secure');
    expect((await signIn({ ...FORWARDED, Origin: 'https://jobs.example.com' })).status).toBe(403);
  });

  it('that is trusted and sends nonsense is told so', async () => {
    await start({ trustedProxies: ['127.0.0.1'] });
    const nonsense: readonly Readonly<Record<string, string>>[] = [
      { 'X-Forwarded-Prefix': '//evil.example.com' },
      { 'X-Forwarded-Prefix': '/../x' },
      { 'X-Forwarded-Prefix': '/"><script>' },
      { 'X-Forwarded-Proto': 'javascript' },
      { 'X-Forwarded-Host': 'a b' },
    ];
    for (const headers of nonsense)
      expect([headers, (await rawRequest(served.url, { path: '/sign-in', headers })).status]).toEqual([headers, 400]);
  });
});

describe('without users and tokens', () => {
  const ask = (headers: Readonly<Record<string, string>>, method = 'GET', path = '/api/v1/feeds') =>
    rawRequest(served.url, { method, path, headers });

  it('everyone on this machine may do everything, by its own names only', async () => {
    await start({ open: true });
    const port = new URL(served.url).port;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`]) {
      expect([host, (await ask({ Host: host })).status]).toEqual([host, 200]);
    }
    for (const host of ['evil.example.com', `127.0.0.1.evil.example.com:${port}`, 'localhost.example.com']) {
      expect([host, (await ask({ Host: host })).status]).toEqual([host, 403]);
    }
    expect((await ask({}, 'POST', '/api/v1/sites/board/resume')).status).toBe(200);
    expect((await ask({}, 'GET', '/')).text).toContain('<h1>Overview</h1>');
    expect(await served.app.db.query('select actor, action from audit')).toEqual([
      { actor: 'local', action: 'resume' },
    ]);
  });

  it('nobody comes in through a proxy', async () => {
    await start({ open: true });
    for (const header of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'Via']) {
      const { status, body } = await ask({ [header]: '203.0.113.9' });
      expect([header, status, body.detail]).toEqual([header, 403, expect.stringContaining('configure them')]);
      expect([header, (await ask({ [header]: '203.0.113.9' }, 'GET', '/')).status]).toEqual([header, 403]);
    }
  });

  it('pages elsewhere can change nothing', async () => {
    await start({ open: true });
    for (const headers of [
      { Origin: 'https://evil.example.com' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ] as Readonly<Record<string, string>>[]) {
      expect((await ask(headers, 'POST', '/api/v1/sites/board/resume')).status).toBe(403);
    }
    expect(await served.app.db.query('select from audit')).toEqual([]);
  });
});

it('a viewer sees, and changes nothing', async () => {
  await start();
  const cookie = ((await signIn({ Origin: served.url }, 'ben')).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const page = await rawRequest(served.url, { path: '/', headers: { Cookie: cookie } });
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page.text) ?? [];
  expect((await rawRequest(served.url, { path: '/api/v1/feeds', headers: { Cookie: cookie } })).status).toBe(200);
  const headers = { Cookie: cookie, Origin: served.url, 'X-CSRF-Token': csrf };
  const answer = await rawRequest(served.url, { method: 'POST', path: '/api/v1/sites/board/resume', headers });
  expect([answer.status, answer.body.detail]).toEqual([403, 'ben lacks the scope review, which this needs']);
});

it('names are shown as text', async () => {
  await start();
  const answer = await rawRequest(served.url, {
    method: 'POST',
    path: '/sign-in',
    headers: { ...FORM, Origin: served.url },
    body: new URLSearchParams({ name: '"><script>alert(1)</script>', password: 'x' }).toString(),
  });
  expect(answer.status).toBe(401);
  expect(answer.text).not.toContain('<script>');
  expect(answer.text).toContain('&lt;script&gt;');
});

it('everyone who asks for a page at the same time gets it as their own', async () => {
  await start();
  const names = ['anna', 'anna', 'ben', 'ada'];
  const cookies: string[] = [];
  for (const name of names) {
    cookies.push(((await signIn({ Origin: served.url }, name)).headers.get('set-cookie') ?? '').split(';')[0] ?? '');
  }
  const shownTo = async (cookie: string) => {
    const { text } = await rawRequest(served.url, { path: '/', headers: { Cookie: cookie } });
    const [, name] = /class="account">.*?<span>([^<]*)</.exec(text) ?? [];
    const tokens = new Set([...text.matchAll(/name="csrf" value="([^"]+)"/g)].map(([, token]) => token));
    return { name, tokens: [...tokens], maySee: text.includes('Stop everything') };
  };
  const alone: Awaited<ReturnType<typeof shownTo>>[] = [];
  for (const cookie of cookies) alone.push(await shownTo(cookie));
  expect(alone.map(({ name, maySee }) => [name, maySee])).toEqual([
    ['anna', true],
    ['anna', true],
    ['ben', false],
    ['ada', true],
  ]);
  expect(new Set(alone.flatMap(({ tokens }) => tokens)).size).toBe(4);
  const all = Array.from({ length: 5 }, () => cookies).flat();
  expect(await Promise.all(all.map(shownTo))).toEqual(all.map((_, n) => alone[n % 4]));
});
