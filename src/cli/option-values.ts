// Reads the values of options, and says what is wrong with one that can't be.
import { InvalidArgumentError } from 'commander';

/** A whole number from 1 on. */
export function positiveNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return Number(text);
}

/** A whole number from 0 on. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** The number of a review entry. */
export function entryNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be the number of an entry, see: review list');
  return Number(text);
}
