// Every command line that a document shows uses a command and options that exist.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { packageRoot } from '../../src/config/package-root.ts';

const documents = ['.', 'docs', 'examples'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

const FENCE = /^```[\s\S]*?^```/gm;

/** What stands after `jobmirror` in shell blocks and code spans, without comments and what follows in a pipe. */
function shownCommands(path: string): string[] {
  const text = readFileSync(join(packageRoot, path), 'utf8');
  const blocks = (text.match(FENCE) ?? []).filter((block) => /^```(?:sh|console|bash)?\n/.test(block));
  const spans = [...text.replace(FENCE, '').matchAll(/(?<!`)(`+)(?!`)((?:[^\n]|\n(?!\n))*?)(?<!`)\1(?!`)/g)];
  const lines = [
    ...blocks.flatMap((block) => block.split('\n').map((line) => line.replace(/(?:^|\s)#.*$/, ''))),
    ...spans.map(([, , span = '']) => span.replaceAll('\n', ' ')),
  ];
  return lines.flatMap((line) =>
    [...line.matchAll(/(?<![\w./-])jobmirror (?=[a-z])([^#|;>&]*)/g)].map(([, rest = '']) => rest.trim()),
  );
}

/** What is wrong with a command line, if anything. */
async function faultOf(line: string): Promise<string | undefined> {
  const words = line.split(/\s+/);
  let command: Command = await buildProgram(words);
  let depth = 0;
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next === undefined) break;
    command = next;
    depth += 1;
  }
  const further = words[depth];
  if (depth === 0 || (command.commands.length > 0 && /^[a-z]/.test(further ?? ''))) return `no command: ${line}`;
  const known = new Set(['--help', ...command.options.map(({ long }) => long)]);
  const unknown = words.flatMap((word) => word.match(/^--[a-z][a-z-]*/) ?? []).filter((option) => !known.has(option));
  return unknown.length === 0 ? undefined : `${words.slice(0, depth).join(' ')} has no ${unknown.join(' ')}`;
}

it.each(documents)('%s shows commands and options that exist', async (path) => {
  const faults = await Promise.all([...new Set(shownCommands(path))].map(faultOf));
  expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
});

it('reads commands with their options, and finds what is wrong with them', async () => {
  expect(shownCommands('docs/operations.md')).toEqual(
    expect.arrayContaining(['review list acme --kind held', 'backup before-upgrade.backup', 'mappings export']),
  );
  expect(await faultOf('sync acme --json')).toBeUndefined();
  expect(await faultOf('sync acme --jsn')).toBe('sync has no --jsn');
  expect(await faultOf('review lst acme')).toBe('no command: review lst acme');
  expect(await faultOf('synch')).toBe('no command: synch');
});
