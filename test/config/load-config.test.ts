// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests are about ${NAME} in the configuration.
// Loading a configuration: valid files, every kind of mistake, the environment, and secrets.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { configDigests, warnOfSameFeeds } from '../../src/config/config-digests.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { packageRoot } from '../../src/config/package-root.ts';
import type { ProxySettings } from '../../src/flow/proxy.ts';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { configSecrets } from '../../src/runtime/app.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { whyRefused } from './why-refused.ts';

const folder = temporaryFolder();

const TOKEN = 'zq-51f0c2d7';
const env = {
  BOARD_TOKEN: TOKEN,
  PORT: '9090',
  DIGITS: '007',
  EMPTY: '',
  BROKEN: 'a\r\nX-Evil: 1',
  DB_PASSWORD: 'zq-db-99',
};

const MINIMAL = `
sites:
  board:
    base_url: https://jobs.example.com
    token: \${BOARD_TOKEN}
feeds:
  acme:
    source: acme.xml
    format: indeed
    site: board
`;

async function load(text: string) {
  writeFileSync(join(folder, 'jobmirror.yaml'), text);
  return loadConfig({ env, cwd: folder });
}

/** The lines of the error for a configuration. */
const complaintsOf = async (text: string) => (await whyRefused(load(text))).split('\n');

/** The minimal configuration with added or replaced lines of the site or feed. */
function withLines({ site = [], feed = [], top = [] }: { site?: string[]; feed?: string[]; top?: string[] }): string {
  const named = (lines: string[]) => lines.map((line) => line.trim().split(':')[0]);
  const without = (block: string[], added: string[]) =>
    block.filter((line) => !named(added).includes(line.trim().split(':')[0] ?? ''));
  const siteLines = without(['base_url: https://jobs.example.com', 'token: ${BOARD_TOKEN}'], site);
  const feedLines = without(['source: acme.xml', 'format: indeed', 'site: board'], feed);
  const indent = (lines: string[]) => lines.map((line) => `    ${line}`);
  return [
    ...top,
    'sites:',
    '  board:',
    ...indent([...siteLines, ...site]),
    'feeds:',
    '  acme:',
    ...indent([...feedLines, ...feed]),
    '',
  ].join('\n');
}

