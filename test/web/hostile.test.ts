// biome-ignore-all lint/suspicious/noTemplateCurlyInString: one of the hostile texts holds ${}.
// Hostile requests over real HTTP: none succeeds, none is answered with 500, and nothing is changed.
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStage } from '../review/stage.ts';
import { byExtent, chosen } from '../support/extent.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForAll } from '../support/opened.ts';
import { type Answer, PASSWORD, rawRequest, serve, TOKENS } from './served.ts';
import { digestOf } from './whole-state.ts';

let entry: number;
const stage = openedForAll(() => openStage());
const served = openedForAll(() => serve(stage.mirror, { requestsPerMinute: 100_000 }));
beforeAll(async () => {
  await stage.pull([...postings(2), posting('odd', { state: 'Jalisco' })]);
  await stage.acceptAll();
  entry = await stage.entry('odd');
});

const bearer = (token: string = TOKENS.reviewer) => ({ Authorization: `Bearer ${token}` });
const JSON_TYPE = { 'Content-Type': 'application/json' };

interface Hostile {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

/** A refusal that says why, without a stack or a statement. */
function expectRefused(answer: Answer, from = 400, to = 499): void {
  expect(answer.status, answer.text.slice(0, 300)).toBeGreaterThanOrEqual(from);
  expect(answer.status, answer.text.slice(0, 300)).toBeLessThanOrEqual(to);
  expect(answer.text).not.toMatch(/\bat .*\.(?:ts|js):\d|select .* from|syntax error|node_modules/i);
  for (const token of Object.values(TOKENS)) expect(answer.text).not.toContain(token);
}

const TEXTS: readonly string[] = [
  "' or 1=1 --",
  "'; drop table change; --",
  '" or ""="',
  '1); delete from mapping; --',
  '$1',
  '%27%20or%201%3D1',
  '../../../../etc/passwd',
  '..\\..\\windows\\win.ini',
  '/etc/passwd',
  'file:///etc/passwd',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '${7*7}',
  '__proto__',
  'constructor',
  'toString',
  '-1',
  '0',
  '1e9',
  '9'.repeat(40),
  'NaN',
  'null',
  'undefined',
  'true',
  '[]',
  '\u0000',
  'a\u0000b',
  '\ufeff',
  '\u202e',
  'x'.repeat(3_000),
  '💥',
  '\r\nX-Evil: 1',
];

const encoded = (text: string): string => encodeURIComponent(text);

/**
 * Values in each place where a path or a query holds one; `npm test` takes each value in a third of the places. No list may be empty
 * of meaning: each must be refused.
 */
const IN_PATHS: readonly Hostile[] = chosen<Hostile>(
  TEXTS.flatMap((text) => [
    { path: `/api/v1/feeds/${encoded(text)}` },
    { path: `/api/v1/feeds/acme/postings/${encoded(text)}` },
    { path: `/api/v1/review/${encoded(text)}` },
    { path: `/api/v1/pulls/${encoded(text)}` },
    { method: 'POST', path: `/api/v1/sites/${encoded(text)}/resume` },
    { method: 'POST', path: `/api/v1/review/${encoded(text)}/discard` },
    { path: `/api/v1/feeds/acme/postings?cursor=${encoded(text)}` },
    { path: `/api/v1/review?kind=${encoded(text)}` },
    { path: `/api/v1/review/groups?group=${encoded(text)}` },
    { path: `/api/v1/review/actions/${encoded(text)}` },
    { method: 'POST', path: `/api/v1/review/actions/${encoded(text)}/stop` },
  ]),
  (_each, at) => at % 3 === 0,
);

const CURSORS = [
  {},
  [],
  5,
  { kind: 'held' },
  { kind: 'x', since: 1, id: 1 },
  { kind: 'held', since: -1, id: 1 },
  { kind: 'held', since: 1e300, id: 1 },
  { kind: 'held', since: 1, id: 1, more: 1 },
];

const PATHS: readonly Hostile[] = [
  '/api/v1/../../etc/passwd',
  '/api/v1/%2e%2e/%2e%2e/etc/passwd',
  '/api/v1/..%2f..%2fetc%2fpasswd',
  '/style.css/../../../package.json',
  '/%2e%2e/%2e%2e/package.json',
  '//etc/passwd',
  '/.env',
  '/.git/config',
  '/api/v1/%',
  '/api/v1/%zz',
  '/api/v1/feeds/%ff',
  '/api/v1/feeds/%c0%ae%c0%ae',
  '/api/v1/feeds/acme%00',
  '/api/v2/feeds',
  '/api/v1/',
  '/api/v1/feeds/acme/pulls/',
  '/admin',
  '/api/v1/openapi.json',
  '/api/v1/review?limit=0',
  '/api/v1/review?limit=-1',
  '/api/v1/review?limit=201',
  '/api/v1/review?limit=1&limit=2',
  '/api/v1/review?limit[]=1',
  '/api/v1/review?unknown=1',
  '/api/v1/review?__proto__=1',
  '/api/v1/review?feed=nothing',
  '/api/v1/review?site=nothing',
  '/api/v1/review?q=%00',
  `/api/v1/review?q=${'x'.repeat(300)}`,
  '/api/v1/feeds/acme/postings?state=everything',
  '/api/v1/feeds/acme/postings?q=%00',
  '/api/v1/feeds/nothing/postings',
  ...CURSORS.map((cursor) => `/api/v1/review?cursor=${Buffer.from(JSON.stringify(cursor)).toString('base64url')}`),
].map((path) => ({ path }));

const BODIES: readonly (string | Buffer)[] = [
  '{',
  'null',
  '[]',
  '5',
  '"text"',
  '{"fields":{}}',
  '{"fields":{"title":5}}',
  '{"fields":{"title":null}}',
  '{"fields":{"title":{"$gt":""}}}',
  '{"fields":{"title":"a\\u0000b"}}',
  '{"fields":{"title":"\\ud800"}}',
  '{"fields":{"__proto__":"x"}}',
  '{"__proto__":{"fields":{"title":"x"}}}',
  '{"fields":{"nothing":"x"}}',
  '{"fields":{"<script>":"x"}}',
  '{"fields":{"title":"x"},"actor":"root"}',
  '{"fields":{"title":"x"},"version":5}',
  '{"fields":{"title":"x"},"version":"1-1"}',
  `{"fields":{"title":"${'x'.repeat(300_000)}"}}`,
  `${'['.repeat(100_000)}`,
  `{"fields":{"title":"${'x'.repeat(2_000_000)}"}}`,
  Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
  Buffer.from('{"fields":{"title":"\u00e9"}}', 'latin1'),
  '',
];

const TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/json; charset=utf-16',
  '',
];

