// The words of an attempt: which posting, and exactly which request may be sent for it under which token.
import type { NextRequest } from '../../plan/next-request.ts';
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';

/** Which posting a queue job speaks of. */
export interface PostingRef {
  readonly feed: FeedName;
  readonly key: PostingKey;
}

/** One text for feed and key; feed names hold no space. */
export const idOf = (posting: PostingRef): string => `${posting.feed} ${posting.key}`;

/** An intent that is committed: exactly this request may be sent now, once, under this token. */
export interface Attempt extends PostingRef {
  readonly site: SiteName;
  readonly token: string;
  /** Which attempt of the wish this is, from 1. */
  readonly number: number;
  readonly pull: number | undefined;
  readonly revision: number;
  readonly request: Exclude<NextRequest, { kind: 'none' }>;
  /** What the site has once the request is accepted; undefined for a delete. */
  readonly result: { readonly fields: Fields; readonly recordHash: Buffer; readonly contentHash: Buffer } | undefined;
  /** What the site had before, where that is known. */
  readonly before?: Fields;
  /** The site has used IDs again, or may have done so for a create in doubt: the job may be another posting's by now. */
  readonly idMayBeReused?: boolean;
  /** A person approved this delete; the guard does not count it. */
  readonly approved: boolean;
}
