// Starts the days of a posting on the site anew, for feeds whose postings end after a number of days.
import { pageAddress } from '../addresses.ts';
import { Csrf } from '../layout.tsx';
import type { PostingProps } from './posting-props.ts';

export const Renew = ({ visit, view: { story, group } }: PostingProps) => {
  const { feed, key, live, expiry } = story;
  return (
    <form
      method="post"
      action={visit.prefix + pageAddress.renewPosting()}
      class="panel"
      aria-label="Its days on the site"
    >
      <Csrf visit={visit} />
      <input type="hidden" name="feed" value={feed} />
      <input type="hidden" name="key" value={key} />
      {group !== undefined && <input type="hidden" name="group" value={group} />}
      <p class="hint">
        {live === undefined || expiry?.expiredAt !== undefined
          ? 'The posting has expired: its job was on the site for as long as the feed’s expire_after_days allows. Its days begin anew, and the next pull lets it have a job, if the feed still has it.'
          : 'The job ends after the number of days that the feed’s expire_after_days allows. Its days begin anew now.'}
      </p>
      <p>
        <button type="submit">Start its days anew</button>
      </p>
    </form>
  );
};
