// What a page of review shows, read from its address or from a form that was sent from it.
import type { z } from 'zod';
import { entryQuery, listedInput } from '../../../operations/review.ts';
import { cursorSchema } from '../../../operations/scalars.ts';
import type { App } from '../../../runtime/app.ts';
import type { EntryQuery } from '../../../store/review/found-entries.ts';
import type { ReviewSelection } from '../parts/addresses.ts';
import { readInput } from '../parts/page.tsx';

const shown = { input: listedInput.extend({ cursor: cursorSchema }) };

export interface ReadSelection {
  /** As in addresses. */
  readonly texts: ReviewSelection;
  /** As operations take it. */
  readonly input: z.output<typeof listedInput>;
  readonly query: EntryQuery & { readonly discarded: boolean };
}

/**
 * @param textOf the text of a parameter or field
 * @throws {ProblemError} if one is malformed
 * @throws {OperationRefused} if there is no such feed or site
 */
export async function readSelection(app: App, textOf: (name: string) => string | undefined): Promise<ReadSelection> {
  const { cursor: _, ...input } = readInput(shown, (name, list) => {
    const text = textOf(name) || undefined;
    return list ? text?.split(',') : text;
  });
  const names = Object.keys(shown.input.shape);
  const texts = Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(name);
      return text === undefined || text === '' ? [] : [[name, text]];
    }),
  );
  const discarded = input.discarded === true;
  return {
    texts: { ...texts, discarded: discarded ? 'true' : undefined },
    input,
    query: { ...(await entryQuery(app, input)), discarded },
  };
}

/** Whether it is all of one group, perhaps of one feed: new entries of that can have a rule. */
export const canHaveRule = ({ group, site, q, older_than, newer_than, discarded }: ReviewSelection): boolean =>
  group !== undefined && [site, q, older_than, newer_than, discarded].every((part) => part === undefined);
