// The button that brings one posting up to date, and what its press has begun.
import type { FeedName, PostingKey } from '../../../posting/identifiers.ts';
import { pageAddress } from '../parts/addresses.ts';
import { mayPull, PostForm, type Visit } from '../parts/layout.tsx';

export interface SyncNowProps {
  readonly visit: Visit;
  readonly feed: FeedName;
  /** `key` would be a property of JSX. */
  readonly posting: PostingKey;
  /** The group that the visitor goes through. */
  readonly group?: string | undefined;
}

/** Absent for viewers. */
export const SyncNow = ({ visit, feed, posting, group }: SyncNowProps) =>
  mayPull(visit) ? (
    <PostForm visit={visit} action={visit.prefix + pageAddress.syncPosting()} hidden={{ feed, key: posting }}>
      {group !== undefined && <input type="hidden" name="group" value={group} />}
      <button type="submit">Sync this posting now</button>
    </PostForm>
  ) : null;

/** The pull that was started; `later`: one follows the pull that runs. */
export type SyncStart = number | 'later';

export const SyncNotice = ({ visit, feed, start }: { visit: Visit; feed: FeedName; start: SyncStart }) => (
  <p role="status" class="notice">
    {start === 'later' ? (
      <>
        {'Feed '}
        <a href={visit.prefix + pageAddress.pulls(feed)}>{feed}</a>
        {' is being pulled; another pull follows, which reads this posting again.'}
      </>
    ) : (
      <>
        <a href={visit.prefix + pageAddress.pull(start)}>{`Pull ${start}`}</a>
        {` reads feed ${feed}, which is read as a whole. What differs is sent then; reload this page to see it.`}
      </>
    )}
  </p>
);
