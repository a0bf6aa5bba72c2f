// Leads from deletes that wait for an answer about changed keys to the comparison.
import type { FeedName } from '../../../posting/identifiers.ts';
import { pageAddress } from '../addresses.ts';
import type { Visit } from '../layout.tsx';

export const AnswerFirst = ({ visit, feed }: { readonly visit: Visit; readonly feed: FeedName }) => (
  <p class="notice">
    {`The keys of feed ${feed} seem to have changed: new postings may be those whose deletes wait, under other keys. `}
    <a href={visit.prefix + pageAddress.rekey(feed)}>Compare them first</a>
    {
      '. What is the same posting keeps its job; until that is answered, these deletes can be neither approved nor discarded.'
    }
  </p>
);
