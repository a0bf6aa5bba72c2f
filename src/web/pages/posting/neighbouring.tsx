// The links to the group of a posting, and to the postings before and after it there.
import type { Neighbour } from '../../../store/review/neighbours.ts';
import { pageAddress } from '../addresses.ts';
import type { Visit } from '../layout.tsx';
import type { PostingView } from './read-posting.ts';

type Placed = Pick<PostingView, 'group' | 'neighbours'>;

export const Neighbouring = ({ visit: { prefix }, view: { group, neighbours } }: { visit: Visit; view: Placed }) =>
  group === undefined ? null : (
    <nav aria-label="Group" class="row">
      <a href={prefix + pageAddress.entries({ group })}>All entries of the group</a>
      {neighbours?.before !== undefined && (
        <a href={prefix + addressOf(neighbours.before, group)} rel="prev" data-key="p">
          Previous
        </a>
      )}
      {neighbours?.after !== undefined && (
        <a href={prefix + addressOf(neighbours.after, group)} rel="next" data-key="n">
          Next
        </a>
      )}
    </nav>
  );

/** A record that could not be read has no posting. */
const addressOf = ({ id, feed, key, kind }: Neighbour, group: string): string =>
  key === null || kind === 'unreadable' || kind === 'duplicate'
    ? pageAddress.entry(id)
    : pageAddress.posting(feed, key, group);
