// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// Runs every command of an installation whose secrets are easy to recognise, and keeps all output and traces.
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { startProgram } from '../cli/program.ts';
import { runProgram } from '../cli/run-program.ts';
import { createTestDatabase } from '../support/database.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { runSql } from '../support/sql.ts';
import { canarySearch, type Find } from './canary.ts';
import type { Installation, Running } from './installation.ts';
import { watchProcesses } from './process-watch.ts';
import { ECHO, ECHOED_KEYS, type TellingSite } from './telling-site.ts';

/** Other processes on the machine may run the same test. */
const mark = randomBytes(4).toString('hex');

/** The token of the sites, and credentials of feeds, with characters that encodings write differently. */
export const SECRETS = {
  BOARD_TOKEN: `c4nary/T0ken+of&the<site>%7E?${mark}~`,
  FEED_KEY: `c4nary+K3y/of%the&${mark}?`,
  QUERY_KEY: `c4nary/Qu3ry+of&the=feed?${mark}`,
  CLIENT_SECRET: `c4nary+Cl1ent/of%the&feed~${mark}`,
  PASSWORD: `c4nary:P4ss/word+of&${mark}?`,
};

/** The token that the client secret is exchanged for, which is in no setting. */
export const ACCESS_TOKEN = `c4nary/Acc3ss+token~${mark}`;

/** Everything to search: pairs of place and text. */
export type Traces = (readonly [where: string, content: string | Buffer])[];

/** Runs everything on an installation with its own database; `site` is a second site beside the sandbox. */
export async function playEverything(
  installation: Installation,
  site: TellingSite,
  redisUrl: string | undefined,
): Promise<{ readonly traces: Traces; readonly seen: readonly Find[] }> {
  const traces: Traces = [];
  const given = new Set<number>([process.pid]);
  const watch = watchProcesses(canarySearch(...Object.values(SECRETS), ACCESS_TOKEN), () => given);
  const begin = (command: readonly string[]): Running => {
    const running = installation.spawn(command, SECRETS);
    given.add(running.child.pid ?? 0);
    void running.ended.then(({ output }) => traces.push([`jobmirror ${command.join(' ')}`, output]));
    return running;
  };
  // What a command prints and stores does not depend on its process.
  const settings = { ...installation, env: { ...installation.env, ...SECRETS } };
  const run = async (...command: string[]): Promise<string> => {
    const { out, errors } = await runProgram(settings, ...command);
    traces.push([`jobmirror ${command.join(' ')}`, out + errors]);
    return out + errors;
  };
  const monitor = redisUrl === undefined ? undefined : await monitorRedis(redisUrl, traces);
  await writeConfig(installation, site, redisUrl ?? 'database');

  await fail(installation, site);
  // The echoing site has no readable list, so without `feeds new` nothing would be created there. It makes the database.
  for (const command of ['check', 'feeds new echoed']) await begin(command.split(' ')).ended;
  const server = await openEmbeddedServer(join(installation.folder, 'data'));
  await run('plan', '--json');
  await begin(['sync', '--json', '--verbose']).ended;
  await run('sync');

  const started = begin(['start']);
  const health = await untilSaid(started, /"health":"([^"]*)"/);
  await readPages(health, traces);
  await readEntries(health, traces);
  await reviewAll(run);
  await readPages(health, traces);
  await end(started);
  const working = begin(['work']);
  await untilSaid(working, /"msg":"(started|working)/);
  await end(working);

  await playSandbox(given, traces);
  await mistake(installation, run);
  traces.push(...(await dumpDatabase(server.url())));
  await server.leave();
  traces.push(...(await filesBelow(installation.folder)));
  monitor?.disconnect();
  if (redisUrl !== undefined) traces.push(await dumpRedis(redisUrl));
  return { traces, seen: watch.stop() };
}

async function writeConfig({ folder, configPath, sandbox }: Installation, site: TellingSite, queue: string) {
  // As root, the unprivileged user of the server must be able to enter the folder.
  await chmod(folder, 0o711);
  const common = [
    '    token: ${BOARD_TOKEN}',
    '    reference_field: number',
    '    list_path: /jobs.xml',
    '    limits: { requests_per_second: 1000, concurrency: 1, timeout_seconds: 5 }',
    '    doubts: { resolve_after_seconds: 5.2 }',
    '    retry: { attempts: 2, first_delay_seconds: 0.05, max_delay_seconds: 0.1 }',
    '    canary: { requests: 0 }',
  ];
  const lines = [
    'database: embedded',
    'data_dir: data',
    `queue: ${queue}`,
    'log: { level: trace }',
    'listen: { port: 0 }',
    'sites:',
    ...['  board:', `    base_url: ${sandbox.url}`, ...common],
    ...['  echoing:', `    base_url: ${site.url}`, ...common],
    'feeds:',
    '  acme: { source: feed.xml, format: indeed, site: board, schedule: "*/5 * * * * *" }',
    `  echoed: { source: ${site.url}/feed.xml, format: indeed, site: echoing, headers: { X-Key: "\${FEED_KEY}" }, credentials: { query: ${QUERY}, oauth2: ${OAUTH2(site)} } }`,
    `  refused: { source: ${site.url}/refused, format: indeed, site: echoing, pages: { by: page }, credentials: { query: ${QUERY}, basic: { user: jim, password: "\${PASSWORD}" } } }`,
  ];
  await writeFile(configPath, `${lines.join('\n')}\n`);
}

