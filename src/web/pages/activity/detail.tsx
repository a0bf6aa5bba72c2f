// What is recorded of an action besides its name: what it concerned, and for edits each field before and after.

import type { z } from 'zod';
import type { activityOutput } from '../../../operations/activity.ts';
import { excerpt } from '../../../posting/xml-characters.ts';

const MOST_FACTS = 12;
const MOST_CHARACTERS = 200;

type Recorded = z.output<typeof activityOutput>;

export const Detail = ({ edits, facts }: { edits: Recorded['edits']; facts: Recorded['detail'] }) => {
  const shown = Object.entries(facts).slice(0, MOST_FACTS);
  return (
    <>
      {edits.slice(0, MOST_FACTS).map((edit) => (
        <Edit {...edit} />
      ))}
      {shown.length > 0 && (
        <dl class="inline">
          {shown.map(([name, value]) => (
            <div>
              <dt>{name.replaceAll('_', ' ')}</dt> <dd>{written(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
};

const Edit = ({ field, before, before_known, after }: Recorded['edits'][number]) => (
  <div class="difference">
    <span class="field">{field}</span>
    {before_known && (
      <>
        <del>{written(before)}</del>
        {' → '}
      </>
    )}
    <ins>{written(after)}</ins>
  </div>
);

function written(value: unknown): string {
  if (value == null || value === '') return '(none)';
  return excerpt(typeof value === 'string' ? value : JSON.stringify(value), MOST_CHARACTERS);
}
