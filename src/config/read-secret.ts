// Reads a secret from the environment or from a file that a setting names, and recognises secrets that webhooks can be signed with.
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { type Complaint, ConfigError } from './config-error.ts';
import { type Environment, fillText } from './environment.ts';
import { fileErrorInWords } from './settings-file.ts';

/** The settings around a secret. Each `path` is relative to them. */
export interface SecretSettings {
  readonly env: Environment;
  /** Folder of the configuration file. */
  readonly folder: string;
  /** Their full name, for warnings: `sites.board`. */
  readonly setting: string;
  readonly complain: (path: readonly string[], message: string) => void;
  readonly warn: (message: string) => void;
  readonly absent: AbsentSecret;
}

/**
 * A secret that this process does not have, because the variable in its setting is not set or, with a message, for another reason: whatever
 * needs it fails and names it, and nothing else does. `undefined`: the variables are set.
 */
export type AbsentSecret = (path: readonly string[], message?: string) => Secret | undefined;

type WrittenSecret<Name extends string> = { readonly [Setting in Name | `${Name}_file`]?: string | undefined };

/**
 * The secret of the setting `name`, or of the file that `name_file` names. `undefined`: neither is written, or after a complaint.
 * @param path of the group that holds the settings
 * @param faultOf what is wrong with a text
 */
export async function readSecret<Name extends string>(
  written: WrittenSecret<Name>,
  [path, name]: readonly [path: readonly string[], name: Name],
  around: SecretSettings,
  faultOf: (text: string, setting: string) => string | undefined = () => undefined,
): Promise<Secret | undefined> {
  const file: string | undefined = written[`${name}_file`];
  const text: string | undefined = written[name];
  const setting = text === undefined ? `${name}_file` : name;
  const at = [...path, setting];
  if (text === undefined && file === undefined) return undefined;
  const read =
    text === undefined
      ? await readSecretFile(file ?? '', at, around)
      : (around.absent(at) ?? fillText(text, around.env));
  if (typeof read !== 'string') return read;
  const fault = faultOf(read, setting);
  if (fault === undefined) return new Secret(read);
  around.complain(at, fault);
  return undefined;
}

/** The file's text without its last line end. Warns if other users can read it. */
async function readSecretFile(
  file: string,
  at: readonly string[],
  { folder, setting, warn, absent }: Pick<SecretSettings, 'folder' | 'setting' | 'warn' | 'absent'>,
): Promise<string | Secret | undefined> {
  const path = resolve(folder, file);
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      warn(`${[setting, ...at].join('.')}: ${path} can be read by other users; run: chmod 600 ${path}`);
    }
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    return absent(at, `${path} can't be read: ${fileErrorInWords(error as NodeJS.ErrnoException)}`);
  }
}

/** What is wrong with the text of a file that holds one secret. */
export const fileFault = (text: string, setting: string): string | undefined => {
  if (!setting.endsWith('_file')) return undefined;
  if (text === '') return 'the file is empty';
  return /\p{Cc}/u.test(text) ? 'the file holds more than one line, or a control character' : undefined;
};

/** A secret that is only written as a text. */
export const secretText = (
  text: string | undefined,
  path: readonly string[],
  around: SecretSettings,
): Secret | undefined =>
  text === undefined ? undefined : (around.absent(path) ?? new Secret(fillText(text, around.env)));

/** The text of the private key that the group's `key_file` names. A key is checked against its certificate, so it must be there. */
export async function readKey(
  file: string | undefined,
  group: string,
  around: SecretSettings,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const path = [group, 'key_file'];
  const read = await readSecretFile(file, path, {
    ...around,
    absent(at, message = '') {
      around.complain(at, message);
      return undefined;
    },
  });
  return typeof read === 'string' ? read : undefined;
}

/** Standard Webhooks, "Signature scheme": Base64 of 24 to 64 random bytes, with or without the prefix. */
export function signingFault(text: string): string | undefined {
  const encoded = text.replace(/^whsec_/, '');
  const bytes = Buffer.from(encoded, 'base64');
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0;
  return isBase64 && bytes.length >= 24 && bytes.length <= 64
    ? undefined
    : 'must have 24 to 64 bytes in Base64; make one with: openssl rand -base64 32';
}

/** Of a bearer token (RFC 6750, section 2.1). @param least characters: shorter ones could be guessed */
export const bearerFault =
  (least: number) =>
  (text: string): string | undefined =>
    /^[A-Za-z0-9._~+/-]+=*$/.test(text) && text.length >= least
      ? undefined
      : `the token must have at least ${least} characters, of A-Z a-z 0-9 . _ ~ + / - only`;

// Wraps a secret text to keep it out of logs, errors, pages and JSON: only an explicit `reveal()` returns it.

const MASK = '[secret]';

/** A token, password or header. Prints as `[secret]` wherever it is turned into text by accident. */
export class Secret {
  // A #private field, because serialisers, deep comparisons and dumps would read a property.
  readonly #text: string | undefined;
  /** Why this process does not have it. */
  readonly absence: Complaint | undefined;

  constructor(text: string | Complaint) {
    this.#text = typeof text === 'string' ? text : undefined;
    this.absence = typeof text === 'string' ? undefined : text;
  }

  /**
   * The secret itself. Call this where it is sent, and do not keep the result in a long-lived variable.
   * @throws {ConfigError} if this process does not have it
   */
  reveal(): string {
    if (this.#text !== undefined) return this.#text;
    throw new ConfigError(this.absence === undefined ? [] : [this.absence]);
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
