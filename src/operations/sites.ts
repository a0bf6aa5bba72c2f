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
import { namedSite, OperationRefused, operation } from './operation.ts';
import { count, nameText, text } from './scalars.ts';

export const resumeConfiguredSite = operation({
  id: 'resumeSite',
  path: '/sites/{site}/resume',
  summary: 'Resume sending to a paused site, at once',
  scope: 'review',
  input: z.strictObject({
    site: nameText.describe('Name of the site.'),
    emptied: z
      .boolean()
      .optional()
      .describe('The site was really emptied: believe it for a day when it says that jobs are gone.'),
    moved: z
      .boolean()
      .optional()
      .describe('It is the same site, with the same jobs, at the address that base_url has now.'),
    paused_since: text(40)
      .optional()
      .describe('The `paused_since` of the site that was seen: another pause is not ended.'),
  }),
  output: z
    .strictObject({
      site: z.string(),
      was_paused: z.boolean(),
      token_proven: z.boolean().describe('`false`: whether its token may write, the next change tells.'),
      compared: count.optional().describe('With `moved`: how many jobs were compared.'),
      note: z.string().optional().describe('With `moved`: what the comparison could not tell.'),
    })
    .meta({ title: 'Resumed' }),
  async run({ site: name, emptied = false, moved = false, paused_since }, { app, actor, control, signal }) {
    const { db, config } = app;
    const site = namedSite(app.config, name);
    if (!moved) await expectNotMoved(app, site);
    const compared = moved ? await confirmMoved(app, site, signal) : undefined;
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
      token_proven: refusedAt === undefined || acceptedAt !== undefined,
      ...(compared && { compared: compared.jobs, ...(compared.note !== undefined && { note: compared.note }) }),
    };
  },
});

/** @throws {OperationRefused} with the address where the jobs were created, their number, and the ways to go on */
export async function expectNotMoved({ db }: Pick<App, 'db'>, { name, options }: SiteConfig): Promise<void> {
  const move = await findMove(db, name, addressOf(options));
  if (move !== undefined) throw new OperationRefused('conflict', describeMove(name, move));
}
