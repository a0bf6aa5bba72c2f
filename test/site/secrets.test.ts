// Nothing that the client returns contains the token, however the site echoes it (docs/reliability.md, law 7).
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { siteJobId } from '../../src/posting/identifiers.ts';
import { createScrubber, REMOVED } from '../../src/site/http/scrub-exchange.ts';
import { leavesOut } from '../support/extent.ts';
import {
  anyTime,
  create,
  openClient,
  openRawSite,
  openSite,
  type Reply,
  remove,
  TOKEN,
  update,
} from './scripted-site.ts';

const forms: readonly [name: string, text: string][] = [
  ['plain', TOKEN],
  ['URL-encoded', encodeURIComponent(TOKEN)],
  ['URL-encoded in lower case', encodeURIComponent(TOKEN).replace(/%../g, (octet) => octet.toLowerCase())],
  ['Basic credentials', Buffer.from(`${TOKEN}:X`).toString('base64')],
  ['Basic credentials for a URL', Buffer.from(`${TOKEN}:X`).toString('base64url')],
  ['Base64', Buffer.from(TOKEN).toString('base64')],
  ['Base64, URL-encoded', encodeURIComponent(Buffer.from(TOKEN).toString('base64'))],
];
const search = (value: unknown): string[] => {
  const text = inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null });
  return forms.filter(([, form]) => text.includes(form)).map(([name]) => name);
};

// One client for all answers: it takes long to build the patterns that find a token.
let answer: Reply;
let site: Awaited<ReturnType<typeof openSite>>;
let client: ReturnType<typeof openClient>;
beforeAll(async () => {
  site = await openSite(() => answer);
  client = openClient(site.url, { listPath: '/jobs.xml' });
});
afterAll(async () => {
  await client.close();
  await site[Symbol.asyncDispose]();
});

describe('a site that echoes the token everywhere', () => {
  const echo = forms.map(([, form]) => form).join(' ');
  const bodies = [
    `<job><id>12</id><title>${echo}</title></job>`,
    `<errors><error field="title" value="${echo}">${echo}</error></errors>`,
    echo,
    `<!DOCTYPE html><html>${echo}</html>`,
  ];
  it.each([200, 201, 301, 400, 401, 403, 404, 405, 422, 429, 500, 503])('%i', async (status) => {
    // What a site answers most, always with each body; `npm test` and CI try the others with one.
    const chosen = bodies.filter((_, at) => [200, 422].includes(status) || !leavesOut(at, status % 4, 4));
    for (const body of chosen) {
      answer = [
        status,
        { location: `/jobs/${encodeURIComponent(TOKEN)}?${encodeURIComponent(echo)}`, 'content-encoding': 'identity' },
        body,
      ];
      for (const request of [create, update, remove]) expect(search(await client.send(request, anyTime))).toEqual([]);
      expect(search(await client.list((siteJob) => expect(search(siteJob)).toEqual([])))).toEqual([]);
      const shown = await client.show(siteJobId('12')).catch((error: unknown) => error);
      expect(search(shown)).toEqual([]);
      expect(search(client)).toEqual([]);
      expect(site.got.at(-1)?.headers.authorization).toContain(Buffer.from(`${TOKEN}:X`).toString('base64'));
    }
  });

  it('as the name of an unknown content encoding', async () => {
    await using site = await openSite([200, { 'content-encoding': forms[3]?.[1].toLowerCase() ?? '' }, 'x']);
    await using client = openClient(site.url);
    expect(search(await client.send(create, anyTime))).toEqual([]);
  });

  it('instead of HTTP', async () => {
    await using site = await openRawSite((socket) =>
      socket.once('data', () => socket.end(`${Buffer.from(`${TOKEN}:X`).toString('base64')}\r\n\r\n`)),
    );
    await using client = openClient(site.url);
    const exchange = await client.send(create, anyTime);
    expect(exchange.outcome.kind).toBe('unknown');
    expect(search(exchange)).toEqual([]);
  });
});