const QUERY = '{ name: key, value: "${QUERY_KEY}" }';
const OAUTH2 = ({ url }: TellingSite): string =>
  `{ token_url: "${url}/token", client_id: jim, client_secret: "\${CLIENT_SECRET}" }`;

/** Feeds and faults that leave review entries and records of every kind. */
async function fail(installation: Installation, site: TellingSite): Promise<void> {
  const { sandbox, owner } = installation;
  await sandbox.ensureUser(owner, undefined, SECRETS.BOARD_TOKEN);
  await installation.writeFeed(feedXml([...postings(12), posting('abroad', { state: 'Jalisco' })]));
  await sandbox.setFaults([
    { name: '500', made: true, on: ['create'], count: 1 },
    { name: 'malformed', on: ['create'], after: 2, count: 1 },
    { name: '403', on: ['create'], after: 3, count: 1 },
    { name: 'reset-during', on: ['create'], after: 4, count: 1 },
    { name: 'redirect-host', on: ['create'], after: 5, count: 1 },
    { name: 'timeout', on: ['create'], after: 6, count: 1 },
  ]);
  const [title, city] = [`Nurse ${ECHO}`, ECHO];
  const odd = [posting('odd', { state: ECHO }), posting(ECHO), posting('twice'), posting('twice', { title })];
  const list = [...ECHOED_KEYS.map((key) => posting(key, { title: `Nurse ${key}`, description: ECHO, city })), ...odd];
  site.feed = feedXml(list).replace('</source>', `<job><title>${ECHO}</job></source>`);
  site.accessToken = ACCESS_TOKEN;
}

async function reviewAll(run: (...command: string[]) => Promise<string>): Promise<void> {
  for (const command of ['status', 'status --json', 'pulls --json', 'review list', 'mappings export'])
    await run(...command.split(' '));
  for (const key of ['located', 'identified', 'broken', 'refused']) await run('why', 'echoed', key);
  const listed = await run('review', 'list', '--json');
  const entries = listed.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const shown = entries.filter(({ kind }, at) => entries.findIndex((entry) => entry.kind === kind) === at);
  for (const { id } of shown) await run('review', 'show', String(id), '--json');
  await run('resume', 'echoing', '--json');
  await run('review', 'retry', 'echoed');
  for (const { id } of entries.slice(0, 1)) await run('review', 'settle', String(id), '--missing', '--no-send');
  await run('review', 'discard', 'echoed', '--yes');
}

/** Typical mistakes in a new configuration, each of which is reported. */
async function mistake(installation: Installation, run: (...command: string[]) => Promise<string>): Promise<void> {
  const config = await readFile(installation.configPath, 'utf8');
  const mistakes = [
    config.replaceAll(installation.sandbox.url, 'http://127.0.0.1:1'),
    config.replace('concurrency: 1', 'concurrency: 1, secret: "${BOARD_TOKEN}"'),
    config.replace('token: ${BOARD_TOKEN}', 'token: "${BOARD_TOKEN}\\n"'),
    config.replace('X-Key: "${FEED_KEY}"', 'X-Key: "${FEED_KEY}\\n"'),
    config.replace('{ user: jim, password', '{ user: "${PASSWORD}", password'),
    config.replace('basic: { user: jim, password: ', 'bearer: { token: '),
  ];
  for (const mistaken of mistakes) {
    await writeFile(installation.configPath, mistaken);
    await run('sync');
  }
  await writeFile(installation.configPath, config);
}

/**
 * The sandbox command. Like any site it stores its users' tokens and shows them to their owners, so it has its own database,
 * which is not searched. Its output and its pages for others are.
 */
async function playSandbox(given: Set<number>, traces: Traces): Promise<void> {
  const database = await createTestDatabase({ own: true });
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-site-'));
  const config = join(folder, 'jobmirror.yaml');
  await writeFile(config, `database: ${database.url}\nqueue: database\nsites: {}\nfeeds: {}\n`);
  const env = { JOBMIRROR_SANDBOX_TOKEN: SECRETS.BOARD_TOKEN };
  const options = ['--port', '0', '--config', config, '--account', 'ann@example.com'];
  const sandbox = startProgram(['sandbox', ...options], { cwd: folder, env });
  given.add(sandbox.process.pid ?? 0);
  const [, url = ''] = await sandbox.printed(/The sandbox is at (\S+)[\s\S]*Ctrl-C/);
  const authorization = `Basic ${Buffer.from(`${SECRETS.BOARD_TOKEN}:X`).toString('base64')}`;
  for (const body of ['<job>', '<job><title>Nurse</title></job>']) {
    await fetch(`${url}/jobs.xml`, { method: 'POST', headers: { authorization }, body });
  }
  await readPages(url, traces);
  sandbox.process.kill('SIGTERM');
  await sandbox.ended;
  traces.push(['jobmirror sandbox', sandbox.out() + sandbox.errors()]);
  await rm(folder, { recursive: true });
  await database.drop();
}

