// Generates config/jobmirror.schema.json, with which editors complete and check configurations.

import { configSchema } from '../../src/config/schema/config-schema.ts';
import { inputJsonSchema } from '../../src/config/validate.ts';

/** The text of the file. Lists of plain values go on one line if they fit, as the formatter requires. */
export function configJsonSchemaText(): string {
  const schema = { title: 'jobmirror configuration', ...inputJsonSchema(configSchema) };
  const text = JSON.stringify(schema, null, 2).replace(/( *)("[^"\n]*": )?\[\n([^[\]{}]*?)\n *\](,?)/g, onOneLine);
  return `${text}\n`;
}

const WIDTH = 120;

function onOneLine(whole: string, indent: string, name = '', values = '', comma = ''): string {
  const line = `${indent}${name}[${values.trim().replace(/\n */g, ' ')}]${comma}`;
  return line.length <= WIDTH ? line : whole;
}