describe('a valid configuration', () => {
  test.each(['-', "'-'", '"-"', '-   # piped in'])('reads the feed from standard input: source: %s', async (source) => {
    const config = await load(withLines({ feed: [`source: ${source}`] }));
    expect(config.feeds.get(feedName('acme'))?.source.from).toEqual({ kind: 'stdin' });
  });

  test('may have line breaks in text for postings', async () => {
    const rule = '{ from: [description, benefits], join: "\\n\\n", default: "As\\tagreed" }';
    const config = await load(withLines({ feed: [`fields: { description: ${rule} }`] }));
    expect(config.feeds.get(feedName('acme'))?.mapping.fields.description).toMatchObject({
      source: { join: '\n\n' },
      default: 'As\tagreed',
    });
    const steering = 'fields: { description: { value: "\\e[2J" } }';
    expect(await complaintsOf(withLines({ feed: [steering] }))).toEqual([
      'jobmirror.yaml:10:37 feeds.acme.fields.description.value: holds a control character other than line breaks and tabs',
    ]);
  });

  test('gets every default', async () => {
    const config = await load(MINIMAL);
    expect(config).toMatchObject({
      path: join(folder, 'jobmirror.yaml'),
      database: { kind: 'embedded' },
      queue: { kind: 'database' },
      dataDir: join(folder, '.jobmirror'),
      log: { level: 'info' },
      listen: { host: '127.0.0.1', port: 8080 },
      retentionDays: { requests: 30, failures: 90, audit: 365, pulls: 90, undo: 14 },
      warnings: [],
    });
    const site = config.sites.get(siteName('board'));
    expect(site?.options.token.reveal()).toBe(TOKEN);
    expect(site).toMatchObject({
      name: 'board',
      options: { timeoutMs: 30_000, concurrency: 4 },
      stateField: { name: 'location-state', values: 'name', allow: ['states', 'dc'] },
      requestsPerSecond: 10,
      retry: { attempts: 8, firstDelayMs: 2000, maxDelayMs: 300_000 },
      doubts: { resolveAfterMs: 60_000, listChecks: 2, escalateAfterMs: 3_600_000 },
      canary: { requests: 20, percent: 50 },
      onMissing: 'create',
    });
    expect(config.feeds.get(feedName('acme'))).toMatchObject({
      name: 'acme',
      siteName: 'board',
      source: {
        from: { kind: 'file', path: join(folder, 'acme.xml') },
        recordPath: '*/job',
        totalPaths: [],
        limits: {
          maxBytes: 8e9,
          maxRecordBytes: 5 * 1024 * 1024,
          maxRatio: 200,
          totalTimeoutMs: 3_600_000,
          firstByteTimeoutMs: 60_000,
          minBytesPerSecond: 1024,
        },
      },
      mapping: { key: { paths: ['referencenumber'] }, requiredFields: ['title'], maxLengths: {} },
      guard: { percent: 20, count: 5, missingPulls: 1 },
      schedule: undefined,
      timeZone: 'UTC',
    });
  });

  test('the bundled example loads, and its mappings compile', async () => {
    const config = await loadConfig({ path: join(packageRoot, 'config/jobmirror.example.yaml'), env, cwd: folder });
    expect([...config.feeds.keys()]).toEqual(['acme', 'globex', 'initech']);
    expect(config.warnings).toEqual([]);
    for (const { mapping } of config.feeds.values())
      expect(compileReader(mapping).fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  test("a feed's fields override the format's, and null removes one", async () => {
    const config = await load(
      withLines({
        feed: [
          'fields:',
          '  title: name',
          '  contact-email-address: null',
          '  salary: { from: [pay, salary], as: number, default: "0" }',
        ],
      }),
    );
    const fields = config.feeds.get(feedName('acme'))?.mapping.fields ?? {};
    expect(Object.keys(fields)).toEqual([
      ...[
        'number',
        'title',
        'category-name',
        'description',
        'location-city',
        'location-state',
        'contact-web-address',
        'salary',
      ],
    ]);
    expect(fields).toMatchObject({
      title: { source: { kind: 'paths', paths: ['name'] }, as: [] },
      'location-state': [
        { source: { kind: 'template', template: '{state}, {country}' }, as: ['us_state'] },
        { source: { kind: 'paths', paths: ['state'] }, as: ['us_state'] },
      ],
      salary: { source: { kind: 'paths', paths: ['pay', 'salary'] }, as: ['number'], default: '0' },
    });
  });

  test('settings are converted to internal units', async () => {
    const config = await load(
      withLines({
        top: [
          'database: postgres://app:${DB_PASSWORD}@db.example.com/jobs',
          'queue: rediss://:secret@cache.example.com:6379',
          'data_dir: /var/lib/jobmirror',
        ],
        site: [
          'base_url: http://jobs.example.com:8080/board/',
          'limits: { timeout_seconds: 45, concurrency: 8, requests_per_second: 0.5 }',
        ],
        feed: [
          'limits: { max_bytes: 500MB, max_record_bytes: 1 MiB }',
          'schedule: "0 */15 6-22 * * 1-5"',
          'time_zone: America/New_York',
          'expect: { min_records: 10 }',
        ],
      }),
    );
    expect(config.database.kind === 'postgres' && config.database.url.reveal()).toBe(
      'postgres://app:zq-db-99@db.example.com/jobs',
    );
    expect(config.queue.kind === 'redis' && config.queue.url.reveal()).toBe('rediss://:secret@cache.example.com:6379');
    expect(config.dataDir).toBe('/var/lib/jobmirror');
    expect(config.sites.get(siteName('board'))).toMatchObject({
      options: { timeoutMs: 45_000, concurrency: 8 },
      requestsPerSecond: 0.5,
      doubts: { resolveAfterMs: 90_000 },
    });
    expect(config.sites.get(siteName('board'))?.options.baseUrl.href).toBe('http://jobs.example.com:8080/board/');
    expect(config.feeds.get(feedName('acme'))).toMatchObject({
      source: { limits: { maxBytes: 5e8, maxRecordBytes: 2 ** 20 } },
      schedule: '0 */15 6-22 * * 1-5',
      timeZone: 'America/New_York',
      minRecords: 10,
    });
  });

  test('web addresses and standard input are unchanged, file paths are relative to the configuration', async () => {
    const accept = 'application/xml, text/xml, */*;q=0.5';
    const retry = { attempts: 4, firstDelayMs: 1_000, maxDelayMs: 60_000 };
    const settings = { headers: {}, accept, maxRedirects: 5, allowPrivateRedirects: false, retry };
    for (const [written, from] of [
      [
        'https://ats.example.com/acme.xml?a=1',
        {
          kind: 'http',
          url: 'https://ats.example.com/acme.xml?a=1',
          publicAddress: 'https://ats.example.com/acme.xml?a=1',
          ...settings,
        },
      ],
      ['"-"', { kind: 'stdin' }],
      ['../feeds/a b.xml', { kind: 'file', path: join(folder, '../feeds/a b.xml') }],
      ['/srv/acme.xml.gz', { kind: 'file', path: '/srv/acme.xml.gz' }],
    ] as const) {
      const config = await load(withLines({ feed: [`source: ${written}`] }));
      expect(config.feeds.get(feedName('acme'))?.source.from).toEqual(from);
    }
  });

  test('anchors and aliases share settings', async () => {
    const config = await load(`${MINIMAL.replace('acme:', 'acme: &acme')}  other: *acme\n`);
    expect(config.feeds.get(feedName('other'))?.source.recordPath).toBe('*/job');
  });
});

describe('the environment', () => {
  test('an unquoted variable on its own takes the type of its value, a quoted one is text', async () => {
    const config = await load(
      withLines({
        top: ['listen:', '  port: ${PORT}'],
        feed: ['fields: { number: { value: "${PORT}" }, salary: { value: "${DIGITS}" } }'],
      }),
    );
    expect(config.listen.port).toBe(9090);
    expect(config.feeds.get(feedName('acme'))?.mapping.fields).toMatchObject({
      number: { source: { value: '9090' } },
      salary: { source: { value: '007' } },
    });
  });

  const cases: [name: string, text: string, complaint: string][] = [
    [
      'a missing variable',
      withLines({ site: ['token: ${NOPE}'] }),
      'jobmirror.yaml:4:12 sites.board.token: the environment variable NOPE is not set; set it before starting jobmirror',
    ],
    [
      'a missing variable that leaves no valid value',
      withLines({ site: ['base_url: ${NOPE}'] }),
      'jobmirror.yaml:4:15 sites.board.base_url: the environment variable NOPE is not set; set it before starting jobmirror',
    ],
    [
      'an empty variable',
      withLines({ site: ['token: ${EMPTY}'] }),
      'jobmirror.yaml:4:12 sites.board.token: the environment variable EMPTY is empty; give it a value',
    ],
    [
      'an invalid variable name',
      withLines({ feed: ['source: ${a-b}'] }),
      'jobmirror.yaml:9:13 feeds.acme.source: "${" starts a reference to an environment variable, as in ${NAME}, but this is not one',
    ],
    [
      'an open brace',
      withLines({ feed: ['source: "${PORT"'] }),
      'jobmirror.yaml:9:13 feeds.acme.source: "${" starts a reference to an environment variable, as in ${NAME}, but this is not one',
    ],
    [
      'constructor',
      withLines({ feed: ['source: ${constructor}'] }),
      'jobmirror.yaml:9:13 feeds.acme.source: the environment variable constructor is not set; set it before starting jobmirror',
    ],
    [
      'a line break in a variable',
      withLines({ feed: ['headers: { Authorization: "${BROKEN}" }'] }),
      'jobmirror.yaml:10:31 feeds.acme.headers.Authorization: holds a line break or another control character, which is not allowed in a setting; write it on one line',
    ],
    [
      'a line break in a text',
      withLines({ feed: ['source: "a\\r\\nb"'] }),
      'jobmirror.yaml:9:13 feeds.acme.source: holds a line break or another control character, which is not allowed in a setting; write it on one line',
    ],
  ];
  test.each(cases)('%s', async (_name, text, complaint) => {
    expect(await complaintsOf(text)).toEqual([complaint]);
  });
});

describe('secrets', () => {
  function headersOf(config: Config) {
    const from = config.feeds.get(feedName('acme'))?.source.from;
    return from?.kind === 'http' ? from.headers : {};
  }

  test('print as [secret] however they are printed', async () => {
    const config = await load(
      withLines({
        top: ['database: postgres://app:${DB_PASSWORD}@h/d'],
        feed: ['source: https://ats.example.com/a.xml', 'headers: { X-Api-Key: "${BOARD_TOKEN}" }'],
      }),
    );
    const plain = [...config.sites.values(), ...config.feeds.values()];
    const printed = [
      inspect(config, { depth: 20, showHidden: true }),
      JSON.stringify({ ...config, plain }),
      `${config.sites.get(siteName('board'))?.options.token}`,
    ];
    for (const text of printed) {
      expect(text).toContain('[secret]');
      // The random name of the folder may hold any letters.
      expect(text.replaceAll(folder, '')).not.toMatch(/zq/);
    }
    expect(headersOf(config)['X-Api-Key']?.reveal()).toBe(TOKEN);
    expect(configSecrets(config)).toEqual([TOKEN, TOKEN, 'zq-db-99']);
  });

  test('a header may combine text and a secret', async () => {
    const config = await load(
      withLines({
        feed: [
          'source: https://ats.example.com/a.xml',
          'headers: { Authorization: "Bearer ${BOARD_TOKEN}", Accept: application/xml }',
        ],
      }),
    );
    const headers = headersOf(config);
    expect(headers.Authorization?.reveal()).toBe(`Bearer ${TOKEN}`);
    expect(headers.Accept?.reveal()).toBe('application/xml');
  });

  const refused: [name: string, text: string, complaint: RegExp][] = [
    [
      'a token in the file',
      withLines({ site: ['token: literal-zq'] }),
      /^jobmirror.yaml:4:12 sites.board.token: must be exactly \$\{NAME\}/,
    ],
    [
      'a token among other text',
      withLines({ site: ['token: x${BOARD_TOKEN}'] }),
      /sites.board.token: must be exactly \$\{NAME\}/,
    ],
    [
      'a secret header in the file',
      withLines({ feed: ['headers: { authorization: Basic zq }'] }),
      /feeds.acme.headers.authorization: is a secret, and must come from the environment/,
    ],
    [
      'a password in the address of a feed',
      withLines({ feed: ['source: https://user:zq@ats.example.com/'] }),
      /feeds.acme.source: must hold no user name and password/,
    ],
    [
      'a token under a wrong name',
      withLines({ site: ['tokn: literal-zq'] }),
      /sites.board.tokn: is not a setting; did you mean token\?/,
    ],
    [
      'a token where a name belongs',
      withLines({ feed: ['site: ${BOARD_TOKEN}'] }),
      /feeds.acme.site: there is no site \$\{BOARD_TOKEN\}; known: board/,
    ],
    [
      'a token where a number belongs',
      withLines({ top: ['listen:', '  port: ${BOARD_TOKEN}'] }),
      /listen.port: must be a number/,
    ],
    ['a token in bad YAML', withLines({ site: ['token: "literal-zq'] }), /not valid YAML/],
  ];
  test.each(refused)('%s is refused and not shown', async (_name, text, complaint) => {
    const lines = await complaintsOf(text);
    expect(lines.join('\n')).toMatch(complaint);
    expect(lines.join('\n').replaceAll(folder, '')).not.toMatch(/zq/);
  });

  test.each([
    ['a colon', 'user:secret', /holds a colon, which HTTP Basic cannot carry/],
    ['a space', 'two words', /holds a space or a control character/],
    ['nothing', '\n', /the token is empty/],
  ])('a token file with %s', async (_name, content, complaint) => {
    writeFileSync(join(folder, 'board.token'), content, { mode: 0o600 });
    const [line] = await complaintsOf(
      withLines({ site: ['token_file: board.token'] }).replace('    token: ${BOARD_TOKEN}\n', ''),
    );
    expect(line).toMatch(complaint);
    expect(line).toMatch(/sites.board.token_file: /);
  });

  test('a token file is relative to the configuration, and its last line end is removed', async () => {
    const path = join(folder, 'board.token');
    const text = withLines({ site: ['token_file: board.token'] }).replace('    token: ${BOARD_TOKEN}\n', '');
    writeFileSync(path, `${TOKEN}\r\n`);
    chmodSync(path, 0o600);
    const config = await load(text);
    expect(config.sites.get(siteName('board'))?.options.token.reveal()).toBe(TOKEN);
    expect(config.warnings).toEqual([]);
    chmodSync(path, 0o644);
    expect((await load(text)).warnings).toEqual([
      expect.stringContaining(`${path} can be read by other users; run: chmod 600`),
    ]);
  });

  test.each([
    ['', ['feeds acme and copy have the same source, key and site: the site gets a job of each for every posting']],
    ['    skip: { title: Cook }\n', []],
  ])(
    'a feed with the same source, key and site as another one causes a warning, but not with%s',
    async (more, warned) => {
      const [, feed = ''] = /acme:\n([\s\S]*)$/.exec(MINIMAL) ?? [];
      const text = `${MINIMAL}  copy:\n${feed}${more}`;
      expect(warnOfSameFeeds((await load(text)).feeds.values())).toEqual(warned);
    },
  );

  test('a token too short to be removed everywhere causes a warning, and is not shown', async () => {
    const path = join(folder, 'board.token');
    const text = withLines({ site: ['token_file: board.token'] }).replace('    token: ${BOARD_TOKEN}\n', '');
    for (const [token, warned] of [
      ['zq7xk9w', [expect.stringContaining('sites.board.token_file: the token has only 7 characters')]],
      ['zq7xk9wv', []],
    ] as const) {
      writeFileSync(path, token, { mode: 0o600 });
      chmodSync(path, 0o600);
      const { warnings } = await load(text);
      expect(warnings).toEqual(warned);
      expect(warnings.join('')).not.toContain(token);
    }
  });

  test('a missing token file, or a folder', async () => {
    const text = withLines({ site: ['token_file: nowhere'] }).replace('    token: ${BOARD_TOKEN}\n', '');
    expect(await complaintsOf(text)).toEqual([
      `jobmirror.yaml:4:17 sites.board.token_file: ${join(folder, 'nowhere')} can't be read: there is no such file`,
    ]);
    mkdirSync(join(folder, 'nowhere'));
    expect((await complaintsOf(text))[0]).toMatch(/it is a folder/);
  });
});

describe('mistakes', () => {
  const cases: [name: string, text: string, complaint: string | RegExp][] = [
    [
      'an unknown setting',
      withLines({ feed: ['shedule: "* * * * *"'] }),
      'jobmirror.yaml:10:5 feeds.acme.shedule: is not a setting; did you mean schedule?',
    ],
    [
      'an unknown setting in a group',
      withLines({ site: ['limits: { requests_per_minute: 3 }'] }),
      /limits.requests_per_minute: is not a setting; did you mean requests_per_second\?|known here: requests_per_second, concurrency, timeout_seconds/,
    ],
    [
      'a hyphen for an underscore',
      withLines({ feed: ['time-zone: UTC'] }),
      /feeds.acme.time-zone: is not a setting; did you mean time_zone\?/,
    ],
    [
      'an unknown setting in a field',
      withLines({ feed: ['fields: { title: { from: a, defualt: b } }'] }),
      /feeds.acme.fields.title.defualt: is not a setting; did you mean default\?/,
    ],
    [
      'an unknown top setting',
      withLines({ top: ['databse: embedded'] }),
      'jobmirror.yaml:1:1 databse: is not a setting; did you mean database?',
    ],
    [
      'an unknown site',
      withLines({ feed: ['site: bord'] }),
      'jobmirror.yaml:9:11 feeds.acme.site: there is no site bord; did you mean board?',
    ],
    [
      'an unknown preset',
      withLines({ feed: ['format: monster'] }),
      /feeds.acme.format: there is no preset monster; known: .*indeed/,
    ],
    [
      'a missing setting',
      withLines({}).replace('    source: acme.xml\n', ''),
      'jobmirror.yaml:7:5 feeds.acme.source: is missing; it must be text, or use sources, a list',
    ],
    [
      'no key in an inline format',
      withLines({ feed: ['format: { records: a/b, fields: { title: t } }'] }),
      /feeds.acme.format.key: is missing; it must be text, or a list/,
    ],
    ['no feeds', 'sites: {}\n', /feeds: is missing; it must be a group of settings/],
    ['an empty group', 'sites:\nfeeds: {}\n', /sites: must be a group of settings/],
    [
      'no token',
      withLines({}).replace('    token: ${BOARD_TOKEN}\n', ''),
      /sites.board.token: needs exactly one of token: \$\{NAME\} and token_file: PATH/,
    ],
    ['two tokens', withLines({ site: ['token_file: a'] }), /sites.board.token: needs exactly one of/],
    [
      'a number for text',
      withLines({ feed: ['encoding: 1252'] }),
      /feeds.acme.encoding: must be text \(put a number in quotes\)/,
    ],
    [
      'text for a number',
      withLines({ site: ['retry: { attempts: many }'] }),
      /sites.board.retry.attempts: must be a (whole )?number/,
    ],
    [
      'a number out of range',
      withLines({ feed: ['delete_guard: { percent: 101 }'] }),
      /feeds.acme.delete_guard.percent: must be at most 100/,
    ],
    [
      'a broken number',
      withLines({ site: ['limits: { concurrency: 1.5 }'] }),
      /sites.board.limits.concurrency: must be a whole number/,
    ],
    [
      'an invalid choice',
      withLines({ site: ['on_missing: ignore'] }),
      /sites.board.on_missing: must be one of create, leave/,
    ],
    [
      'an invalid name',
      withLines({}).replace('  acme:', '  Acme Inc:'),
      /feeds.Acme Inc: the name must be 1 to 64 lower-case letters/,
    ],
    [
      'a field that cannot be an element',
      withLines({ feed: ['fields: { "job title": title }'] }),
      /feeds.acme.fields.job title: the name must be a name that an XML element can have/,
    ],
    [
      'a malformed path',
      withLines({ feed: ['fields: { title: a//b }'] }),
      /feeds.acme.fields.title: the path "a\/\/b" has no name at character 3; a path looks like/,
    ],
    [
      'a malformed path in a list',
      withLines({ feed: ['fields: { title: { from: [a, "b["] } }'] }),
      /feeds.acme.fields.title.from.1: the path "b\[" has a syntax error/,
    ],
    [
      'a malformed template',
      withLines({ feed: ['fields: { title: { template: "{a" } }'] }),
      /feeds.acme.fields.title.template: the template "\{a" has an unmatched brace/,
    ],
    [
      'two sources for a field',
      withLines({ feed: ['fields: { title: { from: a, value: b } }'] }),
      /feeds.acme.fields.title: needs exactly one of from, template, sections, value and jsonata/,
    ],
    [
      'join without from',
      withLines({ feed: ['fields: { title: { value: a, join: b } }'] }),
      /feeds.acme.fields.title.join: works only with from/,
    ],
    [
      'an unknown transform',
      withLines({ feed: ['fields: { title: { from: a, as: uper } }'] }),
      /feeds.acme.fields.title.as: must be one of text, html/,
    ],
    [
      'a rule that is a number',
      withLines({ feed: ['fields: { title: 5 }'] }),
      /feeds.acme.fields.title: must be text, or a group of settings, or a list, or null/,
    ],
    [
      'an invalid size',
      withLines({ feed: ['limits: { max_bytes: 5 apples }'] }),
      /feeds.acme.limits.max_bytes: must be bytes, or a number with a unit/,
    ],
    [
      'a schedule with four fields',
      withLines({ feed: ['schedule: "* * * *"'] }),
      /feeds.acme.schedule: is not a cron expression .*it has 4 fields/,
    ],
    [
      'a schedule out of range',
      withLines({ feed: ['schedule: "61 * * * *"'] }),
      /feeds.acme.schedule: is not a cron expression/,
    ],
    [
      'a schedule by name',
      withLines({ feed: ['schedule: "@daily"'] }),
      /feeds.acme.schedule: is not a cron expression .*names such as @daily and @reboot are not supported/,
    ],
    [
      'a schedule with a random value',
      withLines({ feed: ['schedule: "0 H(1-5) * * *"'] }),
      /feeds.acme.schedule: .*H, a random value, is not supported/,
    ],
    [
      'a schedule whose step is larger than an hour',
      withLines({ feed: ['schedule: "*/90 * * * *"'] }),
      /feeds.acme.schedule: .*the step \/90 is larger than its field, which has 60 values/,
    ],
    [
      'a schedule that never comes',
      withLines({ feed: ['schedule: "0 0 31 2 *"'] }),
      /feeds.acme.schedule: is not a cron expression/,
    ],
    [
      'a schedule for standard input',
      withLines({ feed: ['source: "-"', 'schedule: "* * * * *"'] }),
      /feeds.acme.schedule: does not work for a feed on standard input/,
    ],
    [
      'an invalid time zone',
      withLines({ feed: ['time_zone: New York'] }),
      /feeds.acme.time_zone: must be an IANA time zone/,
    ],
    [
      'an offset for a time zone',
      withLines({ feed: ['time_zone: "+02:00"'] }),
      /feeds.acme.time_zone: must be an IANA time zone/,
    ],
    [
      'a feed over ftp',
      withLines({ feed: ['source: ftp://h/a.xml'] }),
      /feeds.acme.source: can't be read over ftp; .*pipe the feed in/,
    ],
    [
      'an invalid database',
      withLines({ top: ['database: mysql://h/d'] }),
      /^jobmirror.yaml:1:11 database: must be embedded, or postgres:/,
    ],
    ['an invalid queue', withLines({ top: ['queue: memory'] }), /queue: must be database, or redis:/],
    [
      'a base address with a query',
      withLines({ site: ['base_url: https://h/?a=b'] }),
      /sites.board.base_url: must be an address/,
    ],
    [
      'a base address with a password',
      withLines({ site: ['base_url: https://u:p@h/'] }),
      /sites.board.base_url: must be an address/,
    ],
    [
      'a base address over ftp',
      withLines({ site: ['base_url: ftp://h/'] }),
      /sites.board.base_url: must be an address/,
    ],
    [
      'a list path to another host',
      withLines({ site: ['list_path: //evil.example.com/'] }),
      /sites.board.list_path: must be a path on the site/,
    ],
    [
      'doubts resolved too early',
      withLines({ site: ['doubts: { resolve_after_seconds: 30 }'] }),
      'jobmirror.yaml:5:38 sites.board.doubts.resolve_after_seconds: must be longer than limits.timeout_seconds: until then the request itself may still make the job',
    ],
    [
      'a state field that nothing fills',
      withLines({ site: ['state_field: { name: us-state }'] }),
      /feeds.acme.fields: nothing fills us-state, which the site board needs/,
    ],
    [
      'a field that is set only on create, and that nothing fills',
      withLines({ feed: ['create_only_fields: [descriptio]'] }),
      /feeds.acme.create_only_fields: nothing fills descriptio; did you mean description\?/,
    ],
    [
      'a reference that is left to the site',
      withLines({ site: ['reference_field: number'], feed: ['create_only_fields: [number]'] }),
      /feeds.acme.create_only_fields: number is the reference_field of the site/,
    ],
    [
      'a required field that nothing fills',
      withLines({ site: ['required: [title, salary]'] }),
      /feeds.acme.fields: nothing fills salary/,
    ],
    [
      'null for a field that the format lacks',
      withLines({ feed: ['fields: { contact-email-adress: null }'] }),
      /feeds.acme.fields.contact-email-adress: null takes away a field of the format.*did you mean contact-email-address\?/,
    ],
    [
      'a path of XML elements in a JSON format',
      withLines({
        feed: ["format: { type: json, records: '*/job[1]', key: id, fields: { title: a, location-state: b } }"],
      }),
      /feeds.acme.format.records: must be the names that lead from the root to the list of records/,
    ],
    [
      'a records path of a table',
      withLines({ feed: ['format: { type: csv, records: a, key: id, fields: { title: a, location-state: b } }'] }),
      /feeds.acme.format.records: works only with type: xml, json and html, because with type: csv every row is a record/,
    ],
    [
      'a total of JSON Lines',
      withLines({ feed: ['format: { type: jsonl, total: a, key: id, fields: { title: a, location-state: b } }'] }),
      /feeds.acme.format.total: works only with type: xml, json and html, because type: jsonl has nothing but records/,
    ],
    [
      'the layout of a table in another format',
      withLines({
        feed: ["format: { type: json, csv: { delimiter: ';' }, key: id, fields: { title: a, location-state: b } }"],
      }),
      /feeds.acme.format.csv: works only with type: csv/,
    ],
    [
      'an unusual delimiter',
      withLines({
        feed: ["format: { type: csv, csv: { delimiter: '~' }, key: id, fields: { title: a, location-state: b } }"],
      }),
      /feeds.acme.format.csv.delimiter: must be one of/,
    ],
    [
      'a format of an unknown type',
      withLines({ feed: ['format: { type: toml, key: id, fields: { title: a, location-state: b } }'] }),
      /feeds.acme.format.type: must be one of/,
    ],
    [
      'a format without records',
      withLines({ feed: ['format: { key: id, fields: { title: a, location-state: b } }'] }),
      /feeds.acme.format.records: is missing/,
    ],
    [
      'a record path with a condition',
      withLines({ feed: ['format: { records: "a/b[c=d]", key: id, fields: { title: a, location-state: b } }'] }),
      /feeds.acme.format.records: must be element names from the root/,
    ],
    [
      'an invalid header',
      withLines({ feed: ['headers: { "Bad Header": x }'] }),
      /feeds.acme.headers.Bad Header: the name is not a name that an HTTP header can have/,
    ],
    ['a name given twice', `${MINIMAL}  acme: {}\n`, /^jobmirror.yaml:11:3: not valid YAML: Map keys must be unique/],
    [
      '__proto__',
      `${MINIMAL}  __proto__: {}\n`,
      /^jobmirror.yaml:11:3: not valid YAML|no setting can have the name __proto__/,
    ],
    [
      'a variable without quotes in braces',
      withLines({ top: ['listen: { port: ${PORT} }'] }),
      'jobmirror.yaml:1:18: not valid YAML: inside { } and [ ] a variable needs quotes: "${NAME}"',
    ],
    ['bad YAML', 'sites: [\n', /^jobmirror.yaml:2:1: not valid YAML/],
    [
      'an empty file',
      '',
      /^jobmirror.yaml: holds no settings; write it with jobmirror init SOURCE --force, or copy .*jobmirror.example.yaml there/,
    ],
    ['a list', '- a\n', /^jobmirror.yaml:1:1: must be a group of settings/],
    ['a tag', `${MINIMAL}  other: !!js/function x\n`, /not valid YAML: Unresolved tag/],
  ];
  test.each(cases)('%s', async (_name, text, complaint) => {
    const lines = await complaintsOf(text);
    expect(lines).toEqual([typeof complaint === 'string' ? complaint : expect.stringMatching(complaint)]);
  });

  test('mistakes of all kinds are reported at once', async () => {
    const text = withLines({
      top: ['databse: embedded'],
      site: ['token_file: nowhere', 'base_url: nowhere', 'token: ${NOPE}'],
      feed: [
        'site: bord',
        'schedule: never',
        'format: { records: a, key: id, fields: { title: "[" } }',
        'limits: { max_bytes: x }',
        'source: "a\\tb"',
      ],
    });
    const settings = (await complaintsOf(text)).map((line) => line.split(' ')[1]);
    expect(new Set(settings)).toEqual(
      new Set([
        ...['databse:', 'sites.board.token:', 'sites.board.base_url:', 'feeds.acme.site:', 'feeds.acme.schedule:'],
        ...['feeds.acme.format.fields.title:', 'feeds.acme.limits.max_bytes:', 'feeds.acme.source:'],
      ]),
    );
  });

  test('a mistake in one site does not hide those in another', async () => {
    const text =
      `${withLines({ site: ['on_missing: x'] })}  other:\n    source: a\n    format: indeed\n    site: second\n`.replace(
        'feeds:',
        '  second:\n    base_url: https://h\n    token_file: nowhere\nfeeds:',
      );
    expect((await complaintsOf(text)).map((line) => line.split(' ')[1])).toEqual([
      'sites.board.on_missing:',
      'sites.second.token_file:',
    ]);
  });

  test('exponential aliases are refused', async () => {
    const layers = Array.from(
      { length: 9 },
      (_, index) => `l${index + 1}: &l${index + 1} [${Array(9).fill(`*l${index}`).join(', ')}]`,
    );
    const [line] = await complaintsOf(`l0: &l0 [x]\n${layers.join('\n')}\n${MINIMAL}`);
    expect(line).toMatch(/the aliases .* can't be followed/);
  });

  test('a reference field that nothing fills is a warning', async () => {
    const { warnings } = await load(withLines({ site: ['reference_field: ref'] }));
    expect(warnings).toEqual([
      expect.stringMatching(/^feeds.acme: nothing fills ref, the reference_field of the site board/),
    ]);
  });
});

describe('finding the file', () => {
  test('a missing file: the error says how to create one', async () => {
    const nowhere = join(folder, 'sub');
    mkdirSync(nowhere, { recursive: true });
    await expect(loadConfig({ env, cwd: nowhere })).rejects.toThrow(
      /there is no such file; write it with jobmirror init SOURCE \(.*copy .*jobmirror\.example\.yaml there.*--config FILE/,
    );
  });

  test('a named file, relative to the current folder; its own paths are relative to its folder', async () => {
    mkdirSync(join(folder, 'etc'), { recursive: true });
    writeFileSync(join(folder, 'etc/other.yaml'), MINIMAL);
    const config = await loadConfig({ path: 'etc/other.yaml', env, cwd: folder });
    expect(config.path).toBe(join(folder, 'etc/other.yaml'));
    expect(config.dataDir).toBe(join(folder, 'etc/.jobmirror'));
    expect(config.feeds.get(feedName('acme'))?.source.from).toMatchObject({ path: join(folder, 'etc/acme.xml') });
  });

  test('a named file that is missing', async () => {
    await expect(loadConfig({ path: 'nowhere.yaml', env, cwd: folder })).rejects.toThrow(
      /nowhere\.yaml: can't be read: there is no such file/,
    );
  });
});

describe('proxies', () => {
  const S3 = ['source: s3://b/a.xml', 'credentials: { s3: { access_key_id: A, secret_access_key: "${BOARD_TOKEN}" } }'];
  /** Of the site and of the feed. */
  const proxiesOf = (config: Config) => {
    const from = config.feeds.get(feedName('acme'))?.source.from;
    return [config.sites.get(siteName('board'))?.options, from?.kind === 'pages' ? from.http : from].map((part) => {
      const { http, https, except } = (part as { proxy?: ProxySettings }).proxy ?? {};
      return [http?.reveal(), https?.reveal(), except];
    });
  };

  test.each([[['source: https://a.example/']], [['source: https://a.example/', 'pages: { by: link }']], [S3]])(
    'lead to sites and to %s, unless these have their own',
    async (feed) => {
      const text = withLines({ top: ['proxy: http://anna:${DB_PASSWORD}@proxy.example:3128'], feed });
      const config = await load(text);
      const address = 'http://anna:zq-db-99@proxy.example:3128';
      expect(proxiesOf(config)).toEqual(Array(2).fill([address, address, '']));
      expect(configSecrets(config)).toContain('zq-db-99');
      expect(JSON.stringify(config) + inspect(config, { depth: 9 })).not.toContain('zq-db-99');
      expect(configDigests(config)).toEqual(configDigests(await load(withLines({ feed }))));
      const own = 'https://other.example';
      const others = await load(`${text.replace('    token:', '    proxy: none\n    token:')}    proxy: ${own}\n`);
      expect(proxiesOf(others)).toEqual([
        [undefined, undefined, ''],
        [own, own, ''],
      ]);
    },
  );

  test('of the environment are those that curl would use', async () => {
    const text = withLines({ top: ['proxy: environment'], feed: ['source: https://a.example/'] });
    writeFileSync(join(folder, 'jobmirror.yaml'), text);
    const names = { HTTP_PROXY: 'upper:1', http_proxy: 'lower:1', ALL_PROXY: 'http://all:1', no_proxy: 'a.example' };
    const found = proxiesOf(await loadConfig({ env: { ...env, ...names }, cwd: folder }));
    expect(found).toEqual(Array(2).fill(['http://lower:1', 'http://all:1', 'a.example']));
    const wrong = loadConfig({ env: { ...env, HTTPS_PROXY: 'socks5://anna:zq-db-99@a:1' }, cwd: folder });
    const why = await whyRefused(wrong);
    expect(why).toMatch(/ proxy: the environment variable HTTPS_PROXY is not the address of an HTTP proxy, such as/);
    expect(why).not.toContain('zq-db-99');
  });

  test.each([
    [{ top: ['proxy: proxy.example:3128'] }, /proxy: must be environment, none, or an address/],
    [{ top: ['proxy: http://anna:zq-5@proxy.example'] }, /proxy: must be .*a secret written here would end up/],
    [{ top: ['proxy: socks5://proxy.example'] }, /proxy: must be/],
    [{ top: ['proxy: ${DIGITS}'] }, /proxy: is not the address of an HTTP proxy, such as http:/],
    [{ site: ['proxy: http://a/path'] }, /sites.board.proxy: must be/],
    [{ site: ['proxy: http://a:${NOT_SET}@proxy.example'] }, /sites.board.proxy: the environment variable NOT_SET/],
    [{ feed: ['proxy: none'] }, /feeds.acme.proxy: works only with http, https and s3/],
    [
      { top: ['alerts: { ops: { proxy: none, email: { to: [a@b.example], from: a@b.example, smtp: "smtp://a" } } }'] },
      /alerts.ops.proxy: works only with url; mail is sent directly/,
    ],
  ])('that cannot be used are refused: %j', async (lines, why) => {
    expect(await whyRefused(load(withLines(lines)))).toMatch(why);
  });
});
