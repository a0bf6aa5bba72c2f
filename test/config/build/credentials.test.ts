// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// Loading the credentials of a feed: from the environment or from files, and never shown.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';
import { isSecretCredential } from '../../../src/config/schema/credentials-schema.ts';
import { feedName } from '../../../src/posting/identifiers.ts';
import { configSecrets } from '../../../src/runtime/app.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { whyRefused } from '../why-refused.ts';

const folder = temporaryFolder();
beforeAll(() => {
  writeFileSync(join(folder, 'acme.secret'), 'zq-of-the-file\n', { mode: 0o600 });
  writeFileSync(join(folder, 'open.secret'), 'zq-of-the-file\n', { mode: 0o644 });
  writeFileSync(join(folder, 'empty.secret'), '\n', { mode: 0o600 });
  for (const name of ['one', 'two']) {
    const made = ['-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${name}`];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', ['req', '-x509', ...key, ...made], { cwd: folder, stdio: 'pipe' });
  }
  writeFileSync(join(folder, 'lines.secret'), 'zq-1\nzq-2\n', { mode: 0o600 });
});

const env = { BOARD_TOKEN: 'zq-board-token', SECRET: 'zq-secret-1', SPACED: 'zq secret', COLON: 'zq:secret' };

function load(credentials: string, source = 'https://ats.example.com/jobs', ...more: string[]) {
  const lines = [
    'sites:',
    '  board: { base_url: https://jobs.example.com, token: "${BOARD_TOKEN}" }',
    'feeds:',
    '  acme:',
    `    source: "${source}"`,
    '    format: indeed',
    '    site: board',
    `    credentials: ${credentials}`,
    ...more.map((line) => `    ${line}`),
  ];
  writeFileSync(join(folder, 'jobmirror.yaml'), lines.join('\n'));
  return loadConfig({ env, cwd: folder });
}

async function credentialsOf(written: string) {
  const config = await load(written);
  const from = config.feeds.get(feedName('acme'))?.source.from;
  return { config, credentials: from?.kind === 'http' ? from.credentials : undefined };
}

/** What is said of them, without the folder: its random name may hold any letters. */
const complaintOf = async (credentials: string, source?: string) =>
  (await whyRefused(load(credentials, source))).replaceAll(folder, '');

describe('credentials', () => {
  test.each([
    ['{ basic: { user: jim, password: "${SECRET}" } }', 'zq-secret-1'],
    ['{ basic: { user: jim, password_file: acme.secret } }', 'zq-of-the-file'],
    ['{ basic: { user: "${SECRET}" } }', 'zq-secret-1'],
    ['{ bearer: { token: "${SECRET}" } }', 'zq-secret-1'],
    ['{ bearer: { token_file: acme.secret } }', 'zq-of-the-file'],
    ['{ query: { name: api_key, value: "${SECRET}" } }', 'zq-secret-1'],
    ['{ query: { name: api_key, value_file: acme.secret } }', 'zq-of-the-file'],
    ['{ oauth2: { token_url: https://l.example.com/t, client_id: a, client_secret: "${SECRET}" } }', 'zq-secret-1'],
    [
      '{ oauth2: { token_url: https://l.example.com/t, client_id: a, client_secret_file: acme.secret, client_in: body } }',
      'zq-of-the-file',
    ],
  ])('%s: the log knows the secret, and nothing prints it', async (written, secret) => {
    const { config, credentials } = await credentialsOf(written);
    expect(credentials).toBeDefined();
    expect(config.warnings).toEqual([]);
    expect(configSecrets(config)).toEqual([env.BOARD_TOKEN, secret]);
    const feeds = [...config.feeds.values()];
    for (const printed of [inspect(feeds, { depth: 20, showHidden: true }), JSON.stringify(feeds)]) {
      expect(printed).toContain('[secret]');
      expect(printed).not.toMatch(/zq-/);
    }
  });

  test('cause warnings if other people may read them', async () => {
    const { config } = await credentialsOf('{ bearer: { token_file: open.secret } }');
    expect(config.warnings).toEqual([expect.stringContaining('feeds.acme.credentials.bearer.token_file: ')]);
    const open = await load('{ bearer: { token: "${SECRET}" } }', 'http://ats.example.com/jobs?key=zq-key');
    expect(open.warnings).toEqual([
      'feeds.acme.credentials: they are sent unencrypted to ats.example.com; use https if it is available',
    ]);
    expect((await load('{ bearer: { token: "${SECRET}" } }', 'http://127.0.0.1:80/jobs')).warnings).toEqual([]);
  });
});

