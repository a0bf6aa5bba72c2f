// A database server with few connections: a process needs no more for many sites than for one, and waits for a free one.
// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { listen } from '../support/listen.ts';
import { runSql } from '../support/sql.ts';
import { openPrivateServer, type PrivateServer, takeAllConnections } from './private-server.ts';

/** Bundled, as the processes of an installation are. */
const MAIN = join(packageRoot, 'test/support/entry-with-faults.mjs');
const MANY = 10;

/** Serves a site below each path; it creates every job that it is sent. */
async function openSites(onTestFinished: TestContext['onTestFinished']) {
  const made: string[] = [];
  const server = createServer(async (request, response) => {
    request.resume();
    await once(request, 'end');
    // One new job of each feed is asked for.
    if (request.method !== 'POST') return response.writeHead(404).end();
    made.push(`${request.url}`);
    return response.writeHead(201, { location: `/jobs/${made.length}` }).end(`<job><id>${made.length}</id></job>`);
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return { made, url: `http://127.0.0.1:${port}` };
}

const feedXml = (count: number): string =>
  `<source>${Array.from(
    { length: count },
    (_, at) =>
      `<job><title>Nurse</title><referencenumber>r${at}</referencenumber><url>https://acme.example/${at}</url>` +
      '<city>Columbus</city><state>OH</state><country>US</country><description>Work</description></job>',
  ).join('')}</source>`;

/** A configuration of sites, each with a feed of two postings. */
async function writeConfig(folder: string, count: number, { url, db }: { url: string; db: string }): Promise<string> {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const sites = numbers.map(
    (n) =>
      `  board-${n}:\n    base_url: ${url}/board-${n}\n    token: \${SITE_TOKEN}\n` +
      '    limits: { requests_per_second: 1000, concurrency: 8, timeout_seconds: 20 }',
  );
  const feeds = numbers.map((n) => `  acme-${n}: { source: feed.xml, format: indeed, site: board-${n} }`);
  const path = join(folder, 'jobmirror.yaml');
  const lines = [`database: ${db}`, 'queue: database', 'sites:', ...sites, 'feeds:', ...feeds, ''];
  await writeFile(path, lines.join('\n'));
  await writeFile(join(folder, 'feed.xml'), feedXml(2));
  return path;
}

let server: PrivateServer;
beforeAll(async () => {
  server = await openPrivateServer({ max_connections: '30' });
});
afterAll(() => server.close());

/** Processes of that many sites, with a database of their own. */
async function open(sites: number, onTestFinished: TestContext['onTestFinished']) {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-few-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { made, url } = await openSites(onTestFinished);
  const db = await server.newDatabase();
  const config = await writeConfig(folder, sites, { url, db });
  function run() {
    const child = spawn(process.execPath, [MAIN, 'sync', '--config', config], {
      env: { PATH: process.env.PATH, HOME: folder, SITE_TOKEN: 'a-token-of-the-sites' },
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    const heard = new Set<() => void>();
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece: Buffer) => {
        output += piece;
        for (const check of heard) check();
      });
    }
    const ended = once(child, 'close').then(([status, signal]) => ({ status, signal, output }));
    const says = (pattern: RegExp): Promise<void> =>
      new Promise((resolve) => {
        const check = () => pattern.test(output) && resolve();
        void ended.then(() => resolve());
        heard.add(check);
        check();
      });
    return { child, ended, says };
  }
  return { made, run, db };
}

it('a process of many sites needs few connections', { timeout: 300_000 }, async ({ onTestFinished }) => {
  const { made, run, db } = await open(MANY, onTestFinished);
  const { status, output } = await run().ended;
  expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
  // Otherwise it had to wait for one.
  expect(output).not.toContain('all of its connections are taken');
  expect(output).not.toContain('too many clients');
  expect(made).toHaveLength(2 * MANY);
  expect(new Set(made).size).toBe(MANY);
  expect(await runSql(db, 'select count(*)::int as n from mapping')).toEqual([{ n: 2 * MANY }]);
});

async function takeAll(url: string): Promise<pg.Client[]> {
  // The server closes those of a process that has ended only after a while.
  const others = `select from pg_stat_activity where application_name like 'jobmirror%'`;
  await expect.poll(() => runSql(url, others)).toEqual([]);
  return takeAllConnections(url);
}

it('without a free connection a process says so and waits for one', async ({ onTestFinished }) => {
  const { made, run } = await open(MANY, onTestFinished);
  const taken = await takeAll(server.url);
  const { ended, says } = run();
  await says(/all of its connections are taken/);
  // Those that stay are missing when all sites are processed.
  const others = taken.splice(MANY);
  await Promise.all(others.map((client) => client.end()));
  expect(await ended).toMatchObject({ status: 0 });
  expect(made).toHaveLength(2 * MANY);
  await Promise.all(taken.map((client) => client.end()));
});

it('a process that waits for a connection ends at a signal', async ({ onTestFinished }) => {
  const { run } = await open(1, onTestFinished);
  const taken = await takeAll(server.url);
  const { child, ended, says } = run();
  await says(/all of its connections are taken/);
  child.kill('SIGTERM');
  // It ends by itself, not by the forced exit, which would give the status of the signal.
  expect(await ended).toMatchObject({ status: 1, signal: null });
  await Promise.all(taken.map((client) => client.end()));
});
