// Record hashes that match no record, so that the next pull reads the record of the posting and plans it anew. Each is unique in its
// feed, as pulls take mappings of a feed with equal record hashes for one posting, and stays what it is if the feed is renamed.
import { hash } from 'node:crypto';
import type { PostingKey } from '../../posting/identifiers.ts';

/**
 * Why a record is to be read anew, and whether what the job has may then differ from what the source has: then the function
 * `is_source_unknown` of the database names it as well.
 */
export const WHY_UNREAD = {
  /** The job was found on the site: `mappings import`, and adoption by hand. */
  imported: true,
  /** The same, for a create in doubt. */
  adopted: true,
  /** The job replaced one that a backup names. */
  recovered: true,
  /** An edit was undone, and what it had set is still on the site. */
  'planned again': true,
  /** An edit waits to be sent, or what was to send it was withdrawn. */
  'unsent edit': true,
  /** A pull was undone. */
  undone: true,
  /** The key is another one; the job has what the source had under the former key. */
  rekeyed: false,
  /** The same, with the edits of the former key. */
  edited: false,
  /** The job differs from what was sent, which is what the source has. */
  verified: false,
} as const;

export type WhyUnread = keyof typeof WHY_UNREAD;

export const unreadHash = (why: WhyUnread, key: PostingKey): Buffer => hash('md5', `${why} ${key}`, 'buffer');

/** The same in SQL. @param key an expression */
export const unreadHashSql = (why: WhyUnread, key = 'key'): string => `decode(md5('${why} ' || ${key}), 'hex')`;

/** Whether the next pull is to find out what the source has of a posting. */
export const isSourceUnknown = (recordHash: Buffer, key: PostingKey): boolean =>
  (Object.keys(WHY_UNREAD) as WhyUnread[]).some((why) => WHY_UNREAD[why] && recordHash.equals(unreadHash(why, key)));
