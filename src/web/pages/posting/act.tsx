// Acts on one posting or record as a form asks for it. If nothing was done, the page comes back with what was typed.
import { textOf } from '../../../plan/message.ts';
import type { Fields } from '../../../posting/posting.ts';
import { actOnEntries } from '../../../review/act-on-entries.ts';
import { editEntry } from '../../../review/edit-entry.ts';
import { entryVersion } from '../../../review/entry-version.ts';
import { type EntryDetails, type RecordEntry, readEntry } from '../../../store/review/review-entry.ts';
import { notFound } from '../../api/known.ts';
import { fieldsSchema, groupSchema, text } from '../../api/scalars.ts';
import { ProblemError } from '../../problem.ts';
import { pageAddress } from '../addresses.ts';
import type { PageContext, PageVisit } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { placeInGroup } from './place-in-group.ts';
import { PostingOverview } from './posting.tsx';
import { type RefusedEdit, readPosting, withLineFeeds } from './read-posting.ts';
import { RecordPage } from './record.tsx';

type Asked = PageVisit & { readonly form: Form };

/** An entry as it was shown. */
interface Seen {
  readonly entry: EntryDetails;
  readonly version: string;
  readonly group: string | undefined;
}

/** Retry, approve, discard, reopen. */
export async function decideEntry(context: PageContext, asked: Asked, id: number) {
  const seen = await readSeen(context, asked, id);
  const action = asked.form.one('action');
  if (action !== 'retry' && action !== 'approve' && action !== 'discard' && action !== 'reopen') {
    throw malformed('action', 'must be retry, approve, discard or reopen');
  }
  const reason = (asked.form.one('reason') ?? '').trim();
  if (!text(1_000).safeParse(reason).success) throw malformed('reason', 'may have at most 1000 characters');
  const report = await actOnEntries(
    context.app.db,
    action,
    { ids: [id], feeds: [] },
    { actor: asked.actor, version: seen.version, ...(reason === '' ? {} : { reason }) },
  );
  const refused = report.kind === 'refused' ? report : report.entries.find(({ result }) => result === 'not_applicable');
  if (refused !== undefined) return comeBack(context, asked, id, seen, sentence(textOf(refused.message)), { reason });
  context.control.wake();
  return asked.goTo(await backTo(context, id, seen));
}

/** Nothing is saved unless the posting then keeps all rules of the site. */
export async function editFields(context: PageContext, asked: Asked, id: number) {
  const { app, control } = context;
  const seen = await readSeen(context, asked, id);
  if (seen.entry.kind === 'record') throw malformed('id', 'is a record, which has no fields');
  const had = seen.entry.change.fields ?? {};
  const typed = new Map(
    asked.form.namesAfter('field.').map((name) => [name, withLineFeeds(asked.form.one(`field.${name}`) ?? '')]),
  );
  const edits = Object.fromEntries(
    [...typed].filter(([name, value]) => value !== withLineFeeds(Object.hasOwn(had, name) ? (had[name] ?? '') : '')),
  ) satisfies Fields;
  const checked = fieldsSchema.safeParse(edits);
  if (Object.keys(edits).length === 0) {
    const message = isStale(seen) ? STALE : 'Nothing would change: the posting already has these values.';
    return comeBack(context, asked, id, seen, message, { typed });
  }
  if (!checked.success) throw malformed('fields', checked.error.issues[0]?.message ?? 'are not usable');
  const report = await editEntry(app.db, app.config, id, edits, {
    actor: asked.actor,
    version: seen.version,
    onlyIfValid: true,
  });
  if (report.kind === 'refused') {
    return comeBack(context, asked, id, seen, sentence(textOf(report.message)), { typed });
  }
  if (report.kind === 'invalid') {
    const message = 'Nothing was saved: the site would refuse the posting. See the fields below.';
    return comeBack(context, asked, id, seen, message, { typed, problems: report.problems }, 422);
  }
  control.wake();
  return asked.goTo(await backTo(context, id, seen));
}

const STALE = 'It has changed since you saw it; look at it again. Nothing was changed.';
const isStale = ({ entry, version }: Seen): boolean => entryVersion(entry) !== version;
const sentence = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`;

const malformed = (name: string, message: string): ProblemError =>
  new ProblemError({ status: 400, detail: `${name} ${message}`, faults: [{ where: `form.${name}`, message }] });

async function readSeen({ app }: PageContext, { form }: Asked, id: number): Promise<Seen> {
  const version = form.one('version') ?? '';
  if (version === '' || version.length > 100) throw malformed('version', 'is missing: open the page again');
  const group = form.one('group');
  if (group !== undefined && !groupSchema.safeParse(group).success)
    throw malformed('group', 'must be the ID of a group');
  const entry = await readEntry(app.db, id);
  if (entry === undefined) throw notFound(`there is no open review entry ${id}: it is resolved, or never existed`);
  return { entry, version, group };
}

/** The posting stays in view, whatever became of its entry. */
async function backTo({ app }: PageContext, id: number, { entry, group }: Seen): Promise<string> {
  if (entry.kind === 'change') return pageAddress.posting(entry.change.feed, entry.change.key, group);
  return (await readEntry(app.db, id)) === undefined ? pageAddress.review() : pageAddress.entry(id);
}

async function comeBack(
  { app }: PageContext,
  { c, visit }: Asked,
  id: number,
  seen: Seen,
  message: string,
  sent: RefusedEdit & { readonly reason?: string },
  status: 409 | 422 = 409,
) {
  const now = await readEntry(app.db, id);
  const current = now === undefined ? 'it is resolved' : entryVersion(now);
  const versions = current === seen.version ? '' : ` You saw version ${seen.version}; now it is ${current}.`;
  const shown = { visit, refused: message + versions, reason: sent.reason };
  if (seen.entry.kind === 'change') {
    const { feed, key } = seen.entry.change;
    const view = await readPosting(app, { feed, key, group: seen.group }, sent);
    return c.html(<PostingOverview {...shown} view={view} />, status);
  }
  const record: RecordEntry = now?.kind === 'record' ? now.record : seen.entry.record;
  return c.html(<RecordPage {...shown} record={record} placed={await placeInGroup(app.db, record)} />, status);
}
