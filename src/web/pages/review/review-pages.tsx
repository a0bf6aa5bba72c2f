// The pages of review: groups of entries, the entries of one, actions on many of them, rules and notes.
import { Hono } from 'hono';
import type { z } from 'zod';
import {
  bulkAction,
  type bulkOutput,
  continueReviewAction,
  listReviewActions,
  showReviewAction,
  stopReviewAction,
} from '../../../operations/bulk-actions.ts';
import { noteReviewGroup, removeReviewNote } from '../../../operations/notes.ts';
import { endReviewRule, listReviewRules } from '../../../operations/rules.ts';
import { numberSchema } from '../../../operations/scalars.ts';
import { listGroupsWithTotals } from '../../../review/list-groups.ts';
import type { App } from '../../../runtime/app.ts';
import { leftAlone } from '../../../store/review/bulk-actions.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { expectValue } from '../expect-value.ts';
import type { Visit } from '../layout.tsx';
import { actOnForm, askedBy, operationForm, type PageContext, readInput, showPage } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { BulkActions, BulkProgress } from './bulk-actions.tsx';
import { confirmPage, decide, decideConfirmed } from './decide.tsx';
import { Entries } from './entries.tsx';
import { Groups } from './groups.tsx';
import { choices, readEntriesPage } from './read-entries.ts';
import { Rules } from './rules.tsx';
import { readSelection } from './selection.tsx';

const SHOWN_GROUPS = 50;
/** Beyond that many pages, a filter finds a group sooner. */
const MOST_PAGES = 10_000;
const pageNumber = numberSchema.refine((page) => page <= MOST_PAGES, `must be at most ${MOST_PAGES}`).optional();
const SHOWN_VALUES = 2;
const SHOWN_ACTIONS = 50;
const SHOWN_RULES = 100;
const SHOWN_LEFT_ALONE = 50;

export function reviewPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const { db } = app;
  const pages = new Hono<WebEnv>();
  const isFromSelection = (form: Form) => readSelection(app, (name) => form.one(name));
  pages.get(
    '/review',
    showPage(async ({ visit, query }) => {
      const { texts, query: selected } = await readSelection(app, query);
      const page = expectValue('page', pageNumber, query('page')) ?? 1;
      const limits = { groups: SHOWN_GROUPS, skipped: (page - 1) * SHOWN_GROUPS, values: SHOWN_VALUES };
      const { groups, totals } = await listGroupsWithTotals(db, selected, limits);
      const shown = { ...texts, group: undefined, cursor: undefined };
      const props = { texts: shown, ...choices(app.config), groups, totals, page, size: SHOWN_GROUPS };
      return <Groups visit={visit} {...props} />;
    }),
  );
  pages.get(
    '/review/entries',
    showPage(async ({ visit, query }) => (
      <Entries visit={visit} {...(await readEntriesPage(app, await readSelection(app, query)))} />
    )),
  );
  pages.post(
    '/review/entries',
    actOnForm('review', (sent) => decide(context, sent)),
  );
  pages.get(
    '/review/confirm',
    showPage((asked) => confirmPage(context, asked)),
  );
  pages.post(
    '/review/confirm',
    actOnForm('review', (sent) => decideConfirmed(context, sent)),
  );
  pages.get(
    '/review/actions',
    showPage(async ({ visit, actor }) => {
      const { items } = await listReviewActions.readPage({}, { limit: SHOWN_ACTIONS }, askedBy(context, actor));
      return <BulkActions visit={visit} actions={items} />;
    }),
  );
  pages.get(
    '/review/actions/:id',
    showPage(async ({ c, visit, actor }) => {
      const { id } = readInput(showReviewAction, (name) => c.req.param(name));
      return bulkPage(app, visit, await showReviewAction.run({ id }, askedBy(context, actor)));
    }),
  );
  const settings = [
    { operation: stopReviewAction, name: 'stop', isDone: 'It is done already, so nothing was stopped.' },
    { operation: continueReviewAction, name: 'continue', isDone: 'It is done already.' },
  ];
  for (const { operation, name, isDone } of settings) {
    pages.post(
      `/review/actions/:id/${name}`,
      operationForm(context, operation, {
        next: ({ bulk }) => pageAddress.bulkAction(bulk),
        async refused(why, { c, visit }, { id }) {
          if (why.kind === 'unknown') throw why;
          return c.html(await bulkPage(app, visit, await bulkAction(app, id), isDone), 409);
        },
      }),
    );
  }
  pages.get(
    '/review/rules',
    showPage(async ({ visit, actor }) => {
      const { items } = await listReviewRules.readPage({}, { limit: SHOWN_RULES }, askedBy(context, actor));
      return <Rules visit={visit} rules={items} />;
    }),
  );
  pages.post(
    '/review/rules/:id/end',
    operationForm(context, endReviewRule, {
      before: isFromSelection,
      next: (_rule, form) => backTo(app, form, pageAddress.rules()),
    }),
  );
  pages.post(
    '/review/notes',
    operationForm(context, noteReviewGroup, {
      before: isFromSelection,
      next: (_note, form) => backTo(app, form, pageAddress.review()),
    }),
  );
  pages.post(
    '/review/notes/:id/remove',
    operationForm(context, removeReviewNote, {
      before: isFromSelection,
      next: (_note, form) => backTo(app, form, pageAddress.review()),
    }),
  );
  return pages;
}

/** The list of entries that a form was sent from, if it was one. */
async function backTo(app: App, form: Form, otherwise: string): Promise<string> {
  const { texts } = await readSelection(app, (name) => form.one(name));
  return texts.group === undefined ? otherwise : pageAddress.entries(texts);
}

async function bulkPage({ db }: App, visit: Visit, bulk: z.output<typeof bulkOutput>, refused?: string) {
  const left = bulk.left_alone === 0 ? [] : await leftAlone(db, bulk.bulk, SHOWN_LEFT_ALONE);
  return <BulkProgress visit={visit} bulk={bulk} leftAlone={left} refused={refused} />;
}
