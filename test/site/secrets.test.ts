// The token stands in nothing that the client hands back, however the site echoes it (design, law 7).
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { siteJobId } from '../../src/posting/identifiers.ts';
import { createScrubber, REMOVED } from '../../src/site/scrub.ts';
import { anyTime, create, openClient, openRawSite, openSite, remove, TOKEN, update } from './scripted-site.ts';

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

describe('a site that echoes the token everywhere', () => {
  const echo = forms.map(([, form]) => form).join(' ');
  const bodies = [
    `<job><id>12</id><title>${echo}</title></job>`,
    `<errors><error field="title" value="${echo}">${echo}</error></errors>`,
    echo,
    `<!DOCTYPE html><html>${echo}</html>`,
  ];
  it.each([200, 201, 301, 400, 401, 403, 404, 405, 422, 429, 500, 503])('%i', async (status) => {
    for (const body of bodies) {
      await using site = await openSite([
        status,
        { location: `/jobs/${encodeURIComponent(TOKEN)}?${encodeURIComponent(echo)}`, 'content-encoding': 'identity' },
        body,
      ]);
      await using client = openClient(site.url, { listPath: '/jobs.xml' });
      for (const request of [create, update, remove]) expect(search(await client.send(request, anyTime))).toEqual([]);
      expect(search(await client.list((siteJob) => expect(search(siteJob)).toEqual([])))).toEqual([]);
      const shown = await client.show(siteJobId('12')).catch((error: unknown) => error);
      expect(search(shown)).toEqual([]);
      expect(search(client)).toEqual([]);
      expect(site.got[0]?.headers.authorization).toContain(Buffer.from(`${TOKEN}:X`).toString('base64'));
    }
  });

  it('as the name of an unknown packing', async () => {
    await using site = await openSite([200, { 'content-encoding': forms[3]?.[1].toLowerCase() ?? '' }, 'x']);
    await using client = openClient(site.url);
    expect(search(await client.send(create, anyTime))).toEqual([]);
  });

  it('in place of HTTP', async () => {
    await using site = await openRawSite((socket) =>
      socket.once('data', () => socket.end(`${Buffer.from(`${TOKEN}:X`).toString('base64')}\r\n\r\n`)),
    );
    await using client = openClient(site.url);
    const exchange = await client.send(create, anyTime);
    expect(exchange.outcome.kind).toBe('unknown');
    expect(search(exchange)).toEqual([]);
  });
});

it('a token in a posting is sent, and not recorded', async () => {
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
    ['a b', 'a+b'],
    ['a"b\\c', 'a\\"b\\\\c'],
    ['(.*)+[x]', '(.*)+[x]'],
    ['padded', 'cGFkZGVkOlg='],
    ['padded', 'cGFkZGVkOlg'],
    ['four', 'Zm91cg=='],
  ])('%s as %s', (token, form) => expect(createScrubber(token)(`<${form}>${form}`)).toBe(`<${REMOVED}>${REMOVED}`));

  it('leaves other text as it is', () => expect(createScrubber('a.c')('abc a.d')).toBe('abc a.d'));
});
