// Adapts an operation to HTTP: the members of its input that the path names, and the others in the query or the body.
import { z } from 'zod';
import { fromText, isOptional, membersOf } from '../../operations/from-text.ts';
import { type ListOperation, type Operation, readListPage, type SingleOperation } from '../../operations/operation.ts';
import { cursorSchema, limitSchema, NOTHING } from '../../operations/scalars.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { HttpOperation } from './http-route.ts';

/** Items of a page without `limit`. */
const SHOWN = 50;

export const httpOperation = (operation: Operation): HttpOperation =>
  operation.kind === 'list' ? listing(operation) : single(operation);

function single(operation: SingleOperation): HttpOperation {
  const { id, path, summary, scope, output } = operation;
  const reads = scope === 'read';
  const { params, others, isWhole } = placed(operation);
  return {
    id,
    method: reads ? 'get' : 'post',
    path,
    summary,
    scope,
    params,
    query: reads ? z.strictObject(asTexts(others)) : NOTHING,
    body: reads ? undefined : isWhole ? operation.input : bodyOf(others),
    status: operation.locationOf === undefined ? 200 : 202,
    response: output,
    async run(read, { app, control, actor }) {
      const given = { ...asObject(read.params), ...asObject(read.query), ...asObject(read.body) };
      const input = isWhole ? read.body : operation.input.parse(given);
      const result = await operation.run(input, { app, actor, control });
      const body = z.encode(output, result);
      if (operation.locationOf === undefined) return { body };
      return { status: 202, body, location: operation.locationOf(result) };
    },
  };
}

function listing(operation: ListOperation): HttpOperation {
  const { id, path, summary, scope, item, place } = operation;
  const { params, others } = placed(operation);
  const items = z.array(item);
  return {
    id,
    method: 'get',
    path,
    summary,
    scope,
    params,
    query: z.strictObject({ ...asTexts(others), cursor: cursorSchema, limit: limitSchema }),
    body: undefined,
    status: 200,
    response: z.looseObject({
      items,
      next_cursor: z.string().nullable().describe('`null`: nothing follows.'),
    }),
    async run(read, { app, control, actor }) {
      const { cursor, limit, ...query } = asObject(read.query) as { readonly cursor?: string; readonly limit?: number };
      const input = operation.input.parse({ ...asObject(read.params), ...query });
      const page = { limit: limit ?? SHOWN, after: decodeCursor(cursor, place) };
      const { items: shown, next } = await readListPage(operation, input, page, { app, actor, control });
      return { body: { items: z.encode(items, [...shown]), next_cursor: encodeCursor(next) } };
    },
  };
}

/** @returns `isWhole`: the input has several forms, and is the body as a whole */
function placed({ path, input }: Operation) {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const members = Object.entries(membersOf(input));
  const inPath = Object.fromEntries(members.filter(([name]) => named.includes(name)));
  const others = Object.fromEntries(members.filter(([name]) => !named.includes(name)));
  return { params: z.strictObject(asTexts(inPath)), others, isWhole: !(input instanceof z.ZodObject) };
}

const asTexts = (members: Readonly<Record<string, z.ZodType>>) =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, fromText(schema)]));

/** May be left out if each of its members may. */
function bodyOf(members: Readonly<Record<string, z.ZodType>>): z.ZodType {
  const body = z.strictObject(members);
  return Object.values(members).every(isOptional) ? body.optional() : body;
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
