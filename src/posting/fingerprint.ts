// Turns a mapping into the digest under which its results are remembered: same fingerprint and record, same posting.
import { hash } from 'node:crypto';
import type { MappingSpec } from './mapping.ts';

/**
 * Raise this by one with every change of `src/posting` that makes any record give other fields, notes or problems than
 * before: a transform, a rule, a path's meaning. Else postings that are stored as unchanged keep what the old code made of
 * them. Raising it costs each feed one pull in which every record is parsed again; nothing is sent that stayed the same.
 */
const CODE_VERSION = 2;

/** Hex digest over the whole specification, whatever the order of its names. */
export function fingerprintOf(spec: MappingSpec): string {
  return hash('sha256', `${CODE_VERSION} ${JSON.stringify(spec, sortNames)}`, 'hex');
}

/** Lists keep their order, which means something; names of an object do not. */
function sortNames(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
