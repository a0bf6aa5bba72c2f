// A running `start` takes changes of its configuration over: by file, SIGHUP, command and API; and keeps the former one if they are wrong.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { type Ends, endsTest as it } from '../support/ends-test.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { openMirror } from '../support/mirror.ts';
import { startProgram } from './program.ts';
import { runProgram } from './run-program.ts';

type Line = Readonly<Record<string, unknown>>;
const token = 'zq-admin-token-of-the-test';

/** Starts a process with a configuration, whose log is read. */
async function openStarted(ends: Ends) {
  const mirror = await openMirror();
  ends.push(() => mirror.close());
  await mirror.app();
  await mirror.writeFeed(feedXml(postings(2)));
  await mkdir(join(mirror.folder, 'feeds'));
  await writeFile(join(mirror.folder, 'admin.token'), token, { mode: 0o600 });
  const base = `${await readFile(mirror.configPath, 'utf8')}include: feeds/*.yaml
listen: { port: 0 }
web:
  tokens:
    admin: { token_file: admin.token, scopes: [read, pull, review, configure] }
`;
  await writeFile(mirror.configPath, base);
  const started = startProgram(['start', '--config', mirror.configPath], { cwd: mirror.folder, env: mirror.env });
  ends.push(async () => {
    started.process.kill('SIGTERM');
    await started.ended;
  });
  const lines = (): readonly Line[] =>
    started
      .errors()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line) as Line] : []));

  /** Waits for a line of the log. */
  const logged = <Found>(find: (line: Line) => Found | undefined): Promise<Found> =>
    vi.waitFor(
      () => {
        const found = lines()
          .map(find)
          .findLast((each) => each !== undefined);
        if (found === undefined) throw new Error(`not logged yet:\n${started.errors()}`);
        return found;
      },
      { timeout: 60_000, interval: 100 },
    );
  const reloaded = (cause: string) =>
    logged((line) => (line.msg === 'configuration reloaded' && line.cause === cause ? line : undefined));
  const url = await logged(({ msg, health }) => (msg === 'started' ? String(health) : undefined));
  const api = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for.
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const feeds = async (): Promise<readonly string[]> =>
    (await api('GET', 'feeds')).body.items.flatMap(({ feed, configured }: { feed: string; configured: boolean }) =>
      configured ? [feed] : [],
    );

  const reloads = async () =>
    (await api('GET', 'activity/actions')).body.items.filter(({ action }: { action: string }) => action === 'reload');

  /** Replaces a file at once, as an editor does. */
  async function write(file: string, text: string): Promise<void> {
    await writeFile(join(mirror.folder, 'next.tmp'), text);
    await rename(join(mirror.folder, 'next.tmp'), join(mirror.folder, file));
  }
  return { mirror, started, url, base, logged, reloaded, api, feeds, reloads, write };
}

const BETA = 'source: beta.xml\nformat: indeed\nsite: board\nschedule: "* * * * * *"\n';

it.concurrent('ends once a newer version has migrated the database', async ({ ends }) => {
  const { mirror, started } = await openStarted(ends);
  await mirror.query("insert into migration (name) values ('9999_newer.sql')");
  const { status } = await started.ended;
  // Other tests get the database next.
  await mirror.query("delete from migration where name = '9999_newer.sql'");
  expect(status).toBe(1);
  expect(started.errors()).toMatch(/the schema of a newer version \(9999_newer\.sql\): this process ends/);
});

it.concurrent('takes a new feed over once its file is right, pulls it, and lets go of it without touching its jobs', async ({
  ends,
}) => {
  const { mirror, url, logged, reloaded, feeds, reloads, write } = await openStarted(ends);
  await writeFile(
    join(mirror.folder, 'beta.xml'),
    feedXml(postings(3).map((each) => ({ ...each, key: `b-${each.key}` }))),
  );
  await write('feeds/beta.yaml', BETA.replace('board', 'bord'));
  await logged(({ msg, problems }) => (/is wrong, the former one stays/.test(String(msg)) ? problems : undefined));
  expect(await feeds()).toEqual(['acme']);
  const check = await runProgram(mirror, 'status', '--check');
  expect(check.out).toContain('the configuration was changed and is wrong: the former one stays in use');
  expect((await fetch(`${url}/healthz`)).status).toBe(503);
  await write('feeds/beta.yaml', BETA);
  expect(await reloaded('file')).toMatchObject({ added: ['beta'], changed: [], removed: [], sites: [], restart: [] });
  expect(await feeds()).toEqual(['acme', 'beta']);
  const seen = await logged(({ msg, feed, seen }) => (msg === 'pull ended' && feed === 'beta' ? seen : undefined));
  expect(seen).toBe(3);
  await vi.waitFor(async () => expect((await mirror.siteJobs()).size).toBeGreaterThanOrEqual(3), { timeout: 60_000 });
  await rename(join(mirror.folder, 'feeds/beta.yaml'), join(mirror.folder, 'beta.away'));
  expect(
    await logged(({ msg, removed }) =>
      msg === 'configuration reloaded' && String(removed) === 'beta' ? true : undefined,
    ),
  ).toBe(true);
  expect(await feeds()).toEqual(['acme']);
  expect((await mirror.siteJobs()).size).toBeGreaterThanOrEqual(3);
  // Each is a row of the activity, and the text written by hand is kept.
  const byItself = { kind: 'program', actor: null, action: 'reload', count: 1 };
  await vi.waitFor(async () =>
    expect(await reloads()).toMatchObject([
      { ...byItself, feed: 'beta', detail: { change: 'removed', reason: 'files had changed' } },
      { ...byItself, feed: 'beta', detail: { change: 'added', by_hand: true } },
      { ...byItself, feed: null, detail: { result: 'refused', problems: [expect.stringContaining('bord')] } },
    ]),
  );
  const { out } = await runProgram(mirror, 'activity', 'beta');
  expect(out).toMatch(/ - +reload +beta .*reason: files had changed/);
});

