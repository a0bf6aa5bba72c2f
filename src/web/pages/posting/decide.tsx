// What can be decided about one posting or record, with the effect of each, bound to the version that was shown; and the button that
// brings one posting up to date.
import { BULK_ACTIONS, type BulkAction } from '../../../plan/action.ts';
import { asksToConfirm, operationWords } from '../../../plan/allowed.ts';
import type { FeedName, PostingKey } from '../../../posting/identifiers.ts';
import { linkTo, mayPull, pageAddress } from '../parts/addresses.ts';
import { PostForm } from '../parts/layout.tsx';
import { LinkToRekeyComparison } from '../parts/pairs.tsx';
import { TextField } from '../parts/parts.tsx';
import { States } from '../review/decision-form.tsx';
import type { EditableField, Editor, PostingProps, PostingView, SyncStart } from './read-posting.ts';

const simpleOf = (kind: string): BulkAction | undefined => BULK_ACTIONS.find((each) => each === kind);

export const DecisionSection = (props: PostingProps & { readonly entry: number }) => {
  const { view, entry } = props;
  const isDoubt = view.actions.some(({ kind }) => kind === 'settle');
  return (
    <section class="panel" aria-labelledby="decide">
      <h2 id="decide">Decide</h2>
      {isDoubt && (
        <>
          <p>
            <a class="button" href={linkTo(pageAddress.doubt(entry))}>
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
      {view.actions.some(({ kind }) => kind === 'compare_keys') && <LinkToRekeyComparison feed={view.story.feed} />}
      {view.editor !== undefined && <EditForm view={view} editor={view.editor} />}
      {view.notEditable !== undefined && view.actions.some(({ kind }) => kind === 'edit') && (
        <p class="hint">{`It can't be edited: ${view.notEditable}.`}</p>
      )}
      <SimpleActions
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
  readonly actions: readonly { readonly kind: string; readonly effect: string }[];
  readonly address: string;
  readonly version: string | undefined;
  readonly group: string | undefined;
  readonly reason?: string | undefined;
}

/** Actions that need nothing but perhaps a reason. */
export const SimpleActions = ({ actions, address, version, group, reason }: SimpleProps) => (
  <>
    {actions.map(({ kind: name, effect }) => {
      const kind = simpleOf(name);
      return kind === undefined ? null : (
        <PostForm action={address} class="row" hidden={{ version: version ?? '', group }}>
          {kind === 'discard' && (
            <TextField name="reason" label="Reason, for the record" value={reason ?? ''} maxlength={1_000} />
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
        </PostForm>
      );
    })}
  </>
);

// Edits the fields of a posting. The site's rules are checked before anything is saved; each error is shown at its field.

export interface EditFormProps {
  readonly view: PostingView;
  readonly editor: Editor;
  /** The form itself is folded, so that its fields need not be. */
  readonly isFolded?: true;
}

const EditForm = ({ view, editor, isFolded }: EditFormProps) => {
  const wrong = editor.fields.filter(({ errors, typed, value }) => errors.length > 0 || typed !== value);
  const others = editor.fields.filter((field) => !wrong.includes(field));
  return (
    <PostForm
      action={pageAddress.editPosting()}
      id="edit"
      hidden={{ feed: view.story.feed, key: view.story.key, version: view.version ?? '', group: view.group }}
    >
      {editor.problems.length > 0 && (
        <ul class="error">
          {editor.problems.slice(0, 20).map((problem) => (
            <li>{problem.slice(0, 500)}</li>
          ))}
        </ul>
      )}
      {wrong.map((field) => (
        <Field field={field} states={editor.states.get(field.name)} />
      ))}
      {isFolded === true && wrong.length === 0
        ? others.map((field) => <Field field={field} states={editor.states.get(field.name)} />)
        : others.length > 0 && (
            <details open={wrong.length === 0}>
              <summary>{wrong.length === 0 ? 'Fields' : 'Other fields'}</summary>
              {others.map((field) => (
                <Field field={field} states={editor.states.get(field.name)} />
              ))}
            </details>
          )}
      {editor.tooLong.length > 0 && (
        <p class="hint">
          {`Too long to be edited here: ${editor.tooLong.slice(0, 50).join(', ')}. Use the terminal or the API.`}
        </p>
      )}
      <p class="hint" id="edit-lasts">
        An edit lasts until the source changes that field, and can be undone. An empty text removes the field.
      </p>
      <p>
        <button type="submit" class="main" aria-describedby="edit-lasts">
          {operationWords('edit').button.one}
        </button>
      </p>
    </PostForm>
  );
};

/** For a posting that nobody has to decide about: folded until a person asks for it. */
export const EditJob = ({ view }: Pick<EditFormProps, 'view'>) => {
  const { editor, notEditable } = view;
  if (editor === undefined)
    return notEditable === undefined ? null : <p class="hint">{`It can't be edited: ${notEditable}.`}</p>;
  const isTyped = editor.fields.some(({ errors, typed, value }) => errors.length > 0 || typed !== value);
  return (
    <details class="panel" open={isTyped || editor.problems.length > 0}>
      <summary>Edit its fields</summary>
      <EditForm view={view} editor={editor} isFolded />
    </details>
  );
};

const LONGEST_LINE = 120;

interface FieldProps {
  readonly field: EditableField;
  /** Of the field of states. */
  readonly states: readonly string[] | undefined;
}

const Field = ({ field: { name, typed, value, errors }, states }: FieldProps) => {
  const id = `field-${name}`;
  const attributes = {
    id,
    name: `field.${name}`,
    autocomplete: 'off',
    ...(errors.length > 0 ? { 'aria-invalid': 'true' as const, 'aria-describedby': `${id}-error` } : {}),
  };
  // Whatever is typed, the control stays of the kind that can hold what the posting has.
  const isLong = [typed, value].some((text) => text.length > LONGEST_LINE || /[\r\n]/.test(text));
  return (
    <div class="edit-field">
      <label for={id}>{name}</label>
      {isLong ? (
        // A browser drops the first line break.
        <textarea {...attributes} rows={6}>
          {`\n${typed}`}
        </textarea>
      ) : (
        <input {...attributes} value={typed} list={states === undefined ? undefined : 'states'} />
      )}
      {!isLong && <States id="states" of={states} />}
      {errors.length > 0 && (
        <div class="error" id={`${id}-error`}>
          {errors.slice(0, 10).map((error) => (
            <p>{error.slice(0, 500)}</p>
          ))}
        </div>
      )}
    </div>
  );
};

// What every form of a posting carries: the version that was shown, and the group that the visitor goes through.

interface SyncNowProps {
  readonly feed: FeedName;
  /** `key` would be a property of JSX. */
  readonly posting: PostingKey;
  /** The group that the visitor goes through. */
  readonly group?: string | undefined;
}

/** Absent for viewers. */
export const SyncNow = ({ feed, posting, group }: SyncNowProps) =>
  mayPull() ? (
    <PostForm action={pageAddress.syncPosting()} hidden={{ feed, key: posting, group }}>
      <button type="submit">Sync this posting now</button>
    </PostForm>
  ) : null;

export const SyncNotice = ({ feed, start }: { feed: FeedName; start: SyncStart }) => (
  <p role="status" class="notice">
    {start === 'later' ? (
      <>
        {'Feed '}
        <a href={linkTo(pageAddress.pulls(feed))}>{feed}</a>
        {' is being pulled; another pull follows, which reads this posting again.'}
      </>
    ) : (
      <>
        <a href={linkTo(pageAddress.pull(start))}>{`Pull ${start}`}</a>
        {` reads feed ${feed}, which is read as a whole. What differs is sent then; reload this page to see it.`}
      </>
    )}
  </p>
);
