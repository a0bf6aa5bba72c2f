// The page of one feed, and its forms: pull it now, resume it.
import type { Hono } from 'hono';
import type { FeedConfig } from '../../config/config.ts';
import type { Complaint } from '../../config/config-error.ts';
import { scheduleInWords } from '../../config/schedule-choice.ts';
import { shareReading } from '../../flow/share-reading.ts';
import { readsUpload } from '../../operations/feed-uploads.ts';
import { resumeStoppedFeed } from '../../operations/feeds.ts';
import { type ShownPull, showPulls, startFeedPull } from '../../operations/pulls.ts';
import { type FeedStatus, readFeedStatus, showFeed, whyNotPulledHere } from '../../operations/status.ts';
import { plural } from '../../plan/message.ts';
import { pausesOf } from '../../plan/pause-words.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { type BriefPull, recentPulls } from '../../store/pull/pull-history.ts';
import { formatSpan } from '../../telemetry/times.ts';
import type { WebEnv } from '../web-env.ts';
import { type Attention, AttentionList, attentionOf } from './attention.tsx';
import { Sparkline } from './overview.tsx';
import { currentVisit, linkTo, mayConfigure, mayReview, pageAddress } from './parts/addresses.ts';
import { FeedNumbers, PullButton } from './parts/feed-numbers.tsx';
import { Layout, PostForm } from './parts/layout.tsx';
import { askedBy, operationForm, type PageContext, readInput, showPage } from './parts/page.tsx';
import { Fact, NoticeText, When } from './parts/parts.tsx';
import { PausedByPerson, PauseLink } from './pause.tsx';
import { PullTable } from './pulls.tsx';

const SHOWN_PULLS = 10;
const DRAWN_PULLS = 40;

export function feedPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  const { db, config } = app;
  pages.get(
    '/feed',
    showPage(async ({ query, actor }) => {
      const name = readInput(showFeed, query).feed as FeedName;
      const [{ feed, status }, drawn, { items: pulls }] = await Promise.all([
        readFeedStatus(app, name),
        shareReading(config, `drawn pulls ${name}`, () => recentPulls(db, [name], DRAWN_PULLS)),
        showPulls.readPage({ feed: name }, { limit: SHOWN_PULLS }, askedBy(context, actor)),
      ]);
      return (
        <FeedPage
          feed={feed}
          config={config.feeds.get(name)}
          faults={config.brokenFeeds.get(name)?.complaints ?? []}
          attention={attentionOf(status).filter(
            ({ place, isPause }) => 'feed' in place && place.feed === name && isPause !== true,
          )}
          pulls={pulls}
          drawn={drawn.get(name) ?? []}
        />
      );
    }),
  );
  pages.post(
    pageAddress.startPull(),
    operationForm(context, startFeedPull, {
      required: ['feed'],
      next: ({ pull }) => pageAddress.pull(pull),
      // Whoever presses the button twice sees the pull that it started.
      async refused(why, { goTo }) {
        if (typeof why.now.pull !== 'number') throw why;
        return goTo(pageAddress.pull(why.now.pull));
      },
    }),
  );
  pages.post(
    pageAddress.resumeFeed(),
    operationForm(context, resumeStoppedFeed, {
      required: ['undo'],
      next: ({ feed }) => pageAddress.feed(feed as FeedName),
    }),
  );
}

// One feed: what is open, its newest pulls, its schedule and its settings in brief.

export interface FeedPageProps {
  readonly feed: FeedStatus;
  readonly config: FeedConfig | undefined;
  readonly faults: readonly Complaint[];
  readonly attention: readonly Attention[];
  readonly pulls: readonly ShownPull[];
  readonly drawn: readonly BriefPull[];
}

