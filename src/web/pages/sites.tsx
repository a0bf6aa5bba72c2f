// The pages of sites, and the list of all of them: whether they are sent to, and why not.
import type { Hono } from 'hono';
import type { SiteConfig } from '../../config/config.ts';
import { namedSite } from '../../operations/operation.ts';
import { resumeConfiguredSite } from '../../operations/sites.ts';
import { readSiteStatus, type SiteStatus, type Status } from '../../operations/status.ts';
import { plural, textOf } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { excerpt } from '../../posting/markup.ts';
import { recentRequestsTo, type SentRequest } from '../../store/site/recent-requests.ts';
import { formatSpan, msUntil } from '../../telemetry/times.ts';
import { notFound } from '../problem.ts';
import type { WebEnv } from '../web-env.ts';
import { currentVisit, linkTo, mayReview, pageAddress } from './parts/addresses.ts';
import { Layout, PostForm } from './parts/layout.tsx';
import { operationForm, type PageContext, showPage } from './parts/page.tsx';
import { Fact, SiteStatusLabel, StackedTable, Submit, TimeSince, When } from './parts/parts.tsx';
import { PausedByPerson, PauseLink } from './pause.tsx';

const SHOWN_REQUESTS = 50;

export function sitePages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  pages.get(
    '/sites',
    showPage(async () => <SitesPage {...(await readSiteStatus(app))} />),
  );
  pages.get(
    '/sites/:site',
    showPage(async ({ c }) => {
      const config = namedSite(app.config, c.req.param('site') ?? '');
      const site = (await readSiteStatus(app)).sites.find((each) => each.site === config.name);
      if (site === undefined) throw notFound(`there is no site ${config.name}`);
      const requests = await recentRequestsTo(app.db, config.name, SHOWN_REQUESTS);
      const feeds = [...app.config.feeds.values()].flatMap(({ name, siteName }) =>
        siteName === config.name ? [name] : [],
      );
      return <SitePage site={site} config={config} feeds={feeds} requests={requests} />;
    }),
  );
  pages.post(
    '/sites/:site/resume',
    // Another cause than the one that was shown may need something else than to go on.
    operationForm(context, resumeConfiguredSite, {
      required: ['paused_since'],
      next: ({ site }) => pageAddress.site(site),
    }),
  );
}

interface SitesPageProps extends Pick<Status, 'sites' | 'workers' | 'differences'> {}

const SitesPage = ({ sites, workers, differences }: SitesPageProps) => (
  <Layout title="Sites" section="sites">
    <ul class="cards">
      {sites.map((site) => (
        <li class="card">
          <h2>
            <a href={linkTo(pageAddress.site(site.site))}>{site.site}</a>
          </h2>
          <p>
            <SiteStatusLabel site={site} />
            {site.paused_since !== null && (
              <span class="quiet">
                {' '}
                <TimeSince since={site.paused_since} />
              </span>
            )}
          </p>
          {site.pause_cause !== null && (
            <p class="detail">{excerpt(site.pause_cause.messages.map(textOf).join('; '), 300)}</p>
          )}
        </li>
      ))}
    </ul>
    <p>{workers === 1 ? '1 process sends.' : `${workers} processes send.`}</p>
    {differences !== null && <p class="notice">{differences}</p>}
  </Layout>
);

// One site: whether it is sent to, why not and since when, at which rate, and its newest requests.

export interface SitePageProps {
  readonly site: SiteStatus;
  readonly config: SiteConfig;
  /** Those that are mirrored to it. */
  readonly feeds: readonly FeedName[];
  readonly requests: readonly SentRequest[];
}

