// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configurations name variables like this.
// A variable or file of a secret that a process does not have fails what needs it, by name, and nothing else.
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it } from 'vitest';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { runProgram } from './run-program.ts';

const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  await mirror.writeFeed(feedXml([...postings(2), posting('odd', { state: 'Jalisco' })]));
});

const SERVICES = `
web:
  users: { anna: { password_hash_file: nowhere.hash, role: reviewer } }
  tokens: { hr: { token: "\${HR_TOKEN}", scopes: [read] } }
  webhooks: { ats: { secret: "\${ATS_SECRET}" } }
metrics: { token: "\${METRICS_TOKEN}" }
alerts:
  team: { url: "\${CHAT_URL}", format: slack, on: [feed_failed] }
  hook: { url: https://alerts.example.com/, secret: "\${HOOK_SECRET}", on: [feed_failed] }
  mail: { email: { smtp: "\${SMTP_URL}", from: a@example.com, to: [b@example.com] }, on: [feed_failed] }
`;

/** Runs without these variables. */
const runWithout = (names: readonly string[], ...args: readonly string[]) =>
  runProgram(
    { ...mirror, env: { ...mirror.env, ...Object.fromEntries(names.map((name) => [name, undefined])) } } as Mirror,
    ...args,
  );

it('what neither sends nor serves needs no secret of sites, pages, alerts, queue or sources', async () => {
  const path = mirror.configPath;
  await runProgram(mirror, 'sync');
  const settings = await readFile(path, 'utf8');
  const secured = settings
    .replace(/^queue: .*$/m, '')
    .replace(
      'source: feed.xml',
      'source: https://ats.example.com/feed.xml\n    credentials: { basic: { user: jim, password: "${ACME_PASSWORD}" } }\n    headers: { X-Key: "${ACME_KEY}" }',
    );
  await writeFile(path, `queue: redis://\${REDIS_USER}:\${REDIS_PASSWORD}@127.0.0.1:6379\n${secured}${SERVICES}`);
  const id = String((await runProgram(mirror, 'review', 'list', '--json')).json<{ id: number }>()[0]?.id);
  for (const args of [
    ['status'],
    ['review', 'list'],
    ['review', 'show', id],
    ['review', 'discard', id],
    ['why', 'acme', 'p1'],
    ['pulls'],
    ['mappings', 'export'],
    ['backup', `${mirror.folder}/all.backup`],
  ]) {
    const { status, errors } = await runWithout(['BOARD_TOKEN'], ...args);
    expect([args, status, errors.replace(/^\S+: (?:reading|writing).*\n/gm, '')]).toEqual([
      args,
      0,
      expect.not.stringMatching(/not set|can't be read/),
    ]);
  }
  const checked = await runWithout(['BOARD_TOKEN'], 'check');
  expect(checked.status).toBe(1);
  for (const name of [
    'BOARD_TOKEN',
    'REDIS_USER',
    'REDIS_PASSWORD',
    'HR_TOKEN',
    'ATS_SECRET',
    'METRICS_TOKEN',
    'CHAT_URL',
    'HOOK_SECRET',
    'SMTP_URL',
    'ACME_PASSWORD',
    'ACME_KEY',
  ])
    expect(checked.errors).toContain(`the environment variable ${name} is not set`);
  expect(checked.errors).toContain("nowhere.hash can't be read");

  const started = await runWithout(['BOARD_TOKEN'], 'start');
  expect(started.status).toBe(1);
  for (const setting of [
    'sites.board.token',
    'queue',
    'web.tokens.hr.token',
    'web.users.anna.password_hash_file',
    'metrics.token',
    'alerts.team.url',
    'alerts.mail.email.smtp',
  ])
    expect(started.errors).toContain(` ${setting}: `);
  expect(started.errors).not.toMatch(/\n\s+at /);
});

it('what sends names the token of its site, and a source the secret that it needs', async () => {
  await appendFile(mirror.configPath, SERVICES);
  for (const args of [['sync'], ['work'], ['verify', 'acme'], ['mappings', 'adopt', 'acme']]) {
    const { status, out, errors } = await runWithout(['BOARD_TOKEN'], ...args);
    expect([args, status, out + errors]).toEqual([
      args,
      1,
      expect.stringContaining('sites.board.token: the environment variable BOARD_TOKEN is not set'),
    ]);
    expect(out + errors).not.toMatch(/HR_TOKEN|\n\s+at /);
  }
  expect((await mirror.siteJobs()).size).toBe(0);
  const settings = await readFile(mirror.configPath, 'utf8');
  await writeFile(
    mirror.configPath,
    settings.replace(
      /^feeds:\n/m,
      'feeds:\n  other: { source: "https://ats.example.com/", credentials: { bearer: { token: "${OTHER_TOKEN}" } }, format: indeed, site: board }\n',
    ),
  );
  const { status, errors } = await runProgram(mirror, 'sync');
  expect([status, errors]).toEqual([
    1,
    expect.stringContaining('feeds.other.credentials.bearer.token: the environment variable OTHER_TOKEN is not set'),
  ]);
  // The other feed is mirrored.
  expect((await mirror.siteJobs()).size).toBe(2);
  const tested = await runProgram(mirror, 'alerts', 'test', 'team');
  expect([tested.status, tested.errors]).toEqual([
    1,
    expect.stringContaining('alerts.team.url: the environment variable CHAT_URL is not set'),
  ]);
});
