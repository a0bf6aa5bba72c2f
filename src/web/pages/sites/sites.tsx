// All sites: whether they are sent to, and why not.
import { textOf } from '../../../plan/message.ts';
import { excerpt } from '../../../posting/xml-characters.ts';
import type { SiteOverview } from '../../../review/read-model/site.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, type Visit } from '../layout.tsx';
import { SiteStatusLabel } from '../site-status.tsx';
import { When } from '../when.tsx';

export interface SitesPageProps {
  readonly visit: Visit;
  readonly sites: readonly SiteOverview[];
  readonly workers: number;
  readonly differences: string | undefined;
}

export const SitesPage = ({ visit, sites, workers, differences }: SitesPageProps) => (
  <Layout title="Sites" visit={visit} section="sites">
    <ul class="cards">
      {sites.map((site) => {
        const { state } = site;
        return (
          <li class="card">
            <h2>
              <a href={visit.prefix + pageAddress.site(state.site)}>{state.site}</a>
            </h2>
            <p>
              <SiteStatusLabel site={site} />
              {state.pausedSince !== undefined && (
                <span class="quiet">
                  {' since '}
                  <When at={state.pausedSince} />
                </span>
              )}
            </p>
            {state.pauseCause !== undefined && <p class="detail">{excerpt(textOf(state.pauseCause), 300)}</p>}
          </li>
        );
      })}
    </ul>
    <p>{workers === 1 ? '1 process sends.' : `${workers} processes send.`}</p>
    {differences !== undefined && <p class="notice">{differences}</p>}
  </Layout>
);
