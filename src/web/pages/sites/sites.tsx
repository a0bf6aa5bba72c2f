// The pages of sites, and the list of all of them: whether they are sent to, and why not.

import { Hono } from 'hono';
import { namedSite } from '../../../operations/operation.ts';
import { resumeConfiguredSite } from '../../../operations/sites.ts';
import { readSiteStatus, type Status } from '../../../operations/status.ts';
import { textOf } from '../../../plan/message.ts';
import { excerpt } from '../../../posting/xml-characters.ts';
import { recentRequestsTo } from '../../../store/site/recent-requests.ts';
import { notFound } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, type Visit } from '../layout.tsx';
import { operationForm, type PageContext, showPage } from '../page.tsx';
import { SiteStatusLabel } from '../status-labels.tsx';
import { Lasting } from '../when.tsx';
import { SitePage } from './site.tsx';

const SHOWN_REQUESTS = 50;

export function sitePages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/sites',
    showPage(async ({ visit }) => <SitesPage visit={visit} {...(await readSiteStatus(app))} />),
  );
  pages.get(
    '/sites/:site',
    showPage(async ({ c, visit }) => {
      const config = namedSite(app.config, c.req.param('site') ?? '');
      const site = (await readSiteStatus(app)).sites.find((each) => each.site === config.name);
      if (site === undefined) throw notFound(`there is no site ${config.name}`);
      const requests = await recentRequestsTo(app.db, config.name, SHOWN_REQUESTS);
      return <SitePage visit={visit} site={site} config={config} requests={requests} />;
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
  return pages;
}

interface SitesPageProps extends Pick<Status, 'sites' | 'workers' | 'differences'> {
  readonly visit: Visit;
}

const SitesPage = ({ visit, sites, workers, differences }: SitesPageProps) => (
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
                {' '}
                <Lasting since={site.paused_since} />
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
