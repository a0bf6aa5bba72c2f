// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration itself contains ${NAME}.
// A whole installation behind an HTTP proxy: one job per posting whatever the proxy refuses, and no word of its password.
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { certificate, key } from '../site/tls-identity.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { posting } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { runSql } from '../support/sql.ts';
import { setEnv } from '../support/with-env.ts';

vi.setConfig({ testTimeout: 60_000 });

const PASSWORD = 'pr0xy-s3cret';
const QUIET = {
  retry: '{ attempts: 40, first_delay_seconds: 0.05, max_delay_seconds: 0.1 }',
  limits: '{ timeout_seconds: 1 }',
  doubts: '{ resolve_after_seconds: 1.1 }',
};

let proxy: ForwardProxy;
let mirror: Mirror;
let restore: () => void;
/** Breaks the tunnel as soon as the site has made a job, before its answer. */
let breaks = false;
const tlsSite = createTlsServer({ cert: certificate, key }, (socket) => {
  const onward = connect(Number(new URL(mirror.sandbox.url).port), '127.0.0.1');
  for (const each of [socket, onward]) each.on('error', () => undefined);
  socket.pipe(onward);
  onward.on('data', (answer: Buffer) => {
    if (breaks && answer.includes('HTTP/1.1 201')) {
      breaks = false;
      proxy.breakConnections();
    } else socket.write(answer);
  });
  socket.on('close', () => onward.destroy());
});

beforeAll(async () => {
  // The certificate of tests is signed by itself.
  restore = setEnv({ NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  proxy = await startForwardProxy();
  proxy.login = `mirror:${PASSWORD}`;
  mirror = await openMirror({ site: { base_url: `https://localhost:${await listen(tlsSite)}`, ...QUIET } });
  Object.assign(mirror.env, { PROXY_PASSWORD: PASSWORD });
  const text = await readFile(mirror.configPath, 'utf8');
  await writeFile(mirror.configPath, `proxy: http://mirror:\${PROXY_PASSWORD}@${proxy.url.host}\n${text}`);
});
afterAll(async () => {
  restore();
  await mirror.close();
  await proxy[Symbol.asyncDispose]();
  tlsSite.close();
});

it('sends a create that the proxy refused to connect once it connects: one job, and nothing in doubt', async () => {
  for (const refusal of [403, 407]) {
    await mirror.stopEngine();
    Object.assign(proxy, { refusal, refusals: 1, got: [] });
    const key = `J${refusal}`;
    expect(await mirror.syncOf([posting(key)])).toMatchObject({ created: 1, in_doubt: 0, failed: 0 });
    expect((await mirror.sandbox.inspect.jobs()).filter(({ fields }) => fields.number === key)).toHaveLength(1);
    expect(proxy.got.length).toBeGreaterThan(1);
  }
});

it('leaves a create in doubt whose tunnel breaks once it was sent, and finds its job', async () => {
  Object.assign(proxy, { refusal: undefined });
  breaks = true;
  await mirror.stopEngine();
  await mirror.syncOf(['J403', 'J407', 'broken'].map((key) => posting(key)));
  expect(breaks).toBe(false);
  expect(JSON.stringify(await mirror.query('select * from failure'))).toMatch(
    /No answer: [^"]*, through the proxy localhost/,
  );
  expect(await mirror.sync()).toMatchObject({ in_doubt: 0, unchanged: 3 });
  expect((await mirror.sandbox.inspect.jobs()).filter(({ fields }) => fields.number === 'broken')).toHaveLength(1);
});

it('says through which proxy it goes, and shows its password nowhere', async () => {
  Object.assign(proxy, { refusal: 407, refusals: Number.POSITIVE_INFINITY });
  const printed: string[] = [];
  for (const command of [['check', '--online'], ['sync'], ['review', 'list']]) {
    const { out, errors } = await runProgram(mirror, ...command);
    printed.push(out, errors);
  }
  expect(printed[0]).toMatch(
    /site board: it cannot be reached: .*the proxy localhost:\d+ refuses the user and the password of proxy \(407\)/,
  );
  const url = mirror.env.DATABASE_URL ?? '';
  const tables = await runSql<{ name: string }>(
    url,
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'queue')",
  );
  for (const { name } of tables)
    printed.push(...(await runSql<{ row: string }>(url, `select t::text as row from ${name} t`)).map(({ row }) => row));
  const login = Buffer.from(`mirror:${PASSWORD}`).toString('base64');
  expect(printed.filter((text) => text.includes(PASSWORD) || text.includes(login))).toEqual([]);
});

it('reaches a site without it that says so, and uses that of the environment only if told', async () => {
  proxy.got.length = 0;
  await mirror.configure('    base_url:', '    proxy: none\n    base_url:');
  expect((await runProgram(mirror, 'check', '--online')).status).toBe(0);
  expect(proxy.got).toEqual([]);
  await mirror.configure('    proxy: none', '    proxy: environment');
  const { out, status } = await runProgram(
    { ...mirror, env: { ...mirror.env, HTTPS_PROXY: 'localhost:1', NO_PROXY: 'other.example' } },
    'check',
    '--online',
  );
  expect([status, out]).toEqual([1, expect.stringMatching(/the proxy localhost:1 can't be reached/)]);
});
