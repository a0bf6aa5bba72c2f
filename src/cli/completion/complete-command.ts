// The hidden command `complete`, which the scripts of `jobmirror completion` call: prints a candidate per line with its
// description after a tab. Reads the names of feeds and sites from the configuration file, and asks no database.
import { Command } from 'commander';
import { CONFIG_FILE, readNames } from '../../config/config-file.ts';
import { printData } from '../../telemetry/print.ts';
import { type Candidate, type Expected, expectedAfter, type NameGroup } from './candidates.ts';
import { COMPLETE, FILES } from './scripts.ts';

/** Shells cut descriptions off at the width of the terminal; this is about one line. */
const DESCRIPTION_CHARS = 100;

/** @param build the program with the command that the words name */
export function completeCommand(build: (words: readonly string[]) => Promise<Command>): Command {
  return new Command(COMPLETE).argument('[words...]').action(async (given: readonly string[]) => {
    const words = withoutEqualSigns(given);
    const last = words.at(-1) ?? '';
    const called = words.slice(0, -1);
    const expected = expectedAfter(await build(called), called, last);
    if (expected.kind === 'file') return printData(FILES);
    for (const { value, description } of await candidatesOf(expected)) {
      if (!value.startsWith(last) || (expected.kind === 'names' && called.includes(value))) continue;
      const text = description?.split('\n', 1)[0]?.slice(0, DESCRIPTION_CHARS) ?? '';
      await printData(text === '' ? value : `${value}\t${text}`);
    }
  });
}

/** Bash makes a word of each equal sign: `--kind = held`. */
function withoutEqualSigns(words: readonly string[]): readonly string[] {
  return words.flatMap((word, at) => (word !== '=' ? [word] : at === words.length - 1 ? [''] : []));
}

async function candidatesOf(expected: Exclude<Expected, { kind: 'file' }>): Promise<readonly Candidate[]> {
  switch (expected.kind) {
    case 'candidates':
      return expected.candidates;
    case 'names':
      return namesOf(expected.config ?? CONFIG_FILE, expected.of);
    default:
      return expected satisfies never;
  }
}

async function namesOf(config: string, of: NameGroup): Promise<readonly Candidate[]> {
  const groups = of === 'feeds and sites' ? (['feeds', 'sites'] as const) : [of];
  const names = new Set<string>();
  for (const group of groups) for (const name of await readNames(config, group)) names.add(name);
  return [...names].map((value) => ({ value }));
}
