// Reads a secret from a file that a setting names.
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Environment } from './environment.ts';
import { reason } from './settings-file.ts';

/** Where the settings of what `start` does besides mirroring come from. */
export interface ServiceSurroundings {
  readonly env: Environment;
  /** Folder of the configuration file. */
  readonly folder: string;
  readonly complain: (path: readonly string[], message: string) => void;
  readonly warn: (message: string) => void;
}

export interface SecretFileContext {
  /** Folder of the configuration file. */
  readonly folder: string;
  /** The full name of the setting, for a warning: `sites.board.token_file`. */
  readonly setting: string;
  readonly complain: (message: string) => void;
  readonly warn: (message: string) => void;
}

/** The file's text without its last line end; `undefined` after a complaint. Warns if other users can read it. */
export async function readSecretFile(file: string, around: SecretFileContext): Promise<string | undefined> {
  const path = resolve(around.folder, file);
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      around.warn(`${around.setting}: ${path} can be read by other users; run: chmod 600 ${path}`);
    }
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    around.complain(`${path} can't be read: ${reason(error as NodeJS.ErrnoException)}`);
    return undefined;
  }
}
