// The pages of existing jobs: all feeds, and what was found for one, with the decisions.
import { Hono } from 'hono';
import { z } from 'zod';
import type { FeedName } from '../../../posting/identifiers.ts';
import { shownProposals } from '../../../review/adopt/shown-proposals.ts';
import type { AdoptionRequest } from '../../../runtime/adopting/run-adoption.ts';
import { listAdoptRuns, PROPOSAL_KINDS, type ProposalKind } from '../../../store/mapping/adopt-proposals.ts';
import { postingAndJob, proposalKindSchema } from '../../api/adopt-values.ts';
import { requireFeed } from '../../api/known.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { expectValue } from '../expect-value.ts';
import type { Visit } from '../layout.tsx';
import { actOnForm, type PageContext, showPage } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { malformed } from '../review/read-decision.ts';
import { AdoptFeeds, AdoptPage } from './adopt.tsx';

/** An unsure match may have several jobs, each with the fields that differ. */
const SHOWN: Readonly<Record<ProposalKind, number>> = { sure: 50, unsure: 15, unmatched: 50 };

const placeSchema = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a number')
  .transform(Number)
  .optional();

export function adoptPages({ app, control }: PageContext): Hono<WebEnv> {
  const { db, config } = app;
  const pages = new Hono<WebEnv>();
  interface Asked {
    readonly show: ProposalKind | undefined;
    readonly after?: number | undefined;
    readonly alert?: string;
  }
  async function pageOf(visit: Visit, feed: FeedName, { show: asked, after, alert }: Asked) {
    const read = (show: ProposalKind) => shownProposals(db, feed, { show, after: after ?? -1, limit: SHOWN[show] });
    const shown = await read(asked ?? 'sure');
    const { run } = shown;
    // With no sure match, the first page shows what there is.
    const first = run && PROPOSAL_KINDS.find((kind) => run[kind] !== 0);
    const show = asked ?? first ?? 'sure';
    const props = { visit, feed, show, after, ...(alert === undefined ? {} : { alert }) };
    return <AdoptPage {...props} shown={show === (asked ?? 'sure') ? shown : await read(show)} />;
  }
  pages.get(
    '/adopt',
    showPage(async ({ visit, query }) => {
      const name = query('feed');
      if (name === undefined)
        return <AdoptFeeds visit={visit} feeds={[...config.feeds.keys()]} runs={await listAdoptRuns(db)} />;
      const feed = await requireFeed(app, name);
      const show = expectValue('show', proposalKindSchema, query('show'));
      return pageOf(visit, feed, { show, after: expectValue('after', placeSchema, query('after')) });
    }),
  );
  pages.post(
    '/adopt',
    actOnForm('review', async ({ c, visit, form, actor, goTo }) => {
      const feed = await requireFeed(app, form.one('feed') ?? '');
      const show = expectValue('show', proposalKindSchema, form.one('show'));
      const start = await control.adopt(feed, actor, requestOf(form));
      if (start.kind === 'started') return goTo(pageAddress.adopt(feed, show === undefined ? {} : { show }));
      return c.html(await pageOf(visit, feed, { show, alert: start.message }), 409);
    }),
  );
  return pages;
}

/** What a form of the page asks for, bound to what the page showed. */
function requestOf(form: Form): AdoptionRequest {
  switch (form.one('decision')) {
    case 'match':
      return { kind: 'match' };
    case 'sure': {
      const mark = form.one('mark');
      if (mark === undefined) throw malformed('mark', 'is missing: open the page again');
      return { kind: 'sure', mark };
    }
    case 'named': {
      const version = form.one('version');
      const typed = (name: string) => (version === undefined ? form.one(name)?.trim() : form.one(name));
      const read = postingAndJob.safeParse({ key: typed('key'), job_id: typed('job') });
      if (!read.success) throw malformed('key and job', 'must be the key of a posting and the ID of a job');
      return { kind: 'named', ...read.data, version, anyway: form.one('anyway') === 'true' };
    }
    default:
      throw malformed('decision', 'must be match, sure or named');
  }
}
