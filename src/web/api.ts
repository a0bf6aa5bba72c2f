// The HTTP API: finds the operation of a request, checks who asks, validates, runs it, and answers.

import { createHash } from 'node:crypto';
import { Hono, type Context as HonoContext } from 'hono';
import { z } from 'zod';
import { programVersion } from '../config/package-root.ts';
import type { ProcessControl } from '../operations/control.ts';
import type { App } from '../runtime/app.ts';
import { OPERATIONS } from './http-routes.ts';
import { csvResponse, PROBLEM_TITLES, ProblemError, problemAnswer, problemResponse } from './problem.ts';
import { doOnce, type HttpOperation, type OperationResult, readRequest } from './read-request.ts';
import { expectOwnPage, unauthorized, type Visitor } from './visitor.ts';
import type { WebEnv } from './web-env.ts';

const API = '/api/v1';

export function apiRoutes(app: App, control: ProcessControl): Hono<WebEnv> {
  const api = new Hono<WebEnv>();
  const use = async (c: HonoContext<WebEnv>): Promise<Visitor> => {
    const visitor = await c.get('visitor')();
    if (visitor === undefined) throw new ProblemError(unauthorized('send a token: Authorization: Bearer TOKEN'));
    return visitor;
  };
  api.get('/openapi.json', (c) => {
    const { origin, prefix } = c.get('client');
    return respond(c, written({ body: openApi(OPERATIONS, `${origin}${prefix}${API}`) }));
  });
  for (const operation of OPERATIONS) {
    const path = `${API}${operation.path.replace(/\{(\w+)\}/g, ':$1')}`;
    api.on(operation.method, path, async (c) => {
      const visitor = await use(c);
      expectScope(visitor, operation);
      if (operation.method === 'post') {
        expectOwnPage(c.env.incoming, c.get('client'), visitor, c.req.header('x-csrf-token'));
      }
      const isRead = operation.method === 'get';
      const asCsv = isRead && operation.csv !== undefined && /^text\/csv\b/i.test(c.req.header('accept') ?? '');
      const asked = { app, control, actor: visitor.actor };
      if (isRead && !asCsv && operation.scope === 'read') {
        const { pathname, search } = new URL(c.req.url);
        const read = async () => written(await operation.run(await readRequest(c.req, operation), asked));
        return respond(c, await c.get('share')(`answer ${pathname}${search}`, read));
      }
      const { rawBody, ...input } = await readRequest(c.req, operation);
      if (asCsv && operation.csv !== undefined)
        return csvResponse(operation.csv(input, asked), operation.path.slice(1));
      const answer = async () => respond(c, written(await operation.run(input, asked)));
      if (isRead) return answer();
      const key = c.req.header('idempotency-key');
      return doOnce(
        app.db,
        { who: visitor.actor, key, target: `${c.req.method} ${c.req.path}`, body: rawBody },
        answer,
      );
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

interface Written {
  readonly status: number;
  /** JSON. */
  readonly text: string;
  readonly tag: string;
  /** Below the API. */
  readonly location: string | undefined;
}

const written = ({ status = 200, body, location }: OperationResult): Written => ({
  status,
  text: `${JSON.stringify(body)}\n`,
  tag: etagOf(body),
  location,
});

/** A reader that has the same content gets 304. */
function respond(c: HonoContext<WebEnv>, { status, text, tag, location }: Written): Response {
  const headers = {
    'Cache-Control': 'private, no-cache',
    ETag: tag,
    ...(location === undefined ? {} : { Location: `${c.get('client').prefix}${API}${location}` }),
  };
  const known = c.req.method === 'POST' ? undefined : c.req.header('if-none-match');
  const isKnown = known?.split(',').some((each) => each.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''));
  if (isKnown) return new Response(null, { status: 304, headers });
  return new Response(text, { status, headers: { 'Content-Type': 'application/json', ...headers } });
}

/** Weak, because ages grow while nothing else changes. */
function etagOf(body: unknown): string {
  const lasting = JSON.stringify(body, (name, value) => (name.endsWith('_seconds') ? undefined : value));
  return `W/"${createHash('sha256').update(lasting).digest('base64url').slice(0, 22)}"`;
}

// Makes the OpenAPI 3.1 document from the schemas that validate requests: zod itself writes them as JSON Schema 2020-12, which is
// what OpenAPI 3.1 uses, so no further package is needed.

type Json = Readonly<Record<string, unknown>>;

/** @param server the address of the API as its client sees it */
export function openApi(operations: readonly HttpOperation[], server: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'jobmirror',
      version: programVersion(),
      description: 'Feeds, pulls, postings and review of one jobmirror installation.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of `web.tokens` in the configuration.' },
      },
      schemas: { Problem: schemaOf(problemAnswer, 'answer') },
    },
  };
}

function operationObject(operation: HttpOperation): Json {
  const { id, summary, scope, body, status, response, method } = operation;
  const parameters = [
    ...parametersOf(operation.params, 'path'),
    ...parametersOf(operation.query, 'query'),
    ...(method === 'post' ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: id,
    summary,
    description: `Needs the scope \`${scope}\`.`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: bodyOf(body) }),
    responses: {
      [status]: {
        description: status === 202 ? 'Started.' : 'Done.',
        ...(status === 202 ? { headers: LOCATION } : {}),
        content: {
          'application/json': { schema: schemaOf(response, 'answer') },
          ...(operation.csv === undefined ? {} : { 'text/csv': { schema: { type: 'string' } } }),
        },
      },
      ...Object.fromEntries(problemsOf(operation).map((code) => [code, problemResponseObject(PROBLEM_TITLES[code])])),
    },
  };
}

const problemsOf = ({ method, path }: HttpOperation): readonly (keyof typeof PROBLEM_TITLES)[] => [
  400,
  401,
  403,
  ...(path.includes('{') ? ([404] as const) : []),
  ...(method === 'post' ? ([409, 413, 415, 422] as const) : []),
  429,
  503,
];

const problemResponseObject = (description: string): Json => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

const LOCATION: Json = {
  Location: { description: 'Where to ask what became of it.', schema: { type: 'string' } },
};

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A text that names this request: repeated within a day, it gets the same answer and does nothing again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function parametersOf(schema: z.ZodObject, place: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'request') as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

const bodyOf = (body: z.ZodType): Json => ({
  required: !body.safeParse(undefined).success,
  content: { 'application/json': { schema: schemaOf(body, 'request') } },
});

function schemaOf(schema: z.ZodType, of: 'request' | 'answer'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    reused: 'inline',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Members may be added to answers, so no client may refuse one that it does not know.
      if (of === 'answer' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  }) as Json;
  return rest;
}