const METHODS: readonly Hostile[] = [
  ['DELETE', '/api/v1/feeds/acme'],
  ['PUT', '/api/v1/feeds/acme'],
  ['PATCH', '/api/v1/review'],
  ['POST', '/api/v1/feeds'],
  ['GET', '/api/v1/feeds/acme/pulls'],
  ['GET', '/api/v1/sites/board/resume'],
  ['OPTIONS', '/api/v1/feeds'],
  ['PROPFIND', '/'],
  ['TRACE', '/'],
  ['POST', '/healthz'],
  ['POST', '/'],
  ['DELETE', '/sign-in'],
].map(([method = '', path = '']) => ({ method, path }));

const STRANGERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { Authorization: 'Bearer' },
  { Authorization: 'Bearer ' },
  { Authorization: `Bearer ${'0'.repeat(40)}` },
  { Authorization: `Bearer ${'x'.repeat(10_000)}` },
  { Authorization: 'Basic YW5uYTpwYXNzd29yZA==' },
  { Authorization: "Bearer ' or 1=1" },
  { Authorization: 'Bearer undefined' },
  { Cookie: 'jobmirror_session=' },
  { Cookie: `jobmirror_session=${'A'.repeat(43)}` },
  { Cookie: `jobmirror_session=${"'".repeat(43)}` },
  { Cookie: `jobmirror_session=${'x'.repeat(4_000)}` },
  { 'X-Forwarded-User': 'anna' },
  { 'X-Forwarded-For': '127.0.0.1' },
  { 'X-Api-Key': 'x' },
];

const MANY: readonly string[] = [
  '{}',
  '{"action":"discard"}',
  '{"action":"discard","filter":{}}',
  '{"action":"discard","filter":{},"expected":0}',
  '{"action":"discard","filter":{},"expected":"1"}',
  '{"action":"discard","filter":{},"expected":2}',
  '{"action":"discard","filter":{"kinds":[]},"expected":1}',
  '{"action":"discard","filter":{"kinds":["everything"]},"expected":1}',
  '{"action":"discard","filter":{"group":"\' or 1=1"},"expected":1}',
  '{"action":"discard","filter":{"feed":"nothing"},"expected":1}',
  '{"action":"discard","filter":{"q":"\\u0000"},"expected":1}',
  '{"action":"discard","filter":{"discarded":true},"expected":1}',
  '{"action":"discard","filter":{},"expected":1,"actor":"root"}',
  '{"action":"delete","filter":{},"expected":1}',
  '{"action":"edit","filter":{},"expected":1}',
  '{"action":"edit","filter":{},"expected":1,"edit":{}}',
  '{"action":"edit","filter":{},"expected":1,"edit":{"set":{}}}',
  '{"action":"edit","filter":{},"expected":1,"edit":{"map":{"field":"<b>","values":{"a":"b"}}}}',
  '{"action":"retry","filter":{},"expected":1,"reason":"x"}',
];

