// Asks before entries are discarded, deletes approved, or creates in doubt sent again: what would happen to which entries, and what would not.
import { plural } from '../../../plan/plural.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { describeSelected } from '../../../review/bulk/describe-selected.ts';
import { possibleActions } from '../../../review/possible-actions.ts';
import type { EntryKind } from '../../../store/backlog/entry-kind.ts';
import type { SelectedCount } from '../../../store/review/selected-counts.ts';
import { pageAddress, type ReviewSelection } from '../addresses.ts';
import { Csrf, Layout, mayReview, type Visit } from '../layout.tsx';
import { canHaveRule, SelectionFields } from './selection.tsx';

const CONFIRMED = ['discard', 'approve', 'missing'] as const;
export type Confirmed = (typeof CONFIRMED)[number];

export const isConfirmed = (action: string | undefined): action is Confirmed =>
  CONFIRMED.some((each) => each === action);

export interface ConfirmProps {
  readonly visit: Visit;
  readonly action: Confirmed;
  readonly texts: ReviewSelection;
  /** What it would act on, and what else is selected. */
  readonly chosen: readonly SelectedCount[];
  readonly others: readonly SelectedCount[];
  readonly mark: string;
  /** The chosen entries as they were shown, if they were chosen one by one. */
  readonly entries: readonly string[];
  readonly refused?: string | undefined;
  readonly reason?: string | undefined;
}

const WORDS = {
  discard: { doIt: 'Discard', noun: 'entry', nouns: 'entries' },
  approve: { doIt: 'Delete', noun: 'job', nouns: 'jobs' },
  missing: { doIt: 'Send again', noun: 'create', nouns: 'creates' },
} as const;

export const Confirm = (props: ConfirmProps) => {
  const { visit, action, texts, chosen, others, mark, entries, refused, reason = '' } = props;
  const { doIt, noun, nouns } = WORDS[action];
  const total = sumOf(chosen);
  const back = visit.prefix + pageAddress.entries(texts);
  return (
    <Layout title={`${doIt} ${plural(total, noun, nouns)}?`} visit={visit} section="review">
      {refused !== undefined && (
        <p role="alert" class="notice bad text">
          {refused}
        </p>
      )}
      {total === 0 ? (
        <p>{`No selected entry ${NONE[action]}.`}</p>
      ) : (
        <>
          <ul>
            {kindsOf(chosen).map(([kind, n]) => (
              <li>{`${n} ${kind.replace('_', ' ')}: ${effectOf(action, kind)}`}</li>
            ))}
          </ul>
          <ul class="quiet">
            {describeSelected(chosen).map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </>
      )}
      {kindsOf(others).map(([kind, n]) => (
        <p class={kind === 'in_doubt' ? 'notice' : 'quiet'}>
          {kind === 'in_doubt' ? (
            <>
              {`${n} in doubt ${n === 1 ? 'is' : 'are'} left as ${n === 1 ? 'it is' : 'they are'}: the site may have made the job, so it is never discarded. `}
              <a href={visit.prefix + pageAddress.doubts(texts.feed)}>Resolve doubts</a>
            </>
          ) : (
            `${n} ${kind.replace('_', ' ')} ${n === 1 ? 'is' : 'are'} left as ${n === 1 ? 'it is' : 'they are'}.`
          )}
        </p>
      ))}
      {total > 0 && mayReview(visit) && (
        <form method="post" action={visit.prefix + pageAddress.confirmAction(action, {})}>
          <Csrf visit={visit} />
          <SelectionFields texts={texts} />
          <input type="hidden" name="expected" value={String(total)} />
          <input type="hidden" name="mark" value={mark} />
          {entries.map((entry) => (
            <input type="hidden" name="entry" value={entry} />
          ))}
          {action === 'missing' && (
            <>
              <p class="notice bad">
                Each of them whose job the site has made after all gets a second job. Those for which a job was found on
                the site, or that its list still decides, are left alone.
              </p>
              <p>
                <label>
                  <input type="checkbox" name="confirmed" value="true" required /> I have looked on the site: it has
                  none of these jobs
                </label>
              </p>
            </>
          )}
          {action === 'discard' && (
            <p>
              <label for="reason">Reason, for the record</label>
              <input id="reason" name="reason" value={reason} maxlength={1_000} autocomplete="off" />
            </p>
          )}
          {action === 'discard' && canHaveRule(texts) && mayHaveRule(chosen) && (
            <p>
              <label>
                <input type="checkbox" name="also_new" value="true" /> Discard new entries of this group as well: makes
                a rule
              </label>
            </p>
          )}
          <p class="row">
            <button type="submit" class="danger">
              {`${doIt} ${plural(total, noun, nouns)}`}
            </button>
            <a href={back}>Cancel</a>
          </p>
        </form>
      )}
      {(total === 0 || !mayReview(visit)) && (
        <p>
          <a href={back}>Back to the entries</a>
        </p>
      )}
    </Layout>
  );
};

const NONE = { discard: 'can be discarded', approve: 'can be approved', missing: 'is in doubt' } as const;

const sumOf = (counts: readonly SelectedCount[]): number => counts.reduce((sum, { n }) => sum + n, 0);

function kindsOf(counts: readonly SelectedCount[]): (readonly [EntryKind, number])[] {
  const kinds = new Map<EntryKind, number>();
  for (const { kind, n } of counts) kinds.set(kind, (kinds.get(kind) ?? 0) + n);
  return [...kinds];
}

/** No rule for records that can't be read, and for held deletes. */
const mayHaveRule = (counts: readonly SelectedCount[]): boolean =>
  counts.every(({ kind }) => kind !== 'unreadable' && kind !== 'held');

const effectOf = (action: Confirmed, kind: EntryKind): string =>
  (action === 'missing' ? 'the site has made no job: sent again' : undefined) ??
  possibleActions({ id: 0, feed: '' as FeedName, state: kind, desired: undefined, invalid: false }).find(
    (each) => each.kind === action,
  )?.effect ??
  'left as it is';