test('a certificate with its key is accepted', async () => {
  const { credentials } = await credentialsOf('{ tls: { cert_file: one.crt, key_file: one.key, ca_file: two.crt } }');
  expect(credentials?.tls?.cert).toMatch(/^-----BEGIN CERTIFICATE/);
  expect(credentials?.tls?.key?.reveal()).toMatch(/^-----BEGIN PRIVATE KEY/);
});

test('an expired certificate causes a warning', async () => {
  const written = '{ tls: { cert_file: one.crt, key_file: one.key } }';
  expect((await load(written)).warnings).toEqual([]);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 100 * 365 * 86_400_000 });
  const { warnings } = await load(written).finally(() => vi.useRealTimers());
  expect(warnings).toEqual([
    expect.stringMatching(
      /^feeds\.acme\.credentials\.tls\.cert_file: the certificate expired on .* GMT; get a new one/,
    ),
  ]);
});

const HOST_KEY = `SHA256:${'aB3+'.repeat(10)}abc`;

describe('an SFTP source', () => {
  const loadSftp = async (login: string, source: string, ...more: string[]) => {
    const config = await load(`{ sftp: { user: jim, host_key: "${HOST_KEY}", ${login} } }`, source, ...more);
    return { config, from: config.feeds.get(feedName('acme'))?.source.from };
  };

  test.each<[string, string[], object]>([
    ['sftp://h.example/a%20b.xml', [], { host: 'h.example', port: 22, path: '/a b.xml', pick: undefined }],
    ['sftp://h.example:2222/~/in/a.xml', [], { port: 2222, path: 'in/a.xml' }],
    ['sftp://h.example/in/*.xml', ['files: newest'], { path: '/in', pick: { pattern: '*.xml', pick: 'newest' } }],
    ['sftp://h.example/~/%3F.xml', ['files: all'], { path: '.', pick: { pattern: '?.xml', pick: 'all' } }],
    ['sftp://h.example/~/', ['files: all'], { path: '.', pick: { pattern: '*', pick: 'all' } }],
    ['sftp://[::1]/in', ['files: all'], { host: '::1', path: '/in', pick: { pattern: '*', pick: 'all' } }],
  ])('%s is a path on a server', async (source, more, expected) => {
    const { from } = await loadSftp('password: "${SECRET}"', source, ...more);
    expect(from).toMatchObject({ kind: 'sftp', ...expected, login: { user: 'jim', hostKeys: [HOST_KEY] } });
  });

  test('takes a password or a key, and the log knows the secrets', async () => {
    const source = 'sftp://h.example/a.xml';
    const password = await loadSftp('password_file: acme.secret', source);
    expect(configSecrets(password.config)).toContain('zq-of-the-file');
    const key = await loadSftp('key_file: one.key, passphrase: "${SECRET}"', source);
    expect(configSecrets(key.config)).toContain('zq-secret-1');
    expect(key.from?.kind === 'sftp' && key.from.login.key?.reveal()).toMatch(
      /^-----BEGIN PRIVATE KEY-----\n[\s\S]*-----\n$/,
    );
    expect(inspect([password.from, key.from], { depth: 9, showHidden: true })).not.toMatch(/zq-|BEGIN/);
  });
});

