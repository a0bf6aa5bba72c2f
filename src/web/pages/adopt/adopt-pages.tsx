// The pages of existing jobs: all feeds, and what was found for one, with the decisions.

import { Hono } from 'hono';
import { showAdoption, startAdoption } from '../../../operations/adoption.ts';
import { namedFeed } from '../../../operations/operation.ts';
import { CERTAINTIES, type Certainty } from '../../../plan/adopt/judge-candidates.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { shownProposals } from '../../../review/adopt/proposals.ts';
import { listAdoptRuns } from '../../../store/mapping/adopt-proposals.ts';
import { decodeCursor } from '../../cursor.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import type { Visit } from '../layout.tsx';
import { operationForm, type PageContext, readInput, showPage } from '../page.tsx';
import { AdoptFeeds, AdoptPage } from './adopt.tsx';

/** An unsure match may have several jobs, each with the fields that differ. */
const SHOWN: Readonly<Record<Certainty, number>> = { sure: 50, unsure: 15, unmatched: 50 };

export function adoptPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const { db, config } = app;
  const pages = new Hono<WebEnv>();
  interface Asked {
    readonly show: Certainty | undefined;
    readonly after?: number | undefined;
    readonly alert?: string;
  }
  async function pageOf(visit: Visit, feed: FeedName, { show: asked, after, alert }: Asked) {
    const read = (show: Certainty) => shownProposals(db, feed, { show, after: after ?? -1, limit: SHOWN[show] });
    const shown = await read(asked ?? 'sure');
    const { run } = shown;
    // With no sure match, the first page shows what there is.
    const first = run && CERTAINTIES.find((kind) => run[kind] !== 0);
    const show = asked ?? first ?? 'sure';
    const props = { visit, feed, show, after, ...(alert === undefined ? {} : { alert }) };
    return <AdoptPage {...props} shown={show === (asked ?? 'sure') ? shown : await read(show)} />;
  }
  pages.get(
    '/adopt',
    showPage(async ({ visit, query }) => {
      if (query('feed') === undefined)
        return <AdoptFeeds visit={visit} feeds={[...config.feeds.keys()]} runs={await listAdoptRuns(db)} />;
      const { feed, show } = readInput(showAdoption, query);
      const place = decodeCursor(query('cursor'), showAdoption.place);
      return pageOf(visit, await namedFeed(app, feed), { show, after: place?.after });
    }),
  );
  pages.post(
    '/adopt',
    operationForm(context, startAdoption, {
      async next({ feed }, form) {
        const { show } = readInput(showAdoption, (name) => (name === 'feed' ? feed : form.one(name)));
        return pageAddress.adopt(feed, show === undefined ? {} : { show });
      },
      async refused({ message }, { c, visit, form }, { feed }) {
        const { show } = readInput(showAdoption, (name) => (name === 'feed' ? feed : form.one(name)));
        return c.html(await pageOf(visit, await namedFeed(app, feed), { show, alert: message }), 409);
      },
    }),
  );
  return pages;
}
