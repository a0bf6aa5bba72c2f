// The schema of which script of an HTML page holds JSON: its attributes, and the variable that the JSON is assigned to.
import { z } from 'zod';

export const scriptSchema = z
  .record(z.string().regex(/^[a-z][\w:.-]*$/i, 'must be the name of an attribute, or variable'), z.string().min(1))
  .refine(({ variable }) => variable === undefined || /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$/.test(variable), {
    error: 'must be the name of a variable, such as window.pageData',
    path: ['variable'],
  })
  .refine((script) => Object.keys(script).length > 0, 'needs an attribute, such as id, or variable')
  .transform(({ variable, ...attributes }) => ({ attributes, ...(variable === undefined ? {} : { variable }) }));
