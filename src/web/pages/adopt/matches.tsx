// Postings beside the jobs that may be theirs, with what differs and the decision about each.
import type { ShownCandidateJob, ShownProposal } from '../../../review/adopt/shown-proposals.ts';
import { pageAddress } from '../addresses.ts';
import { ShownDifference } from '../difference.tsx';
import { mayReview } from '../layout.tsx';
import { AdoptThis } from './adopt-forms.tsx';
import type { MatchedProps } from './adopt-props.ts';

export const Matches = (props: MatchedProps) => {
  const { visit, show, shown } = props;
  const hasJobs = show !== 'unmatched';
  return (
    <section class="scroll" tabindex={0} aria-labelledby="matches">
      <table class="stacked" aria-labelledby="matches">
        <thead>
          <tr>
            <th scope="col">Posting</th>
            {hasJobs && <th scope="col">Job on the site</th>}
            <th scope="col">Evidence</th>
            {hasJobs && <th scope="col">The job → the posting</th>}
            {hasJobs && mayReview(visit) && <th scope="col">Decide</th>}
          </tr>
        </thead>
        <tbody>
          {shown.items.map((proposal) =>
            hasJobs ? (
              proposal.candidates.map((candidate, at) => (
                <tr>
                  {at === 0 && <PostingCell {...props} proposal={proposal} />}
                  <JobCells {...props} proposal={proposal} candidate={candidate} isBest={at === 0} />
                </tr>
              ))
            ) : (
              <tr>
                <PostingCell {...props} proposal={proposal} />
                <td data-column="Evidence">
                  {proposal.reasons.length === 0 ? (
                    <span class="quiet">no job resembles it</span>
                  ) : (
                    proposal.reasons.join(', ')
                  )}
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </section>
  );
};

const PostingCell = ({ visit, feed, proposal }: MatchedProps & { readonly proposal: ShownProposal }) => {
  const { key, title, ownJobId, isKnown, candidates } = proposal;
  return (
    <th scope="row" data-column="Posting" rowspan={candidates.length > 1 ? candidates.length : undefined}>
      {isKnown ? <a href={visit.prefix + pageAddress.posting(feed, key)}>{key}</a> : key}
      {title !== null && <span class="detail">{title}</span>}
      {ownJobId !== null && <span class="detail">{`has job ${ownJobId} by now`}</span>}
    </th>
  );
};

interface JobProps extends MatchedProps {
  readonly proposal: ShownProposal;
  readonly candidate: ShownCandidateJob;
  readonly isBest: boolean;
}

const JobCells = ({ visit, feed, show, run, proposal, candidate, isBest }: JobProps) => {
  const { siteJobId, url, title, score, reasons, owned } = candidate;
  const { key, version, verdict, ownJobId } = proposal;
  const isOpen = ownJobId === null && !owned && run.state !== 'running';
  return (
    <>
      <td data-column="Job on the site">
        {url !== null && /^https?:\/\//i.test(url) ? (
          <a href={url} rel="noreferrer">{`Job ${siteJobId}`}</a>
        ) : (
          `Job ${siteJobId}`
        )}
        {title !== null && <span class="detail">{title}</span>}
        {owned && <span class="detail">belongs to a posting by now, or is about to be deleted</span>}
      </td>
      <td data-column="Evidence">
        <span class={`status ${verdict === 'sure' && isBest ? 'good' : 'warn'}`}>
          {verdict === 'sure' && isBest ? 'sure' : 'unsure'}
        </span>
        <span class="detail">{`score ${score.toFixed(2)}`}</span>
        <span class="detail">{(isBest ? proposal.reasons : reasons).join(', ')}</span>
      </td>
      <td data-column="The job → the posting">
        <Differences {...candidate} />
      </td>
      {mayReview(visit) && (
        <td>
          {isOpen && (
            <AdoptThis visit={visit} feed={feed} show={show} version={version} posting={key} candidate={candidate} />
          )}
        </td>
      )}
    </>
  );
};

const Differences = ({ differences, moreFields }: ShownCandidateJob) => (
  <>
    {differences.length === 0 && <span class="quiet">nothing differs</span>}
    {differences.map(({ field, before, now }) => (
      <ShownDifference field={field} before={before} now={now} />
    ))}
    {moreFields > 0 && <span class="quiet">{`and ${moreFields} more fields`}</span>}
  </>
);
