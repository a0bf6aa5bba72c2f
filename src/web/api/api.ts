// The HTTP API: finds the operation of a request, checks who asks, validates, runs it, and answers.
import { createHash } from 'node:crypto';
import { Hono, type Context as HonoContext } from 'hono';
import type { Control } from '../../operations/control.ts';
import type { App } from '../../runtime/app.ts';
import { expectOwnPage, unauthorized, type Visitor } from '../access/visitor.ts';
import { csvResponse } from '../csv-response.ts';
import { ProblemError, problemResponse } from '../problem.ts';
import type { WebEnv } from '../web-env.ts';
import type { HttpOperation, OperationResult } from './http-route.ts';
import { OPERATIONS } from './http-routes.ts';
import { openApi } from './openapi.ts';
import { readRequest } from './read-request.ts';
import { once } from './repeatable.ts';

const API = '/api/v1';

export function apiRoutes(app: App, control: Control): Hono<WebEnv> {
  const api = new Hono<WebEnv>();
  const use = async (c: HonoContext<WebEnv>): Promise<Visitor> => {
    const visitor = await c.get('visitor')();
    if (visitor === undefined) throw new ProblemError(unauthorized('send a token: Authorization: Bearer TOKEN'));
    return visitor;
  };
  api.get('/openapi.json', (c) => {
    const { origin, prefix } = c.get('client');
    return json({ body: openApi(OPERATIONS, `${origin}${prefix}${API}`) }, c.req.header('if-none-match'));
  });
  for (const operation of OPERATIONS) {
    const path = `${API}${operation.path.replace(/\{(\w+)\}/g, ':$1')}`;
    api.on(operation.method, path, async (c) => {
      const visitor = await use(c);
      expectScope(visitor, operation);
      if (operation.method === 'post') {
        expectOwnPage(c.env.incoming, c.get('client'), visitor, c.req.header('x-csrf-token'));
      }
      const { rawBody, ...input } = await readRequest(c.req, operation);
      if (operation.csv !== undefined && /^text\/csv\b/i.test(c.req.header('accept') ?? '')) {
        return csvResponse(operation.csv(input, { app, control, actor: visitor.actor }), operation.path.slice(1));
      }
      const answer = async () => {
        const reply = await operation.run(input, { app, control, actor: visitor.actor });
        return json(
          reply,
          operation.method === 'get' ? c.req.header('if-none-match') : undefined,
          locationOf(c, reply),
        );
      };
      if (operation.method === 'get') return answer();
      const key = c.req.header('idempotency-key');
      return once(app.db, { who: visitor.actor, key, target: `${c.req.method} ${c.req.path}`, body: rawBody }, answer);
    });
  }
  for (const path of new Set(OPERATIONS.map((operation) => operation.path))) {
    const methods = OPERATIONS.filter((operation) => operation.path === path).map(({ method }) => method.toUpperCase());
    const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    api.all(`${API}${path.replace(/\{(\w+)\}/g, ':$1')}`, async (c) => {
      await use(c);
      return problemResponse({ status: 405, detail: `only ${allow} is possible here`, headers: { Allow: allow } });
    });
  }
  api.all(`${API}/*`, async (c) => {
    await use(c);
    return problemResponse({ status: 404, detail: 'there is no such path in the API; /openapi.json lists all' });
  });
  return api;
}

function expectScope({ actor, scopes }: Visitor, { scope }: HttpOperation): void {
  if (scopes.has(scope)) return;
  throw new ProblemError({ status: 403, detail: `${actor} lacks the scope ${scope}, which this needs` });
}

function locationOf(c: HonoContext<WebEnv>, { location }: OperationResult): Readonly<Record<string, string>> {
  return location === undefined ? {} : { Location: `${c.get('client').prefix}${API}${location}` };
}

/** A reader that has the same content gets 304. */
function json(
  { status = 200, body }: OperationResult,
  known: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const tag = etagOf(body);
  const all = { 'Cache-Control': 'private, no-cache', ETag: tag, ...headers };
  const isKnown = known?.split(',').some((each) => each.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''));
  if (isKnown) return new Response(null, { status: 304, headers: all });
  return new Response(`${JSON.stringify(body)}\n`, { status, headers: { 'Content-Type': 'application/json', ...all } });
}

/** Weak, because ages grow while nothing else changes. */
function etagOf(body: unknown): string {
  const lasting = JSON.stringify(body, (name, value) => (name.endsWith('_seconds') ? undefined : value));
  return `W/"${createHash('sha256').update(lasting).digest('base64url').slice(0, 22)}"`;
}
