// One feed: what is open, its newest pulls, its schedule and its settings in brief.
import type { FeedConfig } from '../../../config/config.ts';
import type { Complaint } from '../../../config/config-error.ts';
import type { WriteAction } from '../../../plan/message.ts';
import { plural } from '../../../plan/plural.ts';
import type { FeedStatus } from '../../../review/read-model/feed.ts';
import type { Attention } from '../../../runtime/attention.ts';
import type { StoppedFeed } from '../../../store/feed/feed-state.ts';
import type { LastVerify } from '../../../store/feed/feed-verify.ts';
import type { BriefPull, CountedPull } from '../../../store/pull/pull-history.ts';
import { formatSpan } from '../../../telemetry/times.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, Layout, mayReview, type Visit } from '../layout.tsx';
import { absence } from '../overview/absence.ts';
import { AttentionList } from '../overview/attention.tsx';
import { Sparkline } from '../overview/sparkline.tsx';
import { PullTable } from '../pulls/pull-table.tsx';
import { Told } from '../told.tsx';
import { When } from '../when.tsx';
import { FeedNumbers } from './feed-numbers.tsx';
import { PullButton } from './pull-button.tsx';

export interface FeedPageProps {
  readonly visit: Visit;
  readonly feed: FeedStatus;
  readonly config: FeedConfig | undefined;
  readonly faults: readonly Complaint[];
  readonly stopped: StoppedFeed | undefined;
  readonly attention: readonly Attention[];
  readonly pulls: readonly CountedPull[];
  readonly drawn: readonly BriefPull[];
  readonly write: WriteAction;
}

export const FeedPage = (props: FeedPageProps) => {
  const { visit, feed, config, faults, stopped, attention, pulls, drawn, write } = props;
  const { prefix } = visit;
  return (
    <Layout title={`Feed ${feed.feed}`} visit={visit} section="overview">
      <div id="state" data-live={feed.lastPull?.status === 'running' ? 'true' : undefined}>
        {!feed.configured && <p class="notice">This feed is {absence(feed)}.</p>}
        {stopped !== undefined && <Stopped visit={visit} stopped={stopped} />}
        {stopped === undefined && <AttentionList prefix={prefix} attention={attention} />}
        <FeedNumbers prefix={prefix} feed={feed} />
        <PullButton visit={visit} feed={feed} stopped={stopped !== undefined} />
        {[feed.rekey, feed.search].map(
          (note) =>
            note !== undefined && (
              <p class="notice">
                <Told message={note} prefix={prefix} write={write} />
              </p>
            ),
        )}
        {feed.warnings.map((warning) => (
          <p class="notice">{`Warning: ${warning}`}</p>
        ))}
        <h2>Pulls</h2>
        <Sparkline pulls={drawn} />
        <PullTable prefix={prefix} pulls={pulls} label={`The newest pulls of ${feed.feed}`} />
        {pulls.length > 0 && (
          <p>
            <a href={prefix + pageAddress.pulls(feed.feed)}>All pulls of this feed</a>
          </p>
        )}
      </div>
      <h2>Settings</h2>
      {faults.map(({ message }) => (
        <p class="notice bad">{message}</p>
      ))}
      <dl class="facts">
        <dt>Site</dt>
        <dd>
          <a href={prefix + pageAddress.site(feed.site)}>{feed.site}</a>
          {config !== undefined && (
            <>
              {', '}
              <a href={prefix + pageAddress.adopt(feed.feed)}>match the jobs that it already has</a>
            </>
          )}
        </dd>
        <dt>Schedule</dt>
        <dd>
          {feed.schedule === undefined && config?.schedule === undefined
            ? 'none; it is pulled only when somebody asks'
            : `${feed.schedule?.pattern ?? config?.schedule} (${feed.schedule?.timeZone ?? config?.timeZone})`}
        </dd>
        <dt>Next pull</dt>
        <dd>{stopped === undefined && feed.nextRun !== undefined ? <When at={feed.nextRun} /> : 'none'}</dd>
        <dt>Last verified</dt>
        <dd>{feed.verified === undefined ? 'never' : <Verified last={feed.verified} />}</dd>
        {config !== undefined && <Settings config={config} />}
      </dl>
      {config !== undefined && <p class="hint">They are changed in the configuration file.</p>}
    </Layout>
  );
};

const Verified = ({ last }: { last: LastVerify }) => {
  const { at, same, changed, gone, foreign, left, message } = last;
  const found = `${same} as sent, ${changed} changed, ${gone} gone, ${foreign} foreign`;
  const rest = left === 0 ? '' : `; ${plural(left, 'job')} left to a person`;
  return (
    <>
      <When at={at} />
      {`: ${found}${rest}${message === undefined ? '' : `; ${message}`}`}
    </>
  );
};

/** Nothing that could hold a secret, such as an address. */
const Settings = ({ config }: { config: FeedConfig }) => {
  const { source, mapping, guard, minRecords, staleAfterMs } = config;
  return (
    <>
      <dt>Source</dt>
      <dd>{`${source.from.kind}, read as ${source.format}${source.details === undefined ? '' : ', with a request for the details of each posting'}`}</dd>
      <dt>Key</dt>
      <dd>{mapping.key.paths.join(', ')}</dd>
      <dt>Fields</dt>
      <dd>{Object.keys(mapping.fields).join(', ')}</dd>
      <dt>Deletes are held</dt>
      <dd>{`beyond ${guard.percent} % of the jobs and ${plural(guard.count, 'job')}`}</dd>
      <dt>A posting is gone</dt>
      <dd>{`once ${plural(guard.missingPulls, 'complete pull')} did not see it`}</dd>
      {minRecords !== undefined && (
        <>
          <dt>Complete</dt>
          <dd>{`only with at least ${plural(minRecords, 'record')}`}</dd>
        </>
      )}
      {staleAfterMs !== undefined && (
        <>
          <dt>Failing</dt>
          <dd>{`after ${formatSpan(staleAfterMs)} without a complete pull`}</dd>
        </>
      )}
    </>
  );
};

const Stopped = ({ visit, stopped }: { visit: Visit; stopped: StoppedFeed }) => {
  const { prefix } = visit;
  const { feed, since, undo, undone } = stopped;
  return (
    <section class="next warn" aria-labelledby="stopped">
      <h2 id="stopped">Not pulled</h2>
      <p>
        {'Since '}
        <When at={since} />
        {', when '}
        <a href={prefix + pageAddress.pull(undo)}>
          {undone === undefined ? `undo ${undo}` : `pull ${undone} was undone`}
        </a>
        , this feed is not pulled, so that its source does not bring back what was undone. Resume it once the source is
        right: then it is pulled by its schedule again.
      </p>
      {mayReview(visit) && (
        <form method="post" action={prefix + pageAddress.resumeFeed()}>
          <Csrf visit={visit} />
          <input type="hidden" name="feed" value={feed} />
          <input type="hidden" name="undo" value={undo} />
          <button type="submit" class="main">
            Resume {feed}
          </button>
        </form>
      )}
    </section>
  );
};
