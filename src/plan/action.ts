// What a person can do, as data. The command line writes an action as a command; a page can render it as a link or form.
import type { FeedName, PostingKey, SiteName } from '../posting/identifiers.ts';

/** What a person can decide about one entry or about many, without saying anything more. */
export const BULK_ACTIONS = ['retry', 'approve', 'discard', 'reopen'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/** An action on one review entry. A parameter that is `null` is for the person to fill in. */
export type EntryAction =
  | {
      readonly kind: BulkAction;
      readonly entry: number;
      /** The version of the entry that the person is shown, if the action can't be undone: it deletes a job. */
      readonly parameters: { readonly version?: string };
      readonly effect: string;
    }
  | {
      readonly kind: 'edit';
      readonly entry: number;
      readonly parameters: { readonly field: null; readonly value: null };
      readonly effect: string;
    }
  | {
      readonly kind: 'settle';
      readonly entry: number;
      readonly parameters: (
        | { readonly verdict: 'exists'; readonly site_job_id: null }
        | { readonly verdict: 'missing' }
      ) & {
        /** The version of the entry that the person is shown. */
        readonly version?: string;
      };
      readonly effect: string;
    }
  /** Compares the keys of the feed: nothing else can be done about the entry before. */
  | {
      readonly kind: 'compare_keys';
      readonly entry: number;
      readonly parameters: { readonly feed: FeedName };
      readonly effect: string;
    };

/** An action on a feed or site, or a list to look at. */
export type OtherAction =
  | { readonly kind: 'list_entries'; readonly feed?: FeedName; readonly entryKind?: 'held'; readonly discarded?: true }
  | { readonly kind: 'list_pulls'; readonly feed: FeedName }
  | { readonly kind: 'explain_posting'; readonly feed: FeedName; readonly key: PostingKey }
  | { readonly kind: 'show_status' }
  | { readonly kind: 'check_configuration' }
  /** @param count approve only if exactly this many deletes are held */
  | { readonly kind: 'approve_held'; readonly feed: FeedName; readonly count?: number }
  /** @param because why the site may be used again: it is the same site at a new address, or was really emptied */
  | { readonly kind: 'resume_site'; readonly site: SiteName; readonly because?: 'moved' | 'emptied' }
  /** Ends the pause that a person has begun: of a feed, of a site, or, with neither, of everything. */
  | { readonly kind: 'end_pause'; readonly site: SiteName | undefined; readonly feed: FeedName | undefined }
  /** @param to `null`: for the person to fill in */
  | { readonly kind: 'rename_feed'; readonly feed: FeedName; readonly to: FeedName | null }
  | { readonly kind: 'retire_feed'; readonly feed: FeedName }
  /** Pull a feed again that an undo has stopped. */
  | { readonly kind: 'resume_feed'; readonly feed: FeedName }
  | { readonly kind: 'undo_pull'; readonly pull: number }
  /** The site has none of the feed's jobs. */
  | { readonly kind: 'declare_feed_new'; readonly feed: FeedName }
  /** Shows which new postings of the feed are missing ones under another key. */
  | { readonly kind: 'rekey_feed'; readonly feed: FeedName }
  /** The new postings of the feed are no missing ones. */
  | { readonly kind: 'deny_rekey'; readonly feed: FeedName }
  /** Rebuilds the mappings of the feed from the references on its site. */
  | { readonly kind: 'recover_feed'; readonly feed: FeedName }
  /** Shows which jobs of the site belong to postings of the feed, or says which one belongs to this posting. */
  | { readonly kind: 'adopt_jobs'; readonly feed: FeedName; readonly key?: PostingKey }
  /** Starts the days of the posting on the site anew. */
  | { readonly kind: 'renew_posting'; readonly feed: FeedName; readonly key: PostingKey }
  | { readonly kind: 'import_mappings' }
  /** Starts the process that runs the schedules. */
  | { readonly kind: 'start_schedules' };

export type Action = EntryAction | OtherAction;
