// Branded identifiers: a feed name, a posting key and a site job ID can't be swapped by mistake.

declare const brand: unique symbol;
type Branded<Text extends string> = string & { readonly [brand]: Text };

/** A feed's configured name: `[a-z0-9][a-z0-9_-]*`, at most 64 characters. */
export type FeedName = Branded<'FeedName'>;

/** A site's configured name, in the same form as a feed's. */
export type SiteName = Branded<'SiteName'>;

/** The feed's own stable identifier of one posting, trimmed, 1 to {@link MAX_KEY_LENGTH} characters. */
export type PostingKey = Branded<'PostingKey'>;

/** The identifier that the site assigned to a job. It is only used in URL paths, percent-encoded. */
export type SiteJobId = Branded<'SiteJobId'>;

/** Names one posting, for example in a queue job. */
export interface PostingRef {
  readonly feed: FeedName;
  readonly key: PostingKey;
}

/** Keys are index entries in the database, whose rows hold at most 2,704 bytes; 500 characters of four bytes fit. */
export const MAX_KEY_LENGTH = 500;
/** Of these, the place of a posting takes at most so many. */
export const PLACE_KEY_LENGTH = 100;

export const feedName = (text: string): FeedName => text as FeedName;
export const siteName = (text: string): SiteName => text as SiteName;
export const postingKey = (text: string): PostingKey => text as PostingKey;
export const siteJobId = (text: string): SiteJobId => text as SiteJobId;
