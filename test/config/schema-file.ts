// Generates config/jobmirror.schema.json and config/feed.schema.json, with which editors complete and check configurations.

import { configSchema } from '../../src/config/schema/config-schema.ts';
import { feedSchema } from '../../src/config/schema/feed-schema.ts';
import { inputJsonSchema } from '../../src/config/validate.ts';

/** The text of the file. Lists of plain values go on one line if they fit, as the formatter requires. */
export function configJsonSchemaText(): string {
  const schema = { title: 'jobmirror configuration', ...inputJsonSchema(configSchema) };
  // Files that are included have feeds, too.
  const required = ['sites'];
  return schemaText({ ...schema, required, anyOf: [{ required: ['feeds'] }, { required: ['include'] }] });
}

/** The same for a feed in a file of its own. */
export const feedJsonSchemaText = (): string =>
  schemaText({ title: 'A feed of jobmirror', ...inputJsonSchema(feedSchema) });

function schemaText(schema: object): string {
  const text = JSON.stringify(schema, null, 2).replace(/( *)("[^"\n]*": )?\[\n([^[\]{}]*?)\n *\](,?)/g, onOneLine);
  return `${text}\n`;
}

const WIDTH = 120;

function onOneLine(whole: string, indent: string, name = '', values = '', comma = ''): string {
  const line = `${indent}${name}[${values.trim().replace(/\n */g, ' ')}]${comma}`;
  return line.length <= WIDTH ? line : whole;
}
