// Acts on one posting or record as a form asks for it. If nothing was done, the page comes back with what was typed.

import { groupSchema, text } from '../../../operations/scalars.ts';
import { BULK_ACTIONS } from '../../../plan/action.ts';
import { textOf } from '../../../plan/message.ts';
import { actOnEntries } from '../../../review/act-on-entries.ts';
import { configuredFeeds } from '../../../review/configured-policy.ts';
import { entryVersion } from '../../../review/entry-version.ts';
import { sitesOfFeeds } from '../../../review/sites-of-feeds.ts';
import { type EntryDetails, type RecordEntry, readEntry } from '../../../store/review/review-entry.ts';
import { notFound } from '../../api/known.ts';
import { ProblemError } from '../../problem.ts';
import { pageAddress } from '../addresses.ts';
import type { PageContext, PageVisit } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { wholeSentence } from '../sentence.ts';
import { placeInGroup } from './place-in-group.ts';
import { PostingOverview } from './posting.tsx';
import { readPosting } from './read-posting.ts';
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
  const action = BULK_ACTIONS.find((each) => each === asked.form.one('action'));
  if (action === undefined) throw malformed('action', `must be one of ${BULK_ACTIONS.join(', ')}`);
  const reason = (asked.form.one('reason') ?? '').trim();
  if (!text(1_000).safeParse(reason).success) throw malformed('reason', 'may have at most 1000 characters');
  const report = await actOnEntries(
    context.app.db,
    action,
    { ids: [id], feeds: [] },
    {
      actor: asked.actor,
      version: seen.version,
      sites: sitesOfFeeds(context.app.config),
      configured: configuredFeeds(context.app.config),
      ...(reason === '' ? {} : { reason }),
    },
  );
  const refused = report.kind === 'refused' ? report : report.entries.find(({ result }) => result === 'not_applicable');
  if (refused !== undefined)
    return comeBack(context, asked, id, seen, wholeSentence(textOf(refused.message)), { reason });
  context.control.wake();
  return asked.goTo(await backTo(context, id, seen));
}

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
  sent: { readonly reason?: string },
) {
  const now = await readEntry(app.db, id);
  const current = now === undefined ? 'it is resolved' : entryVersion(now);
  const versions = current === seen.version ? '' : ` You saw version ${seen.version}; now it is ${current}.`;
  const shown = { visit, refused: message + versions, reason: sent.reason };
  if (seen.entry.kind === 'change') {
    const { feed, key } = seen.entry.change;
    const view = await readPosting(app, { feed, key, group: seen.group });
    return c.html(<PostingOverview {...shown} view={view} />, 409);
  }
  const record: RecordEntry = now?.kind === 'record' ? now.record : seen.entry.record;
  return c.html(<RecordPage {...shown} record={record} placed={await placeInGroup(app.db, record)} />, 409);
}
