// All routes of pages and API, with what protects them.
import { type Context, Hono } from 'hono';
import { shareReading } from '../flow/share-reading.ts';
import type { Control } from '../operations/control.ts';
import { OperationRefused } from '../operations/operation.ts';
import { tell } from '../plan/message.ts';
import type { App } from '../runtime/app.ts';
import { listPauses } from '../store/locks/pauses.ts';
import { describePassing } from '../store/postgres/transient-error.ts';
import type { Access } from './access/access.ts';
import { apiRoutes } from './api/api.ts';
import { pageRoutes } from './pages/page-routes.tsx';
import { ErrorPage } from './pages/parts/page.tsx';
import { type HttpProblem, ProblemError, problemResponse, TITLES } from './problem.ts';
import type { WebEnv } from './web-env.ts';
import { webhookRoutes } from './webhook-routes.ts';

export function webRoutes(app: App, control: Control, { readClient, readVisitor, sessions }: Access): Hono<WebEnv> {
  const routes = new Hono<WebEnv>();
  routes.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(PROTECTING)) c.res.headers.set(name, value);
    if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store');
  });
  routes.use(async (c, next) => {
    const { incoming } = c.env;
    expectReadable(incoming.url ?? '');
    const client = readClient(incoming);
    c.set('client', client);
    c.set('share', (name, read) => shareReading(app.config, name, read));
    c.set('pauses', () => shareReading(app.config, 'pauses', () => listPauses(app.db.prepared)));
    c.set('aboutFeed', (feed) => ({ feed, site: app.config.feeds.get(feed)?.siteName }));
    c.set('visitor', () => readVisitor(incoming, client));
    await next();
  });
  routes.route('/', apiRoutes(app, control));
  routes.route('/', webhookRoutes(app, control));
  routes.route('/', pageRoutes({ app, control }, sessions));
  // A `notFound` of its own would not count where these routes are mounted.
  routes.all('*', (c) => failed(c, { status: 404, detail: 'there is nothing at this address' }));
  routes.onError((error, c) => {
    if (error instanceof ProblemError) return failed(c, error.problem);
    if (error instanceof OperationRefused) {
      const status = ({ unknown: 404, conflict: 409, invalid: 422 } as const)[error.kind];
      const { reason, now, subject, retryAfterSeconds: seconds } = error;
      const headers: HttpProblem['headers'] = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
      return failed(c, {
        status,
        detail: `${subject === undefined ? '' : `${subject}: `}${tell(reason, app.writeAction)}`,
        more: now,
        headers,
      });
    }
    const passing = describePassing(error);
    if (passing !== undefined) {
      return failed(c, {
        status: 503,
        detail: 'the database is not available at the moment; try again later',
        headers: { 'Retry-After': '5' },
      });
    }
    if (isOfData(error)) {
      app.log.warn({ err: error, path: c.req.path }, 'request refused by the database');
      return failed(c, { status: 400, detail: 'the request holds a value that can not be stored' });
    }
    app.log.error({ err: error, method: c.req.method, path: c.req.path }, 'request failed');
    return failed(c, { status: 500, detail: 'the request failed; the log of the process says why' });
  });
  return routes;
}

/**
 * No frames, no scripts within pages, and nothing from elsewhere. The referrer policy keeps addresses with keys to ourselves, and unlike
 * `no-referrer` lets browsers name the origin of a form.
 */
const PROTECTING = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** A page for browsers; for programs, and below the API, problem details. */
async function failed(c: Context<WebEnv>, problem: HttpProblem): Promise<Response> {
  const isForProgram = /^\/(?:api|webhooks)\//.test(c.req.path) || !/\btext\/html\b/.test(c.req.header('accept') ?? '');
  if (isForProgram) return problemResponse(problem);
  const visit = { prefix: c.get('client')?.prefix ?? '', visitor: undefined };
  const page = await ErrorPage({ visit, title: TITLES[problem.status], detail: problem.detail });
  return c.html(`${page}`, problem.status, { ...problem.headers });
}

/** A path with broken percent-encoding names nothing, and would reach operations undecoded. */
function expectReadable(url: string): void {
  try {
    decodeURIComponent(url.split('?')[0] ?? '');
  } catch {
    throw new ProblemError({ status: 400, detail: 'the path is not percent-encoded UTF-8' });
  }
}

/** SQLSTATE class 22: the statement was given a value that it can't work with. */
const isOfData = (error: unknown): boolean => /^22/.test(String((error as { readonly code?: unknown }).code ?? ''));
