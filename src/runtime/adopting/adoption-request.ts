// What people ask for when the jobs of a site are matched with the postings of a feed.
import type { PostingKey, SiteJobId } from '../../posting/identifiers.ts';

/** What somebody asks for. */
export type AdoptionRequest =
  /** To compare anew, and adopt nothing. */
  | { readonly kind: 'match' }
  /** To adopt the certain matches that were shown. @param mark of them */
  | { readonly kind: 'sure'; readonly mark: string }
  /** To adopt one job. */
  | {
      readonly kind: 'named';
      readonly key: PostingKey;
      readonly siteJobId: SiteJobId;
      /** Even if it seems to be another job, or another posting's. */
      readonly anyway: boolean;
      /** Of the proposal that was shown; `undefined`: the person named both. */
      readonly version: string | undefined;
    };

export type AdoptionStart =
  | { readonly kind: 'started'; readonly run: number }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: string };
