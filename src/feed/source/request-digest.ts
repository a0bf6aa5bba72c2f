// Digests of a feed's request and reading rules. A version of the source is valid only for the same digest.
import { hash } from 'node:crypto';
import { deletesMissing, type FeedPolicy } from '../../plan/policy.ts';
import type { FeedSource } from '../feed-reading.ts';
import { kindOf } from './sources.ts';

/** What decides the result of a reading, besides the source. */
export interface ReadingRules {
  /** How records are read; see `interpretationOf`. */
  readonly interpretation: Buffer;
  /** With fewer records the feed does not count as complete. */
  readonly minRecords: number | undefined;
  /** After how many days a posting ends although the feed has it. */
  readonly expireAfterDays?: number | undefined;
  /** Under a policy that deletes nothing, a pull that reads the feed withdraws the deletes that wait. */
  readonly policy?: FeedPolicy | undefined;
}

/**
 * Hex digest of everything that decides what the source returns, and what counts as a record and as complete. If it differs, "not modified"
 * would refer to something else. The request contains secrets, so only the digest is stored.
 */
export function requestDigest(
  source: FeedSource,
  { interpretation, minRecords, expireAfterDays, policy }: ReadingRules,
): string {
  const { from, recordPath, encoding, totalPaths, limits, acceptsEmptyPages } = source;
  const { maxBytes, maxRecordBytes, maxRatio } = limits;
  const parts = {
    request: kindOf(from).request(from),
    records: [interpretation.toString('hex'), recordPath, encoding, totalPaths, minRecords],
    limits: [maxBytes, maxRecordBytes, maxRatio],
    ...(acceptsEmptyPages === true ? { acceptsEmptyPages } : {}),
    ...(expireAfterDays === undefined ? {} : { expireAfterDays }),
    ...(deletesMissing(policy) ? {} : { keepsMissing: true }),
  };
  return hash('sha256', JSON.stringify(parts), 'hex');
}

/** Binds a version of the source to the digest of the request that returned it. */
export const boundVersion = (version: string | undefined, request: string | undefined): string | undefined =>
  version === undefined || request === undefined ? undefined : `${request} ${version}`;

/** Returns the source's own version if it is bound to this request. */
export const versionBoundTo = (request: string | undefined, bound: string | undefined): string | undefined =>
  request !== undefined && bound?.startsWith(`${request} `) ? bound.slice(request.length + 1) : undefined;
