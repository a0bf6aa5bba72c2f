// A site that echoes the token in every encoding that a response can carry: it appears in no table, log line or output.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, it, vi } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { openSite, type Reply, type ScriptedSite } from '../site/scripted-site.ts';
import { leavesOut } from '../support/extent.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { runSql } from '../support/sql.ts';

vi.setConfig({ testTimeout: 300_000 });

const TOKEN = 'canary+7f3a/9c=Q&z~';

const each = (write: (code: number) => string) => [...TOKEN].map((one) => write(one.charCodeAt(0))).join('');
const hex = (code: number, digits = 2) => code.toString(16).padStart(digits, '0');
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The token as text of XML, HTML or anything else. */
const TEXTS: Readonly<Record<string, string>> = {
  escaped: TOKEN.replace('&', '&amp;'),
  decimal: each((code) => `&#${code};`),
  hexadecimal: each((code) => `&#x${hex(code)};`),
  zeros: each((code) => `&#X000${hex(code).toUpperCase()};`),
  slash: TOKEN.replace('&', '&amp;').replace('/', '&#x2F;'),
  named: TOKEN.replace('&', '&amp;').replace('/', '&sol;').replace('+', '&plus;').replace('=', '&equals;'),
  twice: TOKEN.replace('&', '&amp;amp;').replace('/', '&amp;#x2F;').replace('+', '&amp;#43;'),
  thrice: TOKEN.replace('&', '&amp;amp;amp;').replace('/', '&amp;amp;#47;'),
  url: encodeURIComponent(TOKEN),
  octets: each((code) => `%${hex(code)}`),
  urltwice: encodeURIComponent(encodeURIComponent(TOKEN)),
  json: each((code) => `\\u${hex(code, 4)}`),
  jsonslash: TOKEN.replace('&', '\\u0026').replace('/', '\\/'),
  braces: each((code) => `\\u{${hex(code)}}`),
  base64: base64(TOKEN),
  credentials: base64(`${TOKEN}:X`),
  base64shifted: base64(`u=${TOKEN}; path=/`),
  base64shiftedtwice: base64(`user${TOKEN}!`),
  base64url: Buffer.from(`${TOKEN}:X`).toString('base64url'),
  base64wrapped: base64(`${TOKEN}:X`).replace(/(.{9})/g, '$1\n'),
  cdata: `<![CDATA[${TOKEN}]]>`,
  cdatas: `<![CDATA[${TOKEN.slice(0, 6)}]]><![CDATA[${TOKEN.slice(6)}]]>`,
  comment: `${TOKEN.slice(0, 6)}<!-- x -->${TOKEN.slice(6).replace('&', '&amp;')}`,
  upper: TOKEN.toUpperCase().replace('&', '&amp;'),
};

const xml = { 'content-type': 'application/xml' };
const errors = (echo: string) => `<errors><error field="title">Title: not for ${echo} here</error></errors>`;

/** Responses to a create; each posting has its own job number. */
const PLACES: Readonly<Record<string, (echo: string, siteJobId: string, key: string) => Reply>> = {
  error: (echo) => [422, xml, errors(echo)],
  page: (echo) => [403, { 'content-type': 'text/html' }, `<!DOCTYPE html><html><body><p>${echo}</p></body></html>`],
  json: (echo) => [400, { 'content-type': 'application/json' }, `{"error": "no", "for": "${echo}"}`],
  plain: (echo) => [500, { 'content-type': 'text/plain' }, `failed for ${echo}`],
  job: (echo, siteJobId, key) => [
    201,
    { ...xml, location: `/jobs/${siteJobId}` },
    `<job><id>${siteJobId}</id><number>${key}</number><owner>${echo}</owner></job>`,
  ],
};

/** The token in responses with another content encoding or charset, or in a header. */
const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');
const escapedErrors = errors(TOKEN.replace('&', '&amp;'));
const ANSWERS: Readonly<Record<string, Reply>> = {
  gzip: [422, { ...xml, 'content-encoding': 'gzip' }, gzipSync(escapedErrors)],
  deflate: [422, { ...xml, 'content-encoding': 'deflate' }, deflateSync(escapedErrors)],
  br: [422, { ...xml, 'content-encoding': 'br' }, brotliCompressSync(escapedErrors)],
  utf16le: [422, xml, utf16(escapedErrors)],
  utf16be: [422, xml, utf16(escapedErrors).swap16()],
  location: [
    302,
    { location: `http://${encodeURIComponent(TOKEN)}@127.0.0.1:1/jobs?token=${encodeURIComponent(TOKEN)}` },
    '',
  ],
  realm: [403, { 'www-authenticate': `Basic realm="${TOKEN}"`, 'x-token': base64(TOKEN) }, 'no'],
  after: [503, { 'retry-after': TOKEN }, 'later'],
};

