// The Dockerfile and .dockerignore, read as text, because the tests run without a container engine.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

const read = (name: string): string => readFileSync(join(packageRoot, name), 'utf8');

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** One entry per instruction; comments are gone and continued lines joined. */
function instructions(text: string): Instruction[] {
  return text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(/\s/, 1)[0] ?? '', rest: line.replace(/^\S+\s+/, '') }));
}

const all = instructions(read('Dockerfile'));
const final = all.slice(all.findLastIndex(({ name }) => name === 'FROM'));
const named = (from: readonly Instruction[], name: string): string[] =>
  from.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
const allowed = read('.dockerignore')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));

const copiedFromHere = named(all, 'COPY')
  .filter((rest) => !rest.startsWith('--from='))
  .flatMap((rest) => rest.split(/\s+/).slice(0, -1));

describe('the Dockerfile', () => {
  it.each(copiedFromHere.map((source) => [source]))(
    'finds %s to copy, in the repository and in the build',
    (source) => {
      expect(existsSync(join(packageRoot, source))).toBe(true);
      expect(allowed).toContain(source);
    },
  );

  it('copies from earlier stages only what they produce', () => {
    const stages = named(all, 'FROM').map((rest) => rest.split(/\s+as\s+/i)[1]);
    for (const rest of named(all, 'COPY').filter((copy) => copy.startsWith('--from='))) {
      const [, stage, source] = /^--from=(\S+) \/app\/(\S+) /.exec(rest) ?? [];
      expect(stages).toContain(stage);
      expect(['node_modules', 'package']).toContain(source);
    }
  });

  it('runs as a user other than root, from the USER instruction on', () => {
    expect(named(final, 'USER')).toEqual(['node']);
    expect(final.findIndex(({ name }) => name === 'USER')).toBeLessThan(
      final.findIndex(({ name }) => name === 'ENTRYPOINT'),
    );
  });

  it('starts the program named in package.json, and uses /readyz as health check', () => {
    expect(JSON.parse(named(final, 'ENTRYPOINT')[0] ?? '')).toEqual([
      'node',
      JSON.parse(read('package.json')).bin.jobmirror,
    ]);
    expect(named(final, 'HEALTHCHECK')[0]).toContain('/readyz');
  });

  it('leaves out what only development and the embedded server need', () => {
    const installs = named(all, 'RUN').filter((rest) => rest.includes('npm ci'));
    expect(installs.at(-1)).toMatch(/--omit=dev --omit=optional --ignore-scripts/);
    expect(final.some(({ name }) => name === 'RUN')).toBe(false);
  });

  it('contains no secret', () => {
    expect(read('Dockerfile')).not.toMatch(/(?:PASSWORD|TOKEN|SECRET)\s*=/i);
  });
});

it('.dockerignore excludes everything that is not named', () => {
  const lines = read('.dockerignore').split('\n');
  expect(lines.find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
  for (const name of ['.env', '.git', '.jobmirror', 'node_modules', 'test']) expect(allowed).not.toContain(name);
});
