// The API's operations that read review entries.
import { z } from 'zod';
import { cursorSchema, limitSchema, NOTHING, numberSchema } from '../../operations/scalars.ts';
import { readHere } from '../../review/configured-policy.ts';
import { escalates } from '../../review/escalation.ts';
import { entryJson, listedEntryJson } from '../../review/read-model/entry.ts';
import { ENTRY_KINDS } from '../../store/review/review-entries.ts';
import { readEntry } from '../../store/review/review-entry.ts';
import { reviewPage } from '../../store/review/review-page.ts';
import { foldReviewCounts } from '../../store/review/review-totals.ts';
import { entryAnswer, listedEntryAnswer, pageOf } from './answers.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { route } from './http-route.ts';
import { notFound } from './known.ts';
import { entryQuery, filterParameters } from './review-filter.ts';

/** The place in the list of entries at which a page ended. */
export const placeSchema = z.strictObject({
  kind: z.enum(ENTRY_KINDS),
  since: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  id: z.int().min(0).max(1e15),
});
const DEFAULT_LIMIT = 50;

export const listReview = route({
  id: 'listReview',
  method: 'get',
  path: '/review',
  summary: 'What needs a person: doubts first, held deletes last, within a kind the oldest first',
  scope: 'read',
  params: NOTHING,
  query: z.strictObject({ ...filterParameters, cursor: cursorSchema, limit: limitSchema }),
  response: pageOf(listedEntryAnswer),
  async run({ query }, { app }) {
    const { db, config, writeAction } = app;
    const discarded = query.discarded === 'true';
    const kinds = query.kind ?? ENTRY_KINDS;
    const selected = { ...(await entryQuery(app, { ...query, kinds })), discarded };
    const after = decodeCursor(query.cursor, placeSchema);
    await foldReviewCounts(db);
    const { entries, next } = await reviewPage(db, selected, query.limit ?? DEFAULT_LIMIT, after);
    const items = entries.map((entry) =>
      listedEntryJson(entry, { escalated: !discarded && escalates(entry, config), discarded }, writeAction),
    );
    return { body: { items, next_cursor: encodeCursor(next) } };
  },
});

export const showEntry = route({
  id: 'showEntry',
  method: 'get',
  path: '/review/{id}',
  summary: 'One entry with its details, and what can be done about it',
  scope: 'read',
  params: z.strictObject({ id: numberSchema }),
  query: NOTHING,
  response: entryAnswer,
  async run({ params: { id } }, { app: { db, config, writeAction } }) {
    const entry = await readEntry(db, id);
    if (entry === undefined) throw notFound(`there is no open review entry ${id}`);
    const escalated = entry.kind === 'change' && escalates({ ...entry.change, kind: entry.change.state }, config);
    return { body: entryJson(entry, { escalated, here: await readHere(db, config) }, writeAction) };
  },
});