it('a token in a posting is sent, but not recorded', async () => {
  await using site = await openSite([400]);
  await using client = openClient(site.url);
  const exchange = await client.send(
    { kind: 'update', siteJobId: siteJobId(TOKEN), fields: { title: TOKEN } },
    anyTime,
  );
  expect(site.got[0]?.body).toContain(TOKEN);
  expect(search(exchange)).toEqual([]);
  expect(exchange.request.body).toContain(REMOVED);
});

describe('createScrubber', () => {
  it.each([
    ['a&b<c>"d\'', 'a&amp;b&lt;c&gt;"d\''],
    ['a&b<c>"d\'', 'a&amp;b&lt;c&gt;&quot;d&#39;'],
    ['a long token', 'a+long+token'],
    ['a"b\\c', 'a\\"b\\\\c'],
    ['(.*)+[x]', '(.*)+[x]'],
    ['padded', 'cGFkZGVkOlg='],
    ['padded', 'cGFkZGVkOlg'],
    ['four', 'Zm91cg=='],
  ])('%s as %s', (token, form) => expect(createScrubber(token)(`<${form}>${form}`)).toBe(`<${REMOVED}>${REMOVED}`));

  it('leaves other text as it is', () => expect(createScrubber('a.c')('abc a.d')).toBe('abc a.d'));
});

describe('a token echoed in any encoding that an answer can carry', () => {
  const each = (write: (character: string, code: number) => string) =>
    [...TOKEN].map((character) => write(character, character.codePointAt(0) as number)).join('');
  const hex = (code: number) => code.toString(16);
  const utf8 = (character: string) => Buffer.from(character).toString('hex').match(/../g) ?? [];
  const encodings: readonly (readonly [string, string])[] = [
    ['decimal references', each((_, code) => `&#${code};`)],
    ['hexadecimal references', each((_, code) => `&#x${hex(code)};`)],
    ['upper-case hexadecimal with zeros', each((_, code) => `&#X00${hex(code).toUpperCase()};`)],
    ['a few references', TOKEN.replace('/', '&#x2F;').replace('7', '&#55;')],
    ['references, escaped again', TOKEN.replace('/', '&amp;#x2F;')],
    ['HTML entity names', TOKEN.replace('/', '&sol;').replace('+', '&plus;').replace('=', '&equals;')],
    ['JSON escapes', each((_, code) => `\\u${hex(code).padStart(4, '0')}`)],
    ['a JSON-escaped slash', TOKEN.replace('/', '\\/')],
    [
      'every octet percent-encoded',
      each((character) =>
        utf8(character)
          .map((octet) => `%${octet}`)
          .join(''),
      ),
    ],
    ['a URL in a URL', encodeURIComponent(encodeURIComponent(TOKEN))],
    ['two CDATA sections', `<![CDATA[${TOKEN.slice(0, 5)}]]><![CDATA[${TOKEN.slice(5)}]]>`],
    ['Base64 of a longer text', Buffer.from(`user=${TOKEN}; path=/`).toString('base64')],
    [
      'Base64, wrapped',
      Buffer.from(`${TOKEN}:X`)
        .toString('base64')
        .replace(/(.{10})/g, '$1\n'),
    ],
    ['upper case', TOKEN.toUpperCase()],
  ];
  it.each(encodings.map((each, at) => [...each, at] as const))('%s', async (_name, echo, at) => {
    expect(createScrubber(TOKEN)(`<a>${echo}</a>`)).toEqual(
      echo.startsWith('<!')
        ? `<a><![CDATA[${REMOVED}]]></a>`
        : expect.stringMatching(/^<a>\S*\[token removed\]\S*<\/a>$/),
    );
    const bodies = [`<errors><error>${echo}</error></errors>`, `<!DOCTYPE html><html><p>${echo}</p></html>`, echo];
    for (const body of bodies.filter((_, kind) => !leavesOut(at, kind, 3))) {
      answer = [422, { 'content-type': 'application/xml' }, body];
      const exchange = await client.send(create, anyTime);
      expect(search(exchange)).toEqual([]);
      expect(JSON.stringify(exchange)).not.toContain(echo);
    }
  });

  it.each(['utf16le', 'gzip'] as const)('%s', async (form) => {
    const text = `<errors><error>${TOKEN}</error></errors>`;
    const body = form === 'gzip' ? gzipSync(text) : Buffer.from(`\uFEFF${text}`, 'utf16le');
    await using site = await openSite([422, form === 'gzip' ? { 'content-encoding': 'gzip' } : {}, body]);
    await using client = openClient(site.url);
    const exchange = await client.send(create, anyTime);
    expect(exchange.outcome).toEqual({ kind: 'rejected', problems: [{ message: REMOVED }] });
    expect(search(exchange)).toEqual([]);
  });

  it('if a message ends within it', async () => {
    await using site = await openSite([422, {}, `<errors><error>${'x'.repeat(985)}${TOKEN}</error></errors>`]);
    await using client = openClient(site.url);
    expect(JSON.stringify(await client.send(create, anyTime))).not.toContain(TOKEN.slice(0, 8));
  });
});