const SitePage = ({ site, config, feeds, requests }: SitePageProps) => {
  const { orphans, moved, learnt_requests_per_second: learnt, waits_until: until, unreachable_streak: streak } = site;
  return (
    <Layout title={`Site ${site.site}`} section="sites">
      <p>
        <SiteStatusLabel site={site} />
      </p>
      <PausedByPerson
        pauses={(currentVisit().pauses ?? []).filter(
          ({ site: of, feed }) => of === site.site || (feed !== undefined && feeds.includes(feed)),
        )}
      />
      {moved !== null && <p class="notice bad">{moved.text}</p>}
      {moved === null && site.paused_since !== null && <Paused site={site} />}
      <dl class="facts">
        <Fact name="Address">{config.options.baseUrl.origin + config.options.baseUrl.pathname}</Fact>
        <Fact name="Rate">
          {rateOf(config.requestsPerSecond)}, {plural(config.options.concurrency, 'request')} at a time
          {learnt !== null &&
            `; now at most ${rateOf(learnt)}, because the site asked to wait: the rate returns step by step`}
        </Fact>
        <Fact name="Next request">{until !== null && `in ${formatSpan(msUntil(until))}`}</Fact>
        <Fact name="Out of reach">{streak > 0 && `${plural(streak, 'time')} in a row`}</Fact>
        <Fact name="Last trouble">{site.last_message?.text}</Fact>
        <Fact name="References">{site.references_note?.text}</Fact>
        {site.other_refused_tokens.map(({ since, noted_by: who }) => (
          <Fact name="Refused token">
            {`that of ${who}, `}
            <TimeSince since={since} />
          </Fact>
        ))}
        <Fact name="To be deleted">{orphans > 0 && plural(orphans, 'orphan site job')}</Fact>
      </dl>
      {site.pauses.every((pause) => pause.site === null) && <PauseLink subject={{ site: site.site }} />}
      <h2>Recent requests</h2>
      <Requests requests={requests} />
    </Layout>
  );
};

const rateOf = (rate: number): string =>
  Number.isFinite(rate) ? `${Number(rate.toPrecision(2))} requests a second` : 'any number of requests a second';

const Paused = ({ site }: Pick<SitePageProps, 'site'>) => (
  <section class="next bad" aria-labelledby="paused">
    <h2 id="paused">Paused</h2>
    <p>
      {'Nothing has been sent '}
      <TimeSince since={site.paused_since} />
      {site.pause_cause !== null && `: ${site.pause_cause.text}`}
    </p>
    <p class="quiet">
      {site.next_probe === null
        ? 'It is not probed automatically: resume it once the cause is gone.'
        : `It is asked again ${msUntil(site.next_probe) < 1_000 ? 'now' : `in ${formatSpan(msUntil(site.next_probe))}`}, by a process that sends; ${plural(site.probes, 'probe')} so far.`}
    </p>
    {mayReview() && (
      <PostForm action={pageAddress.resumeSite(site.site)} hidden={{ paused_since: site.paused_since?.toISOString() }}>
        <label>
          <input type="checkbox" name="emptied" value="true" /> The site was really emptied: believe it for a day when
          it says that jobs are gone
        </label>
        <Submit kind="main">{`Resume ${site.site}`}</Submit>
      </PostForm>
    )}
  </section>
);

const GOOD = new Set(['accepted', 'created']);

const Requests = ({ requests }: { requests: readonly SentRequest[] }) => {
  if (requests.length === 0) return <p>Nothing was sent to it lately.</p>;
  return (
    <StackedTable
      label="Requests, newest first"
      columns={[
        { head: 'At', inline: true, cell: ({ at }) => <When at={at} /> },
        { head: 'Feed', inline: true, cell: ({ feed }) => <a href={linkTo(pageAddress.feed(feed))}>{feed}</a> },
        {
          head: 'Posting',
          inline: true,
          cell: ({ feed, key }) => <a href={linkTo(pageAddress.posting(feed, key))}>{key}</a>,
        },
        { head: 'Request', inline: true, cell: ({ operation }) => operation },
        { head: 'Status', number: true, inline: true, cell: ({ status }) => status ?? '–' },
        {
          head: 'Outcome',
          inline: true,
          cell: ({ outcome }) => (
            <span class={`status ${GOOD.has(outcome) ? 'good' : 'warn'}`}>{outcome.replaceAll('_', ' ')}</span>
          ),
        },
        { head: 'Took', number: true, inline: true, cell: ({ durationMs }) => `${durationMs} ms` },
      ]}
      rows={requests}
    />
  );
};
