// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests are about ${NAME} in the configuration.
// Setting up feeds over the API: what is recognised, what a draft makes of the records, what a change would send; and what nobody may read.
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openStage } from '../review/stage.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { setEnv } from '../support/with-env.ts';
import { type Answer, type Served, type ServeOptions, serve } from '../web/served.ts';

let served: Served;
let restoreEnv: () => void;
const stage = openedForEach(() => openStage());
beforeEach(async () => {
  restoreEnv = setEnv(stage.mirror.env);
});
afterEach(async () => {
  restoreEnv();
  await served?.close();
});
const start = async (options: ServeOptions = {}) => {
  served = await serve(stage.mirror, { include: true, ...options });
};
const post = (path: string, body: object, as: 'admin' | 'reviewer' = 'admin'): Promise<Answer> =>
  served.api('POST', path, body, { as });
const keep = async (name: string, content: string | Buffer): Promise<string> => {
  const kept = await post('feeds/samples', { name, content: Buffer.from(content).toString('base64') });
  expect(kept.status, kept.text).toBe(200);
  return kept.body.id;
};

const HOST_KEY = `SHA256:${'A'.repeat(43)}`;
const TABLE = `ref;Position;Ort;Staat;Text\n${[1, 2, 3, 4, 5].map((n) => `${n};Nurse ${n};Austin;${n === 5 ? 'Bavaria' : 'TX'};You care for patients.`).join('\n')}\n`;

