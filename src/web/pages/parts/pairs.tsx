// A table of pairs: a posting beside the job, or the other posting, that it may be, with the evidence, what differs, and the decision.

import type { Child } from 'hono/jsx';
import type { Certainty } from '../../../plan/match/whose-job.ts';
import type { FeedName, SiteJobId } from '../../../posting/identifiers.ts';
import type { PulledDifference } from '../../../review/pulled-changes.ts';
import { linkTo, pageAddress } from './addresses.ts';
import { Columns, ShownDifference, SiteLink } from './parts.tsx';

/** A job on its site, by its ID. */
export const JobLink = ({ siteJobId, url }: { siteJobId: SiteJobId; url: string | null | undefined }) => (
  <SiteLink url={url}>{`Job ${siteJobId}`}</SiteLink>
);

export interface Pair {
  /** The sides that the columns name; without the first one, that of the pair above covers this pair as well. */
  readonly cells: readonly Child[];
  /** How many pairs the first side covers. */
  readonly rows?: number;
  readonly verdict: Certainty;
  readonly score?: number;
  readonly reasons: readonly string[];
  /** `undefined`: not known. */
  readonly differences?: readonly PulledDifference[] | undefined;
  /** Further fields that differ. */
  readonly moreFields: number;
  readonly decide: Child;
}

interface PairsProps {
  /** The ID of the heading. */
  readonly label: string;
  readonly columns: readonly string[];
  /** Heads what differs; `undefined`: nothing is compared. */
  readonly differing: string | undefined;
  readonly decides: boolean;
  readonly pairs: readonly Pair[];
}

export const Pairs = ({ label, columns, differing, decides, pairs }: PairsProps) => (
  <section class="scroll" tabindex={0} aria-labelledby={label}>
    <table class="stacked" aria-labelledby={label}>
      <Columns of={[...columns, 'Evidence', differing, decides && 'Decide']} />
      <tbody>
        {pairs.map(({ cells, rows, verdict, score, reasons, differences, moreFields, decide }) => (
          <tr>
            {cells.map((cell, at) => {
              const column = columns.length - cells.length + at;
              return column === 0 ? (
                <th scope="row" data-column={columns[0]} rowspan={rows}>
                  {cell}
                </th>
              ) : (
                <td data-column={columns[column]}>{cell}</td>
              );
            })}
            <td data-column="Evidence">
              {verdict === 'unmatched' && reasons.length === 0 ? (
                <span class="quiet">no job resembles it</span>
              ) : (
                <>
                  <span class={`status ${verdict === 'sure' ? 'good' : 'warn'}`}>{verdict}</span>
                  {score !== undefined && <span class="detail">{`score ${score.toFixed(2)}`}</span>}
                  <span class="detail">{reasons.join(', ')}</span>
                </>
              )}
            </td>
            {differing !== undefined && (
              <td data-column={differing}>
                {differences === undefined && <span class="quiet">not known</span>}
                {differences?.length === 0 && <span class="quiet">nothing differs</span>}
                {differences?.map((difference) => (
                  <ShownDifference {...difference} />
                ))}
                {moreFields > 0 && <span class="quiet">{`and ${moreFields} more fields`}</span>}
              </td>
            )}
            {decides && <td>{decide}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

/** Leads from deletes that wait for an answer about changed keys to the comparison. */
export const LinkToRekeyComparison = ({ feed }: { readonly feed: FeedName }) => (
  <p class="notice">
    {`The keys of feed ${feed} seem to have changed: new postings may be those whose deletes wait, under other keys. `}
    <a href={linkTo(pageAddress.rekey(feed))}>Compare them first</a>
    {
      '. What is the same posting keeps its job; until that is answered, these deletes can be neither approved nor discarded.'
    }
  </p>
);