it.concurrent('reloads on SIGHUP, by the API and by the command, and says what changed and what needs a restart', async ({
  ends,
}) => {
  const { mirror, started, base, logged, api, feeds, write } = await openStarted(ends);
  await write('jobmirror.yaml', base.replace('listen: { port: 0 }', 'listen: { port: 1 }'));
  started.process.kill('SIGHUP');
  const bySignal = await logged((line) => (line.cause === 'signal' ? line : undefined));
  expect(bySignal).toMatchObject({ restart: [expect.stringMatching(/^listen: /)] });
  await write('feeds/beta.yaml', BETA);
  const { status, body } = await api('POST', 'reload', {});
  expect([status, body.waiting]).toEqual([200, []]);
  expect(body.processes).toMatchObject([{ command: 'start', pid: started.process.pid, problems: [] }]);
  expect(await feeds()).toEqual(['acme', 'beta']);
  await write('jobmirror.yaml', base.replace('requests_per_second: 5000', 'requests_per_second: 4000'));
  const command = await runProgram(mirror, 'reload');
  expect(command).toMatchObject({ status: 0, out: expect.stringMatching(/^start \(process \d+ on .*\)/) });
  await logged((line) => (line.msg === 'configuration reloaded' && String(line.sites) === 'board' ? line : undefined));
  await write('feeds/beta.yaml', 'torn: [');
  expect(await runProgram(mirror, 'reload')).toMatchObject({
    status: 1,
    out: expect.stringMatching(/keeps the former/),
  });
  expect(await feeds()).toEqual(['acme', 'beta']);
  expect(started.process.exitCode).toBe(null);
});

it.concurrent('takes over what is saved over the API, and shows what became of it', async ({ ends }) => {
  const { reloaded, api } = await openStarted(ends);
  const saved = await api('POST', 'feeds/gamma/file', {
    text: 'source: https://acme.example/jobs.xml\nformat: indeed\nsite: board\n',
  });
  expect(saved.body).toMatchObject({ result: 'saved' });
  expect(await reloaded('file')).toMatchObject({ added: ['gamma'] });
  await vi.waitFor(async () =>
    expect((await api('GET', 'reload')).body.processes).toMatchObject([
      { result: 'applied', added: ['gamma'], cause: 'file' },
    ]),
  );
  await vi.waitFor(async () => {
    const { items } = (await api('GET', 'activity/actions?feed=gamma')).body;
    expect(items).toMatchObject([{ detail: { change: 'added' } }, { actor: 'token admin', action: 'save feed file' }]);
    expect(items[0].detail).not.toHaveProperty('by_hand');
  });
});

it.concurrent('workers beside it take it over as well, and keep the former one as long as it is wrong', async ({
  ends,
}) => {
  const { mirror, api, reloads, write } = await openStarted(ends);
  const work = startProgram(['work', '--config', mirror.configPath], { cwd: mirror.folder, env: mirror.env });
  try {
    await vi.waitFor(() => expect(work.errors()).toContain('"msg":"working"'), { timeout: 60_000, interval: 100 });
    const now = async () =>
      (await api('GET', 'reload')).body.processes.map(
        ({ command, result, added, pid }: { command: string; result: string; added: string[]; pid: number }) => ({
          command,
          result,
          added,
          own: pid === work.process.pid,
        }),
      );
    await write('feeds/beta.yaml', BETA);
    const taken = { result: 'applied', added: ['beta'] };
    await vi.waitFor(
      async () =>
        expect(await now()).toEqual(
          expect.arrayContaining([
            { ...taken, command: 'start', own: false },
            { ...taken, command: 'work', own: true },
          ]),
        ),
      { timeout: 60_000, interval: 100 },
    );
    // One row, although two processes took it over.
    await vi.waitFor(async () => expect(await reloads()).toMatchObject([{ feed: 'beta' }]));
    await write('feeds/beta.yaml', 'torn: [');
    const { status, out } = await runProgram(mirror, 'reload');
    expect([status, out]).toEqual([1, expect.stringMatching(/^work \(process .*keeps the former/m)]);
    expect(work.process.exitCode).toBe(null);
  } finally {
    work.process.kill('SIGTERM');
    expect((await work.ended).status).toBe(0);
  }
});

it.concurrent('lets a pull end with the configuration that it began with', async ({ ends }) => {
  const { logged, reloaded, write } = await openStarted(ends);
  const asked: ServerResponse[] = [];
  const source = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/xml' });
    response.flushHeaders();
    asked.push(response);
  });
  await listen(source);
  try {
    const { port } = source.address() as AddressInfo;
    const slow = BETA.replace('beta.xml', `http://127.0.0.1:${port}/jobs.xml`).replace('* * * * * *', '0 0 3 1 1 *');
    await write('feeds/beta.yaml', slow);
    await reloaded('file');
    await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 60_000 });
    await write('feeds/beta.yaml', slow.replace('0 0 3', '0 0 4'));
    await logged((line) =>
      line.msg === 'configuration reloaded' && String(line.changed) === 'beta' ? line : undefined,
    );
    asked[0]?.end(feedXml(postings(2).map((each) => ({ ...each, key: `b-${each.key}` }))));
    const end = await logged((line) => (line.msg === 'pull ended' && line.feed === 'beta' ? line : undefined));
    expect(end).toMatchObject({ seen: 2, created: 2 });
    expect(asked).toHaveLength(1);
  } finally {
    source.closeAllConnections();
    source.close();
  }
});
