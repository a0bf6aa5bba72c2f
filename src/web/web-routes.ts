// All routes of pages, API and webhooks, with what protects them.
import { type Context, Hono } from 'hono';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { z } from 'zod';
import type { WebhookSender } from '../config/build/web-config.ts';
import { shareReading } from '../flow/share-reading.ts';
import type { ProcessControl } from '../operations/control.ts';
import { namedFeed, OperationRefused } from '../operations/operation.ts';
import { keyText, nameText } from '../operations/scalars.ts';
import { tell } from '../plan/message.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { App } from '../runtime/app.ts';
import { auditAction } from '../store/access/audit.ts';
import { listPauses } from '../store/locks/pauses.ts';
import { describePassing } from '../store/postgres/transient-error.ts';
import type { Access } from './access.ts';
import { apiRoutes } from './api.ts';
import { limiter } from './limits.ts';
import { pageRoutes } from './pages/page-routes.tsx';
import { ErrorPage, pageOfForm } from './pages/parts/page.tsx';
import { type HttpProblem, notFound, PROBLEM_TITLES, ProblemError, problemResponse, receiveBody } from './problem.ts';
import { checkedBody, doOnce, jsonIn } from './read-request.ts';
import type { WebEnv } from './web-env.ts';

export function webRoutes(
  app: App,
  control: ProcessControl,
  { readClient, readVisitor, sessions }: Access,
): Hono<WebEnv> {
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
  const client = c.get('client');
  const visit = { prefix: client?.prefix ?? '', visitor: undefined };
  const back = client !== undefined && c.req.method === 'POST' ? pageOfForm(c) : undefined;
  const page = await ErrorPage({ visit, title: PROBLEM_TITLES[problem.status], detail: problem.detail, back });
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

// Takes the webhooks of others, which say that a feed or a posting has changed. Their signature is all that lets them in.

/** Of `data`, only what names the feed and the posting counts; senders may add to it. */
const messageSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('feed.changed'), data: z.looseObject({ feed: nameText }) }),
  z.looseObject({ type: z.literal('posting.changed'), data: z.looseObject({ feed: nameText, key: keyText }) }),
]);

const MOST_BYTES = 64 * 1024;

function webhookRoutes(app: App, control: ProcessControl): Hono<WebEnv> {
  const { webhooks, requestsPerMinute } = app.config.web;
  const limit = limiter(requestsPerMinute, 60_000);
  const routes = new Hono<WebEnv>();
  routes.post('/webhooks/:sender', async (c) => {
    const waitSeconds = limit.take(c.get('client').address);
    if (waitSeconds > 0) {
      const headers = { 'Retry-After': String(waitSeconds) };
      throw new ProblemError({ status: 429, detail: 'too many webhooks', headers });
    }
    const body = await receiveBody(c.req, MOST_BYTES);
    const name = c.req.param('sender');
    const sender = webhooks.get(name);
    const { 'webhook-id': id = '' } = c.req.header();
    if (sender === undefined || !isSigned(sender, body, c.req.header())) throw new ProblemError(UNSIGNED);
    const who = `webhook ${name}`;
    // A message that is sent again, by its sender or by an eavesdropper, does nothing again, unless a process that died had begun it.
    const message = { who, key: id, target: 'webhook', body, mayRepeat: true };
    return doOnce(app.db, message, () => take(app, control, { who, sender, body }));
  });
  return routes;
}

/** Also for unknown senders, so that their names can't be found out. */
const UNSIGNED = {
  status: 401,
  detail: 'no webhook of web.webhooks has signed this as Standard Webhooks asks, within the last five minutes',
} as const;

function isSigned({ secret }: WebhookSender, body: Buffer, headers: Readonly<Record<string, string>>): boolean {
  try {
    new Webhook(secret.reveal()).verify(body, headers, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

async function take(
  app: App,
  control: ProcessControl,
  { who, sender, body }: { readonly who: string; readonly sender: WebhookSender; readonly body: Buffer },
): Promise<Response> {
  const { type, data } = checkedBody(messageSchema, jsonIn(body));
  // Before the feed is looked up, so that a sender does not learn which others there are.
  if (sender.feeds?.has(data.feed) === false) {
    throw new ProblemError({ status: 403, detail: `${who} may not speak of feed ${data.feed}` });
  }
  const feed = await knownFeed(app, data.feed);
  // A feed is read as a whole, so a change of one posting needs a pull as well.
  const start = await control.pullSoon(feed);
  if (start.kind === 'unusable') throw new ProblemError({ status: 503, detail: start.message });
  const pull = start.kind === 'started' ? start.pull : null;
  await auditAction(app.db, {
    actor: who,
    action: 'pull',
    feed,
    detail: { type, pull, key: 'key' in data ? data.key : null },
  });
  return accepted(feed, pull);
}

/** Says nothing of the other feeds, unlike an operation. */
const knownFeed = (app: App, name: string): Promise<FeedName> =>
  namedFeed(app, name).catch((error: unknown) => {
    throw error instanceof OperationRefused ? notFound(`there is no feed ${name}`) : error;
  });

const accepted = (feed: FeedName, pull: number | null): Response =>
  new Response(`${JSON.stringify({ feed, pull })}\n`, { status: 202, headers: { 'Content-Type': 'application/json' } });
