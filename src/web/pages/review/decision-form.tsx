// What can be decided about many entries at once. Without checked entries an action is about all that the page counts; each button
// says how many these are, and the form binds the action to exactly them.

import { BULK_ACTIONS } from '../../../plan/action.ts';
import { asksToConfirm, operationWords } from '../../../plan/allowed.ts';
import { plural } from '../../../plan/message.ts';
import { excerpt } from '../../../posting/markup.ts';
import type { SelectionOffer, SelectionOffers } from '../../../review/bulk/selection-offers.ts';
import type { ListedGroup } from '../../../review/list-groups.ts';
import { sumOf } from '../../../review/seen.ts';
import type { SelectedAction } from '../../../store/review/bulk-actions.ts';
import { MOST_FOUND } from '../../../store/review/found-entries.ts';
import { linkTo, pageAddress, type ReviewSelection } from '../parts/addresses.ts';
import { LinkToRekeyComparison } from '../parts/pairs.tsx';
import { Check, Columns, SelectField, TextField } from '../parts/parts.tsx';
import { canHaveRule } from './selection.tsx';

/** What a person has typed. */
export interface TypedDecision {
  readonly field: string;
  readonly value: string;
  readonly remove: boolean;
  /** New values by old ones. */
  readonly values: ReadonlyMap<string, string>;
  readonly table: string;
  readonly alsoNew: boolean;
  /** The feed whose entries are edited, or {@link EVERY_FEED}; empty: none was chosen. */
  readonly feed: string;
  /** Also if entries would still be rejected. */
  readonly anyway: boolean;
  /** The entries that were chosen: without them, it would be about all. */
  readonly chosen: ReadonlySet<number>;
}

/** No feed has this name. */
export const EVERY_FEED = '*';

export interface DecisionProps {
  readonly texts: ReviewSelection;
  readonly group: ListedGroup | undefined;
  readonly counts: SelectionOffers;
  /** What the sites of the feeds accept as states, by the name of the field. */
  readonly states: ReadonlyMap<string, readonly string[]>;
  readonly typed?: TypedDecision | undefined;
  /** The edit that was just asked for would leave entries rejected: a person may insist on it. */
  readonly mayInsist?: boolean | undefined;
}

/** Binds what is done to what the page counts. */
const Bound = ({ name, count, seen }: Pick<SelectionOffer, 'count' | 'seen'> & { readonly name: string }) => (
  <>
    <input type="hidden" name={`expected-${name}`} value={String(count)} />
    {seen !== undefined && <input type="hidden" name={`seen-${name}`} value={seen} />}
  </>
);

export const DecisionForm = (props: DecisionProps) => {
  const { texts, counts } = props;
  const { edit, check, missing } = counts.of;
  return (
    <section class="panel" aria-labelledby="decide-heading">
      <h2 id="decide-heading">Decide</h2>
      {counts.inQuestion.map((feed) => (
        <LinkToRekeyComparison feed={feed} />
      ))}
      <p class="hint">
        {counts.more
          ? `More than ${MOST_FOUND} entries match: choose entries below, or narrow the filter.`
          : counts.total === 1
            ? 'This is about the entry below.'
            : `This is about all ${counts.total} entries, or only about those that you choose below.`}
      </p>
      {Object.entries(counts.of).map(([action, offer]) =>
        offer.count === 0 ? null : <Bound name={action} {...offer} />,
      )}
      {edit.count > 0 && <EditFields {...props} count={edit.count} />}
      {canHaveRule(texts) && edit.count > 0 && (
        <Check name="also_new" checked={props.typed?.alsoNew}>
          Edit or send again new entries of this group as well: makes a rule
        </Check>
      )}
      <p class="row">
        {BULK_ACTIONS.map((action) => (
          <Act action={action} count={counts.of[action].count} more={counts.more} />
        ))}
      </p>
      {OF_POSTINGS.flatMap((action) =>
        counts.of[action].barred.map(({ why, entries: left }) => (
          <p class="hint">{`${operationWords(action).button.many}: not for ${plural(sumOf(left), 'entry', 'entries')}, as ${why}.`}</p>
        )),
      )}
      {missing.count > 0 && (
        <>
          <p>
            {`${plural(missing.count, 'entry', 'entries')} in doubt: the site may have made the job. `}
            <a href={linkTo(pageAddress.doubts(texts.feed))}>Compare one by one</a>, or decide about those for which no
            job was found on the site:
          </p>
          <p class="row">
            <Act action="check" count={check.count} more={counts.more} />
            <Act action="missing" count={missing.count} more={counts.more} />
          </p>
        </>
      )}
    </section>
  );
};

