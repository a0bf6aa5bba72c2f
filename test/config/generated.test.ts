// The generated files are up to date. UPDATE=1 writes them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { formatsPage } from './formats-page.ts';
import { configurationReference } from './reference-page.ts';
import { configJsonSchemaText, feedJsonSchemaText } from './schema-file.ts';

const HOW = 'is stale; run: UPDATE=1 npx vitest run test/config/generated.test.ts';

test.each([
  ['config/jobmirror.schema.json', configJsonSchemaText],
  ['config/feed.schema.json', feedJsonSchemaText],
  ['docs/configuration.md', configurationReference],
  ['docs/formats.md', formatsPage],
])('%s is up to date', (file, generate) => {
  const path = join(packageRoot, file);
  if (process.env.UPDATE === '1') writeFileSync(path, generate());
  expect(readFileSync(path, 'utf8') === generate(), `${file} ${HOW}`).toBe(true);
});
