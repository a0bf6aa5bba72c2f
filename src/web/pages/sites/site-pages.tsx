// The pages of sites: all of them, and one with its requests and the form that resumes it.
import { Hono } from 'hono';
import { resumeConfiguredSite } from '../../../operations/sites.ts';
import { readSiteStatus } from '../../../operations/status.ts';
import { recentRequestsTo } from '../../../store/site/recent-requests.ts';
import { notFound, requireSite } from '../../api/known.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { operationForm, type PageContext, showPage } from '../page.tsx';
import { SitePage } from './site.tsx';
import { SitesPage } from './sites.tsx';

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
      const config = requireSite(app, c.req.param('site') ?? '');
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
