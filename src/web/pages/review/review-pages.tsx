// The pages of review: groups of entries, the entries of one, actions on many of them, rules and notes.
import { type Context, Hono } from 'hono';
import { continueBulk, stopBulk } from '../../../review/bulk/stop-bulk.ts';
import { noteGroup, removeGroupNote } from '../../../review/group-note.ts';
import { listGroupsWithTotals } from '../../../review/list-groups.ts';
import { endRuleOf } from '../../../review/rules/add-rule.ts';
import type { App } from '../../../runtime/app.ts';
import { findBulk, leftAlone, listBulk, skippedOfBulk } from '../../../store/review/bulk-actions.ts';
import { listRules } from '../../../store/review/rules.ts';
import { notFound } from '../../api/known.ts';
import { numberSchema } from '../../api/scalars.ts';
import { ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { expectValue } from '../expect-value.ts';
import type { Visit } from '../layout.tsx';
import { actOnForm, type PageContext, showPage } from '../page.tsx';
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
  const { app, control } = context;
  const { db } = app;
  const pages = new Hono<WebEnv>();
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
    showPage(async ({ visit }) => <BulkActions visit={visit} actions={await listBulk(db, SHOWN_ACTIONS)} />),
  );
  pages.get(
    '/review/actions/:id',
    showPage(async ({ c, visit }) => bulkPage(app, visit, numberIn(c))),
  );
  pages.post(
    '/review/actions/:id/stop',
    actOnForm('review', async ({ c, visit, actor, goTo }) => {
      const id = numberIn(c);
      if (await stopBulk(db, id, actor)) return goTo(pageAddress.bulkAction(id));
      return c.html(await bulkPage(app, visit, id, 'It is done already, so nothing was stopped.'), 409);
    }),
  );
  pages.post(
    '/review/actions/:id/continue',
    actOnForm('review', async ({ c, visit, actor, goTo }) => {
      const id = numberIn(c);
      if (!(await continueBulk(db, id, actor)))
        return c.html(await bulkPage(app, visit, id, 'It is done already.'), 409);
      control.bulk(id);
      return goTo(pageAddress.bulkAction(id));
    }),
  );
  pages.get(
    '/review/rules',
    showPage(async ({ visit }) => <Rules visit={visit} rules={await listRules(db, SHOWN_RULES)} />),
  );
  pages.post(
    '/review/rules/:id/end',
    actOnForm('review', async ({ c, form, actor, goTo }) => {
      expectDone(await endRuleOf(db, numberIn(c), actor));
      return goTo(await backTo(app, form, pageAddress.rules()));
    }),
  );
  pages.post(
    '/review/notes',
    actOnForm('review', async ({ form, actor, goTo }) => {
      const { texts } = await readSelection(app, (name) => form.one(name));
      if (texts.group === undefined) throw new ProblemError({ status: 400, detail: 'a note needs a group' });
      expectDone(await noteGroup(db, texts.group, form.one('text') ?? '', actor));
      return goTo(pageAddress.entries(texts));
    }),
  );
  pages.post(
    '/review/notes/:id/remove',
    actOnForm('review', async ({ c, form, actor, goTo }) => {
      expectDone(await removeGroupNote(db, numberIn(c), actor));
      return goTo(await backTo(app, form, pageAddress.review()));
    }),
  );
  return pages;
}

/** The list of entries that a form was sent from, if it was one. */
async function backTo(app: App, form: Form, otherwise: string): Promise<string> {
  const { texts } = await readSelection(app, (name) => form.one(name));
  return texts.group === undefined ? otherwise : pageAddress.entries(texts);
}

async function bulkPage({ db }: App, visit: Visit, id: number, refused?: string) {
  const bulk = await findBulk(db, id);
  if (bulk === undefined) throw notFound(`there is no action ${id} on many entries`);
  const reasons = await skippedOfBulk(db, id);
  const left = bulk.skipped === 0 ? [] : await leftAlone(db, id, SHOWN_LEFT_ALONE);
  return <BulkProgress visit={visit} bulk={bulk} reasons={reasons} leftAlone={left} refused={refused} />;
}

/** The number in the address. */
function numberIn(c: Context<WebEnv>): number {
  const id = numberSchema.safeParse(c.req.param('id'));
  if (id.success) return id.data;
  throw new ProblemError({ status: 400, detail: 'the address must name a number' });
}

/** @throws {ProblemError} if nothing was done */
function expectDone(
  end: { readonly kind: 'done' } | { readonly kind: 'unknown' | 'refused'; readonly message: string },
): void {
  if (end.kind === 'done') return;
  throw new ProblemError({ status: end.kind === 'unknown' ? 404 : 409, detail: end.message });
}
