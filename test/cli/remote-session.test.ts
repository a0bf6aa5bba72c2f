// The commands that inspect and maintain an installation: status, pulls, resume, check, mappings.
// @module-tag slow
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

let mirror: Mirror;
const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);
afterEach(() => mirror.close());

async function open(options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror(options);
}

async function sync(feed: Parameters<typeof feedXml>[0] | string) {
  await mirror.writeFeed(typeof feed === 'string' ? feed : feedXml(feed));
  const report = await mirror.sync();
  await mirror.stopEngine();
  return report;
}

describe('status', () => {
  it('before the first pull says so', async () => {
    await open();
    const { out, status } = await run('status');
    expect(status).toBe(0);
    expect(out).toContain('no process is sending at the moment');
    expect(out).toMatch(/acme +board +0 +0 +0 +0 +0 +0 +0 +never/);
  });

  it('counts live and waiting jobs, and shows the command that approves', async () => {
    await open({ site: { doubts: '{ escalate_after_minutes: 60 }' } });
    await sync(postings(20));
    await sync([...postings(2), posting('odd', { state: 'Jalisco' })]);
    await mirror.query(`update change set since = now() - interval '61 minutes' where key = 'p3'`);
    const { out } = await run('status');
    expect(out).toContain('ESCALATED: acme: 18 deletes held');
    expect(out).toMatch(/review approve acme --count 18 --config/);
    expect(out).toMatch(/acme +board +20 +0 +0 +18 +1 +0 +0 +2, /);
    const lines = (await run('status', '--json')).json();
    expect(lines).toEqual([
      expect.objectContaining({ kind: 'site', site: 'board', state: 'sending', orphans: 0, workers: 0 }),
      expect.objectContaining({
        kind: 'feed',
        feed: 'acme',
        live: 20,
        held: 18,
        rejected: 1,
        ready: 0,
        escalated: true,
      }),
    ]);
    expect(lines[1]?.last_pull).toMatchObject({ status: 'review', complete: true, seen: 3, gone: 18 });
  });

  it('of a paused site shows since when, why and how to resume it; resume works once', async () => {
    await open();
    await mirror.sandbox.setFaults([{ name: '401' }]);
    await sync(postings(3));
    const { out } = await run('status');
    expect(out).toMatch(/site board: PAUSED since .*: the site does not accept the token \(401\)/);
    expect(out).toMatch(/go on at once: {2}.* resume board --config/);
    expect(out).toMatch(/asked again in \d+ s/);
    expect((await run('status', '--json')).json()[0]).toMatchObject({
      state: 'paused',
      pause_cause: expect.stringContaining('401'),
      next_probe: expect.stringMatching(/Z$/),
    });
    await mirror.sandbox.setFaults([]);
    expect((await run('resume', 'board', '--as', 'ann')).out).toContain('Site board is resumed');
    expect(await run('resume', 'board')).toMatchObject({ status: 0, out: 'Site board was not paused.\n' });
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 3 });
    expect(await mirror.query(`select actor, detail from audit where action = 'resume' order by id limit 1`)).toEqual([
      { actor: 'ann', detail: { site: 'board', paused: true, emptied: false } },
    ]);
  });

  it('counts the sending processes', async () => {
    await open();
    await mirror.engine();
    expect((await run('status')).out).toContain('1 process sends');
  });
});

it('a restored base_url is no longer a failure, before anything is sent', async () => {
  await open();
  await sync(postings(3));
  await mirror.configure('127.0.0.1', 'localhost');
  await mirror.sync();
  await mirror.stopEngine();
  expect((await run('status', '--check')).status).toBe(1);
  await mirror.configure('localhost', '127.0.0.1');
  const { out, status } = await run('status', '--check');
  expect(out).toContain('site board: open for sending');
  expect(status).toBe(0);
  const file = join(mirror.folder, 'mappings.csv');
  await writeFile(file, 'feed,key,site_job_id\nacme,new,77777\n');
  expect((await run('mappings', 'import', file)).errors).toContain('the site board has no job 77777');
});

it('an unreadable mappings file is reported with the reason', async () => {
  await open();
  expect((await run('mappings', 'import', 'ghost.csv')).errors).toContain(
    "ghost.csv can't be read: there is no such file",
  );
  expect((await run('mappings', 'import', mirror.folder)).errors).toContain("can't be read: it is a folder");
});

it('resume of a site at another address requires --moved', async () => {
  await open();
  await sync(postings(3));
  await mirror.configure('127.0.0.1', 'localhost');
  expect((await run('status')).out).toMatch(/base_url leads to localhost:\d+,.*resume board --moved --config/s);
  expect(await run('check')).toMatchObject({
    status: 1,
    out: expect.stringContaining('problem: site board: base_url'),
  });
  await mirror.query(
    `insert into change (feed, key, site, desired, operation, fields, state, attempt_token)
     values ('acme', 'x', 'board', 'present', 'create', '{}', 'in_doubt', gen_random_uuid())`,
  );
  const [entry] = await mirror.query<{ id: number }>('select id from change');
  const refused = /\(3, and 1 more whose outcome is unknown\) .*resume board --moved --config/;
  for (const command of [
    ['resume', 'board'],
    ['review', 'settle', String(entry?.id), '--exists', '7'],
  ]) {
    expect(await run(...command)).toMatchObject({ status: 1, errors: expect.stringMatching(refused) });
  }
  await mirror.query('delete from change');
  expect(await run('resume', 'board', '--moved')).toMatchObject({ status: 0 });
  expect((await run('check')).status).toBe(0);
  await mirror.writeFeed(feedXml(postings(4)));
  expect(await run('sync')).toMatchObject({ status: 0, out: expect.stringContaining('1 created') });
});

