// What people do to whole sites: resume sending to one that is paused, or whose address has changed.
import { z } from 'zod';
import { describeMove } from '../apply/confirm-address.ts';
import type { SiteConfig } from '../config/config.ts';
import { resumePausedSite } from '../review/resume-paused-site.ts';
import type { App } from '../runtime/app.ts';
import { tokenDigests } from '../runtime/token-digests.ts';
import { addressOf } from '../site/base-address.ts';
import { findMove } from '../store/site/known-address.ts';
import { tokenHistory } from '../store/site/refused-token.ts';
import { confirmMoved } from './confirm-moved.ts';
import { namedSite, type OperationContext, OperationRefused, operation } from './operation.ts';
import { count, nameText, text } from './scalars.ts';

const input = z.strictObject({
  site: nameText.describe('Name of the site.'),
  emptied: z
    .boolean()
    .optional()
    .describe('The site was really emptied: believe it for a day when it says that jobs are gone.'),
  paused_since: text(40)
    .optional()
    .describe('The `paused_since` of the site that was seen: another pause is not ended.'),
});

const output = z
  .strictObject({
    site: z.string(),
    was_paused: z.boolean(),
    token_proven: z.boolean().describe('`false`: whether its token may write, the next change tells.'),
  })
  .meta({ title: 'Resumed' });

const SUMMARY = 'Resume sending to a paused site, at once';

export const resumeConfiguredSite = operation({
  id: 'resumeSite',
  path: '/sites/{site}/resume',
  summary: SUMMARY,
  scope: 'review',
  input,
  output,
  async run(asked, context) {
    await expectNotMoved(context.app, namedSite(context.app.config, asked.site));
    return resume(asked, context, false);
  },
});

/** The same, also for a site at another address. That decides whose jobs they are, so it is on the command line only. */
export const resumeSiteAnywhere = operation({
  id: 'resumeSiteAnywhere',
  path: '/sites/{site}/resume-moved',
  summary: SUMMARY,
  scope: 'review',
  input: input.extend({
    moved: z
      .boolean()
      .optional()
      .describe('It is the same site, with the same jobs, at the address that base_url has now.'),
  }),
  output: output.extend({
    compared: count.optional().describe('With `moved`: how many jobs were compared.'),
    note: z.string().optional().describe('With `moved`: what the comparison could not tell.'),
  }),
  async run({ moved = false, ...asked }, context) {
    if (!moved) return resumeConfiguredSite.run(asked, context);
    const compared = await confirmMoved(context.app, namedSite(context.app.config, asked.site), context.signal);
    const resumed = await resume(asked, context, true);
    return {
      ...resumed,
      ...(compared && { compared: compared.jobs, ...(compared.note !== undefined && { note: compared.note }) }),
    };
  },
});

async function resume(
  { site: name, emptied = false, paused_since }: z.output<typeof input>,
  { app: { db, config }, actor, control }: OperationContext,
  moved: boolean,
): Promise<z.output<typeof output>> {
  const site = namedSite(config, name);
  const address = addressOf(site.options);
  const token = (await tokenDigests(db, config)).get(site.name);
  const end = await resumePausedSite(db, site.name, {
    actor,
    emptied,
    seen: paused_since === undefined ? undefined : { since: paused_since, address, token },
    movedTo: moved ? address : undefined,
  });
  if (end.kind === 'refused') throw new OperationRefused('conflict', end.message);
  control.wake();
  const { refusedAt, acceptedAt } = await tokenHistory(db, site.name, token ?? '');
  return {
    site: site.name,
    was_paused: end.wasPaused,
    token_proven: token !== undefined && (refusedAt === undefined || acceptedAt !== undefined),
  };
}

/** @throws {OperationRefused} with the address where the jobs were created, their number, and the ways to go on */
export async function expectNotMoved({ db }: Pick<App, 'db'>, { name, options }: SiteConfig): Promise<void> {
  const move = await findMove(db, name, addressOf(options));
  if (move !== undefined) throw new OperationRefused('conflict', describeMove(name, move));
}
