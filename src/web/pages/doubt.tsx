// One create in doubt: what was sent, beside the jobs that it may have made, and the decisions.
import { fieldOf } from '../../plan/same-meaning.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { DoubtCandidate, ShownCandidate, ShownDoubt } from '../../review/compare-doubt.ts';
import { describeAbsent, LIKENESS_WORDS, NONE_KNOWN, OWNED_WORDS } from '../../review/compare-doubt.ts';
import { JOB_WOULD_GO } from '../../review/describe-history.ts';
import type { OpenChangeRow } from '../../store/change/open-change.ts';
import { pageAddress } from './parts/addresses.ts';
import { Layout, mayReview, PostForm, type Visit } from './parts/layout.tsx';
import { JobLink } from './parts/pairs.tsx';
import { When } from './parts/parts.tsx';

export interface DoubtProps extends ShownDoubt {
  readonly visit: Visit;
  /** `undefined`: the site was not asked. */
  readonly candidates?: readonly DoubtCandidate[] | undefined;
  /** The ID that the visitor typed. */
  readonly typed?: SiteJobId | undefined;
  readonly refused?: { readonly message: string; readonly mayInsist: boolean } | undefined;
}

export const DoubtPage = (props: DoubtProps) => {
  const { visit, change, startedAt, candidates, refused, referenceField, sent } = props;
  const { prefix } = visit;
  const { feed, key, site, reason } = change;
  return (
    <Layout title={`Did the site make the job of ${key}?`} visit={visit} section="review">
      <p class="row">
        <a href={prefix + pageAddress.doubts(feed)}>{`Doubts of feed ${feed}`}</a>
        <a href={prefix + pageAddress.posting(feed, key)}>The posting</a>
      </p>
      {refused !== undefined && (
        <p role="alert" class="notice bad">
          {`${refused.message}. Nothing was changed.`}
        </p>
      )}
      {change.desired === 'absent' && (
        <p class="notice">{`${JOB_WOULD_GO[0]?.toUpperCase()}${JOB_WOULD_GO.slice(1)}.`}</p>
      )}
      <dl class="facts">
        <dt>Site</dt>
        <dd>{site}</dd>
        <dt>Sent</dt>
        <dd>
          <When at={startedAt} />
        </dd>
        <dt>Why it is in doubt</dt>
        <dd>{reason?.message ?? 'not recorded'}</dd>
        {reason?.note !== undefined && (
          <>
            <dt>Last check</dt>
            <dd>{reason.note}</dd>
          </>
        )}
        {referenceField !== undefined && fieldOf(sent, referenceField) !== undefined && (
          <>
            <dt>Its reference</dt>
            <dd>{fieldOf(sent, referenceField)}</dd>
          </>
        )}
      </dl>
      <Candidates {...props} />
      {candidates === undefined && <Sent fields={sent} />}
      {mayReview(visit) && <Decisions {...props} />}
    </Layout>
  );
};

const Candidates = ({ visit, change, candidateIds, candidates, sent, version }: DoubtProps) => (
  <>
    <h2 id="candidates">Jobs that it may have made</h2>
    {candidateIds.length === 0 && candidates === undefined && <p>{NONE_KNOWN}</p>}
    {candidateIds.length > 0 && candidates === undefined && (
      <p>{`Found on the site: ${candidateIds.map((id) => `job ${id}`).join(', ')}.`}</p>
    )}
    {candidateIds.length > 0 && candidates === undefined && mayReview(visit) && (
      <p>
        <a class="button" href={visit.prefix + pageAddress.doubtCandidates(change.id)}>
          Read them from the site
        </a>
      </p>
    )}
    {(candidates ?? []).map((candidate) =>
      candidate.kind === 'shown' ? null : (
        <p class={candidate.kind === 'unchecked' ? 'notice bad' : 'notice'}>{describeAbsent(candidate)}</p>
      ),
    )}
    <SideBySide
      sent={sent}
      shown={(candidates ?? []).filter((candidate) => candidate.kind === 'shown')}
      visit={visit}
      change={change}
      version={version}
    />
  </>
);

interface SideProps {
  readonly sent: Fields;
  readonly shown: readonly ShownCandidate[];
  readonly visit: Visit;
  readonly change: OpenChangeRow;
  readonly version: string;
}

