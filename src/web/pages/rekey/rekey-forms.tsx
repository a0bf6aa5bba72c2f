// The decisions about changed keys: for all sure pairs, for a pair that a person names, and that nothing is a pair.
import { plural } from '../../../plan/plural.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf } from '../layout.tsx';
import type { SuspectedProps } from './rekey-props.ts';

export const AllSure = ({ visit, feed, pairs: { counts, marks } }: SuspectedProps) =>
  counts.sure === 0 ? null : (
    <form method="post" action={visit.prefix + pageAddress.rekey()} class="panel" aria-label="All sure pairs">
      <Csrf visit={visit} />
      <input type="hidden" name="feed" value={feed} />
      <input type="hidden" name="decision" value="sure" />
      <input type="hidden" name="mark" value={marks.sure} />
      <p class="hint">
        A pair is sure if both postings have the same content, apart from references and addresses, and as many are
        missing with it as are new. If other pairs are sure by then, nothing is done.
      </p>
      <p>
        <button type="submit" class="main">
          {counts.sure === 1 ? 'Keep the job of the sure pair' : `Keep the jobs of all ${counts.sure} sure pairs`}
        </button>
      </p>
    </form>
  );

export const AnotherPair = ({ visit, feed, pairs: { counts } }: SuspectedProps) =>
  counts.new + counts.unsure === 0 || counts.missing + counts.unsure === 0 ? null : (
    <form method="post" action={visit.prefix + pageAddress.rekey()} class="panel" aria-label="Another pair">
      <Csrf visit={visit} />
      <input type="hidden" name="feed" value={feed} />
      <input type="hidden" name="decision" value="pair" />
      <p>
        <strong>Another pair</strong>
      </p>
      <div class="row">
        <p>
          <label for="key">Key of the new posting</label>
          <input id="key" name="key" required maxlength={1_000} autocomplete="off" />
        </p>
        <p>
          <label for="was">Key of the missing posting</label>
          <input id="was" name="was" required maxlength={1_000} autocomplete="off" />
        </p>
        <p>
          <button type="submit">It keeps that job</button>
        </p>
      </div>
    </form>
  );

export const NotRekey = ({ visit, feed, pairs: { counts, marks } }: SuspectedProps) => {
  const pairs = counts.sure + counts.unsure;
  return (
    <form method="post" action={visit.prefix + pageAddress.rekey()} class="panel" aria-label="They are new postings">
      <Csrf visit={visit} />
      <input type="hidden" name="feed" value={feed} />
      <input type="hidden" name="decision" value="not-rekey" />
      <input type="hidden" name="mark" value={marks.all} />
      <p>
        <strong>They are new postings</strong>
      </p>
      <p class="hint">
        The new postings are created, and the jobs of the missing ones are deleted, as far as the delete guard does not
        hold them.
      </p>
      <p>
        <label>
          <input type="checkbox" name="confirmed" value="true" required autocomplete="off" />{' '}
          {`Yes, ${plural(pairs + counts.new, 'new posting is no missing one', 'new postings are no missing ones')}`}
        </label>
      </p>
      <p>
        <button type="submit" class="danger">
          They are new postings
        </button>
      </p>
    </form>
  );
};
