// One site: whether it is sent to, why not and since when, at which rate, and its newest requests.
import { describeMove } from '../../../apply/confirm-address.ts';
import type { SiteConfig } from '../../../config/config.ts';
import { tell, type WriteAction } from '../../../plan/message.ts';
import { plural } from '../../../plan/plural.ts';
import type { SiteOverview } from '../../../review/read-model/site.ts';
import type { SentRequest } from '../../../store/site/recent-requests.ts';
import { formatSpan } from '../../../telemetry/times.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, Layout, mayReview, type Visit } from '../layout.tsx';
import { SiteStatusLabel } from '../site-status.tsx';
import { When } from '../when.tsx';
import { Requests } from './requests.tsx';

export interface SitePageProps {
  readonly visit: Visit;
  readonly site: SiteOverview;
  readonly config: SiteConfig;
  readonly requests: readonly SentRequest[];
  readonly write: WriteAction;
}

export const SitePage = ({ visit, site, config, requests, write }: SitePageProps) => {
  const { state, move, orphans, otherRefused = [], referenceNote } = site;
  return (
    <Layout title={`Site ${state.site}`} visit={visit} section="sites">
      <p>
        <SiteStatusLabel site={site} />
      </p>
      {move !== undefined && <p class="notice bad">{tell(describeMove(state.site, move), write)}</p>}
      {move === undefined && state.pausedSince !== undefined && <Paused visit={visit} site={site} write={write} />}
      <dl class="facts">
        <dt>Address</dt>
        <dd>{config.options.baseUrl.origin + config.options.baseUrl.pathname}</dd>
        <dt>Rate</dt>
        <dd>
          {rateOf(config.requestsPerSecond)}, {plural(config.options.concurrency, 'request')} at a time
          {state.learntRate !== undefined &&
            `; now at most ${rateOf(state.learntRate)}, because the site asked to wait: the rate returns step by step`}
        </dd>
        {state.waitsMs > 0 && (
          <>
            <dt>Next request</dt>
            <dd>in {formatSpan(state.waitsMs)}</dd>
          </>
        )}
        {state.unreachableStreak > 0 && (
          <>
            <dt>Out of reach</dt>
            <dd>{plural(state.unreachableStreak, 'time')} in a row</dd>
          </>
        )}
        {state.lastMessage !== undefined && (
          <>
            <dt>Last trouble</dt>
            <dd>{tell(state.lastMessage, write)}</dd>
          </>
        )}
        {referenceNote !== undefined && (
          <>
            <dt>References</dt>
            <dd>{tell(referenceNote, write)}</dd>
          </>
        )}
        {otherRefused.map(({ since, notedBy }) => (
          <>
            <dt>Refused token</dt>
            <dd>
              {`that of ${notedBy}, since `}
              <When at={since} />
            </dd>
          </>
        ))}
        {orphans > 0 && (
          <>
            <dt>To be deleted</dt>
            <dd>{plural(orphans, 'orphan site job')}</dd>
          </>
        )}
      </dl>
      <h2>Recent requests</h2>
      <Requests prefix={visit.prefix} requests={requests} />
    </Layout>
  );
};

const rateOf = (rate: number): string =>
  Number.isFinite(rate) ? `${Number(rate.toPrecision(2))} requests a second` : 'any number of requests a second';

const Paused = ({ visit, site: { state }, write }: Pick<SitePageProps, 'visit' | 'site' | 'write'>) => (
  <section class="next bad" aria-labelledby="paused">
    <h2 id="paused">Paused</h2>
    <p>
      {'Nothing is sent since '}
      <When at={state.pausedSince} />
      {state.pauseCause !== undefined && `: ${tell(state.pauseCause, write)}`}
    </p>
    <p class="quiet">
      {state.probeInMs === undefined
        ? 'It is not probed automatically: resume it once the cause is gone.'
        : `It is asked again ${state.probeInMs < 1_000 ? 'now' : `in ${formatSpan(state.probeInMs)}`}, by a process that sends; ${plural(state.probes, 'probe')} so far.`}
    </p>
    {mayReview(visit) && (
      <form method="post" action={visit.prefix + pageAddress.resumeSite(state.site)}>
        <Csrf visit={visit} />
        <input type="hidden" name="paused_since" value={state.pausedSince?.toISOString()} />
        <label>
          <input type="checkbox" name="emptied" value="true" /> The site was really emptied: believe it for a day when
          it says that jobs are gone
        </label>
        <p>
          <button type="submit" class="main">
            Resume {state.site}
          </button>
        </p>
      </form>
    )}
  </section>
);
