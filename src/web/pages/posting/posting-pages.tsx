// The page of a posting, the page of a record that could not be read, and what can be decided about one of them.
import { Hono } from 'hono';
import { namedFeed } from '../../../operations/operation.ts';
import { renewPosting, syncPosting, undoEdit } from '../../../operations/postings.ts';
import { groupSchema, keyText, nameText, numberSchema, text } from '../../../operations/scalars.ts';
import { textOf } from '../../../plan/message.ts';
import { type FeedName, postingKey } from '../../../posting/identifiers.ts';
import { findPosting } from '../../../review/find-posting.ts';
import { groupOfEntry } from '../../../store/review/neighbours.ts';
import { type EntryDetails, readEntry } from '../../../store/review/review-entry.ts';
import { notFound, ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { mayPull } from '../layout.tsx';
import { actOnForm, operationForm, type PageContext, type PageVisit, showPage } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { decideEntry } from './act.tsx';
import { editFields } from './edit.tsx';
import { placeInGroup } from './place-in-group.ts';
import { PostingOverview } from './posting.tsx';
import { type PostingAddress, readPosting } from './read-posting.ts';
import { RecordPage } from './record.tsx';

export function postingPages(context: PageContext): Hono<WebEnv> {
  const { app, control } = context;
  const pages = new Hono<WebEnv>();
  const readAddress = async (value: (name: string) => string | undefined): Promise<PostingAddress> => {
    const feed = await namedFeed(app, parameter(nameText, 'feed', value('feed')));
    const key = postingKey(parameter(keyText, 'key', value('key')));
    const group = value('group');
    return { feed, key, group: group === undefined ? undefined : parameter(groupSchema, 'group', group) };
  };
  const postingIn = (form: Form) => readAddress((name) => form.one(name));
  pages.get(
    '/posting',
    showPage(async ({ visit, query }) => {
      const at = await readAddress(query);
      const sync = query('sync');
      const synced = sync === undefined || sync === 'later' ? sync : parameter(numberSchema, 'sync', sync);
      return <PostingOverview visit={visit} view={await readPosting(app, at)} synced={synced} />;
    }),
  );
  pages.post(
    pageAddress.syncPosting(),
    operationForm(context, syncPosting, {
      before: postingIn,
      async next({ feed, key, pull }, form) {
        // A posting that is new has no page yet.
        if ((await findPosting(app.db, feed, key)) === undefined) {
          return pull === null ? pageAddress.pulls(feed) : pageAddress.pull(pull);
        }
        return pageAddress.posting(feed, key, form.one('group'), pull ?? 'later');
      },
    }),
  );
  pages.post(
    pageAddress.renewPosting(),
    operationForm(context, renewPosting, {
      before: postingIn,
      async next({ feed, key }, form, { visit }) {
        // At once, if it can be: otherwise the next pull by schedule does it.
        if (mayPull(visit)) await control.pullSoon(feed as FeedName);
        return pageAddress.posting(feed, key, form.one('group'));
      },
      async refused(why, { c, visit, form }) {
        if (why.kind === 'unknown') throw why;
        const view = await readPosting(app, await postingIn(form));
        const refused = `Its days were not started anew: ${textOf(why.reason)}.`;
        return c.html(<PostingOverview visit={visit} view={view} refused={refused} />, 409);
      },
    }),
  );
  pages.get(
    '/review/entry',
    showPage(async (asked) => {
      const id = parameter(numberSchema, 'id', asked.query('id'));
      const entry = await requireEntry(context, id);
      if (entry.kind === 'record') return recordPage(context, asked, entry);
      const group = (await groupOfEntry(app.db, id))?.group;
      return asked.goTo(pageAddress.posting(entry.change.feed, entry.change.key, group));
    }),
  );
  pages.post(
    pageAddress.editPosting(),
    actOnForm('review', async (sent) => {
      const { form } = sent;
      const at = await postingIn(form);
      return editFields(context, sent, at, parameter(text(100), 'version', form.one('version')));
    }),
  );
  pages.post(
    '/posting/undo-edit',
    operationForm(context, undoEdit, {
      required: ['fields', 'version'],
      before: postingIn,
      async next({ feed, key }, form, { visit }) {
        // At once, if it can be: otherwise the next pull by schedule does it.
        if (mayPull(visit)) await control.pullSoon(feed as FeedName);
        return pageAddress.posting(feed, key, form.one('group'));
      },
      async refused(why, { c, visit, form }) {
        if (why.kind === 'unknown') throw why;
        const refused = `The edit was not undone: ${textOf(why.reason)}.`;
        const view = await readPosting(app, await postingIn(form));
        return c.html(<PostingOverview visit={visit} view={view} refused={refused} />, 409);
      },
    }),
  );
  pages.post(
    '/review/entry/:id/decide',
    actOnForm('review', (sent) => decideEntry(context, sent, idIn(sent))),
  );
  return pages;
}

const idIn = ({ c }: PageVisit): number => parameter(numberSchema, 'id', c.req.param('id'));

interface Schema<Value> {
  safeParse(
    text: unknown,
  ):
    | { readonly success: true; readonly data: Value }
    | { readonly success: false; readonly error: { readonly issues: readonly { readonly message: string }[] } };
}

function parameter<Value>(schema: Schema<Value>, name: string, text: string | undefined): Value {
  const parsed = text === undefined ? undefined : schema.safeParse(text);
  if (parsed?.success === true) return parsed.data;
  const message = parsed?.error.issues[0]?.message ?? 'is missing';
  throw new ProblemError({
    status: 400,
    detail: `the parameter ${name} ${message}`,
    faults: [{ where: `query.${name}`, message }],
  });
}

async function requireEntry({ app }: PageContext, id: number): Promise<EntryDetails> {
  const entry = await readEntry(app.db, id);
  if (entry === undefined) throw notFound(`there is no open review entry ${id}: it is resolved, or never existed`);
  return entry;
}

async function recordPage(
  { app }: PageContext,
  { visit }: PageVisit,
  { record }: Extract<EntryDetails, { kind: 'record' }>,
) {
  return <RecordPage visit={visit} record={record} placed={await placeInGroup(app.db, record)} />;
}
