// The pages of creates in doubt: a list, one with the jobs that it may have made, and the jobs that a search of the site found for a feed.
import { type Context, Hono } from 'hono';
import { adoptFound, foundJobsOf, showFound } from '../../../operations/adoption.ts';
import { compareWith } from '../../../operations/candidates.ts';
import { settleEntry } from '../../../operations/decisions.ts';
import { namedFeed } from '../../../operations/operation.ts';
import { entryPlace } from '../../../operations/review.ts';
import { numberSchema } from '../../../operations/scalars.ts';
import { textOf } from '../../../plan/message.ts';
import { readDoubt, type ShownDoubt } from '../../../review/compare-doubt.ts';
import type { App } from '../../../runtime/app.ts';
import { readJobId } from '../../../site/http/job-address.ts';
import { doubtOf } from '../../../store/change/resolve-doubt.ts';
import { unfinishedBulk } from '../../../store/review/bulk-actions.ts';
import { countFound } from '../../../store/review/found-entries.ts';
import { reviewPage } from '../../../store/review/review-page.ts';
import { foldReviewCounts } from '../../../store/review/review-totals.ts';
import { decodeCursor, encodeCursor } from '../../cursor.ts';
import { notFound, ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { mayReview } from '../layout.tsx';
import { operationForm, type PageContext, readInput, showPage } from '../page.tsx';
import { malformed } from '../review/read-decision.ts';
import { DoubtPage } from './doubt.tsx';
import { Doubts } from './doubts.tsx';
import { FoundPage } from './found.tsx';

const SHOWN = 50;

export function doubtPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const { db } = app;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/doubts',
    showPage(async ({ visit, query }) => {
      const name = query('feed');
      const feed = name === undefined ? undefined : await namedFeed(app, name);
      const cursor = query('cursor');
      await foldReviewCounts(db);
      const page = await reviewPage(db, { feed, kinds: ['in_doubt'] }, SHOWN, decodeCursor(cursor, entryPlace));
      const next = encodeCursor(page.next) ?? undefined;
      const resolved = await resolvedEntry(app, query('resolved'));
      const found = cursor === undefined ? await countFound(db, feed) : [];
      const props = { visit, feed, entries: page.entries, next, isFirst: cursor === undefined, resolved, found };
      return <Doubts {...props} />;
    }),
  );
  pages.get(
    '/doubts/:id',
    showPage(async ({ c, visit, query }) => {
      const id = numberIn(c);
      const props = await doubtIn(app, id);
      if (query('ask') === undefined) return <DoubtPage visit={visit} {...props} />;
      if (!mayReview(visit))
        throw new ProblemError({ status: 403, detail: 'only reviewers may have jobs read from the site' });
      const job = query('job');
      const typed = job === undefined ? undefined : jobIdIn(job);
      return (
        <DoubtPage
          visit={visit}
          {...props}
          candidates={(await compareWith(app, id, typed === undefined ? [] : [typed])).candidates}
          typed={typed}
        />
      );
    }),
  );
  pages.post(
    '/doubts/:id',
    operationForm(context, settleEntry, {
      required: ['version'],
      async before(form) {
        if (form.one('verdict') !== 'missing' || form.one('confirmed') === 'true') return;
        throw malformed('confirmed', 'must be set: look for the job on the site first. Nothing was changed');
      },
      next: ({ feed, entry }) => pageAddress.doubts(feed, { resolved: entry }),
      async refused({ reason, now }, { c, visit }, { id, site_job_id: typed }) {
        const refused = { message: textOf(reason), mayInsist: now.may_insist === true };
        return c.html(<DoubtPage visit={visit} {...(await doubtIn(app, id))} refused={refused} typed={typed} />, 409);
      },
    }),
  );
  return pages;
}

/** @throws {ProblemError} if the entry is not, or no longer, a create in doubt */
async function doubtIn({ db, config }: App, id: number): Promise<ShownDoubt> {
  const doubt = await readDoubt(db, config, id);
  if (doubt === undefined) throw notFound(`entry ${id} is not, or no longer, a create in doubt`);
  return doubt;
}

/** Whether an entry that the address names is resolved by now. */
async function resolvedEntry({ db }: App, text: string | undefined): Promise<number | undefined> {
  if (text === undefined) return undefined;
  const id = numberSchema.safeParse(text);
  if (!id.success) throw malformed('resolved', 'must be the number of an entry');
  return (await doubtOf(db, id.data)) === undefined ? id.data : undefined;
}

function jobIdIn(text: string) {
  const id = text.length > 200 ? undefined : readJobId(text.trim());
  if (id === undefined) throw malformed('job', "can't be the ID of a job");
  return id;
}

/** The number in the address. */
function numberIn(c: Context<WebEnv>): number {
  const id = numberSchema.safeParse(c.req.param('id'));
  if (id.success) return id.data;
  throw new ProblemError({ status: 400, detail: 'the address must name a number' });
}

export function foundPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/doubts/found',
    showPage(async ({ visit, query }) => (
      <FoundPage visit={visit} {...(await readPage(app, readInput(showFound, query).feed))} />
    )),
  );
  pages.post(
    '/doubts/found',
    operationForm(context, adoptFound, {
      next: ({ bulk }) => pageAddress.bulkAction(bulk),
      refused: async ({ message }, { c, visit }, { feed }) =>
        c.html(<FoundPage visit={visit} {...(await readPage(app, feed))} refused={message} />, 409),
    }),
  );
  return pages;
}

async function readPage(app: App, name: string) {
  const feed = await namedFeed(app, name);
  return { feed, found: await foundJobsOf(app, feed), unfinished: await unfinishedBulk(app.db, 'adopt', feed) };
}
