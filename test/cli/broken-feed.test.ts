// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration itself contains ${NAME}.
// A feed with configuration mistakes does not stop the others, and `check` reports every mistake.
// @module-tag slow
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);

const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  await mirror.writeFeed(feedXml(postings(3)));
});

/** Adds a feed with these lines to the configuration. */
async function addFeed(lines: readonly string[], name = 'globex'): Promise<void> {
  const text = await readFile(mirror.configPath, 'utf8');
  await writeFile(mirror.configPath, `${text}  ${name}:\n${lines.map((line) => `    ${line}\n`).join('')}`);
}

const WHOLE = ['source: feed.xml', 'format: indeed', 'site: board'];

it('feeds with mistakes are reported as failed by sync and plan, while the other feed is mirrored', async () => {
  const mistakes: readonly (readonly [name: string, lines: readonly string[], reason: string])[] = [
    ['unknown-setting', [...WHOLE, 'shedule: "* * * * *"'], 'shedule'],
    ['unknown-preset', ['source: feed.xml', 'format: nothing-like-it', 'site: board'], 'there is no preset'],
    ['unknown-site', ['source: feed.xml', 'format: indeed', 'site: bord'], 'there is no site bord'],
    ['unset-variable', [...WHOLE, 'headers: { Authorization: "${NOT_SET_ANYWHERE}" }'], 'NOT_SET_ANYWHERE'],
    ['missing-field', [...WHOLE, 'fields: { title: null }'], 'nothing fills title'],
    ['wrong-schedule', [...WHOLE, 'schedule: "@reboot"'], 'schedule'],
  ];
  for (const [name, lines] of mistakes) await addFeed(lines, name);
  const plan = await run('plan');
  expect(plan).toMatchObject({ status: 1, errors: expect.stringContaining('acme: 3 seen: 3 to create') });
  const said = plan.errors.split('\n');
  const sync = await run('sync', '--json');
  expect(sync.status).toBe(1);
  const reported = new Map(sync.json().map((line) => [line.feed, line]));
  expect(reported.size).toBe(mistakes.length + 1);
  expect(reported.get('acme')).toMatchObject({ status: 'mirrored', created: 3 });
  for (const [name, , reason] of mistakes) {
    expect(said, name).toContainEqual(expect.stringMatching(new RegExp(`${name}.*${reason}`)));
    const message = expect.stringContaining(reason);
    expect(reported.get(name), name).toMatchObject({ pull: null, status: 'failed', message });
  }
  expect((await run('sync', 'acme')).status).toBe(0);
});

it('a feed that breaks does not count as removed: it keeps its jobs and name', async () => {
  await addFeed([...WHOLE.slice(1), 'source: other.xml']);
  await writeFile(join(mirror.folder, 'other.xml'), feedXml([posting('g1')]));
  expect((await run('sync')).status).toBe(0);
  await writeFile(
    mirror.configPath,
    (await readFile(mirror.configPath, 'utf8'))
      .replace('globex:', 'globex:\n    colour: blue')
      .replace('acme:', 'other:'),
  );
  // `other` may be acme under a new name, which a person must confirm; it cannot be a renamed globex.
  const refused = await run('sync', 'other');
  expect(refused.errors).toContain('feeds rename acme other');
  expect(refused.errors).not.toContain('globex');
  expect(await run('feeds', 'retire', 'globex')).toMatchObject({
    status: 1,
    errors: expect.stringContaining('feed globex is in the configuration'),
  });
  expect((await mirror.siteJobs()).size).toBe(4);
});

it('a mistake in a site stops everything', async () => {
  await mirror.configure('  board:', '  board:\n    colour: blue');
  expect(await run('sync')).toMatchObject({ status: 1, errors: expect.stringContaining('sites.board.colour') });
  expect((await mirror.siteJobs()).size).toBe(0);
});

it('a feed that is being pulled does not stop plan from planning the others', async () => {
  await addFeed(WHOLE);
  const { db } = await mirror.app();
  const release = await holdPullLock(db, feedName('acme'));
  const plan = await run('plan');
  await release();
  expect(plan.status).toBe(1);
  expect(plan.errors).toContain('acme: it is being pulled right now');
  expect(plan.errors).toContain('globex: 3 seen: 3 to create');
});

