// Removes secrets from text, in every encoding in which they may occur.
import { secretReplacer } from '../posting/secret-pattern.ts';

const REPLACEMENT = '[secret]';

/**
 * Returns a function that replaces each secret with `[secret]`, however it is escaped or encoded (see `secretReplacer`).
 * Ignores empty secrets. The text may be whole log lines: the replacement never breaks a JSON string.
 */
export function createScrub(secrets: readonly string[]): (text: string) => string {
  // Longest first: a short secret may be the prefix of a longer one, whose rest would remain.
  const replacers = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .map((secret) => secretReplacer(secret, REPLACEMENT));
  return (text) => replacers.reduce((scrubbed, replace) => replace(scrubbed), text);
}
