// The list of findings is made of their scripts; each of them says what it found, with which version, and what was seen.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

const folder = join(packageRoot, 'findings');
const SCRIPTS = readdirSync(folder)
  .filter((name) => name.endsWith('.sh'))
  .sort();
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

it.each(SCRIPTS)('%s says what is needed to judge it', (name) => {
  const [, summary = ''] = read(name).split('\n');
  expect(summary).toMatch(/^# \S.{20,118}\.$/);
  for (const part of ['Version: ', 'Expected: ', 'Behaviour: ', 'Why it matters: ', 'Seen:\n#   '])
    expect(read(name)).toContain(`\n# ${part}`);
});

it('are listed', () => {
  const list = SCRIPTS.map((name) => `- [${name}](${name}): ${read(name).split('\n')[1]?.slice(2)}`);
  const text = `# Findings

Surprises about real libraries, tools, servers and formats, found by running them. Each script installs what it names in a temporary folder
(Debian 12 with apt-get, Node and npm), shows what it sees, and fails if that is not what it states. CI does not run them.
[guesses](guesses) has what was expected before. Generated from the scripts: \`UPDATE=1 npx vitest run test/packaging/findings.test.ts\`.

${list.join('\n')}
`;
  if (process.env.UPDATE !== undefined) writeFileSync(join(folder, 'README.md'), text);
  expect(read('README.md')).toBe(text);
});
