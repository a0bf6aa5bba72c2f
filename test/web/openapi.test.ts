// The OpenAPI document: complete, consistent in itself, and made of the schemas that validate requests.
import { expect, it } from 'vitest';
import { openApi } from '../../src/web/api.ts';
import { OPERATIONS } from '../../src/web/http-routes.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is plain data.
const document = openApi(OPERATIONS, 'http://127.0.0.1:8080/api/v1') as any;

it('describes every operation once, with its parameters and answers', () => {
  const described = Object.entries<Record<string, { operationId: string }>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId}: ${method} ${path}`),
  );
  expect(described.sort()).toEqual(OPERATIONS.map(({ id, method, path }) => `${id}: ${method} ${path}`).sort());
  expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  for (const { path, method } of OPERATIONS) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = (document.paths[path][method].parameters ?? []) as { in: string; name: string }[];
    expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(named);
  }
});

it('refers only to what it holds, and has no schema that accepts anything', () => {
  const visit = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('$ref' in value) expect(value.$ref, at).toBe('#/components/schemas/Problem');
    expect(Object.keys(value), at).not.toContain('$defs');
    if ('schema' in value) expect(Object.keys(value.schema as object), at).not.toEqual([]);
    for (const [name, inner] of Object.entries(value)) visit(inner, `${at}/${name}`);
  };
  visit(document, '#');
  expect(document.paths['/review/{id}/edit'].post.requestBody).toMatchObject({
    required: true,
    content: { 'application/json': { schema: { required: ['fields'], additionalProperties: false } } },
  });
  expect(document.paths['/review/{id}/discard'].post.requestBody.required).toBe(false);
});
