// Turns what decides how records are read into the digests under which results are remembered: same digest and record, same posting.
import { hash } from 'node:crypto';
import { HASH_BYTES } from './hash.ts';
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

/** How a feed's records are read: whatever makes of the same bytes another posting, or none, has to be among it. */
export interface RecordReading {
  /** Of the mapping, by {@link fingerprintOf}. */
  readonly fingerprint: string;
  /** Path of the elements that are records. */
  readonly recordPath: string;
  /** The configured character encoding; without it, it is what the feed says of itself. */
  readonly encoding?: string;
  /** Whether records that are not well-formed are repaired. */
  readonly lenient?: boolean;
}

/** Sixteen bytes for one way of reading records. */
export function interpretationOf({ fingerprint, recordPath, encoding, lenient }: RecordReading): Buffer {
  return hash(
    'sha256',
    JSON.stringify([fingerprint, recordPath, encoding, ...(lenient === true ? ['lenient'] : [])]),
    'buffer',
  ).subarray(0, HASH_BYTES);
}

/** Lists keep their order, which means something; names of an object do not. */
function sortNames(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