const FeedPage = (props: FeedPageProps) => {
  const { feed, config, faults, attention, pulls, drawn } = props;
  const schedule = feed.schedule ?? config?.schedule;
  const { stopped, last_verify: verified } = feed;
  const paused = pausesOf(currentVisit().pauses ?? [], feed).filter(
    ({ site, feed: own }) => (site ?? own) !== undefined,
  );
  const isPulled = stopped === null && feed.pauses.every(({ pulls: stops }) => !stops);
  return (
    <Layout title={`Feed ${feed.feed}`} section="overview">
      <div id="state" data-live={feed.last_pull?.status === 'running' ? 'true' : undefined}>
        {!feed.configured && <p class="notice">This feed is {whyNotPulledHere(feed)}.</p>}
        <PausedByPerson pauses={paused} />
        {stopped !== null && <Stopped feed={feed.feed} stopped={stopped} />}
        {stopped === null && (paused.length === 0 || attention.length > 0) && <AttentionList attention={attention} />}
        <FeedNumbers feed={feed} />
        <PullButton feed={feed} />
        {paused.every((pause) => pause.feed === undefined) && <PauseLink subject={{ feed: feed.feed }} />}
        {[feed.rekey, feed.search].map(
          (note) =>
            note !== null && (
              <p class="notice">
                <NoticeText notice={note} />
              </p>
            ),
        )}
        {feed.warnings.map((warning) => (
          <p class="notice">{`Warning: ${warning}`}</p>
        ))}
        <h2>Pulls</h2>
        <Sparkline pulls={drawn} />
        <PullTable pulls={pulls} label={`The newest pulls of ${feed.feed}`} />
        {pulls.length > 0 && (
          <p>
            <a href={linkTo(pageAddress.pulls(feed.feed))}>All pulls of this feed</a>
          </p>
        )}
      </div>
      <h2>Settings</h2>
      {faults.map(({ message }) => (
        <p class="notice bad">{message}</p>
      ))}
      <dl class="facts">
        <Fact name="Site">
          <a href={linkTo(pageAddress.site(feed.site))}>{feed.site}</a>
          {config !== undefined && (
            <>
              {', '}
              <a href={linkTo(pageAddress.adopt(feed.feed))}>match the jobs that it already has</a>
            </>
          )}
        </Fact>
        <Fact name="Schedule">
          {schedule === undefined
            ? 'none; it is pulled only when somebody asks'
            : `${scheduleInWords(schedule)} (${feed.time_zone ?? config?.timeZone})`}
        </Fact>
        <Fact name="Next pull">{isPulled && feed.next_run !== null ? <When at={feed.next_run} /> : 'none'}</Fact>
        <Fact name="Last verified">{verified === null ? 'never' : <Verified last={verified} />}</Fact>
        {config !== undefined && <Settings config={config} />}
      </dl>
      {mayConfigure() && feed.configured ? (
        <p>
          <a class="button" href={linkTo(pageAddress.changeFeed(feed.feed))}>
            Change the settings
          </a>{' '}
          <a href={linkTo(pageAddress.feedFile(feed.feed))}>Their file and its versions</a>
          {config !== undefined && readsUpload(config) && (
            <>
              {' · '}
              <a href={linkTo(pageAddress.uploads(feed.feed))}>The uploaded files, and a newer one</a>
            </>
          )}
        </p>
      ) : (
        config !== undefined && <p class="hint">They are changed in the configuration file.</p>
      )}
    </Layout>
  );
};

const Verified = ({ last }: { last: NonNullable<FeedStatus['last_verify']> }) => {
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
      <Fact name="Source">{`${source.from.kind === 'upload' ? 'the file that was uploaded last' : source.from.kind}, read as ${source.format}${source.details === undefined ? '' : ', with a request for the details of each posting'}`}</Fact>
      <Fact name="Key">{mapping.key.paths.join(', ')}</Fact>
      <Fact name="Fields">{Object.keys(mapping.fields).join(', ')}</Fact>
      <Fact name="Deletes are held">{`beyond ${guard.percent} % of the jobs and ${plural(guard.count, 'job')}`}</Fact>
      <Fact name="A posting is gone">{`once ${plural(guard.missingPulls, 'complete pull')} did not see it`}</Fact>
      <Fact name="Complete">{minRecords !== undefined && `only with at least ${plural(minRecords, 'record')}`}</Fact>
      <Fact name="Failing">
        {staleAfterMs !== undefined && `after ${formatSpan(staleAfterMs)} without a complete pull`}
      </Fact>
    </>
  );
};

interface StoppedProps extends Pick<FeedStatus, 'feed'> {
  readonly stopped: NonNullable<FeedStatus['stopped']>;
}

const Stopped = ({ feed, stopped: { since, undo, undone } }: StoppedProps) => (
  <section class="next warn" aria-labelledby="stopped">
    <h2 id="stopped">Not pulled</h2>
    <p>
      <When at={since} />
      {', '}
      <a href={linkTo(pageAddress.pull(undo))}>
        {undone === null ? `undo ${undo} began` : `pull ${undone} was undone`}
      </a>
      . Since then this feed is not pulled, so that its source does not bring back what was undone. Resume it once the
      source is right: then it is pulled by its schedule again.
    </p>
    {mayReview() && (
      <PostForm action={pageAddress.resumeFeed()} hidden={{ feed, undo }}>
        <button type="submit" class="main">
          Resume {feed}
        </button>
      </PostForm>
    )}
  </section>
);
