// What is recorded of an action besides its name: what it concerned, and for edits each field before and after.
import { excerpt } from '../../../posting/xml-characters.ts';

type Recorded = Readonly<Record<string, unknown>>;

const MOST_FACTS = 12;
const MOST_CHARACTERS = 200;

export const Detail = ({ detail }: { detail: Recorded }) => {
  const { edits, former, ...others } = detail;
  const undone = Array.isArray(edits) ? edits.filter((edit) => isUndone(edit, detail.fields)) : [];
  const facts = Object.entries(others).filter(
    ([name, value]) => value !== null && value !== '' && !(undone.length > 0 && name === 'fields'),
  );
  return (
    <>
      {isRecord(edits) &&
        Object.entries(edits)
          .slice(0, MOST_FACTS)
          .map(([field, edit]) => <Edit field={field} edit={withFormer(edit, former, field)} />)}
      {undone.slice(0, MOST_FACTS).map(({ field, value, sourceValue }) => (
        <Edit field={field} edit={{ before: value, after: sourceValue }} />
      ))}
      {facts.length > 0 && (
        <dl class="inline">
          {facts.slice(0, MOST_FACTS).map(([name, value]) => (
            <div>
              <dt>{name.replaceAll('_', ' ')}</dt> <dd>{written(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
};

const Edit = ({ field, edit }: { field: string; edit: unknown }) => {
  const [before, after] = isRecord(edit)
    ? [edit.before === undefined ? edit.from : edit.before, edit.after ?? edit.to ?? edit.value]
    : [undefined, edit];
  return (
    <div class="difference">
      <span class="field">{field}</span>
      {before !== undefined && (
        <>
          <del>{written(before)}</del>
          {' → '}
        </>
      )}
      <ins>{written(after)}</ins>
    </div>
  );
};

/** Actions of earlier versions have no former values. */
const withFormer = (edit: unknown, former: unknown, field: string): unknown =>
  isRecord(former) && Object.hasOwn(former, field) && !isRecord(edit) ? { before: former[field], after: edit } : edit;

interface UndoneEdit {
  readonly field: string;
  readonly value: string;
  readonly sourceValue: string | null;
}

const isUndone = (edit: unknown, fields: unknown): edit is UndoneEdit =>
  isRecord(edit) && typeof edit.field === 'string' && Array.isArray(fields) && fields.includes(edit.field);

const isRecord = (value: unknown): value is Recorded =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function written(value: unknown): string {
  if (value == null || value === '') return '(none)';
  return excerpt(typeof value === 'string' ? value : JSON.stringify(value), MOST_CHARACTERS);
}
