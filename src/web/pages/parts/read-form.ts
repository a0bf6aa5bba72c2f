// Reads a form that a page sent: URL-encoded, of bounded size.
import type { HonoRequest } from 'hono';
import type { z } from 'zod';
import { faultInWords } from '../../../operations/scalars.ts';
import { ProblemError, receiveBody } from '../../problem.ts';

/** Enough for a table of values and for the entries of a page. */
const MOST_BYTES = 1024 * 1024;
const MOST_FIELDS = 20_000;

export interface UploadedFile {
  /** As the browser names it. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Form {
  /** @throws {ProblemError} if the field is given twice */
  one(name: string): string | undefined;
  /** The values of a field that may be repeated. */
  all(name: string): readonly string[];
  /** All fields but the CSRF token, which is of one session, as a browser sends them. */
  encoded(): string;
  /** The names that begin with the text, without it. */
  namesAfter(beginning: string): readonly string[];
  /** `undefined`: none was chosen. Only forms that take files have any. */
  file(name: string): UploadedFile | undefined;
}

/** @param mostUploaded bytes, for a form that takes files. @throws {ProblemError} if the body is no form, or too large */
export async function readForm(request: HonoRequest, mostUploaded?: number): Promise<Form> {
  const type = request.header('content-type') ?? '';
  const takesFiles = mostUploaded !== undefined && /^multipart\/form-data\s*;/i.test(type);
  if (!takesFiles && !/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw new ProblemError({ status: 415, detail: 'the body must be a form: application/x-www-form-urlencoded' });
  }
  const body = await receiveBody(request, takesFiles ? mostUploaded + MOST_BYTES : MOST_BYTES);
  const { fields, files } = takesFiles
    ? await multipartOf(body, type)
    : { fields: new URLSearchParams(body.toString('utf8')), files: new Map<string, UploadedFile>() };
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
    encoded: () => new URLSearchParams([...fields].filter(([name]) => name !== 'csrf')).toString(),
    namesAfter: (beginning) =>
      [...new Set(fields.keys())].flatMap((name) => (name.startsWith(beginning) ? [name.slice(beginning.length)] : [])),
    file: (name) => files.get(name),
  };
}

/** RFC 7578. @throws {ProblemError} */
async function multipartOf(body: Buffer, type: string) {
  const sent = await new Response(new Uint8Array(body), { headers: { 'Content-Type': type } })
    .formData()
    .catch(() => undefined);
  if (sent === undefined) throw new ProblemError({ status: 400, detail: 'the form can not be read' });
  const fields = new URLSearchParams();
  const files = new Map<string, UploadedFile>();
  for (const [name, value] of sent) {
    if (typeof value === 'string') fields.append(name, value);
    else if (value.name !== '' || value.size > 0)
      files.set(name, { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) });
  }
  return { fields, files };
}

// Checks a value of an address or form, and says what is wrong with it.

/** @throws {ProblemError} 400 with the reason */
export function expectValue<Value>(name: string, schema: z.ZodType<Value>, given: unknown): Value {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw malformed(name, faultInWords(read.error.issues[0]));
}

export const malformed = (where: string, message: string): ProblemError =>
  new ProblemError({ status: 400, detail: `${where} ${message}`, faults: [{ where, message }] });
