// Reads a secret from a file that a setting names, and recognises secrets that webhooks can be signed with.
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Environment } from './environment.ts';
import { fileErrorInWords } from './settings-file.ts';

/** Where the settings of what `start` does besides mirroring come from. */
export interface ServiceSurroundings {
  readonly env: Environment;
  /** Folder of the configuration file. */
  readonly folder: string;
  readonly complain: (path: readonly string[], message: string) => void;
  readonly warn: (message: string) => void;
}

interface SecretFileContext {
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
    around.complain(`${path} can't be read: ${fileErrorInWords(error as NodeJS.ErrnoException)}`);
    return undefined;
  }
}

/** Standard Webhooks, "Signature scheme": Base64 of 24 to 64 random bytes, with or without the prefix. */
export function isSigningSecret(text: string): boolean {
  const encoded = text.replace(/^whsec_/, '');
  const bytes = Buffer.from(encoded, 'base64');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0 && bytes.length >= 24 && bytes.length <= 64;
}

export const NO_SIGNING_SECRET = 'must have 24 to 64 bytes in Base64; make one with: openssl rand -base64 32';
