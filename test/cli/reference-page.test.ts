// docs/reference.md is up to date (UPDATE=1 writes it), and describes what commands print.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { openMirror } from '../support/mirror.ts';
import { COMMAND_NOTES } from './command-notes.ts';
import { allCommands, referencePage } from './reference-page.ts';

const FILE = 'docs/reference.md';
const HOW = 'is stale; run: UPDATE=1 npx vitest run test/cli/reference-page.test.ts';
const path = join(packageRoot, FILE);

it(`${FILE} is up to date`, async () => {
  const page = await referencePage();
  if (process.env.UPDATE === '1') writeFileSync(path, page);
  expect(readFileSync(path, 'utf8') === page, `${FILE} ${HOW}`).toBe(true);
});

it('has a description of every command, argument and option', async () => {
  const commands = await allCommands();
  expect(commands.length).toBeGreaterThan(40);
  const lacking = commands.flatMap(({ words, command }) => {
    const name = words.join(' ');
    const parts = [...command.options.filter(({ hidden }) => !hidden), ...command.registeredArguments];
    return [
      ...(command.description() === '' ? [name] : []),
      ...parts.filter(({ description }) => description === '').map((part) => `${name} ${part.name()}`),
    ];
  });
  expect(lacking).toEqual([]);
});

it('describes JSON only of commands that print it', async () => {
  const commands = new Map((await allCommands()).map(({ words, command }) => [words.join(' '), command]));
  const wrong = Object.entries(COMMAND_NOTES).filter(([name, { json }]) => {
    const command = commands.get(name);
    return command === undefined || (json !== undefined && !command.options.some(({ long }) => long === '--json'));
  });
  expect(wrong.map(([name]) => name)).toEqual([]);
});

it('explains every field that sync prints', async () => {
  const mirror = await openMirror();
  try {
    await mirror.writeFeed('<source></source>');
    const report = await mirror.sync();
    const page = readFileSync(path, 'utf8');
    const section = page.slice(page.indexOf('\n## jobmirror sync\n'), page.indexOf('\n## jobmirror start\n'));
    for (const name of [...Object.keys(report), 'message'])
      expect(section).toMatch(new RegExp(`^\\| .*\`${name}\``, 'm'));
  } finally {
    await mirror.close();
  }
});