const PAGES = [
  ...['/', '/healthz', '/metrics', '/review', '/jobs', '/jobs.xml', '/requests', '/account', '/nowhere'],
  ...['/held', '/held?feed=echoed', '/rekey', '/rekey?feed=echoed', '/doubts', '/doubts?feed=echoed'],
  ...['/adopt', '/adopt?feed=echoed', '/doubts/found', '/doubts/found?feed=echoed'],
  ...['/openapi.json', '/sign-in', '/api/v1/feeds', '/api/v1/feeds/echoed', '/api/v1/feeds/echoed/postings'],
  ...['/api/v1/review', '/api/v1/sites', '/api/v1/pulls/1', '/api/v1/pulls/2', '/api/v1/pulls/3'],
  ...['/feed?feed=echoed', '/pulls', '/pulls/1', '/pulls/2', '/sites', '/queues', '/activity', '/pause'],
  ...['/changes', '/changes.csv', '/api/v1/changes', '/api/v1/activity'],
  ...['/configuration', '/feed/file?feed=echoed', '/feed/uploads?feed=echoed'],
  ...['/review/entries', '/review/confirm?action=discard', '/review/actions', '/review/rules'],
];

async function readPages(url: string, traces: Traces): Promise<void> {
  const { origin } = new URL(url);
  for (const page of PAGES) {
    const answer = await fetch(`${origin}${page}`, { redirect: 'manual' });
    traces.push([`${page} of ${origin}`, JSON.stringify([...answer.headers]) + (await answer.text())]);
  }
}

/** Every review entry, and its posting, as the API and the pages show them. */
async function readEntries(url: string, traces: Traces): Promise<void> {
  const api = `${new URL(url).origin}/api/v1`;
  const { items } = (await (await fetch(`${api}/review?limit=200`)).json()) as {
    items: { id: number; feed: string; key: string | null }[];
  };
  if (items.length === 0) throw new Error('the API shows no review entry');
  for (const { id, feed, key } of items) {
    const paths = [`/review/${id}`, ...(key === null ? [] : [`/feeds/${feed}/postings/${encodeURIComponent(key)}`])];
    for (const path of paths) traces.push([`${path} of the API`, await (await fetch(`${api}${path}`)).text()]);
    // It leads to the page of the posting, if there is one.
    const page = `/review/entry?id=${id}`;
    traces.push([`the page ${page}`, await (await fetch(`${new URL(url).origin}${page}`)).text()]);
  }
}

/** Resolves with the text that the pattern's group matched in the output. */
async function untilSaid({ child, ended }: Running, pattern: RegExp): Promise<string> {
  let output = '';
  const matched = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (piece: Buffer) => {
        output += piece.toString();
        const found = pattern.exec(output);
        if (found !== null) resolve(found[1] ?? '');
      });
    }
  });
  const early = ended.then(() => Promise.reject(new Error(`it ended without ${pattern}: ${output}`)));
  return Promise.race([matched, early]);
}

async function end({ child, ended }: Running): Promise<void> {
  child.kill('SIGTERM');
  await ended;
}

/** Every row of every table of every schema. */
async function dumpDatabase(url: string): Promise<Traces> {
  const tables = await runSql<{ name: string }>(
    url,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('information_schema')`,
  );
  const dump: Traces = [];
  for (const { name } of tables) {
    const rows = await runSql<{ row: string }>(url, `select t::text as row from ${name} t`);
    dump.push([`table ${name}`, rows.map(({ row }) => row).join('\n')]);
  }
  const running = await runSql<{ row: string }>(url, 'select t::text as row from pg_stat_activity t');
  dump.push(['statements', running.map(({ row }) => row).join('\n')]);
  return dump;
}

/** All files, including those of the database and its log, which also contain removed rows. */
async function filesBelow(folder: string): Promise<Traces> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (path) => [`file ${path}`, await readFile(path)] as const));
}

/** Records every command that Redis receives, including data that is deleted later. */
async function monitorRedis(url: string, traces: Traces): Promise<Redis> {
  const client = new Redis(url);
  await client.config('SET', 'rdbcompression', 'no');
  const monitor = await client.monitor();
  client.disconnect();
  monitor.on('monitor', (_time: string, args: string[]) => traces.push(['a command to Redis', args.join(' ')]));
  return monitor;
}

async function dumpRedis(url: string): Promise<Traces[number]> {
  const client = new Redis(url);
  await client.save();
  const [, folder = ''] = (await client.config('GET', 'dir')) as string[];
  client.disconnect();
  return ['dump of Redis', await readFile(join(folder, 'dump.rdb'))];
}
