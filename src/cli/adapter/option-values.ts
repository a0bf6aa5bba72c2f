// Parses option values, and explains what is wrong with an invalid one.
import { InvalidArgumentError } from 'commander';

/** A whole number of at least 1. */
export function positiveNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return Number(text);
}

/** A whole number of at least 0. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** The number of a review entry. */
export function entryNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be the number of an entry, see: review list');
  return Number(text);
}

/** The ID of a review group. */
export function groupId(text: string): string {
  if (!/^g[0-9a-f]{10}$/.test(text)) throw new InvalidArgumentError('It must be the ID of a group, see: review groups');
  return text;
}

/** Help of `--seen`. */
export const SEEN =
  'only if exactly that is decided about which was printed with this `seen`, and unchanged; does not ask';

/** Help of `--if-version`: nobody decides about an entry that they have not seen. */
export const IF_VERSION = 'of one entry: only if it is still as review show printed it with this version; does not ask';

export const NOT_ONE = '--if-version is for one entry: name its number, see: review list';