describe('a source in S3', () => {
  const KEY = 'access_key_id: AKIA1, secret_access_key: "${SECRET}"';
  test.each<[string, string[], object]>([
    ['s3://jobs/out/a%20b.xml', [], { bucket: 'jobs', key: 'out/a b.xml', pick: undefined }],
    [
      's3://jobs.example/out/*.xml',
      ['files: newest'],
      { bucket: 'jobs.example', key: 'out/', pick: { pattern: '*.xml', pick: 'newest' } },
    ],
    ['s3://jobs/*', ['files: all'], { key: '', pick: { pattern: '*', pick: 'all' } }],
    ['s3://jobs', ['files: all'], { key: '', pick: { pattern: '*', pick: 'all' } }],
    ['s3://jobs/out', ['files: all'], { key: 'out/', pick: { pattern: '*', pick: 'all' } }],
  ])('%s is a key in a bucket', async (source, more, expected) => {
    const config = await load(
      `{ s3: { ${KEY}, session_token: "\${BOARD_TOKEN}", region: eu-west-1 } }`,
      source,
      ...more,
    );
    const from = config.feeds.get(feedName('acme'))?.source.from;
    expect(from).toMatchObject({ kind: 's3', ...expected, access: { accessKeyId: 'AKIA1', region: 'eu-west-1' } });
    expect(configSecrets(config)).toEqual([env.BOARD_TOKEN, 'zq-secret-1', env.BOARD_TOKEN]);
    expect(inspect(from, { depth: 9, showHidden: true })).not.toMatch(/zq-/);
  });

  test.each<[string, string, RegExp]>([
    ['s3://jobs/a.xml', '{}', /credentials.s3: is missing; a source in s3 needs access_key_id/],
    ['s3://jobs/a.xml', '{ s3: { access_key_id: a } }', /secret_access_key: needs exactly one of/],
    ['s3://jobs/a.xml', '{ s3: { access_key_id: a, secret_access_key: zq-literal } }', /must be exactly \$\{NAME\}/],
    ['s3://jobs/a.xml', `{ s3: { ${KEY}, endpoint: "https://a/b" } }`, /endpoint: must be an address such as/],
    ['s3://jobs/a.xml', `{ s3: { ${KEY}, region: "eu west" } }`, /region: must be the name of a region/],
    ['s3://jobs', `{ s3: { ${KEY} } }`, /source: names no object; add its key/],
    ['s3://jobs/out/', `{ s3: { ${KEY} } }`, /source: names no object; add its key/],
    ['https://x.example/', `{ s3: { ${KEY} } }`, /credentials.s3: works only with s3/],
  ])('%s with %s is refused', async (source, credentials, complaint) => {
    const message = await complaintOf(credentials, source);
    expect(message).toMatch(complaint);
    expect(message).not.toMatch(/zq/);
  });
});