describe('a token that itself contains markup or an escape', () => {
  const token = 'c4nary/T0ken+of&the<site>%7E?8533~';
  it.each([
    ['unchanged', token],
    ['escaped for a URL', encodeURIComponent(token)],
    ['escaped for a URL twice', encodeURIComponent(encodeURIComponent(token))],
    ['escaped for XML', token.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')],
    ['read as markup', token.replace('<site>', ' ')],
    ['read as markup, without a gap', token.replace('<site>', '')],
    ['in JSON', JSON.stringify(token).slice(1, -1)],
    ['in Base64', Buffer.from(token).toString('base64')],
  ])('is removed %s', (_name, text) => {
    expect(createScrubber(token)(`Title: not for ${text} at all`)).toBe(`Title: not for ${REMOVED} at all`);
  });
});

describe('a short token', () => {
  const openShort = (url: URL, token: string) =>
    openClient(url, { token: { reveal: () => token }, listPath: '/jobs.xml' });
  it.each(['7', 'abc', '1007', 'job', 'a'])(
    '%s, which appears in IDs and Location, does not disturb parsing',
    async (token) => {
      const id = `${token}-1007-abc`;
      await using site = await openSite((got) => [
        got.method === 'POST' ? 201 : 200,
        { location: `/jobs/${id}?key=${token}` },
        got.url.startsWith('/jobs.xml') && got.method === 'GET'
          ? `<jobs><job><id>${id}</id><title>a job abc 7</title></job></jobs>`
          : `<job><id>${id}</id><title>a job abc 7</title></job>`,
      ]);
      await using client = openShort(site.url, token);
      const sent = { kind: 'create', fields: { title: 'a job abc 7' } } as const;
      const { outcome, response } = await client.send(sent, anyTime);
      expect(outcome).toMatchObject({ kind: 'created', siteJob: { siteJobId: id, fields: { title: 'a job abc 7' } } });
      expect(response?.location).toBe(`/jobs/${id}?key=${REMOVED}`);
      expect(await client.show(siteJobId(id))).toMatchObject({ siteJobId: id, fields: { id } });
      const listed: unknown[] = [];
      expect((await client.list((siteJob) => listed.push(siteJob.siteJobId))).kind).toBe('listed');
      expect(listed).toEqual([id]);
    },
  );

  it.each(['7', 'abc', 'abc123'])('%s is removed where it is used as a credential', (token) => {
    const scrub = createScrubber(token);
    for (const text of [
      `token=${token}`,
      `<auth-token>${token}</auth-token>`,
      `{"token":"${token}"}`,
      `Token ${token} is bad`,
    ]) {
      expect(scrub(text)).toBe(text.replace(token, REMOVED));
    }
    expect(scrub(`Basic ${Buffer.from(`${token}:X`).toString('base64')}`)).toBe(`Basic ${REMOVED}`);
    expect(scrub(`x${token}y 17-7-abcd`)).toBe(`x${token}y 17-7-abcd`);
  });
});
