// `jobmirror users hash`: reads a password from standard input, or refuses what can't be one.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { verifyPassword } from '../../src/config/password-hash.ts';
import { PROGRAM } from './program.ts';

async function hash(
  input: string,
): Promise<{ readonly out: string; readonly errors: string; readonly status: number }> {
  const running = spawn(process.execPath, [PROGRAM, 'users', 'hash']);
  const ended = new Promise<number>((resolve) => running.on('close', resolve));
  running.stdin.on('error', () => undefined);
  running.stdin.end(input);
  const [out, errors, status] = await Promise.all([text(running.stdout), text(running.stderr), ended]);
  return { out, errors, status };
}

it('prints the hash of the password alone', async () => {
  const { out, errors, status } = await hash('correct horse\n');
  expect([status, errors]).toEqual([0, '']);
  expect(await verifyPassword('correct horse', out.trim())).toBe(true);
});

it.each([
  ['nothing', '', 'the password has 0 characters; use 8 or more'],
  ['a short one', 'seven77\n', 'the password has 7 characters'],
  ['several lines', 'correct horse\nbattery staple\n', 'several lines'],
  ['a whole file', 'x'.repeat(5_000), 'more than 1024 bytes'],
])('refuses %s', { tags: 'slow' }, async (_name, input, message) => {
  const { out, errors, status } = await hash(input);
  expect([status, out]).toEqual([1, '']);
  expect(errors).toContain(message);
});
