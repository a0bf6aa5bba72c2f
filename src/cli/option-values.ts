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
