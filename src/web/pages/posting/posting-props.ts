// What the page of a posting is made of.
import type { Visit } from '../layout.tsx';
import type { PostingView } from './read-posting.ts';
import type { SyncStart } from './sync-now.tsx';

export interface PostingProps {
  readonly visit: Visit;
  readonly view: PostingView;
  /** Why nothing was done. */
  readonly refused?: string | undefined;
  /** What the button "Sync this posting now" has begun. */
  readonly synced?: SyncStart | undefined;
  /** What was typed as the reason. */
  readonly reason?: string | undefined;
}
