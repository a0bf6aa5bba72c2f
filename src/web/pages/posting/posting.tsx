// The page of one posting: its state, what can be done, its fields, what was sent and received, and its history.
import { textOf } from '../../../plan/message.ts';
import { excerpt } from '../../../posting/xml-characters.ts';
import { paragraphsOf } from '../../../review/describe-history.ts';
import { formatSpan, formatTime } from '../../../telemetry/times.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, Layout, mayReview } from '../layout.tsx';
import { Lasting, When } from '../when.tsx';
import { Decide } from './decide.tsx';
import { EditJob } from './edit-form.tsx';
import { EditList } from './edits.tsx';
import { FieldTable } from './field-table.tsx';
import { Neighbouring } from './neighbouring.tsx';
import type { PostingProps } from './posting-props.ts';
import type { ShownExchange } from './read-posting.ts';
import { ShownText } from './shown-text.tsx';
import { SyncNotice, SyncNow } from './sync-now.tsx';

export const PostingOverview = (props: PostingProps) => {
  const { visit, view, refused, synced } = props;
  const { story } = view;
  const { live, change, feed, key } = story;
  const title = excerpt(change?.fields?.title ?? live?.fields?.title ?? '', 150);
  const { state, past } = paragraphsOf(story, { at: formatTime, span: formatSpan });
  const problems = change?.reason?.problems ?? [];
  return (
    <Layout title={title === '' ? `Posting ${key}` : title} visit={visit} section={change ? 'review' : 'jobs'}>
      <Neighbouring visit={visit} view={view} />
      {refused !== undefined && (
        <p role="alert" class="notice bad text" id="refused">
          {refused}
        </p>
      )}
      {synced !== undefined && <SyncNotice visit={visit} feed={feed} start={synced} />}
      <dl class="facts">
        <dt>Key</dt>
        <dd class="text">{key}</dd>
        <dt>Feed</dt>
        <dd>
          <a href={visit.prefix + pageAddress.feed(feed)}>{feed}</a>
        </dd>
        <dt>Site</dt>
        <dd>{change?.site ?? live?.site ?? '–'}</dd>
        <dt>Job on the site</dt>
        <dd>{live === undefined ? 'none' : <SiteJob id={live.siteJobId} url={live.url} />}</dd>
        <dt>State</dt>
        <dd>
          <strong>{(change?.state ?? view.state ?? 'unusable record').replaceAll('_', ' ')}</strong>
          {change !== undefined && (
            <>
              {`, to be ${change.operation}d, `}
              <Lasting since={change.since} />
              {change.attempts > 0 && `, attempts: ${change.attempts}`}
              {` (entry ${change.id})`}
            </>
          )}
        </dd>
      </dl>
      {view.isConfigured && <SyncNow visit={visit} feed={feed} posting={key} group={view.group} />}
      <section aria-labelledby="meaning">
        <h2 id="meaning">What it means</h2>
        {state.map((message) => (
          <p class="said">{excerpt(textOf(message), 1_500)}</p>
        ))}
        {problems.length > 0 && (
          <ul>
            {problems.slice(0, 20).map(({ field, value, message }) => (
              <li class="bad">
                {field !== undefined && <strong>{`${field}: `}</strong>}
                {excerpt(message, 500)}
                {value !== undefined && (
                  <>
                    {' '}
                    <mark class="text">{value}</mark>
                  </>
                )}
              </li>
            ))}
          </ul>
        )}
      </section>
      {change !== undefined && view.actions.length > 0 && mayReview(visit) && <Decide {...props} entry={change.id} />}
      {view.actions.length === 0 && mayReview(visit) && <EditJob visit={visit} view={view} />}
      {view.isRenewable && mayReview(visit) && <Renew visit={visit} view={view} />}
      <EditList visit={visit} view={view} />
      <FieldTable view={view} />
      {view.record !== undefined && (
        <section aria-labelledby="record">
          <h2 id="record">Its record, as the feed has it</h2>
          <pre tabindex={0}>
            <ShownText shown={view.record} mark={view.marked} />
          </pre>
        </section>
      )}
      {view.detail !== undefined && (
        <section aria-labelledby="detail">
          <h2 id="detail">Its detail, as received</h2>
          <p class="quiet">
            <When at={view.detail.at} />
          </p>
          <pre tabindex={0}>
            <ShownText shown={view.detail.text} mark={problems.find(({ value }) => value)?.value} />
          </pre>
        </section>
      )}
      <Exchanges exchanges={view.exchanges} />
      <section aria-labelledby="history">
        <h2 id="history">History</h2>
        {past.length === 0 ? (
          <p>Nothing was sent or decided yet, as far as it is still recorded.</p>
        ) : (
          <ul>
            {past.map((message) => (
              <li class="said">{excerpt(textOf(message), 500)}</li>
            ))}
          </ul>
        )}
      </section>
    </Layout>
  );
};

/** Only an address of the web is a link: others could run something. */
const SiteJob = ({ id, url }: { id: string; url: string | undefined }) => {
  if (url === undefined || !/^https?:\/\//i.test(url)) return <span>{id}</span>;
  return (
    <a href={url} rel="noreferrer noopener">
      {`${id}, on the site`}
    </a>
  );
};

const Renew = ({ visit, view: { story, group } }: PostingProps) => {
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

const Exchanges = ({ exchanges }: { exchanges: readonly ShownExchange[] }) =>
  exchanges.length === 0 ? null : (
    <section aria-labelledby="exchanges">
      <h2 id="exchanges">Sent and received</h2>
      <p class="hint">Requests that failed, the newest first. The token is never stored.</p>
      {exchanges.map(({ at, operation, kind, request, response }, index) => (
        <details open={index === 0}>
          <summary>
            <When at={at} />
            {`: ${operation} failed: ${kind}`}
          </summary>
          <h3>Sent</h3>
          {request === undefined ? (
            <p>Nothing is recorded.</p>
          ) : (
            <pre tabindex={0}>
              {`${request.line}\n`}
              <ShownText shown={request.body} />
            </pre>
          )}
          <h3>Received</h3>
          {response === undefined ? (
            <p>No response.</p>
          ) : (
            <pre tabindex={0}>
              {`${response.line}\n`}
              <ShownText shown={response.body} />
            </pre>
          )}
        </details>
      ))}
    </section>
  );