it('resume lists the known sites and feeds, and the one that was probably meant', async () => {
  await open();
  expect(await run('resume', 'bord')).toMatchObject({
    status: 1,
    errors: 'jobmirror: there is no site or feed bord; did you mean board? (sites: board; feeds: acme)\n',
  });
});

it('pulls lists the newest first, with their outcomes and the reason for a failure', async () => {
  await open();
  await sync(postings(3));
  await sync(postings(2));
  await sync('<html>not a feed</html>');
  const lines = (await run('pulls', '--json')).json();
  expect(lines.map(({ pull, status, seen, created, deleted }) => [pull, status, seen, created, deleted])).toEqual([
    [3, 'failed', 0, 0, 0],
    [2, 'mirrored', 2, 0, 1],
    [1, 'mirrored', 3, 3, 0],
  ]);
  expect(lines[0]?.message).toEqual(expect.any(String));
  const [, first, , older, ...others] = (await run('pulls', 'acme', '--limit', '1')).out.trim().split('\n');
  expect([first, older, others]).toEqual([
    expect.stringMatching(/^ +3 /),
    expect.stringMatching(/^Older ones: .* pulls acme --before 3 /),
    [],
  ]);
});

describe('check', () => {
  it('shows how the configuration is understood, and probes the sites on request', async () => {
    await open({
      feed: {
        schedule: '"0 3 * * *"',
        time_zone: 'America/New_York',
        source: '"https://ats.example.com/f.xml?key=abc"',
      },
    });
    const { out, status } = await run('check', '--online');
    expect(status).toBe(0);
    expect(out).toContain('it answers, and accepts the token');
    expect(out).toMatch(/pulled at "0 3 \* \* \*" \(America\/New_York\), next \d{4}-\d\d-\d\d \d\d:00:00 /);
    expect(out).toContain('https://ats.example.com/f.xml?…');
    expect(out).not.toContain('key=abc');
    const token = mirror.env.BOARD_TOKEN ?? '';
    expect(out).not.toContain(token);
    const { token: changed } = await mirror.sandbox.changePassword('mirror@example.com', 'another long password');
    expect(changed).not.toBe(token);
    expect(await run('check', '--online', '--json')).toMatchObject({
      status: 1,
      out: expect.stringContaining('"answer":"unauthorized"'),
    });
  });

  it('does not mistake a page for the interface, and says what it saw', async () => {
    await open();
    await mirror.sandbox.setFaults([{ name: 'html', status: 200, on: ['list'] }]);
    const { out, status } = await run('check', '--online');
    expect(status).toBe(1);
    expect(out).toMatch(/problem: site board: .*\/jobs\.xml: 200, text\/html, .*; check base_url and list_path/);
    expect((await run('check', '--online', '--json')).json()[0]?.sites).toMatchObject([
      { answer: 'misconfigured', answer_message: expect.stringContaining('200, text/html') },
    ]);
  });

  it('lists every mistake with file and line', async () => {
    await open({ site: { colour: 'blue' }, feed: { site: 'bord' } });
    const { errors, status } = await run('check');
    expect(status).toBe(1);
    expect(errors).toMatch(/jobmirror\.yaml:\d+:\d+ sites\.board\.colour: /);
    expect(errors).toMatch(/jobmirror\.yaml:\d+:\d+ feeds\.acme\.site: .*board/);
  });
});

describe('mappings', () => {
  it('are exported and imported again', async () => {
    await open();
    await sync(postings(3));
    const { out } = await run('mappings', 'export', 'acme');
    await mirror.query('truncate mapping, document, change, feed_state cascade');
    await mirror.stopEngine();
    const file = join(mirror.folder, 'mappings');
    await writeFile(file, out);
    expect((await run('mappings', 'import', file)).out).toContain('3 mappings imported.');
    expect((await run('mappings', 'list')).out).toMatch(/FEED +KEY +JOB +SINCE +URL\nacme +p1 +\d+ /);
    expect(await sync(postings(3))).toMatchObject({ status: 'mirrored', created: 0, updated: 3 });
    expect(await mirror.sandbox.inspect.count()).toBe(3);
  });

  it('that are invalid are refused with file, line and reason, and nothing is imported', async () => {
    await open();
    const file = join(mirror.folder, 'mappings.csv');
    await writeFile(file, 'feed,key,site_job_id\nacme,p1,1\nacme,p2\nglobex,p3,3\n');
    const { status, errors } = await run('mappings', 'import', file);
    expect(status).toBe(1);
    expect(errors).toContain(`${file}:3: there are 2 cells`);
    expect(errors).toContain(`${file}:4: there is no feed globex; feeds: acme`);
    expect(errors).toContain('Nothing was imported.');
    expect((await run('mappings', 'list')).out).toBe('There are no mappings.\n');
    expect(await run('mappings', 'import', 'nothing.csv')).toMatchObject({
      status: 1,
      errors: expect.stringContaining("can't be read"),
    });
  });
});
