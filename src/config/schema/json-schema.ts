// Turns the schema of the configuration into config/jobmirror.schema.json, which editors complete and check with.
import { inputJsonSchema } from '../known-names.ts';
import { configSchema } from './config-schema.ts';

/** The text of the file. Lists of plain values stand on one line where they fit, as the formatter wants them. */
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
