// Sets fields of a posting as a form asks for it. If nothing was saved, the page comes back with what was typed.

import { setPostingFields } from '../../../operations/decisions.ts';
import { OperationRefused } from '../../../operations/operation.ts';
import { unknownPosting } from '../../../operations/postings.ts';
import { fieldsSchema } from '../../../operations/scalars.ts';
import { textOf } from '../../../plan/message.ts';
import type { Problem } from '../../../posting/posting.ts';
import { findPosting } from '../../../review/find-posting.ts';
import { STALE, tokenOfPosting } from '../../../review/seen.ts';
import type { PostingStory } from '../../../store/review/posting-history.ts';
import { ProblemError } from '../../problem.ts';
import { pageAddress } from '../addresses.ts';
import { askedBy, type PageContext, type PageVisit } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { wholeSentence } from '../sentence.ts';
import { PostingOverview } from './posting.tsx';
import { type PostingAddress, type RefusedEdit, readPosting, withLineFeeds } from './read-posting.ts';

type Asked = PageVisit & { readonly form: Form };

/** Nothing is saved unless the posting then keeps all rules of the site. @param version of the posting as it was shown */
export async function editFields(context: PageContext, asked: Asked, at: PostingAddress, version: string) {
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
    const message = isStale ? wholeSentence(STALE) : 'Nothing would change: the posting already has these values.';
    return comeBack(shown, message, { typed });
  }
  const checked = fieldsSchema.safeParse(edits);
  if (!checked.success) {
    const message = checked.error.issues[0]?.message ?? 'are not usable';
    throw new ProblemError({ status: 400, detail: `fields ${message}`, faults: [{ where: 'form.fields', message }] });
  }
  try {
    const { feed, key } = at;
    const asForm = { feed, key, fields: checked.data, only_valid: true, version };
    await setPostingFields.run(asForm, askedBy(context, asked.actor));
    return asked.goTo(pageAddress.posting(feed, key, at.group));
  } catch (error) {
    if (!(error instanceof OperationRefused) || error.kind === 'unknown') throw error;
    if (error.kind === 'conflict') return comeBack(shown, wholeSentence(textOf(error.reason)), { typed });
    const message = 'Nothing was saved: the site would refuse the posting. See the fields below.';
    return comeBack(shown, message, { typed, problems: error.now.problems as readonly Problem[] }, 422);
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

async function comeBack(
  { context, asked: { c, visit }, at, version }: ShownPosting,
  message: string,
  sent: RefusedEdit,
  status: 409 | 422 = 409,
) {
  const view = await readPosting(context.app, at, sent);
  const current = view.version ?? 'none';
  const versions = current === version ? '' : ` You saw version ${version}; now it is ${current}.`;
  return c.html(<PostingOverview visit={visit} refused={message + versions} view={view} />, status);
}
