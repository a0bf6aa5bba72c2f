// The examples of reverse proxies: nginx and Caddy serve the pages below a path, over HTTPS, as the examples say.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/config/package-root.ts';
import { certificate, key } from '../site/tls-identity.ts';
import { freePort } from '../support/free-port.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { PASSWORD, type Served, serve, TOKENS } from '../web/served.ts';

const example = (name: string): Promise<string> => readFile(join(packageRoot, 'examples/reverse-proxy', name), 'utf8');

interface Place {
  readonly folder: string;
  readonly port: number;
}

interface Proxy {
  readonly name: string;
  readonly program: string;
  readonly file: string;
  /** The example within what its server needs besides. */
  readonly around: (example: string, place: Place) => string;
  readonly args: (file: string, place: Place) => readonly string[];
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    program: '/usr/sbin/nginx',
    file: 'nginx.conf',
    around: (example, { folder, port }) => `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/log;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${folder}/certificate.pem;
    ssl_certificate_key ${folder}/key.pem;
${example}
  }
}`,
    args: (file, { folder }) => ['-e', join(folder, 'log'), '-c', file],
  },
  {
    name: 'Caddy',
    program: '/usr/bin/caddy',
    file: 'Caddyfile',
    around: (example, { folder, port }) => `{
  admin off
  auto_https disable_redirects
  storage file_system ${folder}/caddy
}
${example.replace('mirror.example.com {', `https://localhost:${port} {\ntls ${folder}/certificate.pem ${folder}/key.pem`)}`,
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
];

let mirror: Mirror;
let served: Served;
let folder: string;
let running: ChildProcess | undefined;
beforeAll(async () => {
  mirror = await openMirror();
  served = await serve(mirror, { trustedProxies: ['127.0.0.1'] });
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-proxy-'));
  await chmod(folder, 0o777);
  await writeFile(join(folder, 'certificate.pem'), certificate);
  await writeFile(join(folder, 'key.pem'), key);
});
afterEach(async () => {
  if (running?.exitCode === null) {
    running.kill('SIGTERM');
    await once(running, 'exit');
  }
  running = undefined;
});
afterAll(async () => {
  await served.close();
  await mirror.close();
  await rm(folder, { recursive: true, force: true });
});

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** As a browser that trusts the certificate. */
function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string }>(
    (resolve, reject) => {
      const options = { host: 'localhost', port, path, method, headers, ca: certificate, agent: false };
      const sent = request(options, (response) => {
        const { statusCode: status = 0, headers: got } = response;
        text(response).then((body) => resolve({ status, headers: got, text: body }), reject);
      });
      sent.on('error', reject);
      sent.end(body);
    },
  );
}

async function start({ program, file, around, args }: Proxy): Promise<number> {
  const place = { folder, port: await freePort() };
  const path = join(folder, file);
  await writeFile(path, around((await example(file)).replace('127.0.0.1:8080', new URL(served.url).host), place));
  const child = spawn(program, args(path, place), { env: { ...process.env, HOME: folder }, stdio: 'pipe' });
  running = child;
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text));
  for (let tries = 0; tries < 200 && child.exitCode === null; tries++) {
    const answered = await ask(place.port, '/mirror/readyz').catch(() => undefined);
    if (answered?.status === 200) return place.port;
    await pause(50);
  }
  throw new Error(`${program} does not pass requests on: ${said}`);
}

/** Addresses of our own that a page mentions in such an attribute. */
const addressesIn = (page: string, attributes: string): string[] =>
  [...page.matchAll(new RegExp(`\\s(?:${attributes})="(/[^"]*)"`, 'g'))].map(([, path = '']) =>
    path.replaceAll('&amp;', '&'),
  );

describe.each(PROXIES)('behind $name', (proxy) => {
  const isThere = existsSync(proxy.program);
  if (!isThere && process.env.JOBMIRROR_REQUIRE_ALL === '1')
    throw new Error(`JOBMIRROR_REQUIRE_ALL=1, but there is no ${proxy.program}`);

  it.skipIf(!isThere)(
    `pages, sign-in and API are below the path${isThere ? '' : ` (skipped: there is no ${proxy.program})`}`,
    async () => {
      const port = await start(proxy);
      const origin = `https://localhost:${port}`;
      const shut = await ask(port, '/mirror/');
      expect([shut.status, shut.headers.location]).toEqual([303, expect.stringMatching(/^\/mirror\/sign-in/)]);

      const signIn = { method: 'POST', body: new URLSearchParams({ name: 'anna', password: PASSWORD }).toString() };
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const foreign = await ask(port, '/mirror/sign-in', {
        ...signIn,
        headers: { ...form, Origin: 'http://localhost' },
      });
      expect(foreign.status).toBe(403);
      const entered = await ask(port, '/mirror/sign-in', { ...signIn, headers: { ...form, Origin: origin } });
      expect([entered.status, entered.headers.location]).toEqual([303, '/mirror/']);
      const [cookie = ''] = entered.headers['set-cookie'] ?? [];
      expect(cookie).toMatch(/; Path=\/mirror; HttpOnly; Secure; SameSite=Strict$/);

      // What a client claims does not replace what the proxy knows.
      const claims = {
        'X-Forwarded-Prefix': '/elsewhere',
        'X-Forwarded-Host': 'elsewhere.example',
        'X-Forwarded-Proto': 'http',
      };
      const headers = { Cookie: cookie.split(';', 1)[0] ?? '' };
      const page = await ask(port, '/mirror/', { headers: { ...headers, ...claims } });
      expect([page.status, page.text]).toEqual([200, expect.stringContaining('Sign out')]);
      const addresses = addressesIn(page.text, 'href|src|action');
      expect(addresses.filter((path) => !path.startsWith('/mirror/'))).toEqual([]);
      const shown = new Set(addressesIn(page.text, 'href|src'));
      expect(shown.size).toBeGreaterThan(8);
      for (const path of shown) {
        expect([path, (await ask(port, path, { headers })).status]).toEqual([path, 200]);
      }

      const token = { Authorization: `Bearer ${TOKENS.reader}` };
      expect((await ask(port, '/mirror/api/v1/feeds', { headers: token })).status).toBe(200);
    },
  );
});

it('the example of Traefik, which Debian does not have, fits together', async () => {
  const { http } = parse(await example('traefik.yaml')) as {
    readonly http: Readonly<Record<'routers' | 'middlewares' | 'services', Readonly<Record<string, never>>>>;
  };
  const [router, ...others] = Object.values(http.routers) as {
    readonly rule: string;
    readonly middlewares: readonly string[];
    readonly service: string;
  }[];
  expect(others).toEqual([]);
  const [, path] = /PathPrefix\(`(.*)\/`\)/.exec(router?.rule ?? '') ?? [];
  expect(router?.middlewares.map((name) => http.middlewares[name])).toEqual([{ stripPrefix: { prefixes: [path] } }]);
  expect(http.services[router?.service ?? '']).toEqual({
    loadBalancer: { servers: [{ url: 'http://127.0.0.1:8080' }] },
  });
});