describe('none succeeds', () => {
  it('with values in paths, queries, bodies, methods and headers', { timeout: 180_000 }, async () => {
    const id = entry;
    const hostile: Hostile[] = [
      ...[...IN_PATHS, ...PATHS, ...METHODS].map((request) => ({ ...request, headers: bearer() })),
      ...BODIES.map((body) => ({
        method: 'POST',
        path: `/api/v1/review/${id}/edit`,
        headers: { ...bearer(), ...JSON_TYPE },
        body,
      })),
      ...BODIES.slice(0, 5).map((body) => ({
        method: 'POST',
        path: `/api/v1/review/${id}/settle`,
        headers: { ...bearer(), ...JSON_TYPE },
        body,
      })),
      ...MANY.map((body) => ({
        method: 'POST',
        path: '/api/v1/review/actions',
        headers: { ...bearer(), ...JSON_TYPE },
        body,
      })),
      ...[TOKENS.reader, TOKENS.puller].map((token) => ({
        method: 'POST',
        path: '/api/v1/review/actions',
        headers: { ...bearer(token), ...JSON_TYPE },
        body: '{"action":"discard","filter":{},"expected":1}',
      })),
      ...TYPES.map((type) => ({
        method: 'POST',
        path: `/api/v1/review/${id}/edit`,
        headers: { ...bearer(), 'Content-Type': type },
        body: '{"fields":{"title":"x"}}',
      })),
      ...STRANGERS.flatMap((headers) => [
        { path: '/api/v1/feeds', headers },
        { method: 'POST', path: `/api/v1/review/${id}/discard`, headers },
      ]),
      ...[TOKENS.reader, TOKENS.puller].flatMap((token) =>
        ['edit', 'discard', 'retry', 'approve', 'reopen', 'settle'].map((action) => ({
          method: 'POST',
          path: `/api/v1/review/${id}/${action}`,
          headers: { ...bearer(token), ...JSON_TYPE },
          body: '{"fields":{"title":"x"}}',
        })),
      ),
      ...['', ' ', 'x'.repeat(300), 'caf\u00e9'].map((key) => ({
        method: 'POST',
        path: `/api/v1/review/${id}/discard`,
        headers: { ...bearer(), 'Idempotency-Key': key },
      })),
    ].filter(({ path }) => path !== '/api/v1/openapi.json');
    expect(hostile.length).toBeGreaterThan(byExtent(350, 230));
    const before = await digestOf(stage);
    for (const request of hostile) {
      const answer = await rawRequest(served.url, request).catch((error: Error) => error);
      // Node itself refuses some, and ends the connection.
      if (answer instanceof Error) {
        expect(answer.message).toMatch(/ECONNRESET|EPIPE|Invalid character|socket hang up|Parse Error/);
        continue;
      }
      expectRefused(answer);
    }
    expect(await digestOf(stage)).toBe(before);
  });

  it('a host that is none', async () => {
    for (const host of ['a b', 'x'.repeat(300), 'evil.example.com/path', '[::1', 'a@b', '<x>']) {
      const answer = await rawRequest(served.url, { path: '/', headers: { Host: host } }).catch(
        (error: Error) => error,
      );
      if (!(answer instanceof Error)) expect([host, answer.status >= 400 && answer.status < 500]).toEqual([host, true]);
    }
  });
});

