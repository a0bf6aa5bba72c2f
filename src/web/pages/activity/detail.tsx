// What is recorded of an action besides its name: what it concerned, and for edits each field before and after.
import { excerpt } from '../../../posting/xml-characters.ts';

type Recorded = Readonly<Record<string, unknown>>;

const MOST_FACTS = 12;
const MOST_CHARACTERS = 200;

export const Detail = ({ detail }: { detail: Recorded }) => {
  const { edits, ...others } = detail;
  const facts = Object.entries(others).filter(([, value]) => value !== null && value !== '');
  return (
    <>
      {isRecord(edits) &&
        Object.entries(edits)
          .slice(0, MOST_FACTS)
          .map(([field, edit]) => <Edit field={field} edit={edit} />)}
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
    ? [edit.before ?? edit.from, edit.after ?? edit.to ?? edit.value]
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

const isRecord = (value: unknown): value is Recorded =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function written(value: unknown): string {
  if (value == null) return '(none)';
  return excerpt(typeof value === 'string' ? value : JSON.stringify(value), MOST_CHARACTERS);
}
