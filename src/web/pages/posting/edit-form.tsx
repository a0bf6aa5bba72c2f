// Edits the fields of a posting. The site's rules are checked before anything is saved; each error is shown at its field.
import { operationWords } from '../../../plan/allowed.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, type Visit } from '../layout.tsx';
import { States } from '../review/decision-form.tsx';
import type { EditableField, Editor, PostingView } from './read-posting.ts';
import { SubjectFields } from './subject-fields.tsx';

export interface EditFormProps {
  readonly visit: Visit;
  readonly view: PostingView;
  readonly editor: Editor;
  /** The form itself is folded, so that its fields need not be. */
  readonly isFolded?: true;
}

export const EditForm = ({ visit, view, editor, isFolded }: EditFormProps) => {
  const wrong = editor.fields.filter(({ errors, typed, value }) => errors.length > 0 || typed !== value);
  const others = editor.fields.filter((field) => !wrong.includes(field));
  return (
    <form method="post" action={visit.prefix + pageAddress.editPosting()} id="edit">
      <Csrf visit={visit} />
      <input type="hidden" name="feed" value={view.story.feed} />
      <input type="hidden" name="key" value={view.story.key} />
      <SubjectFields version={view.version} group={view.group} />
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
    </form>
  );
};

/** For a posting that nobody has to decide about: folded until a person asks for it. */
export const EditJob = ({ visit, view }: Pick<EditFormProps, 'visit' | 'view'>) => {
  const { editor, notEditable } = view;
  if (editor === undefined)
    return notEditable === undefined ? null : <p class="hint">{`It can't be edited: ${notEditable}.`}</p>;
  const isTyped = editor.fields.some(({ errors, typed, value }) => errors.length > 0 || typed !== value);
  return (
    <details class="panel" open={isTyped || editor.problems.length > 0}>
      <summary>Edit its fields</summary>
      <EditForm visit={visit} view={view} editor={editor} isFolded />
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
