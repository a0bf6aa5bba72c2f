// What people say about a group, and the form to add to it.
import { LONGEST_NOTE } from '../../../review/group-note.ts';
import type { GroupNote } from '../../../store/review/group-notes.ts';
import { pageAddress, type ReviewSelection } from '../addresses.ts';
import { Csrf, mayReview, type Visit } from '../layout.tsx';
import { When } from '../when.tsx';
import { SelectionFields } from './selection.tsx';

export interface NotesProps {
  readonly visit: Visit;
  readonly texts: ReviewSelection;
  readonly notes: readonly GroupNote[];
}

export const Notes = ({ visit, texts, notes }: NotesProps) =>
  notes.length === 0 && !mayReview(visit) ? null : (
    <section aria-labelledby="notes">
      <h2 id="notes">Notes</h2>
      {notes.length > 0 && (
        <ul class="notes">
          {notes.map((note) => (
            <li class="panel">
              <p class="quiet">
                {`${note.actor}, `}
                <When at={note.at} />
              </p>
              <p class="said">{note.text}</p>
              {mayReview(visit) && (
                <form method="post" action={visit.prefix + pageAddress.removeNote(note.id)}>
                  <Csrf visit={visit} />
                  <SelectionFields texts={texts} />
                  <button type="submit" aria-label={`Remove note ${note.id}`}>
                    Remove
                  </button>
                </form>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayReview(visit) && (
        <details>
          <summary>Add a note</summary>
          <form method="post" action={visit.prefix + pageAddress.notes()}>
            <Csrf visit={visit} />
            <SelectionFields texts={texts} />
            <p>
              <label for="text">Note, for everybody who reviews</label>
              <textarea id="text" name="text" rows={3} maxlength={LONGEST_NOTE} required />
            </p>
            <p>
              <button type="submit">Add note</button>
            </p>
          </form>
        </details>
      )}
    </section>
  );
