// The page of a posting, the page of a record that could not be read, and what can be decided about one of them.
import type { Hono } from 'hono';
import { entryDecisions, setPostingFields } from '../../../operations/decisions.ts';
import { namedFeed, OperationRefused } from '../../../operations/operation.ts';
import { renewPosting, showPosting, syncPosting, undoEdit, unknownPosting } from '../../../operations/postings.ts';
import { requireEntry, showEntry } from '../../../operations/review.ts';
import { fieldsSchema, groupSchema, numberSchema, text } from '../../../operations/scalars.ts';
import { BULK_ACTIONS } from '../../../plan/action.ts';
import { textOf } from '../../../plan/message.ts';
import { type FeedName, postingKey } from '../../../posting/identifiers.ts';
import type { Problem } from '../../../posting/posting.ts';
import { findPosting, isPresent, lookUpPosting } from '../../../review/describe-history.ts';
import { CHANGED_SINCE_SHOWN, tokenOfEntry, tokenOfPosting } from '../../../review/seen.ts';
import type { PostingStory } from '../../../store/review/posting-history.ts';
import { type EntryDetails, type RecordEntry, readEntry } from '../../../store/review/review-entries.ts';
import { groupOfEntry } from '../../../store/review/review-page.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../parts/addresses.ts';
import {
  actOnForm,
  askedBy,
  operationForm,
  type PageContext,
  type PageVisit,
  readInput,
  runForm,
  showPage,
} from '../parts/page.tsx';
import { wholeSentence } from '../parts/parts.tsx';
import { expectValue, type Form, malformed } from '../parts/read-form.ts';
import { PostingOverview, RecordPage } from './posting.tsx';
import { type PostingAddress, placeInGroup, type RefusedEdit, readPosting, withLineFeeds } from './read-posting.ts';

export function postingPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app, control } = context;
  const readAddress = async (value: (name: string) => string | undefined): Promise<PostingAddress> => {
    const { feed, key } = readInput(showPosting, value);
    const group = expectValue('group', groupSchema.optional(), value('group'));
    return { feed: await namedFeed(app, feed), key: postingKey(key.trim()), group };
  };
  const postingIn = (form: Form) => readAddress((name) => form.one(name));
  /** Around a form that changes what the next pull makes of a posting. @param not says that nothing was done */
  const beforeNextPull = (not: string) => ({
    before: postingIn,
    async next({ feed, key }: { readonly feed: string; readonly key: string }, form: Form, { visit }: PageVisit) {
      // At once, if it can be: otherwise the next pull by schedule does it.
      if (visit.visitor.scopes.has('pull')) await control.pullSoon(feed as FeedName);
      return pageAddress.posting(feed, key, form.one('group'));
    },
    async refused(why: OperationRefused, { form, html }: PageVisit & { readonly form: Form }) {
      if (why.kind === 'unknown') throw why;
      const view = await readPosting(app, await postingIn(form));
      const refused = `${not}: ${textOf(why.reason)}.`;
      return html(<PostingOverview view={view} refused={refused} />, 409);
    },
  });
  pages.get(
    '/posting',
    showPage(async ({ query }) => {
      const at = await readAddress(query);
      const sync = query('sync');
      const synced = sync === undefined || sync === 'later' ? sync : expectValue('sync', numberSchema, sync);
      return <PostingOverview view={await readPosting(app, at)} synced={synced} />;
    }),
  );
  pages.post(
    pageAddress.syncPosting(),
    operationForm(context, syncPosting, {
      before: postingIn,
      async next({ feed, key, pull }, form) {
        // A posting that is new has no page yet.
        if (!isPresent(await lookUpPosting(app.db, feed, key))) {
          return pull === null ? pageAddress.pulls(feed) : pageAddress.pull(pull);
        }
        return pageAddress.posting(feed, key, form.one('group'), pull ?? 'later');
      },
    }),
  );
  pages.post(
    pageAddress.renewPosting(),
    operationForm(context, renewPosting, beforeNextPull('Its days were not started anew')),
  );
  pages.get(
    '/review/entry',
    showPage(async (asked) => {
      const { id } = readInput(showEntry, asked.query);
      const entry = await requireEntry(app.db, id);
      if (entry.kind === 'record') {
        const { record } = entry;
        return <RecordPage record={record} placed={await placeInGroup(app.db, record)} />;
      }
      const group = (await groupOfEntry(app.db, id))?.group;
      return asked.goTo(pageAddress.posting(entry.change.feed, entry.change.key, group));
    }),
  );
  pages.post(
    pageAddress.editPosting(),
    actOnForm('review', async (sent) => {
      const { form } = sent;
      const at = await postingIn(form);
      return editFields(context, sent, at, expectValue('version', text(100), form.one('version')));
    }),
  );
  pages.post(
    '/posting/undo-edit',
    operationForm(context, undoEdit, {
      required: ['fields', 'version'],
      ...beforeNextPull('The edit was not undone'),
    }),
  );
  pages.post(
    '/review/entry/:id/decide',
    actOnForm('review', (sent) => decideEntry(context, sent, idIn(sent))),
  );
}