const SideBySide = ({ sent, shown, visit, change, version }: SideProps) => {
  if (shown.length === 0) return null;
  const names = [...new Set([...Object.keys(sent), ...shown.flatMap(({ fields }) => Object.keys(fields))])];
  return (
    <section class="scroll" tabindex={0} aria-labelledby="candidates">
      <table aria-labelledby="candidates">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Sent</th>
            {shown.map(({ siteJobId, url }) => (
              <th scope="col">
                <JobLink siteJobId={siteJobId} url={url} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Compared</th>
            <td />
            {shown.map((candidate) => (
              <td>
                {LIKENESS_WORDS[candidate.likeness]}
                {candidate.owned && <p class="warn">{OWNED_WORDS}</p>}
                {mayReview(visit) && (
                  <PostForm
                    visit={visit}
                    action={visit.prefix + pageAddress.doubt(change.id)}
                    hidden={{ version, verdict: 'exists', site_job_id: candidate.siteJobId }}
                  >
                    <p>
                      <button type="submit" class={candidate.likeness === 'match' ? 'main' : ''}>
                        {`It is job ${candidate.siteJobId}`}
                      </button>
                    </p>
                  </PostForm>
                )}
              </td>
            ))}
          </tr>
          {names.map((name) => (
            <tr>
              <th scope="row">{name}</th>
              <td>{excerptOf(fieldOf(sent, name))}</td>
              {shown.map(({ fields, differing }) => (
                <td>
                  {differing.has(name) ? (
                    <mark>{excerptOf(fieldOf(fields, name))}</mark>
                  ) : (
                    excerptOf(fieldOf(fields, name))
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

const MOST_CHARACTERS = 1_000;

const excerptOf = (value: string | undefined) => {
  if (value === undefined) return <span class="quiet">–</span>;
  return value.length > MOST_CHARACTERS ? `${value.slice(0, MOST_CHARACTERS)}…` : value;
};

const Sent = ({ fields }: { fields: Fields }) => (
  <>
    <h2 id="sent">What was sent</h2>
    <dl class="facts">
      {Object.entries(fields).map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{excerptOf(value)}</dd>
        </>
      ))}
    </dl>
  </>
);

const Decisions = ({ visit, change, version, typed, refused }: DoubtProps) => {
  const address = visit.prefix + pageAddress.doubt(change.id);
  return (
    <>
      <h2 id="decide">Decide</h2>
      <form method="get" action={address} class="panel" aria-label="Compare a job">
        <input type="hidden" name="ask" value="site" />
        <p>
          <label for="other">Compare another job, by its ID on the site</label>
          <input id="other" name="job" required maxlength={200} autocomplete="off" />
        </p>
        <p>
          <button type="submit">Read it from the site</button>
        </p>
      </form>
      <PostForm
        visit={visit}
        action={address}
        class="panel"
        aria-label="The site made this job"
        hidden={{ version, verdict: 'exists' }}
      >
        <p>
          <label for="job">Its ID on the site</label>
          <input id="job" name="site_job_id" required maxlength={200} value={typed ?? ''} autocomplete="off" />
        </p>
        {refused?.mayInsist === true && (
          <p>
            <label>
              <input type="checkbox" name="anyway" value="true" autocomplete="off" /> It is the right job nevertheless
            </label>
          </p>
        )}
        <p class="hint">
          The job is read from the site before it is adopted. If it can't be checked, it is adopted as you say, and all
          its fields are set again.
        </p>
        <p>
          <button type="submit">The site made this job</button>
        </p>
      </PostForm>
      <PostForm
        visit={visit}
        action={address}
        class="panel"
        aria-label="The site made no job"
        hidden={{ version, verdict: 'missing' }}
      >
        <p>
          <label>
            <input type="checkbox" name="confirmed" value="true" required autocomplete="off" /> I have looked on the
            site: it has no job of this posting
          </label>
        </p>
        <p class="hint">If it has one after all, the posting is there twice.</p>
        <p>
          <button type="submit" class="danger">
            None: send it again
          </button>
        </p>
      </PostForm>
    </>
  );
};
