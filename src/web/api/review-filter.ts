// What requests select in review: by feed, site, group, kind, age and text.
import { z } from 'zod';
import { groupSchema, listOf, nameText, spanText, text } from '../../operations/scalars.ts';
import type { App } from '../../runtime/app.ts';
import type { EntryQuery } from '../../store/review/entry-query.ts';
import { ENTRY_KINDS, type EntryKind } from '../../store/review/review-entries.ts';
import { requireFeed, requireSite } from './known.ts';

const shared = {
  feed: nameText.optional(),
  site: nameText.optional(),
  group: groupSchema.optional().describe('The entries of one group.'),
  q: text(200)
    .optional()
    .describe('Beginnings of words of a key, title, value or message, in any case: all of them must be there.'),
  older_than: spanText.optional().describe('They have waited for at least so long: `30min`, `12h`, `3d`.'),
  newer_than: spanText.optional().describe('They have waited for less.'),
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
  ids: z.array(z.int().min(1).max(1e15)).min(1).max(10_000).optional().describe('Only entries with these numbers.'),
});

interface Filter {
  readonly feed?: string | undefined;
  readonly site?: string | undefined;
  readonly group?: string | undefined;
  readonly q?: string | undefined;
  readonly kinds?: readonly EntryKind[] | undefined;
  readonly ids?: readonly number[] | undefined;
  readonly older_than?: number | undefined;
  readonly newer_than?: number | undefined;
}

/** @throws {ProblemError} if there is no such feed or site */
export async function entryQuery(app: App, { feed, site, group, q, ...rest }: Filter): Promise<EntryQuery> {
  return {
    feed: feed === undefined ? undefined : await requireFeed(app, feed),
    site: site === undefined ? undefined : requireSite(app, site).name,
    groups: group === undefined ? undefined : [group],
    text: q || undefined,
    kinds: rest.kinds,
    ids: rest.ids,
    olderThanMs: rest.older_than,
    newerThanMs: rest.newer_than,
  };
}