describe('check', () => {
  it('reports a valid configuration in its last line only', async () => {
    const { out, status } = await run('check');
    expect(status).toBe(0);
    expect(out.trimEnd().split('\n').at(-1)).toBe(`${mirror.configPath} is right.`);
    expect(out.match(/ is right/g)).toHaveLength(1);
    expect((await run('check', '--json')).json()).toEqual([expect.objectContaining({ right: true, problems: [] })]);
  });

  it('lists every mistake at once, with line and remedy, and never says "right"', async () => {
    await addFeed(['source: feeds/*.xml', 'format: indeed', 'site: board', 'schedule: "H 3 * * *"']);
    await rm(join(mirror.folder, 'feed.xml'));
    const { out, errors, status } = await run('check');
    expect(status).toBe(1);
    expect(out).not.toContain('is right');
    expect(errors).toMatch(
      /jobmirror\.yaml:\d+:\d+ feeds\.acme\.source: .*feed\.xml can't be read: there is no such file/,
    );
    expect(errors).toMatch(
      /jobmirror\.yaml:\d+:\d+ feeds\.globex\.source: .*to read the files that match a pattern, set files: newest or files: all/,
    );
    expect(errors).toMatch(/jobmirror\.yaml:\d+:\d+ feeds\.globex\.schedule: .*H, a random value/);
    const [json] = (await run('check', '--json')).json<{ right: boolean; problems: string[] }>();
    expect(json).toMatchObject({ right: false });
    expect(json?.problems).toHaveLength(3);
  });

  it('prints only the problems, in file order, including unsupported encodings', async () => {
    await addFeed(['source: feed.xml', 'schedule: "H 3 * * *"', 'format: indeed', 'site: bord']);
    const { out, errors, status } = await run('check');
    expect(status).toBe(1);
    expect(errors).toMatch(/globex\.schedule: .*\n.*globex\.site: /);
    expect(out).toBe(`${mirror.configPath} is not usable as it is: 2 problems.\n`);
    const text = await readFile(mirror.configPath, 'utf8');
    const encoded = (name: string) =>
      text.replace(/ {2}globex:[\s\S]*/, `  globex: { ${WHOLE.join(', ')}, encoding: ${name} }\n`);
    await writeFile(mirror.configPath, encoded('klingon-8'));
    expect(await run('check')).toMatchObject({
      status: 1,
      errors: expect.stringContaining('feed globex: the encoding "klingon-8" is unknown'),
    });
    for (const known of ['windows-1252', 'UTF-16', 'utf8', 'Shift_JIS']) {
      await writeFile(mirror.configPath, encoded(known));
      expect((await run('check')).status).toBe(0);
    }
  });

  it('says that a proxy of the environment is not used', async () => {
    const behindProxy = {
      ...mirror,
      env: { ...mirror.env, https_proxy: 'http://user:secret@127.0.0.1:1', NO_PROXY: '*' },
    };
    const { status, out } = await runProgram(behindProxy, 'check', '--online');
    expect(out).toMatch(
      /^warning: https_proxy: set, but not used: jobmirror connects .* without a proxy; write proxy: environment to use it, or proxy: none$/m,
    );
    expect(status).toBe(0);
  });

  it('does not say "right" if a site refuses the token, or if it could not check the database', async () => {
    await mirror.sandbox.changePassword('mirror@example.com', 'another long password');
    const refused = await run('check', '--online');
    expect(refused.status).toBe(1);
    expect(refused.out).not.toContain('is right');
    await mirror.configure('${DATABASE_URL}', 'postgres://127.0.0.1:1/jobmirror');
    const unseen = await run('check');
    expect(unseen.out).not.toContain('is right');
    expect(unseen.out).toMatch(/No mistake was found in .*, but the database can't be read/);
  });

  it.each([
    ['no feed', 'feeds: {}', /feeds: has no feed, so there is nothing to mirror; add one, .*or write include: feeds/],
    ['no site', 'sites: {}\nfeeds: {}', /sites: has no site, so there is nothing to mirror/],
    ['nothing at all', '', /holds no settings; write it with jobmirror init .*, or copy .*example\.yaml/],
  ])('refuses a configuration with %s, and so does sync', async (_name, lines, reason) => {
    const text = (await readFile(mirror.configPath, 'utf8')).replace(/^feeds:[\s\S]*/m, '');
    await writeFile(mirror.configPath, lines.startsWith('feeds') ? `${text}${lines}\n` : `${lines}\n`);
    const checked = await run('check');
    expect(checked).toMatchObject({ status: 1, errors: expect.stringMatching(reason) });
    expect(checked.out).not.toContain('is right');
    expect((await run('sync')).status).toBe(1);
  });
});

describe('with a mistake elsewhere in the configuration', () => {
  /** Replaces no setting: adds lines at the beginning. */
  const addSettings = async (lines: string): Promise<void> =>
    writeFile(mirror.configPath, `${lines}\n${await readFile(mirror.configPath, 'utf8')}`);

  it.each([
    ['what start serves', 'web: { requests_per_minute: none }', 'web.requests_per_minute'],
    ['alerts', 'alerts: { ops: { url: "${NOT_SET_ANYWHERE}", formatt: slack } }', 'alerts.ops.url'],
  ])('in %s, people decide, and nothing runs', async (_, lines, setting) => {
    await run('sync');
    await addSettings(lines);
    const warned = { status: 0, errors: expect.stringMatching(new RegExp(`does not need it: \\S+ ${setting}`)) };
    expect(await run('status')).toMatchObject(warned);
    expect(await run('review', 'groups')).toMatchObject(warned);
    for (const feed of [['acme'], ['--all']]) {
      expect(await run('pause', ...feed)).toMatchObject(warned);
      expect(await run('resume', ...feed)).toMatchObject(warned);
    }
    for (const command of [['sync'], ['plan'], ['start'], ['work'], ['check'], ['alerts', 'resend']])
      expect(await run(...command), command.join(' ')).toMatchObject({
        status: 1,
        errors: expect.stringContaining(setting),
      });
  });

  it.each([
    ['sites', ['  board:', '  board:\n    colour: blue'], 'sites.board.colour'],
    ['queue', ['queue: database', 'queue: redys://127.0.0.1'], 'queue'],
    ['an unknown name', ['queue:', 'colour: blue\nqueue:'], 'colour'],
  ] as const)('in %s, pause works, and no other command', async (_, [from, to], setting) => {
    await run('sync');
    await mirror.configure(from, to);
    const warned = { status: 0, errors: expect.stringContaining(`does not need it: jobmirror.yaml:`) };
    for (const [name, site, feed] of [
      ['acme', null, 'acme'],
      ['board', 'board', null],
      ['--all', null, null],
    ] as const) {
      const done = await run('pause', name, '--json');
      expect(done).toMatchObject(warned);
      expect(done.json()).toEqual([expect.objectContaining({ pause: expect.objectContaining({ site, feed }) })]);
    }
    expect(await run('pause', 'bord')).toMatchObject({
      status: 1,
      errors: expect.stringContaining('sites: board; feeds: acme'),
    });
    for (const command of [['status'], ['resume', '--all'], ['feeds', 'retire', 'acme']])
      expect(await run(...command)).toMatchObject({ status: 1, errors: expect.stringContaining(setting) });
  });

  it.each([
    ['database: ', 'databse: '],
    ['database: ', 'data_dir: 7\ndatabase: '],
    [/^database: .*$/m, 'database: postgres://${NOT_SET_ANYWHERE}/jobs'],
  ])('that leaves open where the database is, pause refuses: %s → %s', async (from, to) => {
    await mirror.configure(from, to);
    expect(await run('pause', '--all')).toMatchObject({
      status: 1,
      errors: expect.stringMatching(/databse|data_dir|NOT_SET_ANYWHERE/),
    });
  });
});
