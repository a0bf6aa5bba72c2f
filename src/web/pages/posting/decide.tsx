// What can be decided about one posting or record, with the effect of each, bound to the version that was shown.
import { BULK_ACTIONS, type BulkAction } from '../../../plan/action.ts';
import { asksToConfirm, operationWords } from '../../../plan/allowed.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, type Visit } from '../layout.tsx';
import { AnswerFirst } from '../rekey/rekey.tsx';
import { EditForm } from './edit-form.tsx';
import type { PostingProps } from './posting-props.ts';
import { SubjectFields } from './subject-fields.tsx';

const simpleOf = (kind: string): BulkAction | undefined => BULK_ACTIONS.find((each) => each === kind);

export const Decide = (props: PostingProps & { readonly entry: number }) => {
  const { visit, view, entry } = props;
  const isDoubt = view.actions.some(({ kind }) => kind === 'settle');
  return (
    <section class="panel" aria-labelledby="decide">
      <h2 id="decide">Decide</h2>
      {isDoubt && (
        <>
          <p>
            <a class="button" href={visit.prefix + pageAddress.doubt(entry)}>
              Resolve the doubt
            </a>
          </p>
          <ul class="hint">
            {view.actions.map(({ effect }) => (
              <li>{effect}</li>
            ))}
          </ul>
        </>
      )}
      {view.actions.some(({ kind }) => kind === 'compare_keys') && <AnswerFirst visit={visit} feed={view.story.feed} />}
      {view.editor !== undefined && <EditForm visit={visit} view={view} editor={view.editor} />}
      {view.notEditable !== undefined && view.actions.some(({ kind }) => kind === 'edit') && (
        <p class="hint">{`It can't be edited: ${view.notEditable}.`}</p>
      )}
      <SimpleActions
        visit={visit}
        actions={view.actions}
        address={pageAddress.decideEntry(entry)}
        version={view.version}
        group={view.group}
        reason={props.reason}
      />
    </section>
  );
};

export interface SimpleProps {
  readonly visit: Visit;
  readonly actions: readonly { readonly kind: string; readonly effect: string }[];
  readonly address: string;
  readonly version: string | undefined;
  readonly group: string | undefined;
  readonly reason?: string | undefined;
}

/** Actions that need nothing but perhaps a reason. */
export const SimpleActions = ({ visit, actions, address, version, group, reason }: SimpleProps) => (
  <>
    {actions.map(({ kind: name, effect }) => {
      const kind = simpleOf(name);
      return kind === undefined ? null : (
        <form method="post" action={visit.prefix + address} class="row">
          <Csrf visit={visit} />
          <SubjectFields version={version} group={group} />
          {kind === 'discard' && (
            <p>
              <label for="reason">Reason, for the record</label>
              <input id="reason" name="reason" value={reason ?? ''} maxlength={1_000} autocomplete="off" />
            </p>
          )}
          <p>
            <button
              type="submit"
              name="action"
              value={kind}
              class={asksToConfirm(kind) ? 'danger' : undefined}
              aria-describedby={`effect-${kind}`}
            >
              {operationWords(kind).button.one}
            </button>{' '}
            <span class="hint" id={`effect-${kind}`}>
              {effect}
            </span>
          </p>
        </form>
      );
    })}
  </>
);
