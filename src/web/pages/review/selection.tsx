// What a page of review shows, read from its address or from a form that was sent from it.
import { z } from 'zod';
import { cursorSchema } from '../../../operations/scalars.ts';
import type { App } from '../../../runtime/app.ts';
import type { EntryQuery } from '../../../store/review/entry-query.ts';
import { entryQuery, filterParameters } from '../../api/review-filter.ts';
import { ProblemError } from '../../problem.ts';
import type { ReviewSelection } from '../addresses.ts';

const schema = z.object({ ...filterParameters, cursor: cursorSchema });
const NAMES = Object.keys(schema.shape) as (keyof z.input<typeof schema>)[];

export interface ReadSelection {
  /** As in addresses. */
  readonly texts: ReviewSelection;
  readonly query: EntryQuery & { readonly discarded: boolean };
}

/**
 * @param textOf the text of a parameter or field
 * @throws {ProblemError} if one is malformed, or names an unknown feed or site
 */
export async function readSelection(app: App, textOf: (name: string) => string | undefined): Promise<ReadSelection> {
  const given = Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = textOf(name);
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
  const read = schema.safeParse(given);
  if (!read.success) {
    const faults = read.error.issues.map(({ path, message }) => ({ where: path.join('.'), message }));
    throw new ProblemError({
      status: 400,
      detail: faults.map(({ where, message }) => `${where} ${message}`).join('; '),
      faults,
    });
  }
  const discarded = read.data.discarded === 'true';
  return {
    texts: { ...given, discarded: discarded ? 'true' : undefined },
    query: { ...(await entryQuery(app, { ...read.data, kinds: read.data.kind })), discarded },
  };
}

/** Keeps the selection in a form. */
export const SelectionFields = ({ texts }: { texts: ReviewSelection }) => (
  <>
    {Object.entries(texts).map(([name, value]) =>
      value === undefined ? null : <input type="hidden" name={name} value={value} />,
    )}
  </>
);

/** Whether it is all of one group, perhaps of one feed: new entries of that can have a rule. */
export const canHaveRule = ({ group, site, q, older_than, newer_than, discarded }: ReviewSelection): boolean =>
  group !== undefined && [site, q, older_than, newer_than, discarded].every((part) => part === undefined);
