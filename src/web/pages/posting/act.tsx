// Acts on one posting or record as a form asks for it. If nothing was done, the page comes back with what was typed.
import { entryDecisions } from '../../../operations/decisions.ts';
import { requireEntry } from '../../../operations/review.ts';
import { groupSchema } from '../../../operations/scalars.ts';
import { BULK_ACTIONS } from '../../../plan/action.ts';
import { textOf } from '../../../plan/message.ts';
import { tokenOfEntry } from '../../../review/seen.ts';
import { type EntryDetails, type RecordEntry, readEntry } from '../../../store/review/review-entry.ts';
import { ProblemError } from '../../problem.ts';
import { pageAddress } from '../addresses.ts';
import { type PageContext, type PageVisit, runForm } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { wholeSentence } from '../sentence.ts';
import { placeInGroup } from './place-in-group.ts';
import { PostingOverview } from './posting.tsx';
import { readPosting } from './read-posting.ts';
import { RecordPage } from './record.tsx';

type Asked = PageVisit & { readonly form: Form };

/** Retry, approve, discard, reopen. */
export async function decideEntry(context: PageContext, asked: Asked, id: number) {
  const { db } = context.app;
  const { form } = asked;
  const named = form.one('action');
  const operation = entryDecisions.find((_, at) => BULK_ACTIONS[at] === named);
  if (operation === undefined) throw malformed('action', `must be one of ${BULK_ACTIONS.join(', ')}`);
  const group = form.one('group');
  if (group !== undefined && !groupSchema.safeParse(group).success)
    throw malformed('group', 'must be the ID of a group');
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

const malformed = (name: string, message: string): ProblemError =>
  new ProblemError({ status: 400, detail: `${name} ${message}`, faults: [{ where: `form.${name}`, message }] });

/** An entry as it was shown. */
interface Shown {
  readonly entry: EntryDetails;
  readonly version: string;
  readonly group: string | undefined;
}

async function comeBack(
  { app }: PageContext,
  { c, visit }: Asked,
  { entry, version, group }: Shown,
  message: string,
  reason: string | undefined,
) {
  const now = await readEntry(app.db, entry.kind === 'change' ? entry.change.id : entry.record.id);
  const current = now === undefined ? 'it is resolved' : tokenOfEntry(now);
  const versions = current === version ? '' : ` You saw version ${version}; now it is ${current}.`;
  const shown = { visit, refused: message + versions, reason };
  if (entry.kind === 'change') {
    const { feed, key } = entry.change;
    return c.html(<PostingOverview {...shown} view={await readPosting(app, { feed, key, group })} />, 409);
  }
  const record: RecordEntry = now?.kind === 'record' ? now.record : entry.record;
  return c.html(<RecordPage {...shown} record={record} placed={await placeInGroup(app.db, record)} />, 409);
}
