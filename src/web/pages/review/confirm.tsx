// Asks before entries are discarded, deletes approved, or creates in doubt sent again: what would happen to which entries, and what would not.
import { effectOn, questionOf, whyNoRule } from '../../../plan/allowed.ts';
import type { Message } from '../../../plan/message.ts';
import { plural } from '../../../plan/plural.ts';
import { countByKind, describeSelected, type LeftAlone } from '../../../review/describe-selected.ts';
import { sumOf } from '../../../review/seen.ts';
import type { EntryKind } from '../../../store/backlog/entry-kind.ts';
import type { SelectedAction } from '../../../store/review/bulk-actions.ts';
import type { SelectedCount } from '../../../store/review/selected-counts.ts';
import { pageAddress, type ReviewSelection } from '../addresses.ts';
import { Csrf, Layout, mayReview, type Visit } from '../layout.tsx';
import { Told } from '../told.tsx';
import { canHaveRule, SelectionFields } from './selection.tsx';

export interface ConfirmProps {
  readonly visit: Visit;
  readonly action: SelectedAction;
  readonly texts: ReviewSelection;
  /** What it would act on, and what else is selected. */
  readonly chosen: readonly SelectedCount[];
  readonly others: readonly LeftAlone[];
  readonly seen: string;
  /** The chosen entries as they were shown, if they were chosen one by one. */
  readonly entries: readonly string[];
  readonly refused?: string | undefined;
  /** What to do about the refusal. */
  readonly about?: Message | undefined;
  readonly reason?: string | undefined;
}

export const Confirm = (props: ConfirmProps) => {
  const { visit, action, texts, chosen, others, seen, entries, refused, about, reason = '' } = props;
  const { doIt = '', noun = '', nouns = '' } = questionOf(action) ?? {};
  const total = sumOf(chosen);
  const back = visit.prefix + pageAddress.entries(texts);
  return (
    <Layout title={`${doIt} ${plural(total, noun, nouns)}?`} visit={visit} section="review">
      {refused !== undefined && (
        <p role="alert" class="notice bad text">
          <Told notice={{ messages: about === undefined ? [] : [about], text: refused }} prefix={visit.prefix} />
        </p>
      )}
      {total === 0 ? (
        <p>{refused === undefined ? 'This can be done with no selected entry.' : 'Nothing can be done now.'}</p>
      ) : (
        <>
          <ul>
            {kindsOf(chosen).map(([kind, n]) => (
              <li>{`${n} ${kind.replace('_', ' ')}: ${effectOn(action, kind)?.many}`}</li>
            ))}
          </ul>
          <ul class="quiet">
            {describeSelected(chosen).map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </>
      )}
      {others.flatMap(({ why, entries: left }) =>
        kindsOf(left).map(([kind, n]) => <Left {...{ visit, texts, why, kind, n }} />),
      )}
      {total > 0 && mayReview(visit) && (
        <form method="post" action={visit.prefix + pageAddress.confirmAction(action, {})}>
          <Csrf visit={visit} />
          <SelectionFields texts={texts} />
          <input type="hidden" name="expected" value={String(total)} />
          <input type="hidden" name="seen" value={seen} />
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

const kindsOf = (counts: readonly SelectedCount[]) => Object.entries(countByKind(counts)) as [EntryKind, number][];

const mayHaveRule = (counts: readonly SelectedCount[]): boolean =>
  counts.every(({ kind }) => whyNoRule('discard', kind) === undefined);

interface LeftProps extends Pick<ConfirmProps, 'visit' | 'texts'>, Pick<LeftAlone, 'why'> {
  readonly kind: EntryKind;
  readonly n: number;
}

const Left = ({ visit, texts, why, kind, n }: LeftProps) => (
  <p class={kind === 'in_doubt' ? 'notice' : 'quiet'}>
    {`${n} ${kind.replace('_', ' ')} ${n === 1 ? 'is left as it is' : 'are left as they are'}: ${why}. `}
    {kind === 'in_doubt' && <a href={visit.prefix + pageAddress.doubts(texts.feed)}>Resolve doubts</a>}
  </p>
);
