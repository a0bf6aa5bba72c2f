// Completion of the command line: the candidates for unfinished lines, and the scripts in the shells themselves.
// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Expected, expectedAfter } from '../../src/cli/commands/completion.ts';
import { completionScript } from '../../src/cli/completion-scripts.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { readNames } from '../../src/config/include.ts';
import { spread } from '../support/extent.ts';
import { PROGRAM } from './program.ts';
import { runProgram } from './run-program.ts';

/** Splits at spaces: a line that ends with one is completed with a new word. */
async function expectedOn(line: string): Promise<Expected> {
  const words = line.split(' ');
  const last = words.pop() ?? '';
  return expectedAfter(await buildProgram(words), words, last);
}

async function valuesOn(line: string): Promise<readonly string[]> {
  const expected = await expectedOn(line);
  return expected.kind === 'candidates' ? expected.candidates.map(({ value }) => value) : [`${expected.kind}`];
}

describe('candidates', () => {
  it.each([
    ['', ['demo', 'sync', 'review', 'completion', 'help'], ['complete']],
    ['help ', ['review', 'sync'], ['complete']],
    ['review ', ['list', 'show', 'approve', 'settle'], ['demo']],
    ['review list --', ['--kind', '--json', '--config', '--help'], ['--set']],
    ['review list --json --limit 5 --', ['--kind'], ['--json', '--limit']],
    ['review list --kind ', ['held', 'in_doubt'], []],
    ['review list --kind=', ['--kind=held'], ['held']],
    ['review edit 5 --set a=b --', ['--set'], []],
    ['completion ', ['bash', 'zsh', 'fish'], []],
  ])('"%s": among them %j, but not %j', async (line, offered, missing) => {
    const values = await valuesOn(line);
    expect(values).toEqual(expect.arrayContaining(offered));
    for (const value of missing) expect(values).not.toContain(value);
  });

  it.each([['why acme '], ['why acme P-1 '], ['pulls --limit '], ['completion bash '], ['feeds rename ']])(
    '"%s": nothing',
    async (line) => {
      expect(await valuesOn(line)).toEqual([]);
    },
  );

  it.each([['sync --config '], ['mappings import '], ['status --json --config ']])('"%s": a file', async (line) => {
    expect(await expectedOn(line)).toEqual({ kind: 'file' });
  });

  it.each([
    ['sync ', 'feeds', undefined],
    ['sync --json acme ', 'feeds', undefined],
    ['verify --repair acme ', 'feeds', undefined],
    ['plan --config other.yaml ', 'feeds', 'other.yaml'],
    ['plan --config=other.yaml ', 'feeds', 'other.yaml'],
    ['review approve 5 ', 'feeds', undefined],
    // After two dashes, nothing is an option.
    ['review list -- -', 'feeds', undefined],
    ['why ', 'feeds', undefined],
    ['mappings export ', 'feeds', undefined],
    ['feeds rename old ', 'feeds', undefined],
    ['resume ', 'feeds and sites', undefined],
  ])('"%s": names of %s from %s', async (line, of, config) => {
    expect(await expectedOn(line)).toEqual({ kind: 'names', of, config });
  });
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-completion-'));
  await writeFile(join(folder, 'jobmirror'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  await chmod(join(folder, 'jobmirror'), 0o755);
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    await writeFile(join(folder, `completion.${shell}`), completionScript(shell));
  }
  await writeFile(
    join(folder, 'jobmirror.yaml'),
    `sites: { board: { token: '\${UNSET}' } }
feeds: { acme: {}, globex: {} }`,
  );
  await writeFile(join(folder, 'broken.yaml'), 'feeds: { acme: [');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('names are read from a configuration that is not complete, and are none if the file cannot be read', async () => {
  expect(await readNames(join(folder, 'jobmirror.yaml'), 'feeds')).toEqual(['acme', 'globex']);
  expect(await readNames(join(folder, 'jobmirror.yaml'), 'sites')).toEqual(['board']);
  expect(await readNames(join(folder, 'broken.yaml'), 'feeds')).toEqual([]);
  expect(await readNames(join(folder, 'missing.yaml'), 'feeds')).toEqual([]);
});

type Completed = readonly (readonly [line: string, completed: string])[];
/** Each line with what each shell makes of it. The program chooses the candidates, for all shells alike. */
const CANDIDATES: Completed = [
  ['jobmirror comp', 'jobmirror completion'],
  ['jobmirror status --ch', 'jobmirror status --check'],
  ['jobmirror mappings export --format j', 'jobmirror mappings export --format jsonl'],
  ['jobmirror sync acme gl', 'jobmirror sync acme globex'],
];
/** A file name, and neither that nor a candidate: the script of each shell decides. */
const FILES: Completed = [
  ['jobmirror pulls acme --config bro', 'jobmirror pulls acme --config broken.yaml'],
  // Also a word that would run a command if it were evaluated.
  ['jobmirror why $(touch$IFS"evaluated") bro', 'jobmirror why $(touch$IFS"evaluated") bro'],
];

const environment = () => ({ ...process.env, PATH: `${folder}:${process.env.PATH}`, HOME: folder, TERM: 'dumb' });

const run = (shell: string, args: readonly string[]): string =>
  execFileSync(shell, args, {
    cwd: folder,
    env: environment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

const without = (shell: string): boolean => spawnSync(shell, ['--version']).error !== undefined;
const note = (shell: string): string => (without(shell) ? ` (skipped: no ${shell} on PATH)` : '');

/** Calls the function as bash does, and takes the only candidate, or else the only file if file names may follow. */
const BASH = `
source completion.bash
[[ "$(complete -p jobmirror)" == *'-o default'* ]] || exit 1
compopt() { files=no; }
while IFS= read -r line; do
  read -ra COMP_WORDS <<<"$line"
  COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
  files=yes
  _jobmirror jobmirror
  if [[ \${#COMPREPLY[@]} == 0 && $files == yes ]]; then COMPREPLY=("\${COMP_WORDS[-1]}"*); fi
  if [[ \${#COMPREPLY[@]} == 1 ]]; then COMP_WORDS[-1]="\${COMPREPLY[0]}"; fi
  echo "\${COMP_WORDS[*]}"
done <lines`;

/** Types each line into an interactive shell, and has a key print what the line has become. */
const ZSH = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -D -u; source completion.zsh; unset zle_bracketed_paste'
zpty -w shell 'show() { print -r -- "<<$BUFFER>>"; BUFFER= }; zle -N show; bindkey "^X" show; print LOADED'
zpty -r shell output '*LOADED*LOADED*'
while IFS= read -r line; do
  zpty -w -n shell "$line"$'\\t\\x18'
  zpty -r shell output '*<<*>>*'
  print -r -- "\${\${output##*<<}%%>>*}"
done <lines`;

/** Takes the only candidate. */
const FISH = `
source completion.fish
while read --local line
    set --local candidates (complete --do-complete "$line" | string replace --regex '\\t.*' '')
    if test (count $candidates) = 1
        set line (string replace --regex '[^ ]*$' '' -- $line)$candidates
    end
    printf '%s\\n' $line
end <lines`;

describe.each([
  ['bash', ['--norc', '-c', BASH], 0],
  ['zsh', ['-f', '-c', ZSH], 1],
  ['fish', ['--no-config', '-c', FISH], 2],
] as const)('%s', (shell, args, number) => {
  const lines = [...spread(CANDIDATES, number, 3), ...FILES];
  it.skipIf(without(shell))(`completes commands, options, values, names and files${note(shell)}`, async () => {
    await writeFile(join(folder, 'lines'), lines.map(([line]) => `${line}\n`).join(''));
    const completed = run(shell, args).split('\n');
    expect(completed.slice(0, -1).map((line) => line.trimEnd())).toEqual(lines.map(([, text]) => text));
    expect(run('ls', [])).not.toContain('evaluated');
  });
});

it.each(['bash', 'zsh', 'fish'] as const)('the command prints the script for %s', async (shell) => {
  expect((await runProgram({ folder, env: {} }, 'completion', shell)).out).toBe(`${completionScript(shell)}\n`);
});
