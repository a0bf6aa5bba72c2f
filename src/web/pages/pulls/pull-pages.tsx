// The pages of pulls: all of them, and one with its sums and what it changed on the site.
import { Hono } from 'hono';
import { z } from 'zod';
import { showPulls } from '../../../operations/pulls.ts';
import { keyText, numberSchema } from '../../../operations/scalars.ts';
import type { FeedName, PostingKey } from '../../../posting/identifiers.ts';
import { readPullSums } from '../../../review/pull-sums.ts';
import { pulledChanges } from '../../../review/pulled-changes.ts';
import { PULL_EFFECTS } from '../../../store/pull/pull-history.ts';
import { findUndoOf } from '../../../store/pull/pull-row.ts';
import { notFound } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { expectValue } from '../expect-value.ts';
import { askedBy, type PageContext, showPage } from '../page.tsx';
import { PullPage } from './pull.tsx';
import { PullsPage } from './pulls.tsx';

const SHOWN_PULLS = 50;
const SHOWN_POSTINGS = 50;

export function pullPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const { db } = app;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/pulls',
    showPage(async ({ visit, query, actor }) => {
      const feed = query('feed') as FeedName | undefined;
      const before = expectValue('before', numberSchema.optional(), query('before'));
      const page = { limit: SHOWN_PULLS, after: before === undefined ? undefined : { before } };
      const { items, next } = await showPulls.readPage({ feed }, page, askedBy(context, actor));
      const older = next?.before;
      return <PullsPage visit={visit} pulls={items} feed={feed} older={older} isFirst={before === undefined} />;
    }),
  );
  pages.get(
    '/pulls/:id',
    showPage(async ({ c, visit, query }) => {
      const id = expectValue('the number of the pull', numberSchema, c.req.param('id'));
      const sums = await readPullSums(db, id);
      if (sums === undefined) throw notFound(`there is no pull ${id}`);
      const asked = expectValue('show', z.enum(PULL_EFFECTS).optional(), query('show'));
      const after = expectValue('after', keyText.optional(), query('after')) as PostingKey | undefined;
      const show = asked ?? PULL_EFFECTS.find((effect) => sums.effects[effect] > 0) ?? 'created';
      const changes = await pulledChanges(db, sums.pull, show, { after, limit: SHOWN_POSTINGS });
      const { pull } = sums;
      const undone = pull.undoable ? await findUndoOf(db, id) : undefined;
      return (
        <PullPage
          visit={visit}
          sums={sums}
          show={show}
          changes={changes}
          after={after}
          undone={undone}
          write={app.writeAction}
        />
      );
    }),
  );
  return pages;
}
