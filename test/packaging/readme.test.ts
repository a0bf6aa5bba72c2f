// The README, read as text: its links and commands exist, and it explains the output of sync.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { openMirror } from '../support/mirror.ts';

const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

const found = (pattern: RegExp): string[] => [...new Set([...readme.matchAll(pattern)].map(([, text = '']) => text))];

it.each(found(/\]\((?!https?:)([^)#]+)\)/g))('links to %s, which exists', (path) => {
  expect(existsSync(join(packageRoot, path))).toBe(true);
});

it.each(found(/npm run (?:--silent )?([a-z]+)/g))('names the script %s, which package.json has', (script) => {
  expect(scripts).toHaveProperty(script);
});

const code = (readme.match(/```[\s\S]*?```|`[^`\n]+`/g) ?? []).join('\n');
const commands = new Set(
  [...code.matchAll(/\bjobmirror ((?:review |mappings )?[a-z]+)/g)].map(([, words = '']) => words),
);

it.each([...commands])('names the command %s, which exists', (words) => {
  const [name = '', part] = words.split(' ');
  const sources = readdirSync(join(packageRoot, 'src/cli/commands'))
    .filter((file) => file === `${name}.ts` || file.startsWith(`${name}-`))
    .map((file) => readFileSync(join(packageRoot, 'src/cli/commands', file), 'utf8'));
  expect(sources.join('\n')).toMatch(new RegExp(`new Command\\('${name}'\\)`));
  if (part !== undefined) expect(sources.join('\n')).toContain(`'${part}`);
});

it('explains every field that sync prints', async () => {
  const mirror = await openMirror();
  try {
    await mirror.writeFeed('<source></source>');
    const report = await mirror.sync();
    const table = readme.slice(readme.indexOf('## What sync prints'), readme.indexOf('## Exit status'));
    for (const name of [...Object.keys(report), 'message']) expect(table).toMatch(new RegExp(`^\\|.*\`${name}\``, 'm'));
  } finally {
    await mirror.close();
  }
});