describe('a new feed', () => {
  it('is recognised from an uploaded file, tried, changed and saved', async () => {
    await start();
    const sample = await keep('vacancies.csv', TABLE);
    const recognised = (await post('feeds/recognise', { sample, site: 'board' })).body;
    expect(recognised).toMatchObject({
      feed: 'vacancies',
      format: null,
      key: ['ref'],
      records: 5,
      sample: { id: sample, upload: true, whole: true },
    });
    expect(recognised.text).toMatch(/^source: vacancies.csv\n/);
    const tried = (await post('feeds/vacancies/try', { text: recognised.text, sample })).body;
    expect(tried).toMatchObject({
      valid: true,
      on_sample: true,
      message: null,
      sampled: 5,
      trial: { complete: true, records: 5, postings: 5, sent: 4, rejected: 1, repeated: 0, partial: false },
      settings: { policy: 'mirror', delete_guard: { percent: 20, count: 5, missing_pulls: 1, deletes: 4 } },
    });
    expect(tried.paths).toContainEqual({
      path: 'Position',
      records: 5,
      distinct: 5,
      values: ['Nurse 1', 'Nurse 2', 'Nurse 3'],
    });
    expect(tried.trial.rejections).toMatchObject([{ field: 'location-state', count: 1 }]);
    expect(tried.trial.samples[0]).toMatchObject({ key: '1', fields: { 'location-state': 'Texas' } });
    expect(tried.trial.samples[0].record).toContainEqual({ path: 'Staat', value: 'TX' });
    expect(tried.fields).toContainEqual({
      field: 'location-state',
      required: true,
      from: 'Staat → us_state',
      filled: 4,
      refused: 1,
    });
    // Nobody has said yet where it will be read.
    const early = await post('feeds/vacancies/file', { text: recognised.text });
    expect(early.body.problems).toMatchObject([{ setting: 'feeds.vacancies.source' }]);
    const text = recognised.text.replace('vacancies.csv', 'https://ats.example.com/vacancies.csv');
    expect((await post('feeds/vacancies/file', { text })).body).toMatchObject({ result: 'saved', new: true });
  });

  it('is recognised at an address, whose secret the draft and every answer only name', async () => {
    await start({ privateSources: true });
    const asked: string[] = [];
    const source = await site((url) => {
      asked.push(url);
      return feedXml(postings(3));
    });
    try {
      const answer = await post('feeds/recognise', {
        source: `${source.url}/acme/jobs.xml?api_key=c4nary-key`,
        site: 'board',
        feed: 'new',
      });
      expect(answer.body).toMatchObject({
        format: 'indeed',
        variables: ['NEW_KEY'],
        sample: { upload: false, whole: true },
      });
      expect(answer.text).not.toContain('c4nary');
      expect(asked).toEqual(['/acme/jobs.xml?api_key=c4nary-key']);
      const { text, sample } = answer.body;
      const tried = await post('feeds/new/try', { text, sample: sample.id });
      expect(tried.body).toMatchObject({ on_sample: true, trial: { records: 3, sent: 3 } });
      expect(asked).toHaveLength(1);
      // The source itself needs the variable.
      expect((await post('feeds/new/try', { text })).body).toMatchObject({
        trial: null,
        problems: [expect.stringContaining('NEW_KEY')],
      });
    } finally {
      await source.close();
    }
  });

  it('is recognised in S3 storage and behind a password, with the names of variables only', async () => {
    await start({ privateSources: true });
    const asked: string[] = [];
    const storage = createServer((request, response) => {
      asked.push(String(request.headers.authorization).split(' ')[0] ?? '');
      response.end(feedXml(postings(3)));
    });
    await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(storage.address() as AddressInfo).port}`;
    try {
      const s3 = { access_key_id: 'AKIA1', secret_access_key: '${BOARD_TOKEN}', endpoint: url };
      const basic = { user: 'acme', password: '${BOARD_TOKEN}' };
      for (const [source, credentials] of [
        ['s3://jobs/acme.xml', { s3 }],
        [`${url}/jobs.xml`, { basic }],
      ] as const) {
        const answer = await post('feeds/recognise', { source, credentials, site: 'board', feed: 'new' });
        expect(answer.body, answer.text).toMatchObject({ format: 'indeed', records: 3 });
        const { text, sample } = answer.body;
        expect(parse(text)).toMatchObject({ source, credentials });
        const tried = await post('feeds/new/try', { text });
        expect(tried.body, sample.id).toMatchObject({ valid: true, trial: { sent: 3 } });
      }
      // Tries read the beginning again.
      const thrice = (kind: string) => Array<string>(3).fill(kind);
      expect(asked).toEqual([...thrice('AWS4-HMAC-SHA256'), ...thrice('Basic')]);
    } finally {
      await new Promise((resolve) => storage.close(resolve));
    }
  });

  it('shows nothing of what the source repeats of its credentials, also with a text that has none', async () => {
    await start({ privateSources: true });
    const secret = String(stage.mirror.env.BOARD_TOKEN);
    const source = createServer((request, response) => {
      const [, encoded = ''] = String(request.headers.authorization).split(' ');
      const password = Buffer.from(encoded, 'base64').toString().split(':')[1] ?? '';
      response.end(feedXml([...postings(2), posting('echo', { title: `Nurse ${password}` })]));
    });
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/jobs.xml`;
    try {
      const credentials = { basic: { user: 'acme', password: '${BOARD_TOKEN}' } };
      const { body } = await post('feeds/recognise', { source: url, credentials, site: 'board', feed: 'new' });
      const bare = `source: ${url}\nformat: indeed\nsite: board\n`;
      for (const text of [bare, `${bare}polcy: x\n`]) {
        const tried = await post('feeds/new/try', { text, sample: body.sample.id });
        expect(tried.text).toContain('Nurse [secret]');
        expect(tried.text).not.toContain(secret);
      }
    } finally {
      await new Promise((resolve) => source.close(resolve));
    }
  });

  it('has its paths also while the text has mistakes, and says where they are', async () => {
    await start();
    const sample = await keep('jobs.csv', 'id,name\n1,Nurse\n2,Cook\n');
    const { text } = (await post('feeds/recognise', { sample, site: 'board' })).body;
    const tried = (await post('feeds/jobs/try', { text, sample })).body;
    expect(tried).toMatchObject({ valid: false, trial: null, sampled: 2 });
    expect(tried.problems).toEqual([expect.stringContaining('location-state')]);
    expect(tried.paths.map(({ path }: { path: string }) => path)).toEqual(['id', 'name']);
  });

  it('keeps bounded samples, each for who kept it', async () => {
    await start();
    const sample = await keep('jobs.csv', TABLE);
    const other = await post('feeds/recognise', { sample: 'A'.repeat(24), site: 'board' });
    expect(other.status).toBe(404);
    const empty = await post('feeds/samples', { name: 'x', content: '' });
    expect(empty.status).toBe(422);
    const bomb = await keep('bomb.csv.gz', gzipSync(Buffer.alloc(20 * 1024 * 1024, 'a,b\n')));
    const answer = await post('feeds/recognise', { sample: bomb, site: 'board' });
    expect(answer.status, answer.text.slice(0, 300)).toBe(422);
    expect((await post('feeds/recognise', { sample, site: 'nowhere' })).status).toBe(404);
    expect((await post('feeds/recognise', { sample, site: 'board', feed: 'acme' })).status).toBe(409);
  });
});