describe('a browser that another page uses', () => {
  async function signIn(headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const body = new URLSearchParams({ name: 'anna', password: PASSWORD }).toString();
    return rawRequest(served.url, {
      method: 'POST',
      path: '/sign-in',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body,
    });
  }
  const cookieOf = (answer: Answer): string => (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const csrfOf = async (cookie: string): Promise<string> =>
    /name="csrf" value="([^"]+)"/.exec(
      (await rawRequest(served.url, { path: '/', headers: { Cookie: cookie } })).text,
    )?.[1] ?? '';

  it('signs in to a session in a protected cookie', async () => {
    const answer = await signIn({ Origin: served.url });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^jobmirror_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  it('cannot act without the CSRF token, or for another origin', async () => {
    const cookie = cookieOf(await signIn({ Origin: served.url }));
    const csrf = await csrfOf(cookie);
    expect(csrf).not.toBe('');
    const act = (headers: Readonly<Record<string, string>>) =>
      rawRequest(served.url, {
        method: 'POST',
        path: `/api/v1/review/${entry}/discard`,
        headers: { Cookie: cookie, ...headers },
      });
    const own = { Origin: served.url, 'X-CSRF-Token': csrf };
    const before = await digestOf(stage);
    const refused: readonly Readonly<Record<string, string>>[] = [
      {},
      { Origin: served.url },
      { 'X-CSRF-Token': csrf },
      { ...own, 'X-CSRF-Token': '' },
      { ...own, 'X-CSRF-Token': `${csrf}x` },
      { ...own, 'X-CSRF-Token': 'A'.repeat(43) },
      { ...own, Origin: 'null' },
      { ...own, Origin: 'https://evil.example.com' },
      { ...own, Origin: served.url.replace('http:', 'https:') },
      { ...own, Origin: `${served.url}.evil.example.com` },
      { ...own, Origin: served.url.replace('127.0.0.1', 'localhost') },
      { ...own, 'Sec-Fetch-Site': 'cross-site' },
      { ...own, 'Sec-Fetch-Site': 'same-site' },
      {
        ...own,
        Origin: 'https://evil.example.com',
        'X-Forwarded-Host': 'evil.example.com',
        'X-Forwarded-Proto': 'https',
      },
    ];
    for (const headers of refused) {
      expect((await act(headers)).status, JSON.stringify(headers)).toBe(403);
    }
    expect(await digestOf(stage)).toBe(before);
    expect((await act({ ...own, 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
    expect(await stage.app.db.query(`select actor from audit where action = 'discard'`)).toEqual([{ actor: 'anna' }]);
    await served.api('POST', `review/${entry}/reopen`);
  });

  it.each([[{}], [{ Origin: 'https://evil.example.com' }], [{ Origin: 'null' }], [{ 'Sec-Fetch-Site': 'cross-site' }]])(
    'cannot be signed in by %j unless it is no browser',
    async (headers: Readonly<Record<string, string>>) => {
      const answer = await signIn(headers);
      expect(answer.status).toBe(Object.keys(headers).length === 0 ? 303 : 403);
    },
  );

  it('keeps no session that was planted before signing in, and none after signing out', async () => {
    const planted = `jobmirror_session=${'B'.repeat(43)}`;
    const cookie = cookieOf(await signIn({ Origin: served.url, Cookie: planted }));
    expect(cookie).not.toBe(planted);
    const see = (value: string) => rawRequest(served.url, { path: '/', headers: { Cookie: value } });
    expect((await see(planted)).status).toBe(303);
    expect((await see(cookie)).status).toBe(200);
    const out = (body: string) =>
      rawRequest(served.url, {
        method: 'POST',
        path: '/sign-out',
        headers: { Cookie: cookie, Origin: served.url, 'Content-Type': 'application/x-www-form-urlencoded' },
        body,
      });
    expect((await out('csrf=x')).status).toBe(403);
    expect((await see(cookie)).status).toBe(200);
    expect((await out(`csrf=${await csrfOf(cookie)}`)).status).toBe(303);
    expect((await see(cookie)).status).toBe(303);
  });

  it('a session ends with the password, and after idling', async () => {
    const cookie = cookieOf(await signIn({ Origin: served.url }));
    const see = () => rawRequest(served.url, { path: '/', headers: { Cookie: cookie } });
    await stage.app.db.query(`update web_session set seen_at = now() - interval '13 hours'`);
    expect((await see()).status).toBe(303);
    await stage.app.db.query(`update web_session set seen_at = now(), credential = '\\x00'`);
    expect((await see()).status).toBe(303);
  });

  it('pages forbid scripts within them and from elsewhere, frames and guessing of types', async () => {
    for (const path of ['/', '/sign-in', '/style.css', '/icon.svg', '/nothing', '/api/v1/feeds']) {
      const { headers } = await rawRequest(served.url, { path });
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
      expect(headers.get('content-security-policy')).not.toMatch(/script-src(?! 'self';)|unsafe/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
  });

  it('wrong passwords are refused more and more, whatever the forwarded address says', async () => {
    const attempt = (n: number) =>
      rawRequest(served.url, {
        method: 'POST',
        path: '/sign-in',
        headers: {
          'Content-Type': 'application/x-www-form-urlencoded',
          Origin: served.url,
          'X-Forwarded-For': `10.0.0.${n}`,
        },
        body: new URLSearchParams({ name: 'ben', password: `wrong ${n}` }).toString(),
      });
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) statuses.push((await attempt(n)).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
  });
});

it('slow requests are cut off', { timeout: 60_000, tags: 'slow' }, async () => {
  const { hostname, port } = new URL(served.url);
  const startedAt = performance.now();
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write('GET /api/v1/feeds HTTP/1.1\r\nHost: x\r\nX-Slow: '),
    );
    const drip = setInterval(() => socket.write('x'), 500);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    // The server closes after its answer without reading what still arrives.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      resolve(text);
    });
  });
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});
