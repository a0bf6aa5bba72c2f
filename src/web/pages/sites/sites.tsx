// All sites: whether they are sent to, and why not.
import type { Status } from '../../../operations/status.ts';
import { textOf } from '../../../plan/message.ts';
import { excerpt } from '../../../posting/xml-characters.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, type Visit } from '../layout.tsx';
import { SiteStatusLabel } from '../status-labels.tsx';
import { When } from '../when.tsx';

export interface SitesPageProps extends Pick<Status, 'sites' | 'workers' | 'differences'> {
  readonly visit: Visit;
}

export const SitesPage = ({ visit, sites, workers, differences }: SitesPageProps) => (
  <Layout title="Sites" visit={visit} section="sites">
    <ul class="cards">
      {sites.map((site) => (
        <li class="card">
          <h2>
            <a href={visit.prefix + pageAddress.site(site.site)}>{site.site}</a>
          </h2>
          <p>
            <SiteStatusLabel site={site} />
            {site.paused_since !== null && (
              <span class="quiet">
                {' since '}
                <When at={site.paused_since} />
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