it('plans a change of a feed, field by field, and changes nothing', async () => {
  await stage.pull([...postings(2), posting('gone')]);
  await stage.acceptAll();
  await stage.mirror.writeFeed(feedXml(postings(2)));
  await start();
  const { text } = (await served.api('GET', 'feeds/acme/file', undefined, { as: 'admin' })).body;
  const same = (await post('feeds/acme/plan', { text })).body;
  expect(same).toMatchObject({ planned: true, create: 0, update: 0, delete: 1, live: 3 });
  const changed = `${text}fields:\n  title: { from: title, as: upper }\n`;
  const plan = (await post('feeds/acme/plan', { text: changed })).body;
  expect(plan).toMatchObject({ planned: true, create: 0, update: 2, delete: 1 });
  expect(plan.changes).toContainEqual({
    feed: 'acme',
    key: 'p1',
    operation: 'update',
    fields: { title: { from: 'Nurse p1', to: 'NURSE P1' } },
  });
  expect((await post('feeds/acme/plan', { text: 'source: [' })).body).toMatchObject({ planned: false });
  expect((await post('feeds/acme/plan', { text })).body).toEqual(same);
});

describe('what an address from a browser must not reach', () => {
  let asked = 0;
  let inside: Awaited<ReturnType<typeof site>>;
  beforeEach(async () => {
    asked = 0;
    inside = await site(() => {
      asked++;
      return feedXml(postings(1));
    });
    await start();
  });
  afterEach(() => inside.close());

  it.each([
    ['this machine', (port: number) => `http://127.0.0.1:${port}/feed.xml`],
    ['by name', (port: number) => `http://localhost:${port}/feed.xml`],
    ['as a number', (port: number) => `http://2130706433:${port}/feed.xml`],
    ['as IPv6', (port: number) => `http://[::ffff:127.0.0.1]:${port}/feed.xml`],
    ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
  ])('%s', async (_, addressOf) => {
    const source = addressOf(inside.port);
    const answer = await post('feeds/recognise', { source, site: 'board', feed: 'new' });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('not a public address')]);
    for (const text of [
      `source: ${source}\nformat: indeed\nsite: board\n`,
      `sources: ["https://a.invalid/x", "${source}"]\nformat: indeed\nsite: board\n`,
      // Written elsewhere than where it counts.
      `fields: { title: { value: &a "${source}" } }\nsource: *a\nformat: indeed\nsite: board\n`,
    ]) {
      const tried = await post('feeds/new/try', { text });
      expect(tried.body, text).toMatchObject({ valid: false, trial: null });
      expect((await post('feeds/new/file', { text })).status, text).toBe(422);
      expect((await post('feeds/new/plan', { text })).body, text).toMatchObject({ planned: false });
    }
    expect(asked).toBe(0);
  });

  it('with the token of a source, or by a redirect that the text allows', async () => {
    const oauth = `credentials: { oauth2: { token_url: "${inside.url}/token", client_id: a, client_secret: "\${BOARD_TOKEN}" } }`;
    const redirects = 'allow_private_redirects: true';
    for (const more of [oauth, redirects]) {
      const text = `source: https://feeds.invalid/x.xml\nformat: indeed\nsite: board\n${more}\n`;
      const tried = (await post('feeds/new/try', { text })).body;
      expect(tried, more).toMatchObject({ valid: false, problems: [expect.stringContaining('public')] });
    }
    expect(asked).toBe(0);
  });

  it.each([
    '/etc/passwd',
    '../../../../etc/passwd',
    'served.yaml',
    'reader.token',
    'file:///etc/passwd',
    '-',
    'sftp://127.0.0.1/x',
  ])('the file %s', async (source) => {
    const answer = await post('feeds/recognise', { source, site: 'board', feed: 'new' });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.text).not.toMatch(/root:|base_url/);
  });

  it.each([
    [
      'an SFTP server',
      'sftp://127.0.0.1/jobs.xml',
      { sftp: { user: 'a', password: '${BOARD_TOKEN}', host_key: HOST_KEY } },
    ],
    [
      'an SFTP server by name',
      'sftp://localhost/jobs.xml',
      { sftp: { user: 'a', password: '${BOARD_TOKEN}', host_key: HOST_KEY } },
    ],
    [
      'S3 storage',
      's3://jobs/a.xml',
      { s3: { access_key_id: 'a', secret_access_key: '${BOARD_TOKEN}', endpoint: 'http://127.0.0.1:9' } },
    ],
    [
      'S3 storage in a cloud',
      's3://jobs/a.xml',
      { s3: { access_key_id: 'a', secret_access_key: '${BOARD_TOKEN}', endpoint: 'http://169.254.169.254' } },
    ],
    ['a server with a password', 'http://127.0.0.1:9/a', { basic: { user: 'a', password: '${BOARD_TOKEN}' } }],
  ])('%s of this machine', async (_, source, credentials) => {
    const answer = await post('feeds/recognise', { source, credentials, site: 'board', feed: 'new' });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('not a public address')]);
  });

  it.each([
    [
      'a secret itself',
      { user: 'a', password: 'c4nary', host_key: HOST_KEY },
      /password is a secret: write \$\{NAME\}/,
    ],
    [
      'a variable that is not set',
      { user: 'a', password: '${NOT_SET}', host_key: HOST_KEY },
      /environment variable NOT_SET is not set/,
    ],
    [
      'a file elsewhere',
      { user: 'a', key_file: '/etc/ssh/ssh_host_rsa_key', host_key: HOST_KEY },
      /does not lie beside the configuration/,
    ],
    [
      'a file by a way around',
      { user: 'a', password_file: 'x/../../../etc/shadow', host_key: HOST_KEY },
      /does not lie beside the configuration/,
    ],
    ['no host key', { user: 'a', password: '${BOARD_TOKEN}' }, /host_key/],
  ])('with credentials that name %s', async (_, sftp, why) => {
    const source = 'sftp://sftp.invalid/jobs.xml';
    const answer = await post('feeds/recognise', { source, credentials: { sftp }, site: 'board', feed: 'new' });
    expect([answer.status, answer.text]).toEqual([422, expect.stringMatching(why)]);
    expect(answer.text).not.toContain('c4nary');
  });

  it('a file in a folder for sources only, also by a link', async () => {
    await served.close();
    const folder = join(stage.mirror.folder, 'incoming');
    await mkdir(folder);
    await writeFile(join(folder, 'jobs.xml'), feedXml(postings(2)));
    await start();
    (served.app.config.web as { sourceFolders: readonly string[] }).sourceFolders = [folder];
    const found = await post('feeds/recognise', { source: 'incoming/jobs.xml', site: 'board', feed: 'new' });
    expect(found.body, found.text).toMatchObject({ format: 'indeed', records: 2 });
    expect(
      (await post('feeds/recognise', { source: 'incoming/../served.yaml', site: 'board', feed: 'new' })).status,
    ).toBe(422);
  });

  it('is not asked of those who may not configure', async () => {
    for (const [path, body] of [
      ['feeds/samples', { name: 'x', content: 'eA==' }],
      ['feeds/recognise', { source: inside.url, site: 'board' }],
      ['feeds/acme/try', { text: 'x' }],
      ['feeds/acme/plan', { text: 'x' }],
    ] as const) {
      expect((await post(path, body, 'reviewer')).status, path).toBe(403);
    }
    expect(asked).toBe(0);
  });

  it('unless the present text names it: whoever wrote that could name any', async () => {
    await stage.mirror.writeFeed(feedXml(postings(2)));
    const { text } = (await served.api('GET', 'feeds/acme/file', undefined, { as: 'admin' })).body;
    expect((await post('feeds/acme/try', { text })).body).toMatchObject({ valid: true, trial: { records: 2 } });
  });
});

/** A web server on loopback. */
async function site(answer: (url: string) => string) {
  const server: Server = createServer((request, response) => response.end(answer(request.url ?? '')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  return { port, url: `http://127.0.0.1:${port}`, close };
}
