// Turns secrets into a function that removes them from text, in every form in which they travel.
import { secretReplacer } from '../posting/secret-pattern.ts';

const REPLACEMENT = '[secret]';

/**
 * Makes a function that replaces each of the secrets with `[secret]`, however it is escaped or encoded: see
 * `secretReplacer`. Empty secrets are ignored. The text may be whole log lines: the replacement never breaks a JSON string.
 */
export function createScrub(secrets: readonly string[]): (text: string) => string {
  // The longest first: a short one may be the beginning of a longer one, whose rest would stay.
  const replacers = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .map((secret) => secretReplacer(secret, REPLACEMENT));
  return (text) => replacers.reduce((scrubbed, replace) => replace(scrubbed), text);
}
