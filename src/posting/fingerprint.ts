// Digests of everything that decides how records are read: same digest and same record, same posting.
import { hash } from 'node:crypto';
import type { FieldMapping } from './field-mapping.ts';
import { HASH_BYTES } from './hash.ts';

/**
 * Increment this with every change in `src/posting` that makes any record yield other fields, notes or problems: a
 * transform, a rule, the meaning of a path. Otherwise unchanged records keep the results of the old code. An increment
 * makes the next pull of each feed parse every record again; postings with the same content are not sent again.
 */
const CODE_VERSION = 8;

/** Hex digest of the whole specification, independent of the order of its names. */
export function fingerprintOf(spec: FieldMapping): string {
  return hash('sha256', `${CODE_VERSION} ${JSON.stringify(spec, sortNames)}`, 'hex');
}

/**
 * How a feed's records are read. Everything that can turn the same bytes into another posting, or none, belongs here.
 */
export interface RecordInterpretation {
  /** The mapping's fingerprint, by {@link fingerprintOf}. */
  readonly fingerprint: string;
  /** The name of the feed's format. */
  readonly format: string;
  /** Path of the records from the root. */
  readonly recordPath: string;
  /** The configured character encoding; `undefined`: the feed's own declaration applies. */
  readonly encoding?: string;
  /** Whether records that are not well-formed are repaired. */
  readonly lenient?: boolean;
  /** How a table is laid out. */
  readonly table?: object;
  /** Which script of a page holds the records. */
  readonly script?: object;
  /** How the details of postings are requested and read, if they are. */
  readonly details?: object;
  /** Jobs are not updated: once they are, postings whose records are the same must be compared with their jobs again. */
  readonly createsOnly?: boolean;
}

/** Sixteen bytes that identify one way of reading records. */
export function interpretationOf({ fingerprint, format, recordPath, encoding, ...rest }: RecordInterpretation): Buffer {
  const { lenient, table, script, details, createsOnly } = rest;
  const parts = [fingerprint, format, recordPath, encoding ?? null, lenient === true];
  for (const settings of [table, script, details && { details }]) {
    if (settings !== undefined) parts.push(JSON.stringify(settings, sortNames));
  }
  if (createsOnly === true) parts.push('creates only');
  return hash('sha256', JSON.stringify(parts), 'buffer').subarray(0, HASH_BYTES);
}

/** The settings of a feed that decide which postings it has, whatever their content is. */
interface MembershipSettings {
  readonly mapping: Pick<FieldMapping, 'key' | 'skip' | 'places'>;
  readonly source: Pick<RecordInterpretation, 'format' | 'recordPath' | 'encoding' | 'lenient' | 'table' | 'script'>;
  readonly expireAfterDays?: number | undefined;
}

/** Hex digest of these settings. Under another one, a posting that a pull has found gone may be in the feed. */
export function membershipRule({ mapping, source, expireAfterDays }: MembershipSettings): string {
  const { key, skip, places } = mapping;
  const { format, recordPath, encoding, lenient, table, script } = source;
  const parts = { key, skip, places, format, recordPath, encoding, lenient, table, script, expireAfterDays };
  return hash('sha256', JSON.stringify(parts, sortNames), 'hex').slice(0, 2 * HASH_BYTES);
}

/** The order of lists is significant, that of an object's names is not. */
export function sortNames(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
