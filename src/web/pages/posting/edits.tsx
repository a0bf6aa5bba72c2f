// What people have set in a posting, each until the source changes that field.
import { excerpt } from '../../../posting/xml-characters.ts';
import type { Visit } from '../layout.tsx';
import type { PostingView } from './read-posting.ts';

const SHOWN = 300;

export const Edits = ({ view }: { visit: Visit; view: PostingView }) =>
  view.story.edits.length === 0 ? null : (
    <section aria-labelledby="edits">
      <h2 id="edits">Edits</h2>
      <p class="hint">An edit lasts until the source changes that field.</p>
      <ul>
        {view.story.edits.slice(0, 50).map(({ field, value, sourceValue }) => (
          <li>
            <strong>{field}</strong>
            {value === '' ? (
              ': removed; the source '
            ) : (
              <>
                {': '}
                <span class="text">{excerpt(value, SHOWN)}</span>
                {'; the source '}
              </>
            )}
            {sourceValue === null ? (
              'has none'
            ) : (
              <>
                {'has '}
                <span class="text">{excerpt(sourceValue, SHOWN)}</span>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
