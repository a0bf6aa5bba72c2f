// Removes the credentials of a source from what it sends: many servers repeat the address or the headers of a request in its answer.
import type { RecordTree } from '../../posting/posting.ts';
import {
  credentialPattern,
  isCredentialName,
  SHORT_SECRET,
  secretReplacer,
  secretSieve,
} from '../../posting/secret-pattern.ts';

/** Stands for what was removed. */
export const REMOVED_SECRET = '[secret]';

export interface SentSecret {
  readonly text: string;
  /** Of the header or the parameter that has it. */
  readonly name?: string;
}

/**
 * What a feed's source is sent in secret never leaves its records. A secret of fewer than {@link SHORT_SECRET} characters may be a word
 * of any text: it is only removed where it serves as a credential.
 */
export interface SecretMask {
  /** Removes them from a text, in each form. */
  text(text: string): string;
  /** Removes the secrets from a record. Returns the same tree if it contains none. */
  tree(tree: RecordTree): RecordTree;
  /** A fast test of a record's bytes, which is false for most of them. If it is false, they have no secret. */
  mayHold(bytes: Buffer): boolean;
}

interface Compiled {
  readonly lists: readonly (readonly SentSecret[])[];
  readonly replacers: readonly ((text: string) => string)[];
  /** Replaces a text that is a short secret, where its name says so. */
  readonly named: (name: string, text: string) => string;
  readonly mayHold: (bytes: Buffer) => boolean;
}

/** @param sent by each request to the source: the same list until there is more. Returns `undefined` if nothing is secret. */
export function secretMask(sent: readonly (() => readonly SentSecret[])[]): SecretMask | undefined {
  if (sent.length === 0) return undefined;
  let compiled: Compiled | undefined;
  const current = (): Compiled => {
    const lists = sent.map((each) => each());
    if (compiled === undefined || lists.some((list, at) => list !== compiled?.lists[at])) compiled = compile(lists);
    return compiled;
  };
  const masked = ({ replacers }: Compiled, text: string): string =>
    replacers.reduce((left, replace) => replace(left), text);
  return {
    text: (text) => masked(current(), text),
    tree: (tree) => maskTree(tree, current(), masked),
    mayHold: (bytes) => current().mayHold(bytes),
  };
}

function compile(lists: readonly (readonly SentSecret[])[]): Compiled {
  const secrets = lists.flat();
  // Longest first: a short one may be part of a longer one, whose rest would remain.
  const texts = [...new Set(secrets.map(({ text }) => text))].sort((one, other) => other.length - one.length);
  const names = [...new Set(secrets.flatMap(({ name }) => name ?? []))];
  const short = new Set(texts.filter((text) => text.length < SHORT_SECRET));
  return {
    lists,
    replacers: texts.map((text) => (short.has(text) ? shortReplacer(text, names) : longReplacer(text))),
    named: (name, text) => (short.has(text.trim()) && isCredentialName(name, names) ? REMOVED_SECRET : text),
    mayHold: texts.length === 0 ? () => false : secretSieve(texts),
  };
}

function shortReplacer(secret: string, names: readonly string[]): (text: string) => string {
  let pattern: RegExp | undefined;
  return (text) => {
    pattern ??= credentialPattern(secret, names);
    return text.replace(pattern, REMOVED_SECRET);
  };
}

/** A secret that is a number may stand in JSON without quotes, which what replaces it needs; and it is no part of a longer number. */
function longReplacer(secret: string): (text: string) => string {
  const replace = secretReplacer(secret, REMOVED_SECRET);
  if (!/^\d+$/.test(secret)) return replace;
  const bare = new RegExp(`(?<=[[:,]\\s{0,8})${secret}(?=\\s{0,8}[\\],}])`, 'g');
  const longer = new RegExp(`(\\d{${secret.length + 1},})`);
  return (text) =>
    text
      .replace(bare, `"${REMOVED_SECRET}"`)
      .split(longer)
      .map((part, at) => (at % 2 === 0 ? replace(part) : part))
      .join('');
}

function maskTree(
  tree: RecordTree,
  compiled: Compiled,
  masked: (compiled: Compiled, text: string) => string,
  name = '',
): RecordTree {
  if (typeof tree === 'string') return compiled.named(name, masked(compiled, tree));
  if (Array.isArray(tree)) {
    const items = tree.map((item: RecordTree) => maskTree(item, compiled, masked, name));
    return items.every((item, at) => item === tree[at]) ? tree : items;
  }
  const members = Object.entries(tree);
  const own = members.map(
    ([inner, value]) => [masked(compiled, inner), maskTree(value, compiled, masked, inner)] as const,
  );
  if (own.every(([inner, value], at) => inner === members[at]?.[0] && value === members[at]?.[1])) return tree;
  return Object.assign(Object.create(null), Object.fromEntries(own)) as RecordTree;
}
