// The pages of held deletes: which feeds have some, and those of one feed with the decisions about them.
import { Hono } from 'hono';
import { text } from '../../../operations/scalars.ts';
import { textOf } from '../../../plan/message.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { type BulkRequest, startBulk } from '../../../review/bulk/start-bulk.ts';
import { heldOf, readHeldPage } from '../../../review/held-deletes.ts';
import { heldGroups } from '../../../store/review/review-entries.ts';
import { foldReviewCounts } from '../../../store/review/review-totals.ts';
import { decodeCursor, encodeCursor } from '../../api/cursor.ts';
import { requireFeed } from '../../api/known.ts';
import { placeSchema } from '../../api/review.ts';
import { ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { actOnForm, type PageContext, showPage } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { malformed, readCount, readSeenEntries } from '../review/read-decision.ts';
import { Held, HeldFeeds } from './held.tsx';

const SHOWN = 50;

export function heldPages({ app, control }: PageContext): Hono<WebEnv> {
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
      const feed = await requireFeed(app, name);
      const cursor = query('cursor');
      const held = await readHeldPage(app, feed, SHOWN, decodeCursor(cursor, placeSchema));
      const props = { ...held, next: encodeCursor(held.next) ?? undefined, isFirst: cursor === undefined };
      return <Held visit={visit} feed={feed} guard={config.feeds.get(feed)?.guard} {...props} />;
    }),
  );
  pages.post(
    '/held',
    actOnForm('review', async ({ form, actor, goTo }) => {
      const feed = await requireFeed(app, form.one('feed') ?? '');
      const start = await startBulk(db, config, decisionOf(feed, form, actor));
      if (start.kind === 'refused')
        throw new ProblemError({ status: 409, detail: textOf(start.message).replace(/\.?$/, '') });
      control.bulk(start.bulk.id);
      return goTo(pageAddress.bulkAction(start.bulk.id));
    }),
  );
  return pages;
}

/** What a form of the page decides, bound to what the page showed. */
function decisionOf(feed: FeedName, form: Form, actor: string): BulkRequest {
  const decision = form.one('decision');
  const query = heldOf(feed);
  if (decision === 'approve-all') {
    if (form.one('confirmed') !== 'true') throw malformed('confirmed', 'must be set: nothing was approved');
    const mark = form.one('mark');
    if (mark === undefined) throw malformed('mark', 'is missing: open the page again');
    return {
      action: 'approve',
      actor,
      expected: readCount(form, 'expected'),
      mark,
      detail: { query, unattended: true },
    };
  }
  if (decision !== 'approve' && decision !== 'keep')
    throw malformed('decision', 'must be approve, keep or approve-all');
  const seen = readSeenEntries(form.all('entry'));
  if (seen.length === 0) throw malformed('entry', 'is missing: choose at least one posting. Nothing was done');
  const reason = (form.one('reason') ?? '').trim();
  if (!text(1_000).safeParse(reason).success) throw malformed('reason', 'may have at most 1000 characters');
  return {
    action: decision === 'approve' ? 'approve' : 'discard',
    actor,
    seen,
    detail: {
      query: { ...query, ids: seen.map(({ id }) => id) },
      unattended: true,
      ...(reason === '' || decision === 'approve' ? {} : { reason }),
    },
  };
}