describe('refused', () => {
  test.each<[string, RegExp]>([
    ['{ bearer: { token: zq-literal } }', /bearer.token: must be exactly \$\{NAME\}/],
    ['{ basic: { user: jim, password: zq-literal } }', /basic.password: must be exactly \$\{NAME\}/],
    ['{ basic: { user: zq-literal } }', /basic.user: is a secret when there is no password/],
    ['{ basic: { user: "${COLON}" } }', /basic.user: holds a colon/],
    ['{ basic: { user: a, password: "${SECRET}", password_file: b } }', /basic.password: has a password_file beside/],
    ['{ bearer: {} }', /bearer.token: needs exactly one of token: \$\{NAME\} and token_file: PATH/],
    ['{ query: { name: k } }', /query.value: needs exactly one of value/],
    ['{ query: { name: "a=b", value: "${SECRET}" } }', /query.name: must be the name of a parameter/],
    ['{ bearer: { token: "${NOPE}" } }', /bearer.token: the environment variable NOPE is not set/],
    ['{ bearer: { token: "${SPACED}" } }', /bearer.token: the token holds a space/],
    ['{ bearer: { token_file: nope } }', /bearer.token_file: .*nope can't be read: there is no such file/],
    ['{ bearer: { token_file: empty.secret } }', /bearer.token_file: the file is empty/],
    ['{ query: { name: k, value_file: lines.secret } }', /query.value_file: the file holds more than one line/],
    ['{ bearer: { token: "${SECRET}" }, basic: { user: "${SECRET}" } }', /credentials: has more than one of basic/],
    [
      '{ oauth2: { token_url: ftp://x, client_id: a, client_secret: "${SECRET}" } }',
      /oauth2.token_url: must be an address such as/,
    ],
    ['{ tls: {} }', /tls.cert_file: is missing; name cert_file and key_file, or ca_file/],
    ['{ tls: { cert_file: acme.secret } }', /tls.key_file: is missing; cert_file needs its key/],
    ['{ tls: { ca_file: acme.secret } }', /tls.ca_file: .*acme.secret is no PEM file with a certificate/],
    ['{ tls: { ca_file: bad.pem } }', /tls.ca_file: .*bad.pem is no PEM file with a certificate/],
    [
      '{ tls: { cert_file: one.crt, key_file: two.key } }',
      /credentials.tls: the certificate can't be used with this key: .*; check key_file and passphrase/,
    ],
  ])('%s', async (credentials, complaint) => {
    writeFileSync(join(folder, 'bad.pem'), '-----BEGIN CERTIFICATE-----\nzq-\n-----END CERTIFICATE-----\n');
    const message = await complaintOf(credentials);
    expect(message).toMatch(complaint);
    expect(message).not.toMatch(/zq/);
  });

  const sftp = (login: string) => `{ sftp: { user: jim, host_key: "${HOST_KEY}", ${login} } }`;
  test.each([
    ['sftp://h/a.xml', '{}', /credentials.sftp: is missing; a source over sftp needs user, password or key_file, and/],
    ['sftp://h/a.xml', '{ sftp: { user: jim, password: "${SECRET}" } }', /sftp.host_key: is missing/],
    [
      'sftp://h/a.xml',
      '{ sftp: { user: jim, host_key: "aa:bb", password: "${SECRET}" } }',
      /host_key: must be a fingerprint/,
    ],
    ['sftp://h/a.xml', sftp('password: zq-literal'), /sftp.password: must be exactly \$\{NAME\}/],
    [
      'sftp://h/a.xml',
      sftp('password: "${SECRET}", key_file: one.key'),
      /sftp.password: needs exactly one of password/,
    ],
    ['sftp://h/a.xml', sftp('password: "${SECRET}", passphrase: "${SECRET}"'), /passphrase: works only with key_file/],
    ['sftp://h/a.xml', sftp('key_file: acme.secret'), /sftp.key_file: the file holds no private key/],
    ['sftp://h/a.xml', sftp('key_file: nope'), /sftp.key_file: .*nope can't be read: there is no such file/],
    ['sftp://jim:zq@h/a.xml', sftp('key_file: one.key'), /source: must hold no user name .* use credentials: \{ sftp:/],
    ['sftp://h/a?.xml', sftp('key_file: one.key'), /source: must write \? as %3F/],
    ['a.xml', sftp('key_file: one.key'), /credentials.sftp: works only with sftp/],
    ['acme.xml', '{ bearer: { token: "${SECRET}" } }', /credentials: work only with an http or https source/],
    ['http://a.example/', '{ tls: { ca_file: bad.pem } }', /credentials.tls: works only with https/],
  ])('with the source %s', async (source, credentials, complaint) => {
    expect(await complaintOf(credentials, source)).toMatch(complaint);
  });
});

describe('which settings of credentials are secrets', () => {
  test.each([
    'basic.user basic.password bearer.token query.value oauth2.client_secret tls.passphrase',
    's3.secret_access_key s3.session_token sftp.password sftp.passphrase',
  ])('secret: %s', (paths) => {
    expect(paths.split(' ').filter((path) => !isSecretCredential(path.split('.')))).toEqual([]);
  });

  test.each([
    'basic basic.password_file bearer.token_file query.name oauth2.client_id oauth2.token_url tls.key_file',
    's3.access_key_id s3.region sftp.user sftp.host_key',
  ])('not secret: %s', (paths) => {
    expect(paths.split(' ').filter((path) => isSecretCredential(path.split('.')))).toEqual([]);
  });
});
