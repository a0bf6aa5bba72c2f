// Reads a form that a page sent: URL-encoded, small, each field once.
import type { HonoRequest } from 'hono';
import { ProblemError } from '../problem.ts';
import { receiveBody } from '../read-body.ts';

const MOST_BYTES = 64 * 1024;

export async function readForm(request: HonoRequest): Promise<Readonly<Record<string, string | undefined>>> {
  const type = request.header('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw new ProblemError({ status: 415, detail: 'the body must be a form: application/x-www-form-urlencoded' });
  }
  const fields = new URLSearchParams((await receiveBody(request, MOST_BYTES)).toString('utf8'));
  const names = [...fields.keys()];
  if (new Set(names).size < names.length) throw new ProblemError({ status: 400, detail: 'a field is given twice' });
  if ([...fields.values()].some((value) => value.includes('\0'))) {
    throw new ProblemError({ status: 400, detail: 'a field holds a NUL character' });
  }
  return Object.fromEntries(fields);
}
