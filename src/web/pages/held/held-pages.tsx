// The pages of held deletes: which feeds have some, and those of one feed with the decisions about them.
import { Hono } from 'hono';
import type { ActInput } from '../../../operations/decisions.ts';
import { namedFeed } from '../../../operations/operation.ts';
import { entryPlace } from '../../../operations/review.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { readHeldPage } from '../../../review/held-deletes.ts';
import { heldGroups } from '../../../store/review/review-entries.ts';
import { foldReviewCounts } from '../../../store/review/review-totals.ts';
import { decodeCursor, encodeCursor } from '../../cursor.ts';
import { ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { actOnForm, type PageContext, showPage } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { startFromForm } from '../review/decide.tsx';
import { boundToChosen, malformed, readBound, readChosen, readReason } from '../review/read-decision.ts';
import { Held, HeldFeeds } from './held.tsx';

const SHOWN = 50;

export function heldPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const { db, config } = app;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/held',
    showPage(async ({ visit, query }) => {
      const name = query('feed');
      if (name === undefined) {
        await foldReviewCounts(db);
        return <HeldFeeds visit={visit} groups={await heldGroups(db, undefined)} />;
      }
      const feed = await namedFeed(app, name);
      const cursor = query('cursor');
      const held = await readHeldPage(app, feed, SHOWN, decodeCursor(cursor, entryPlace));
      const isChosen = query('chosen') === 'all';
      const props = { ...held, next: encodeCursor(held.next) ?? undefined, cursor, isChosen };
      return <Held visit={visit} feed={feed} guard={config.feeds.get(feed)?.guard} {...props} />;
    }),
  );
  pages.post(
    '/held',
    actOnForm('review', async (sent) => {
      const feed = await namedFeed(app, sent.form.one('feed') ?? '');
      return startFromForm(context, sent, decisionOf(feed, sent.form), async (why) => {
        throw new ProblemError({ status: 409, detail: why.replace(/\.?$/, '') });
      });
    }),
  );
  return pages;
}

/** What a form of the page decides, bound to what the page showed. */
function decisionOf(feed: FeedName, form: Form): ActInput {
  const decision = form.one('decision');
  const filter = { feed, kinds: ['held' as const] };
  if (decision === 'approve-all') {
    if (form.one('confirmed') !== 'true') throw malformed('confirmed', 'must be set: nothing was approved');
    if (form.one('seen') === undefined) throw malformed('seen', 'is missing: open the page again');
    return { action: 'approve', filter, ...readBound(form) };
  }
  if (decision !== 'approve' && decision !== 'keep')
    throw malformed('decision', 'must be approve, keep or approve-all');
  const chosen = readChosen(form.all('entry'));
  if (chosen.length === 0) throw malformed('entry', 'is missing: choose at least one posting. Nothing was done');
  const reason = readReason(form);
  return {
    action: decision === 'approve' ? 'approve' : 'discard',
    filter: { ...filter, ids: chosen.map(({ id }) => id) },
    seen: boundToChosen(chosen).seen,
    reason: decision === 'approve' ? undefined : reason,
  };
}