/** What may be refused for some of the entries. */
const OF_POSTINGS = ['edit', 'retry', 'approve'] as const;

interface ActProps {
  readonly action: SelectedAction;
  readonly count: number;
  readonly more: boolean;
}

/** What has to be confirmed asks first, with what would happen. */
const Act = ({ action, count, more }: ActProps) => {
  if (count === 0) return null;
  const words = operationWords(action).button.many;
  const asks = asksToConfirm(action);
  return (
    <button type="submit" name="action" value={action} class={asks ? 'danger' : undefined} data-words={words}>
      {`${words} ${allOf(count, more)}${asks ? '…' : ''}`}
    </button>
  );
};

const allOf = (count: number, more: boolean): string => (more ? 'the chosen' : count === 1 ? '1' : `all ${count}`);

/** A value that is right for one feed may be wrong for another. */
const OfFeed = ({ counts, typed }: DecisionProps) => {
  const feeds = counts.of.edit.byFeed;
  if (feeds.length < 2) return null;
  return (
    <>
      <SelectField id="edit-feed" name="edit_feed" label="Of feed">
        <option value="">Choose a feed</option>
        {feeds.map(({ feed, count }) => (
          <option value={feed} selected={typed?.feed === feed}>
            {`${feed} (${count})`}
          </option>
        ))}
        <option value={EVERY_FEED} selected={typed?.feed === EVERY_FEED}>
          All feeds
        </option>
      </SelectField>
      {feeds.map(({ feed, ...bound }) => (
        <Bound name={`edit.${feed}`} {...bound} />
      ))}
    </>
  );
};

/** What a field of states offers. */
export const States = ({ id, of }: { readonly id: string; readonly of: readonly string[] | undefined }) =>
  of === undefined ? null : (
    <datalist id={id}>
      {of.map((state) => (
        <option value={state} />
      ))}
    </datalist>
  );

/** A group knows only the beginning of a long value, and forms change line breaks. */
const LONGEST_VALUE = 99;
const isWhole = (value: string): boolean => value.length <= LONGEST_VALUE && !/[\r\n]/.test(value);

const EditFields = (props: DecisionProps & { readonly count: number }) => {
  const { group, counts, states, typed, count } = props;
  const field = typed?.field ?? group?.field ?? '';
  const values = (group?.values ?? []).filter(({ of }) => isWhole(of));
  const rest = (group?.valueCount ?? 0) - values.length;
  return (
    <>
      <div class="row">
        <TextField name="field" label="Field" value={field} maxlength={100} spellcheck={false} />
        <TextField
          name="value"
          label="New value"
          value={typed?.value ?? ''}
          maxlength={10_000}
          list={states.has(field) ? 'states' : undefined}
        >
          <States id="states" of={states.get(field)} />
        </TextField>
        <OfFeed {...props} />
        <p>
          <button type="submit" name="action" value="edit" class="main" data-words={operationWords('edit').button.many}>
            {`${operationWords('edit').button.many} ${allOf(count, counts.more)}`}
          </button>
        </p>
        <Check name="remove" checked={typed?.remove}>
          remove the field instead
        </Check>
      </div>
      {props.mayInsist === true && (
        <Check name="anyway">edit nevertheless: what would still be rejected stays in review</Check>
      )}
      <p class="hint">
        An edit is tried first, and lasts until the source changes that field. What the site accepts then is sent.
      </p>
      <details open={typed !== undefined && (typed.values.size > 0 || typed.table !== '')}>
        <summary>Replace values by a table</summary>
        {values.length > 0 && (
          <table>
            <caption class="hint">Values without a new one stay as they are.</caption>
            <Columns of={['Value', { number: 'Entries' }, 'New value']} />
            <tbody>
              {values.map(({ of, count: n }, at) => (
                <tr>
                  <th scope="row" id={`old-${at}`}>
                    {excerpt(of, 120)}
                    <input type="hidden" name={`old-${at}`} value={of} />
                  </th>
                  <td class="number">{n}</td>
                  <td>
                    <input
                      name={`new-${at}`}
                      value={typed?.values.get(of) ?? ''}
                      aria-label={`New value for ${excerpt(of, 120)}`}
                      maxlength={10_000}
                      autocomplete="off"
                      list={states.has(field) ? 'states' : undefined}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <p>
          <label for="table">
            {rest > 0 ? `${plural(rest, 'more value')}, or any others: ` : 'Other values: '}
            one line each, old value, comma, new value
          </label>
          <textarea id="table" name="table" rows={4} spellcheck={false}>
            {typed?.table ?? ''}
          </textarea>
        </p>
        <p>
          <button type="submit" name="action" value="edit">
            Replace values
          </button>
        </p>
      </details>
    </>
  );
};
