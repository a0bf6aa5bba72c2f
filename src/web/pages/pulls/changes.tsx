// The postings whose jobs a pull created, updated or deleted.
import type { PulledChanges } from '../../../review/pulled-changes.ts';
import type { PullEffect } from '../../../store/pull/pull-history.ts';
import type { PullRow } from '../../../store/pull/pull-row.ts';
import { pageAddress } from '../addresses.ts';
import { ShownDifference } from '../difference.tsx';
import { When } from '../when.tsx';

export interface ChangesProps {
  readonly prefix: string;
  readonly pull: PullRow;
  readonly show: PullEffect;
  /** How many there were. */
  readonly count: number;
  readonly changes: PulledChanges;
  readonly after: string | undefined;
}

export const Changes = ({ prefix, pull, show, count, changes: { items, next }, after }: ChangesProps) => {
  const page = (key?: string) => `${prefix}${pageAddress.pull(pull.id, { show, after: key })}#changes`;
  if (items.length === 0 && after === undefined) return <p>{whyNone(count, show)}</p>;
  return (
    <>
      <section class="scroll" tabindex={0} aria-label={`Postings that were ${show}`}>
        <table class="stacked">
          <thead>
            <tr>
              <th scope="col">Posting</th>
              <th scope="col">At</th>
              {show === 'updated' && <th scope="col">Before → now</th>}
            </tr>
          </thead>
          <tbody>
            {items.map(({ key, at, title, differences, moreFields }) => (
              <tr>
                <th scope="row" data-column="Posting">
                  <a href={prefix + pageAddress.posting(pull.feed, key)}>{key}</a>
                  {title !== undefined && <span class="detail">{title}</span>}
                </th>
                <td data-column="At">
                  <When at={at} />
                </td>
                {show === 'updated' && (
                  <td data-column="Before → now">
                    {differences === undefined && <span class="quiet">what was before is not known</span>}
                    {differences?.length === 0 && <span class="quiet">the site has the former values again</span>}
                    {differences?.map((difference) => (
                      <ShownDifference {...difference} />
                    ))}
                    {moreFields > 0 && <span class="quiet">and {moreFields} more fields</span>}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="row">
        {after !== undefined && <a href={page()}>First</a>}
        {next !== undefined && (
          <a href={page(next)} rel="next">
            More
          </a>
        )}
      </p>
    </>
  );
};

const whyNone = (count: number, show: PullEffect): string => {
  if (count === 0) return `Nothing was ${show}.`;
  const gone = show === 'created' ? 'their jobs are gone since' : 'which ones is not kept any more';
  return `${count} ${count === 1 ? 'was' : 'were'} ${show}; ${gone}.`;
};
