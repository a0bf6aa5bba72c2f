// The API's actions on single review entries: the same that the terminal has.
import { z } from 'zod';
import { openSiteOfEntry } from '../../operations/candidates.ts';
import type { OperationContext } from '../../operations/operation.ts';
import { fieldsSchema, NOTHING, numberSchema, text } from '../../operations/scalars.ts';
import type { BulkAction } from '../../plan/action.ts';
import { type Message, tell } from '../../plan/message.ts';
import { actOnEntries } from '../../review/act-on-entries.ts';
import { configuredPolicy, readHere } from '../../review/configured-policy.ts';
import { editEntry, editedMessage } from '../../review/edit-posting.ts';
import { entryVersion } from '../../review/entry-version.ts';
import { actedJson } from '../../review/read-model/acted.ts';
import { entryJson } from '../../review/read-model/entry.ts';
import { resolveEntry } from '../../review/resolve-entry.ts';
import { readJobId } from '../../site/http/job-address.ts';
import { readEntry } from '../../store/review/review-entry.ts';
import { ProblemError } from '../problem.ts';
import { actedAnswer } from './answers.ts';
import { type HttpOperation, route } from './http-route.ts';
import { notFound } from './known.ts';

const seen = text(100).describe('The `version` of the entry that was seen: another one is not acted on.');
const version = seen.optional();
const ofEntry = z.strictObject({ id: numberSchema });

/** What the operations have in common. */
const acting = (action: string, summary: string) =>
  ({
    id: `${action}Entry`,
    method: 'post',
    path: `/review/{id}/${action}`,
    summary,
    scope: 'review',
    params: ofEntry,
    query: NOTHING,
    response: actedAnswer,
  }) as const;

const SIMPLE = {
  retry: 'Send again what was rejected or failed',
  approve: 'Delete what is held for approval',
  discard: 'Leave it as it is until the posting changes',
  reopen: 'Put a discarded entry back into review',
} as const satisfies Record<BulkAction, string>;

const simple = Object.entries(SIMPLE).map(([name, summary]) => {
  const action = name as keyof typeof SIMPLE;
  return route({
    ...acting(action, summary),
    // What deletes a job is decided only on what was seen: the next delete that is held may have the same number.
    body: action === 'approve' ? z.strictObject({ version: seen }) : z.strictObject({ version }).optional(),
    async run({ params: { id }, body }, context) {
      await expectEntry(id, context);
      const { app, control, actor } = context;
      const options = { actor, version: body?.version };
      const report = await actOnEntries(app.db, app.config, action, { ids: [id], feeds: [] }, options);
      if (report.kind === 'refused') throw await refusal(id, report, context, { version: body?.version });
      const [entry] = report.entries;
      if (entry === undefined) throw notFound(`there is no open review entry ${id}`);
      if (entry.result === 'not_applicable') throw await refusal(id, entry, context, {});
      control.wake();
      return { body: actedJson(action, entry, undefined, app.writeAction) };
    },
  });
});

const edit = route({
  ...acting('edit', 'Set fields of a rejected or failed posting, until the source changes them, and send it'),
  body: z.strictObject({ fields: fieldsSchema.describe('An empty text removes the field.'), version }),
  async run({ params: { id }, body }, context) {
    await expectEntry(id, context);
    const { app, control, actor } = context;
    const report = await editEntry(app.db, app.config, id, body.fields, { actor, version: body.version });
    if (report.kind === 'refused') throw await refusal(id, report, context, body);
    const { feed, key, remaining } = report;
    if (remaining === undefined) control.wake();
    const message = editedMessage(remaining);
    return { body: actedJson('edit', { entry: id, feed, key, result: 'done', message }, undefined, app.writeAction) };
  },
});

const resolveDoubt = route({
  ...acting('settle', 'Resolve a create in doubt, after checking the site for its job'),
  body: z.discriminatedUnion('verdict', [
    z.strictObject({ verdict: z.literal('missing'), version: seen }),
    z.strictObject({
      verdict: z.literal('exists'),
      site_job_id: text(200).min(1),
      anyway: z.boolean().optional().describe('Adopt the job even if it seems to belong to another posting.'),
      version: seen,
    }),
  ]),
  async run({ params: { id }, body }, context) {
    await expectEntry(id, context);
    const { app, control, actor } = context;
    const site = await openSiteOfEntry(app, id);
    try {
      const report = await resolveEntry(app.db, id, verdictOf(body), {
        actor,
        site,
        policyOf: configuredPolicy(app.config),
        version: body.version,
      });
      if (report.kind === 'refused' && report.stale === true)
        throw await refusal(id, { ...report, stale: true }, context, body);
      if (report.kind === 'refused') {
        const insist = report.mayInsist === true ? '; if it is the right one nevertheless, send anyway: true' : '';
        throw await refusal(id, { message: `${report.message}${insist}` }, context, {});
      }
      control.wake();
      const { feed, key, warning } = report;
      const done = body.verdict === 'missing' ? 'to be sent again' : `job ${body.site_job_id} adopted`;
      const message = warning === undefined ? done : `${done}; ${warning}`;
      return {
        body: actedJson('settle', { entry: id, feed, key, result: 'done', message }, undefined, app.writeAction),
      };
    } finally {
      await site?.client.close();
    }
  },
});

export const ENTRY_ACTIONS: readonly HttpOperation[] = [...simple, edit, resolveDoubt];

type Verdict = { verdict: 'missing' } | { verdict: 'exists'; site_job_id: string; anyway?: boolean | undefined };

function verdictOf(body: Verdict) {
  if (body.verdict === 'missing') return { kind: 'missing' } as const;
  const siteJobId = readJobId(body.site_job_id);
  if (siteJobId === undefined) {
    const message = "can't be the ID of a job";
    const faults = [{ where: 'body.site_job_id', message }];
    throw new ProblemError({ status: 400, detail: `body.site_job_id ${message}`, faults });
  }
  return { kind: 'exists', siteJobId, anyway: body.anyway === true } as const;
}

async function expectEntry(id: number, { app }: OperationContext): Promise<void> {
  if ((await readEntry(app.db, id)) === undefined) throw notFound(`there is no open review entry ${id}`);
}

/** With the present version of the entry, and for a stale one also that of the request. */
async function refusal(
  id: number,
  { message, stale }: { readonly message: Message; readonly stale?: true },
  { app: { db, config, writeAction } }: OperationContext,
  yours: object,
): Promise<ProblemError> {
  const entry = await readEntry(db, id);
  const current =
    entry === undefined ? null : entryJson(entry, { escalated: false, here: await readHere(db, config) }, writeAction);
  return new ProblemError({
    status: 409,
    detail: `entry ${id}: ${tell(message, writeAction)}`,
    more: stale === true ? { yours, version: entry && entryVersion(entry), current } : { current },
  });
}
