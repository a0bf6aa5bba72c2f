// Makes the OpenAPI 3.1 document from the schemas that validate requests: zod itself writes them as JSON Schema 2020-12, which is
// what OpenAPI 3.1 uses, so no further package is needed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { packageRoot } from '../../config/package-root.ts';
import { problemAnswer, TITLES } from '../problem.ts';
import type { HttpOperation } from './http-route.ts';

type Json = Readonly<Record<string, unknown>>;

const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };

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
      version,
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
      ...Object.fromEntries(problemsOf(operation).map((code) => [code, problemResponseObject(TITLES[code])])),
    },
  };
}

const problemsOf = ({ method, path }: HttpOperation): readonly (keyof typeof TITLES)[] => [
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
