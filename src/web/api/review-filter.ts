// What requests select in review: by feed, site, group, kind and text.
import { z } from 'zod';
import type { App } from '../../runtime/app.ts';
import type { EntryQuery } from '../../store/review/entry-query.ts';
import { ENTRY_KINDS, type EntryKind } from '../../store/review/review-entries.ts';
import { requireFeed, requireSite } from './known.ts';
import { groupSchema, listOf, nameText, text } from './scalars.ts';

const shared = {
  feed: nameText.optional(),
  site: nameText.optional(),
  group: groupSchema.optional().describe('The entries of one group.'),
  q: text(200).optional().describe('Part of a key, title, value or message, in any case.'),
};

/** As parameters of a query. */
export const selectParameters = { ...shared, kind: listOf(ENTRY_KINDS) };
export const filterParameters = {
  ...selectParameters,
  discarded: z.enum(['true', 'false']).optional().describe('`true`: discarded entries instead of waiting ones.'),
};

/** As part of a body. */
export const filterSchema = z.strictObject({
  ...shared,
  kinds: z.array(z.enum(ENTRY_KINDS)).min(1).max(ENTRY_KINDS.length).optional(),
});

interface Filter {
  readonly feed?: string | undefined;
  readonly site?: string | undefined;
  readonly group?: string | undefined;
  readonly q?: string | undefined;
  readonly kinds?: readonly EntryKind[] | undefined;
}

/** @throws {ProblemError} if there is no such feed or site */
export async function entryQuery(app: App, { feed, site, group, q, kinds }: Filter): Promise<EntryQuery> {
  return {
    feed: feed === undefined ? undefined : await requireFeed(app, feed),
    site: site === undefined ? undefined : requireSite(app, site).name,
    groups: group === undefined ? undefined : [group],
    text: q || undefined,
    kinds,
  };
}
