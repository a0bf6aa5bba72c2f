// `jobmirror users hash`: makes the hash of a password, for a user of the pages.
import { Command } from 'commander';
import { hashPassword } from '../../config/password-hash.ts';
import { UserError } from '../../runtime/stop-signal.ts';
import { askHidden, printLine } from '../../telemetry/print.ts';

const SHORTEST = 8;
/** Longer input is no password; it is probably the wrong file. */
const LONGEST_BYTES = 1_024;

export function usersCommand(): Command {
  return new Command('users').addCommand(hashCommand().exitOverride().showHelpAfterError('(see --help)'));
}

const hashCommand = (): Command =>
  new Command('hash')
    .description(
      'print the hash of a password, for web.users in the configuration; reads it unseen, or from standard input',
    )
    .action(async () => {
      const password = process.stdin.isTTY ? await askTwice() : await readInput();
      const length = [...password].length;
      if (length < SHORTEST) throw new UserError(`the password has ${length} characters; use ${SHORTEST} or more`);
      await printLine(await hashPassword(password));
    });

async function askTwice(): Promise<string> {
  const password = await askHidden('Password: ');
  const again = password === undefined ? undefined : await askHidden('The same again: ');
  if (password === undefined || again === undefined) throw new UserError('no password was given');
  if (password !== again) throw new UserError('the two passwords differ');
  return password;
}

/** The first line of standard input. */
async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    if (chunks.reduce((sum, { length }) => sum + length, 0) > LONGEST_BYTES) {
      throw new UserError(`standard input has more than ${LONGEST_BYTES} bytes, which is no password`);
    }
  }
  const [line = '', ...more] = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
  if (more.length > 0) throw new UserError('standard input has several lines; a password is one line');
  return line;
}
