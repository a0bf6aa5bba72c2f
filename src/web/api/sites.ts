// The API's operations on sites.
import { z } from 'zod';
import { NOTHING, nameText, text } from '../../operations/scalars.ts';
import { siteJson } from '../../review/read-model/site.ts';
import { readSiteStatus } from '../../runtime/read-status.ts';
import { resumeSiteFor } from '../resume-site.ts';
import { pageOf, resumedAnswer, siteAnswer } from './answers.ts';
import { route } from './http-route.ts';
import { requireSite } from './known.ts';

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

export const resumeConfiguredSite = route({
  id: 'resumeSite',
  method: 'post',
  path: '/sites/{site}/resume',
  summary: 'Resume sending to a paused site, at once',
  scope: 'review',
  params: z.strictObject({ site: nameText }),
  query: NOTHING,
  body: z
    .strictObject({
      emptied: z
        .boolean()
        .optional()
        .describe('The site was really emptied: believe it for a day when it says that jobs are gone.'),
      paused_since: text(40)
        .optional()
        .describe('The `paused_since` of the site that was seen: another pause is not ended.'),
    })
    .optional(),
  response: resumedAnswer,
  async run({ params, body }, { app, control, actor }) {
    const site = requireSite(app, params.site);
    const wasPaused = await resumeSiteFor({ app, control, actor }, site, {
      emptied: body?.emptied === true,
      seen: body?.paused_since === undefined ? undefined : { since: body.paused_since },
    });
    return { body: { site: site.name, was_paused: wasPaused } };
  },
});
