// The API's operations on sites.
import { NOTHING } from '../../operations/scalars.ts';
import { siteJson } from '../../review/read-model/site.ts';
import { readSiteStatus } from '../../runtime/read-status.ts';
import { pageOf, siteAnswer } from './answers.ts';
import { route } from './http-route.ts';

export const listSites = route({
  id: 'listSites',
  method: 'get',
  path: '/sites',
  summary: 'All sites: whether they are sent to, and why not',
  scope: 'read',
  params: NOTHING,
  query: NOTHING,
  response: pageOf(siteAnswer),
  async run(_input, { app }) {
    const { sites, ...around } = await readSiteStatus(app);
    return { body: { items: sites.map((site) => siteJson(site, around, app.writeAction)), next_cursor: null } };
  },
});