/** Repeatedly decodes everything that a reader could decode, and searches it; independent of the code that removes the token. */
function shows(text: string): boolean {
  const desired = [TOKEN, TOKEN.toUpperCase()];
  let decoded = text;
  for (let round = 0; round < 6; round++) {
    if (desired.some((token) => decoded.includes(token))) return true;
    const runs = decoded.replace(/\\n|\s/g, '').match(/[A-Za-z0-9+/_-]{20,}/g) ?? [];
    if (
      runs.some((run) =>
        [0, 1, 2, 3].some((at) => Buffer.from(run.slice(at), 'base64').toString('latin1').includes(TOKEN)),
      )
    ) {
      return true;
    }
    decoded = decoded
      .replace(/<!\[CDATA\[|\]\]>|<!--.*?-->|\0/g, '')
      .replace(/&#x([0-9a-f]+);/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      .replace(/&(sol|plus|equals);/g, (_, name: string) => ({ sol: '/', plus: '+', equals: '=' })[name] ?? '')
      .replaceAll('&amp;', '&')
      .replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/\\+u\{?([0-9a-f]{2,4})\}?/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll('\\/', '/');
  }
  return false;
}

let mirror: Mirror;
let site: ScriptedSite;
afterEach(async () => {
  await mirror?.close();
  await site?.[Symbol.asyncDispose]();
});

it('the search finds each of them', () => {
  for (const [name, text] of Object.entries(TEXTS)) expect([name, shows(`before ${text} after`)]).toEqual([name, true]);
  expect(shows('canary and nothing else')).toBe(false);
});

it('appears in no table, log line or output', async () => {
  const keys = [
    ...Object.keys(PLACES).flatMap((place) => Object.keys(TEXTS).map((name) => `${place}-${name}`)),
    ...Object.keys(ANSWERS).map((name) => `answer-${name}`),
  ];
  site = await openSite(({ method, body }) => {
    if (method !== 'POST') return [404, {}, ''];
    const key = /<number>([^<]*)</.exec(body)?.[1] ?? '';
    const [place = '', name = ''] = key.split('-');
    if (place === 'answer') return ANSWERS[name] ?? [500];
    return PLACES[place]?.(TEXTS[name] ?? '', String(1_000 + keys.indexOf(key)), key) ?? [500];
  });
  mirror = await openMirror({
    site: {
      base_url: site.url.href,
      token: undefined,
      token_file: 'token',
      list_path: undefined,
      canary: '{ requests: 0 }',
      retry: '{ attempts: 1 }',
    },
  });
  await writeFile(join(mirror.folder, 'token'), TOKEN, { mode: 0o600 });
  await mirror.writeFeed(feedXml(keys.map((key) => posting(key))));
  const printed: string[] = [];
  const run = async (...args: readonly string[]) => {
    const { out, errors: log } = await runProgram(mirror, ...args);
    printed.push(out, log);
    return out;
  };
  await run('sync', '--verbose');
  for (const command of ['status', 'status --json', 'pulls --json', 'review list', 'mappings export', 'check']) {
    await run(...command.split(' '));
  }
  const entries = (await run('review', 'list', '--json'))
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  // Every create that was not accepted is listed, so every response was read.
  const accepted = Object.keys(TEXTS).length;
  expect(entries.length).toBeGreaterThanOrEqual(keys.length - accepted - 1);
  // What is shown is what is stored, which the tables below prove for every response: `npm test` shows one in ten.
  for (const [at, { id }] of entries.entries()) {
    if (!leavesOut(at, 0, 10)) await run('review', 'show', String(id), '--json');
  }
  await run('review', 'show', String(entries[0].id));
  for (const key of ['error-slash', 'page-cdatas', 'job-decimal', 'answer-br']) await run('why', 'acme', key);
  expect(printed.join('\n')).toContain('Title: not for [token removed] here');
  for (const text of printed) expect(shows(text) ? text : '').toBe('');

  const tables = await runSql<{ name: string }>(
    mirror.env.DATABASE_URL ?? '',
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'queue')`,
  );
  for (const { name } of tables) {
    const rows = await runSql<{ row: string }>(mirror.env.DATABASE_URL ?? '', `select t::text as row from ${name} t`);
    expect([name, ...rows.map(({ row }) => row).filter(shows)]).toEqual([name]);
  }
});
