// Serves pages and API of a test's installation over real HTTP, with users and tokens.
import { randomBytes, scryptSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { loadConfig } from '../../src/config/load-config.ts';
import { hashPassword } from '../../src/config/password-hash.ts';
import { controlToCome } from '../../src/operations/control.ts';
import type { App } from '../../src/runtime/app.ts';
import { type BulkRunner, startBulkRunner } from '../../src/runtime/bulk-runner.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { healthRoutes, startHttpServer } from '../../src/runtime/http/serve.ts';
import { type AdoptNow, adoptNow } from '../../src/runtime/run-adoption.ts';
import { pullNow } from '../../src/runtime/schedule/pull-now.ts';
import { accessTo } from '../../src/web/access.ts';
import { webRoutes } from '../../src/web/web-routes.ts';
import type { Mirror } from '../support/mirror.ts';

export const PASSWORD = 'correct horse';
export const TOKENS = {
  reader: randomBytes(20).toString('hex'),
  puller: randomBytes(20).toString('hex'),
  reviewer: randomBytes(20).toString('hex'),
  admin: randomBytes(20).toString('hex'),
};

export const WEBHOOK_SECRET = randomBytes(32).toString('base64');

/** The cheapest one that is accepted, so that tests are fast. */
function cheapHash(password: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(password, salt, 32, { N: 2 ** 10, r: 1, p: 1 });
  const [one, two] = [salt, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$scrypt$ln=10,r=1,p=1$${one}$${two}`;
}

const PASSWORD_HASH = cheapHash(PASSWORD);

const PROTECTED = `web:
  users:
    anna: { password_hash_file: anna.hash, role: reviewer }
    ben: { password_hash_file: anna.hash, role: viewer }
    ada: { password_hash_file: anna.hash, role: admin }
  tokens:
    reader: { token_file: reader.token, scopes: [read] }
    puller: { token_file: puller.token, scopes: [read, pull] }
    reviewer: { token_file: reviewer.token, scopes: [read, pull, review] }
    admin: { token_file: admin.token, scopes: [read, pull, review, configure] }
  webhooks:
    ats: { secret_file: ats.secret }
    other: { secret_file: ats.secret, feeds: [other] }
`;

export interface Served {
  readonly url: string;
  readonly app: App;
  /** Asks the API as a token, `reviewer` if none is named; `null`: without one. */
  api(method: string, path: string, body?: unknown, options?: AskOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface ServeOptions {
  /** Whether the process can pull and send. */
  readonly sends?: boolean;
  readonly requestsPerMinute?: number;
  /** Without users and tokens. */
  readonly open?: boolean;
  /** Whether feeds may have files of their own, in `feeds`. */
  readonly include?: boolean;
  /** Whether feeds that are saved over HTTP may come from this machine. */
  readonly privateSources?: boolean;
  readonly trustedProxies?: readonly string[];
  /** Whether checking a password takes as long as with a hash that `users hash` makes. */
  readonly costlyPassword?: boolean;
}

export interface AskOptions {
  readonly as?: keyof typeof TOKENS | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for.
  readonly body: any;
}

export async function serve(
  mirror: Mirror,
  {
    sends = false,
    requestsPerMinute,
    open = false,
    include = false,
    privateSources = false,
    trustedProxies = [],
    costlyPassword = false,
  }: ServeOptions = {},
): Promise<Served> {
  for (const [name, token] of Object.entries(TOKENS)) {
    await writeFile(join(mirror.folder, `${name}.token`), token, { mode: 0o600 });
  }
  await writeFile(join(mirror.folder, 'ats.secret'), WEBHOOK_SECRET, { mode: 0o600 });
  const hash = costlyPassword ? await hashPassword(PASSWORD) : PASSWORD_HASH;
  await writeFile(join(mirror.folder, 'anna.hash'), hash, { mode: 0o600 });
  const path = join(mirror.folder, 'served.yaml');
  // The file says so as well: what is planned with a draft is read anew.
  const protectedWeb = privateSources ? PROTECTED.replace('web:', 'web:\n  private_sources: true') : PROTECTED;
  await writeFile(
    path,
    (await readFile(mirror.configPath, 'utf8')) +
      (open ? '' : protectedWeb) +
      (include ? 'include: feeds/*.yaml\n' : ''),
  );
  const config = await loadConfig({ path, env: mirror.env, cwd: mirror.folder });
  const limits = requestsPerMinute === undefined ? {} : { requestsPerMinute };
  const app = {
    ...(await mirror.app()),
    config: { ...config, web: { ...config.web, ...limits, trustedProxies, privateSources } },
  };
  const control = controlToCome();
  const stopping = new AbortController();
  let bulk: BulkRunner | undefined;
  let adoptions: AdoptNow | undefined;
  if (sends) {
    const engine = await mirror.engine();
    const pulls = pullNow(app, engine, feedSetups(app.config, []), stopping.signal, 100);
    bulk = startBulkRunner(
      app,
      () => engine.wake(),
      (site) => engine.siteContexts.get(site),
    );
    const running = adoptNow(app, engine);
    adoptions = running;
    control.begin({
      pull: (feed) => pulls.pull(feed),
      pullSoon: (feed) => pulls.soon(feed),
      undone: (undo) => pulls.undone(undo),
      wake: () => engine.wake(),
      queueCounts: () => engine.queueCounts(),
      bulk: (id) => bulk?.begin(id),
      adopt: running.begin,
    });
  }
  const routes = healthRoutes({ check: async () => ({ ok: true }) });
  routes.route('/', webRoutes(app, control, accessTo(app.db, app.config)) as unknown as Hono);
  const server = await startHttpServer({ host: '127.0.0.1', port: 0, routes });
  return {
    url: server.url,
    app,
    async api(method, path, body, { as = 'reviewer', headers = {} } = {}) {
      const response = await fetch(`${server.url}${path.startsWith('/') ? path : `/api/v1/${path}`}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(as === null ? {} : { Authorization: `Bearer ${TOKENS[as]}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = /json/.test(response.headers.get('content-type') ?? '');
      return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
    },
    async close() {
      stopping.abort();
      await bulk?.stop(5_000);
      await adoptions?.stop(5_000);
      await server.close();
    },
  };
}

/** A request with any path and headers, unlike `fetch`, which tidies them. */
export function rawRequest(
  url: string,
  options: {
    readonly method?: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string | string[]>>;
    readonly body?: string | Buffer;
  },
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, method: options.method ?? 'GET', path: options.path, headers: options.headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const headers = new Headers();
          for (const [name, value] of Object.entries(response.headers)) {
            for (const each of [value ?? []].flat()) headers.append(name, each);
          }
          const isJson = /json/.test(headers.get('content-type') ?? '');
          resolve({ status: response.statusCode ?? 0, headers, text, body: isJson ? JSON.parse(text) : undefined });
        });
      },
    );
    sent.on('error', reject);
    sent.end(options.body);
  });
}
