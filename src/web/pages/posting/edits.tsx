// What people have set in a posting, each until the source changes that field.
import { excerpt } from '../../../posting/xml-characters.ts';
import { editsVersion } from '../../../review/undo-edit.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, mayReview, type Visit } from '../layout.tsx';
import type { PostingView } from './read-posting.ts';
import { SubjectFields } from './subject-fields.tsx';

const SHOWN = 300;

export const EditList = ({ visit, view }: { visit: Visit; view: PostingView }) =>
  view.story.edits.length === 0 ? null : (
    <section aria-labelledby="edits">
      <h2 id="edits">Edits</h2>
      <p class="hint">
        An edit lasts until the source changes that field, or until it is undone: then the next pull brings back what
        the source has.
      </p>
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
            {mayReview(visit) && (
              <form method="post" action={visit.prefix + pageAddress.undoEdit()}>
                <Csrf visit={visit} />
                <SubjectFields version={editsVersion(view.story.edits)} group={view.group} />
                <input type="hidden" name="feed" value={view.story.feed} />
                <input type="hidden" name="key" value={view.story.key} />
                <input type="hidden" name="fields" value={field} />
                <button type="submit" aria-label={`Undo the edit of ${field}`}>
                  Undo
                </button>
              </form>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
