// Reads a form that a page sent: URL-encoded, of bounded size.
import type { HonoRequest } from 'hono';
import { ProblemError } from '../problem.ts';
import { receiveBody } from '../read-body.ts';

/** Enough for a table of values and for the entries of a page. */
const MOST_BYTES = 1024 * 1024;
const MOST_FIELDS = 20_000;

export interface Form {
  /** @throws {ProblemError} if the field is given twice */
  one(name: string): string | undefined;
  /** The values of a field that may be repeated. */
  all(name: string): readonly string[];
  /** The names that begin with the text, without it. */
  namesAfter(beginning: string): readonly string[];
}

/** @throws {ProblemError} if the body is no form, or too large */
export async function readForm(request: HonoRequest): Promise<Form> {
  const type = request.header('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw new ProblemError({ status: 415, detail: 'the body must be a form: application/x-www-form-urlencoded' });
  }
  const fields = new URLSearchParams((await receiveBody(request, MOST_BYTES)).toString('utf8'));
  if (fields.size > MOST_FIELDS) throw new ProblemError({ status: 413, detail: 'the form has too many fields' });
  if ([...fields].some((texts) => texts.some((text) => text.includes('\0')))) {
    throw new ProblemError({ status: 400, detail: 'a field holds a NUL character' });
  }
  return {
    one(name) {
      const values = fields.getAll(name);
      if (values.length > 1) throw new ProblemError({ status: 400, detail: `the field ${name} is given twice` });
      return values[0];
    },
    all: (name) => fields.getAll(name),
    namesAfter: (beginning) =>
      [...new Set(fields.keys())].flatMap((name) => (name.startsWith(beginning) ? [name.slice(beginning.length)] : [])),
  };
}
