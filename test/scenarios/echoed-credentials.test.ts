// An API repeats its request in each record: no credential of a source reaches a job, a row, a page or a backup.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { sendJson, serveWeb } from '../feed/web-server.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { runSql } from '../support/sql.ts';
import { serve } from '../web/served.ts';

const KEY = 'k3y/of+the&feed?9f8e';
const FORMS = [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64').slice(0, -2), 'k3y/of', 'k3y%2Fof'];

let mirror: Mirror;
let answer: Parameters<typeof serveWeb>[0];
const api = openedForEach(() => serveWeb((request, response) => answer(request, response)));
afterEach(async () => {
  await mirror.close();
});

/** @param at where a record has its texts */
const formatOf = (at: string): string =>
  [
    '{ type: json, records: jobs, key: id, fields: { number: id, category-name: { value: Health },',
    `title: ${at}title, description: ${at}text, location-city: ${at}city, location-state: { from: ${at}state, as: us_state },`,
    `contact-web-address: ${at}links/self } }`,
  ].join(' ');

const record = (id: string, path: string, headers: object, more: object = {}) => ({
  id,
  title: `Nurse ${id}`,
  text: `<p>Requested as ${path} with ${JSON.stringify(headers)}</p>`,
  city: 'Boston',
  state: 'MA',
  links: { self: `https://jobs.example.com/${id}${path.slice(path.indexOf('?'))}` },
  ...more,
});

const open = async (feed: Readonly<Record<string, string>> = {}) => {
  mirror = await openMirror({
    feed: {
      source: `${api.origin}/jobs`,
      format: formatOf(''),
      headers: `{ X-Api-Key: "\${FEED_KEY}" }`,
      credentials: `{ query: { name: api_key, value: "\${FEED_KEY}" } }`,
      ...feed,
    },
  });
  Object.assign(mirror.env, { FEED_KEY: KEY });
};

/** Fails if anything stored, shown or sent holds the key. */
async function expectNowhere(): Promise<void> {
  const found = (where: string, text: string): void => {
    for (const form of FORMS) expect(text.includes(form) ? `${where}: ${form}` : '').toBe('');
  };
  found('the site', JSON.stringify(await mirror.sandbox.inspect.jobs()));
  found('requests', JSON.stringify(mirror.sandbox.requests.recent()));
  const url = mirror.env.DATABASE_URL as string;
  const tables = await runSql<{ name: string }>(
    url,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('information_schema', 'pg_catalog')`,
  );
  for (const { name } of tables) {
    const rows = await runSql<{ row: string }>(url, `select t::text as row from ${name} t`);
    const inHex = rows.flatMap(({ row }) => row.match(/\\x[0-9a-f]+/g) ?? []);
    found(name, rows.map(({ row }) => row).join('\n'));
    found(`${name} (bytes)`, inHex.map((hex) => Buffer.from(hex.slice(2), 'hex').toString('latin1')).join('\n'));
  }
  const file = join(mirror.folder, 'whole.backup');
  await runProgram(mirror, 'backup', file, '--force');
  found('the backup', await readFile(file, 'latin1'));
  const commands = ['try acme --json', 'why acme a', 'review list --json', 'review show 1 --json', 'plan --json'];
  for (const command of commands) {
    const { out, errors } = await runProgram(mirror, ...command.split(' '));
    found(command, out + errors);
  }
  const served = await serve(mirror);
  for (const path of ['feeds/acme', 'feeds/acme/postings/a', 'feeds/acme/postings/odd', 'review'])
    found(path, (await served.api('GET', path)).text);
  await served.close();
}

it('in mapped fields, rejected and unreadable records, and the posting says so', async () => {
  answer = ({ path, headers }, response) =>
    sendJson(response, {
      jobs: [
        record('a', path, headers),
        record('odd', path, headers, { state: path }),
        record('twice', path, headers),
        record('twice', path, headers, { title: path }),
        { ...record('', path, headers), id: { path } },
        record(`key ${path}`, path, headers),
      ],
    });
  await open();
  expect(await mirror.sync()).toMatchObject({ status: 'incomplete', created: 3, rejected: 1, unreadable: 1 });
  const job = (await mirror.siteJobs()).get('a');
  expect(job?.['contact-web-address']).toBe('https://jobs.example.com/a?api_key=[secret]');
  expect(job?.description).toContain('"x-api-key":"[secret]"');
  expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(['a', 'key /jobs?api_key=[secret]', 'twice']);
  await expectNowhere();
  const note = 'the record repeats credentials of its source, which were replaced by [secret]';
  await mirror.stopEngine();
  expect((await runProgram(mirror, 'why', 'acme', 'a')).out).toContain(note);
  expect((await runProgram(mirror, 'try', 'acme')).out).toContain(note);
});

it('if what it repeats differs each time: nothing is sent again', async () => {
  let nth = 0;
  answer = ({ path, headers }, response) =>
    sendJson(response, { jobs: [record('a', path, headers), record('b', path, headers)], at: ++nth });
  await open();
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 2 });
  for (const key of ['an0ther-key-of-feed', 'a-th1rd-key-of-the-feed']) {
    await mirror.stopEngine();
    Object.assign(mirror.env, { FEED_KEY: key });
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 2, unchanged: 2, requests: 0 });
  }
});

it('in details, whose requests still have it', async () => {
  answer = ({ path, headers }, response) => {
    if (path.startsWith('/jobs'))
      return sendJson(response, {
        jobs: ['a', 'b'].map((id) => ({ id, link: `/job/${id}?api_key=${encodeURIComponent(KEY)}` })),
      });
    const id = path.slice('/job/'.length, path.indexOf('?'));
    if (!path.includes(encodeURIComponent(KEY))) return void response.writeHead(403).end(path);
    return sendJson(response, record(id, path, headers));
  };
  await open({
    details: '{ url: "{+link}", match: { id: id } }',
    format: formatOf('detail/'),
    credentials: '{}',
  });
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 2 });
  expect((await mirror.siteJobs()).get('a')?.['contact-web-address']).toBe(
    'https://jobs.example.com/a?api_key=[secret]',
  );
  await expectNowhere();
});

it('of a source with a token that was obtained meanwhile', async () => {
  const token = 'Acc3ss/token+of-today==';
  answer = ({ path, headers }, response) => {
    if (path === '/token') return sendJson(response, { access_token: token, token_type: 'bearer', expires_in: 3600 });
    sendJson(response, { jobs: [record('a', path, headers)] });
  };
  await open({
    credentials: `{ oauth2: { token_url: "${api.origin}/token", client_id: jim, client_secret: "\${FEED_KEY}" } }`,
  });
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 1 });
  expect(JSON.stringify(await mirror.sandbox.inspect.jobs())).not.toContain('Acc3ss');
  await expectNowhere();
});
