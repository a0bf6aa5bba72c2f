// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration itself contains ${NAME}.
// `jobmirror init`: writes a configuration that passes `check`, and shows what the first postings become.

import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { serveWeb } from '../feed/web-server.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

const SITE = 'https://jobs.example.com';
const TOKEN = { BOARD_TOKEN: 'zq-12345678' };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-init-'));
});
afterEach(() => rm(folder, { recursive: true }));

const run = (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<ProgramResult> =>
  runProgram({ folder, configPath: join(folder, 'jobmirror.yaml'), env }, ...args);
const init = (...args: readonly string[]): Promise<ProgramResult> => run({}, 'init', ...args);
const written = (): Promise<string> => readFile(join(folder, 'jobmirror.yaml'), 'utf8');

interface Written {
  readonly sites: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly feeds: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
const settings = async (): Promise<Written> => parse(await written()) as Written;

it('recognises a preset, writes a configuration that passes check, and shows the first three postings', async () => {
  await writeFile(join(folder, 'acme.xml.gz'), gzipSync(feedXml(postings(5))));
  const { out, errors, status } = await init('acme.xml.gz', '--site', SITE);
  expect({ errors, status }).toEqual({ errors: '', status: 0 });
  expect(out).toMatch(/^5 records in the beginning of the feed; the preset indeed fits: /);
  expect(out).toMatch(/^3\. p3 [\s\S]*?number +p3$/m);
  expect(out).not.toMatch(/^4\. /m);
  expect(out).toContain('acme: 5 records: 5 postings to send to site board, 0 rejected');
  expect(out).toMatch(/jobmirror\.yaml is written\.[\s\S]*export BOARD_TOKEN=…[\s\S]* check /);
  expect(await settings()).toMatchObject({
    sites: { board: { base_url: SITE, token: '${BOARD_TOKEN}', reference_field: 'number' } },
    feeds: { acme: { source: 'acme.xml.gz', format: 'indeed', site: 'board', schedule: '*/15 * * * *' } },
  });
  const checked = await run(TOKEN, 'check');
  expect(checked.out).toMatch(/jobmirror\.yaml is right\.$/m);
  expect(checked.status).toBe(0);
  expect(await readdir(folder)).toEqual(['acme.xml.gz', 'jobmirror.yaml']);
});

it('writes a commented format of its own where no preset fits', { tags: 'slow' }, async () => {
  const job = (id: number) => ({
    ident: `v${id}`,
    reference: 100 + id,
    headline: `Cook ${id}`,
    where: 'x',
    place: 'Austin, TX',
    text: 'x'.repeat(300),
  });
  await writeFile(join(folder, 'acme.json'), JSON.stringify({ data: { vacancies: [job(1), job(2)] } }));
  const { out, status } = await init('acme.json', '--site', SITE, '--name', 'globex', '--time-zone', 'America/Chicago');
  expect(status).toBe(0);
  expect(out).toContain(
    'no preset fits, so the configuration has a format of its own (json, data/vacancies), with the key reference',
  );
  expect((await settings()).feeds.globex).toMatchObject({
    time_zone: 'America/Chicago',
    format: {
      type: 'json',
      records: 'data/vacancies',
      key: 'reference',
      fields: { title: 'headline', description: 'text', 'location-state': { from: 'place', us_place: 'state' } },
    },
  });
  expect(await written()).toMatch(/# Paths in the records: ident, where$/m);
  expect((await run(TOKEN, 'check')).out).toMatch(/is right\.$/m);
});

it('enables what the sandbox has for a site on this machine, and names the file with the token', async () => {
  await writeFile(join(folder, 'acme.xml'), feedXml(postings(1)));
  await writeFile(join(folder, 'board.token'), 'zq-12345678');
  expect((await init('acme.xml', '--site', 'http://127.0.0.1:8081', '--token-file', 'board.token')).errors).toBe('');
  expect((await settings()).sites).toEqual({
    sandbox: {
      base_url: 'http://127.0.0.1:8081',
      token_file: 'board.token',
      reference_field: 'number',
      list_path: '/jobs.xml',
    },
  });
});

it('never replaces a file without --force', async () => {
  await writeFile(join(folder, 'acme.xml'), feedXml(postings(1)));
  await writeFile(join(folder, 'jobmirror.yaml'), 'mine: true\n');
  const refused = await init('acme.xml', '--site', SITE);
  expect(refused.errors).toMatch(/jobmirror\.yaml exists and stays as it is; .*--config FILE.*--force/);
  expect(refused.status).toBe(1);
  expect(await written()).toBe('mine: true\n');
  expect((await init('acme.xml', '--site', SITE, '--force')).status).toBe(0);
  expect(await written()).toContain('format: indeed');
});

it('without a terminal, names all options that are missing, and writes nothing', async () => {
  await writeFile(join(folder, 'list.csv'), 'What,Where,Pay\nCook,x,1\nCook,x,2\n');
  expect((await init()).errors).toContain('init needs the address or file of the feed');
  const { errors, status } = await init('list.csv');
  expect(errors).toMatch(/init needs --site URL.*; and --key PATH.*; and --field title=PATH.*; and --state STATE/);
  expect(status).toBe(1);
  expect(await readdir(folder)).toEqual(['list.csv']);
  const given = ['--site', SITE, '--key', 'Pay', '--field', 'title=What', '--state', 'Texas'];
  expect((await init('list.csv', ...given)).out).toContain('2 postings to send to site board, 0 rejected');
  expect((await settings()).feeds.list).toMatchObject({
    format: { type: 'csv', key: 'Pay', fields: { number: 'Pay', title: 'What', 'location-state': { value: 'Texas' } } },
  });
});

it('names what the key could be, and how to choose it', { tags: 'slow' }, async () => {
  const spare = Array.from({ length: 20 }, (_, at) => `Spare ${at}`);
  const rows = ['Cook\tTX\tA 1', 'Cook\tTX\tA 2', 'Clerk\tTX\tA 2', 'Cook\tTX\tA 2'];
  const cells = [['What:', 'State', 'Their/Ref', ...spare], ...rows.map((row) => [row, ...spare.map(() => 'x')])];
  await writeFile(join(folder, 'list.tsv'), cells.map((row) => `${row.join('\t')}\n`).join(''));
  const { errors } = await init('list.tsv', '--site', SITE, '--field', 'title=What:');
  expect(errors).toContain(
    `--key PATH, what identifies a posting (in the first 4 records: "What:" (2 different), "'Their/Ref'" (2 different), "State" (1 different), `,
  );
  expect(errors).toContain(', and 11 more; ');
  expect(errors).toMatch(
    /choose what differs in every record and never changes, such as --key What:; records with the same key are one posting/,
  );
});

it('takes every secret out of the address', async () => {
  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    const isLetIn = /zq-one/.test(url) && /zq%2Dtwo/.test(url) && /zq-three/.test(url) && /page=2/.test(url);
    response.writeHead(isLetIn ? 200 : 401, { 'content-type': 'application/xml' }).end(feedXml(postings(2)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const secrets = 'subscription-key=zq-one&page=2&client_secret=zq%2Dtwo&feed_key=zq-three';
    const address = `http://127.0.0.1:${port}/jobs?${secrets}`;
    const { out, errors, status } = await init(address, '--site', SITE, '--name', 'acme');
    expect({ errors, status }).toEqual({ errors: '', status: 0 });
    expect((await settings()).feeds.acme).toMatchObject({
      source: `http://127.0.0.1:${port}/jobs?page=2&client_secret=\${ACME_CLIENT_SECRET}&feed_key=\${ACME_FEED_KEY}`,
      credentials: { query: { name: 'subscription-key', value: '${ACME_KEY}' } },
    });
    for (const name of ['KEY', 'CLIENT_SECRET', 'FEED_KEY']) expect(out).toContain(`export ACME_${name}=…`);
    // The random name of the folder may hold any letters.
    for (const text of [await written(), out]) expect(text.replaceAll(folder, '')).not.toMatch(/zq/);
    // To recognise it, to try it, and to see what another answer has otherwise.
    expect(requests).toHaveLength(3);
  } finally {
    server.close();
  }
});

it('shows no password of an address that it cannot read', async () => {
  for (const [scheme, message] of [
    ['ftp', /ftp:\/\/files\.example\/jobs\.xml is no address or file that can be read; use http, .* sftp /],
    ['sftp', /init needs --host-key SHA256:…, .*ssh-keyscan files\.example/],
    ['s3', /init needs the access key in the environment/],
  ] as const) {
    const { errors } = await init(`${scheme}://anna:zq-pass@files.example/jobs.xml?t=zq-tok`, '--site', SITE);
    expect(errors).toMatch(message);
    expect(errors).not.toMatch(/zq-/);
  }
});

it.each([
  ['an unknown preset', ['--format', 'indeeed'], /there is no preset indeeed; docs\/formats\.md lists them: .*indeed/],
  [
    'a preset for other feeds',
    ['--format', 'greenhouse'],
    /no records with a key and a title for the preset greenhouse/,
  ],
  [
    'a wrong schedule',
    ['--schedule', 'daily'],
    /nothing is written, because the configuration would be wrong: feeds\.acme\.schedule/,
  ],
  ['a token file that is not there', ['--token-file', 'none.token'], /--token-file none\.token does not exist/],
  ['a site without scheme', ['--site', 'jobs.example.com'], /is no web address; it looks like https/],
])('refuses %s, and writes nothing', async (_what, args, message) => {
  await writeFile(join(folder, 'acme.xml'), feedXml(postings(2)));
  const site = args.includes('--site') ? [] : ['--site', SITE];
  const { errors, status } = await init('acme.xml', ...site, ...args);
  expect(errors).toMatch(message);
  expect(status).toBe(1);
  expect(await readdir(folder)).toEqual(['acme.xml']);
});

it.each([
  ['<!DOCTYPE html><html><title>Careers</title></html>', /it is an HTML page without postings as JSON \("Careers"\)/],
  [
    '<html><link rel="alternate" type="application/rss+xml" href="https://acme.example/jobs.rss?a=1&amp;b=2"></html>',
    /it names https:\/\/acme\.example\/jobs\.rss\?a=1&b=2: try that/,
  ],
  ['', /it is empty, or neither XML, JSON, a table/],
  ['{"a": [1, 2', /it begins like JSON, but is not valid/],
  ['<a><b><c>x</c></b></a>', /no records were found in it; name their path with --records, such as --records source/],
])('says why %j is not recognised', async (text, message) => {
  await writeFile(join(folder, 'acme'), text);
  expect((await init('acme', '--site', SITE)).errors).toMatch(message);
});

it('prints JSON objects: what was written, the first postings, the feed', async () => {
  await writeFile(join(folder, 'acme.xml'), feedXml(postings(2)));
  const [one, ...others] = (await init('acme.xml', '--site', SITE, '--json')).json();
  expect(one).toMatchObject({ feed: 'acme', site: 'board', format: 'indeed', schedule: '*/15 * * * *' });
  expect(others).toEqual([
    expect.objectContaining({ key: 'p1', problems: [] }),
    expect.objectContaining({ key: 'p2' }),
    expect.objectContaining({ feed: 'acme', complete: true, postings: 2 }),
  ]);
});

it.each([
  [10, '', true],
  [11, '', false],
  [10, ',"total":10', false],
])('notes that %i postings%s may be only the newest: %s', async (count, total, isNoted) => {
  const jobs = Array.from({ length: count }, (_, at) => ({ id: at + 1, jobTitle: `Cook ${at}`, state: 'TX' }));
  const server = await serveWeb((_, response) => response.end(`{"jobs":${JSON.stringify(jobs)}${total}}`));
  const { out } = await init(server.origin, '--site', SITE, '--name', 'acme').finally(() => server.close());
  expect(out.includes('as a list of only the newest ones has')).toBe(isNoted);
});

it('recognises the pages of an API, and writes no secret', { tags: 'slow' }, async () => {
  const requests: string[] = [];
  const answer = ({ url = '', headers }: IncomingMessage) => {
    requests.push(url);
    if (headers.authorization !== 'Bearer zq-header' || !url.includes('api_key=zq-query')) return undefined;
    const page = Number(new URL(url, 'http://x').searchParams.get('page') ?? 1);
    const jobs = page > 2 ? [] : [1, 2].map((at) => ({ id: page * 10 + at, jobTitle: `Cook ${at}`, state: 'TX' }));
    return { total: 4, page, jobs };
  };
  const server = createServer((request, response) => {
    const body = answer(request);
    response.writeHead(body === undefined ? 401 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}/jobs?api_key=zq-query`;
    const header = ['--header', 'Authorization: Bearer ${ATS_TOKEN}', '--site', SITE, '--name', 'acme-ats'];
    const { out, errors, status } = await run({ ATS_TOKEN: 'zq-header' }, 'init', address, ...header);
    expect({ errors, status }).toEqual({ errors: '', status: 0 });
    expect(out).toContain('acme-ats: 4 records: 4 postings to send to site board');
    expect(out).toContain('export ACME_ATS_KEY=…');
    expect((await settings()).feeds['acme-ats']).toMatchObject({
      source: `http://127.0.0.1:${port}/jobs`,
      headers: { Authorization: 'Bearer ${ATS_TOKEN}' },
      credentials: { query: { name: 'api_key', value: '${ACME_ATS_KEY}' } },
      format: { type: 'json', records: 'jobs', total: 'total', pages: { by: 'page', parameter: 'page' } },
    });
    for (const text of [await written(), out]) expect(text).not.toMatch(/zq-(?:header|query)/);
    expect(requests.length).toBeGreaterThan(2);
    const bare = await init(address, '--force', '--site', SITE, '--header', 'Authorization: Bearer zq-header');
    expect(bare.errors).toMatch(/the header Authorization is a secret.*environment variable/);
  } finally {
    server.close();
  }
});

it('recognises a page whose posting has no address, which is then that of the request', { tags: 'slow' }, async () => {
  const place = { address: { addressRegion: 'TX', addressCountry: 'US', addressLocality: 'Austin' } };
  const posting = { '@type': 'JobPosting', title: 'Nurse', description: 'Cares', jobLocation: place };
  const page = `<html><body><script type="application/ld+json">${JSON.stringify(posting)}</script></body></html>`;
  const server = createServer((_, response) => response.end(page)).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jobs?id=7`;
    const { out, errors } = await init(address, '--site', SITE, '--name', 'acme');
    expect(errors).toBe('');
    expect(out).toContain('the preset schema-org fits');
    expect(out).toContain('acme: 1 record: 1 posting to send to site board, 0 rejected');
    expect(out).toContain(`contact-web-address  ${address}`);
  } finally {
    server.close();
  }
});

const MINE = `# Our mirror.
database: embedded
sites:
  board: # the live one
    base_url: ${SITE}
    token: \${BOARD_TOKEN} # from the vault

feeds:
  # Do not touch.
  globex:
    source: globex.xml
    format: indeed # theirs
    site: board
`;

it('adds a feed to a configuration, keeps its comments, and leaves a copy', async () => {
  await writeFile(join(folder, 'acme.xml'), feedXml(postings(2)));
  await writeFile(join(folder, 'jobmirror.yaml'), MINE);
  const { out, errors, status } = await init('acme.xml');
  expect({ errors, status }).toEqual({ errors: '', status: 0 });
  expect(out).toContain('The feed acme is added to jobmirror.yaml; the former file is jobmirror.yaml.before-acme.');
  expect(await readFile(join(folder, 'jobmirror.yaml.before-acme'), 'utf8')).toBe(MINE);
  const text = await written();
  for (const comment of ['# Our mirror.', '# the live one', '# from the vault', '# Do not touch.', '# theirs']) {
    expect(text).toContain(comment);
  }
  expect(text).toMatch(/# The preset fills: /);
  expect(await settings()).toMatchObject({
    sites: { board: { base_url: SITE } },
    feeds: { globex: { format: 'indeed' }, acme: { source: 'acme.xml', format: 'indeed', site: 'board' } },
  });
  expect(Object.keys((await settings()).sites)).toEqual(['board']);
  await writeFile(join(folder, 'globex.xml'), feedXml(postings(1)));
  expect((await run(TOKEN, 'check')).out).toMatch(/is right\.$/m);
  const again = await init('acme.xml');
  expect(again.errors).toMatch(/jobmirror\.yaml has a feed acme already; choose another name with --name/);
  expect((await init('acme.xml', '--name', 'acme', '--site-name', 'x', '--force', '--site', SITE)).status).toBe(0);
});

it('adds the site, too, and asks which one of several is meant', async () => {
  await writeFile(join(folder, 'acme.xml'), feedXml(postings(2)));
  await writeFile(join(folder, 'jobmirror.yaml'), MINE);
  const other = ['--site', 'https://other.example', '--site-name', 'other', '--name', 'two'];
  expect((await init('acme.xml', ...other)).errors).toBe('');
  expect(await settings()).toMatchObject({
    sites: { board: {}, other: { base_url: 'https://other.example', token: '${OTHER_TOKEN}' } },
    feeds: { globex: { site: 'board' }, two: { site: 'other' } },
  });
  const unclear = await init('acme.xml', '--name', 'three');
  expect(unclear.errors).toMatch(/--site-name NAME, the site that gets the feed \(board, other\)/);
  expect((await init('acme.xml', '--name', 'three', '--site-name', 'board')).errors).toBe('');
  expect((await settings()).feeds.three).toMatchObject({ site: 'board' });
  const taken = await init('acme.xml', '--name', 'four', '--site', 'https://new.example', '--site-name', 'board');
  expect(taken.errors).toMatch(/has a site board already/);
});

it('leaves a file alone to which a feed cannot be added', async () => {
  await writeFile(join(folder, 'acme.xml'), feedXml(postings(2)));
  for (const text of ['feeds: [', 'only a text', `${MINE}  broken: { source: x, format: indeed }\n`]) {
    await writeFile(join(folder, 'jobmirror.yaml'), text);
    const { errors, status } = await init('acme.xml', '--site', SITE);
    expect(errors).toMatch(/jobmirror\.yaml exists and stays as it is; .*--config FILE.*--force/);
    expect(status).toBe(1);
    expect(await written()).toBe(text);
    expect((await readdir(folder)).sort()).toEqual(['acme.xml', 'jobmirror.yaml']);
  }
});

it('lists the paths with their values where it asks for one', async () => {
  await writeFile(join(folder, 'list.csv'), 'What,Where,Pay\nCook,Room 1,10\nMaid,Room 2,10\n');
  const { errors } = await init('list.csv', '--site', SITE);
  expect(errors).toMatch(/--field title=PATH/);
  expect(errors).toMatch(/^ {2}What +Cook \| Maid$/m);
  expect(errors).toMatch(/^ {2}Where +Room 1 \| Room 2$/m);
});

it('does not ask for a state that a column has under another name', async () => {
  const rows = 'Ref,Title,Sede,Sprache\n1,Cook,Texas,DE\n2,Maid,Ohio,DE\n';
  await writeFile(join(folder, 'list.csv'), rows);
  const { errors, out } = await init('list.csv', '--site', SITE, '--key', 'Ref');
  expect(errors).toBe('');
  expect(out).toContain('2 postings to send to site board, 0 rejected');
  expect((await settings()).feeds.list).toMatchObject({
    format: { fields: { 'location-state': { from: 'Sede', as: 'us_state' } } },
  });
});

it('ends with status 2 and a remedy when no posting would be sent', async () => {
  const item = (id: number) =>
    `<item><guid>j${id}</guid><title>Cook ${id}</title><link>https://j.example/${id}</link><office>HQ</office></item>`;
  await writeFile(join(folder, 'acme.rss'), `<rss><channel>${item(1)}${item(2)}</channel></rss>`);
  const { out, status } = await init('acme.rss', '--site', SITE);
  expect(status).toBe(2);
  expect(out).toMatch(/No posting would be sent: all 2 are rejected, most because of this: location-state is missing/);
  expect(out).toMatch(/--field location-state=PATH.*--state STATE/);
  expect(out).toMatch(/^ {2}office +HQ$/m);
  expect((await init('acme.rss', '--site', SITE, '--force', '--state', 'Texas')).status).toBe(0);
});

it('names the second choice', async () => {
  const jobs = [1, 2].map((id) => ({
    id,
    title: `Cook ${id}`,
    location: 'Austin, TX',
    description: `Text ${id}`,
    url: `https://e.example/${id}`,
  }));
  await writeFile(join(folder, 'acme.json'), JSON.stringify({ jobs }));
  const { out } = await init('acme.json', '--site', SITE);
  expect(out).toMatch(/Second choice: --format ashby, by which 2 of the first 2 records would be sent; it would lose /);
});
