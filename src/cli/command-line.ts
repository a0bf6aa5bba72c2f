// Writes commands as they can be given to a shell, with the configuration of the command that prints them.
import type { WriteCommand } from '../review/possible-actions.ts';

/** Writes commands for the same configuration file. */
export function commandWriter(configFile: string | undefined): WriteCommand {
  const suffix = configFile === undefined ? [] : ['--config', configFile];
  return (words) => ['jobmirror', ...words, ...suffix].map(quote).join(' ');
}

const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