const idIn = ({ c }: PageVisit): number => expectValue('id', numberSchema, c.req.param('id'));

// Acts on one posting or record as a form asks for it. If nothing was done, the page comes back with what was typed.

type Asked = PageVisit & { readonly form: Form };

/** Retry, approve, discard, reopen. */
async function decideEntry(context: PageContext, asked: Asked, id: number) {
  const { db } = context.app;
  const { form } = asked;
  const named = form.one('action');
  const operation = entryDecisions.find((_, at) => BULK_ACTIONS[at] === named);
  if (operation === undefined) throw malformed('action', `must be one of ${BULK_ACTIONS.join(', ')}`);
  const group = expectValue('group', groupSchema.optional(), form.one('group'));
  const entry = await requireEntry(db, id);
  const pages: Parameters<typeof runForm<typeof operation.input, typeof operation.output>>[2] = {
    required: ['version'],
    // The posting stays in view, whatever became of its entry.
    async next() {
      if (entry.kind === 'change') return pageAddress.posting(entry.change.feed, entry.change.key, group);
      return (await readEntry(db, id)) === undefined ? pageAddress.review() : pageAddress.entry(id);
    },
    refused: (why, _, { version = '', reason }) =>
      comeBack(context, asked, { entry, version, group }, wholeSentence(textOf(why.reason)), reason),
  };
  return runForm(context, operation, pages, asked);
}

/** An entry as it was shown. */
interface Shown {
  readonly entry: EntryDetails;
  readonly version: string;
  readonly group: string | undefined;
}

async function comeBack(
  { app }: PageContext,
  { html }: Asked,
  { entry, version, group }: Shown,
  message: string,
  reason: string | undefined,
) {
  const now = await readEntry(app.db, entry.kind === 'change' ? entry.change.id : entry.record.id);
  const current = now === undefined ? 'it is resolved' : tokenOfEntry(now);
  const shown = { refused: message + sinceSeen(version, current), reason };
  if (entry.kind === 'change') {
    const { feed, key } = entry.change;
    return html(<PostingOverview {...shown} view={await readPosting(app, { feed, key, group })} />, 409);
  }
  const record: RecordEntry = now?.kind === 'record' ? now.record : entry.record;
  return html(<RecordPage {...shown} record={record} placed={await placeInGroup(app.db, record)} />, 409);
}

// Sets fields of a posting as a form asks for it. If nothing was saved, the page comes back with what was typed.

/** Nothing is saved unless the posting then keeps all rules of the site. @param version of the posting as it was shown */
async function editFields(context: PageContext, asked: Asked, at: PostingAddress, version: string) {
  const { app } = context;
  const found = await findPosting(app.db, at.feed, at.key);
  if (found === undefined) throw unknownPosting(at.feed, at.key);
  const shown = { context, asked, at, version };
  const typed = new Map(
    asked.form.namesAfter('field.').map((name) => [name, withLineFeeds(asked.form.one(`field.${name}`) ?? '')]),
  );
  const edits = changedIn(typed, found.story);
  if (Object.keys(edits).length === 0) {
    const isStale = tokenOfPosting(found.story) !== version;
    const message = isStale
      ? wholeSentence(CHANGED_SINCE_SHOWN)
      : 'Nothing would change: the posting already has these values.';
    return comeBackToEdit(shown, message, { typed });
  }
  const fields = expectValue('fields', fieldsSchema, edits);
  try {
    const { feed, key } = at;
    const asForm = { feed, key, fields, only_valid: true, version };
    await setPostingFields.run(asForm, askedBy(context, asked.actor));
    return asked.goTo(pageAddress.posting(feed, key, at.group));
  } catch (error) {
    if (!(error instanceof OperationRefused) || error.kind === 'unknown') throw error;
    if (error.kind === 'conflict') return comeBackToEdit(shown, wholeSentence(textOf(error.reason)), { typed });
    const message = 'Nothing was saved: the site would refuse the posting. See the fields below.';
    return comeBackToEdit(shown, message, { typed, problems: error.now.problems as readonly Problem[] }, 422);
  }
}

/** What was typed over another value. */
function changedIn(typed: ReadonlyMap<string, string>, { change, live }: PostingStory) {
  const fields = (change === undefined ? live?.fields : change.fields) ?? {};
  const had = (name: string) => withLineFeeds(Object.hasOwn(fields, name) ? (fields[name] ?? '') : '');
  return Object.fromEntries([...typed].filter(([name, value]) => value !== had(name)));
}

interface ShownPosting {
  readonly context: PageContext;
  readonly asked: Asked;
  readonly at: PostingAddress;
  readonly version: string;
}

async function comeBackToEdit(
  { context, asked: { html }, at, version }: ShownPosting,
  message: string,
  sent: RefusedEdit,
  status: 409 | 422 = 409,
) {
  const view = await readPosting(context.app, at, sent);
  const refused = message + sinceSeen(version, view.version ?? 'none');
  return html(<PostingOverview refused={refused} view={view} />, status);
}

const sinceSeen = (version: string, current: string): string =>
  current === version ? '' : ` You saw version ${version}; now it is ${current}.`;
