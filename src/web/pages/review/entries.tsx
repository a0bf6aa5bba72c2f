// The entries of one group or another selection, with what can be decided about all of them or about those that are checked.
import { entryPlace } from '../../../operations/review.ts';
import { plural, textOf } from '../../../plan/message.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { excerpt } from '../../../posting/markup.ts';
import { stateValues } from '../../../posting/site-rules.ts';
import { offersFor } from '../../../review/bulk/selection-offers.ts';
import {
  groupTitle,
  groupWords,
  type ListedGroup,
  LONGEST_NOTE,
  listGroups,
  TREND_WORDS,
} from '../../../review/list-groups.ts';
import { tokenOfOne } from '../../../review/seen.ts';
import type { App } from '../../../runtime/app.ts';
import type { ReviewEntry } from '../../../store/review/review-entries.ts';
import { type GroupNote, readGroupNotes } from '../../../store/review/review-groups.ts';
import { reviewPage } from '../../../store/review/review-page.ts';
import { foldReviewCounts } from '../../../store/review/review-totals.ts';
import { decodeCursor, encodeCursor } from '../../web-env.ts';
import { currentVisit, linkTo, mayReview, pageAddress, type ReviewSelection } from '../parts/addresses.ts';
import { Layout, PostForm } from '../parts/layout.tsx';
import { Pager, RefusedForm, StackedTable, Submit, TimeSince, When } from '../parts/parts.tsx';
import { DecisionForm, type DecisionProps } from './decision-form.tsx';
import { FilterForm } from './filter-form.tsx';
import { RulesOfGroup } from './groups.tsx';
import { writeChosen } from './read-decision.ts';
import type { ReadSelection } from './selection.tsx';

/** Without `group`: none is selected, or it has no entries in the selection. */
export interface EntriesProps extends DecisionProps {
  readonly feeds: readonly string[];
  readonly sites: readonly string[];
  readonly notes: readonly GroupNote[];
  readonly entries: readonly ReviewEntry[];
  readonly next: string | undefined;
  /** Why the action that was just asked for was not done. */
  readonly refused?: string | undefined;
}

// What the list shows, read so that what can be decided is bound to it.

const SHOWN_ENTRIES = 50;
const SHOWN_VALUES = 20;

type Read = Pick<
  EntriesProps,
  'texts' | 'feeds' | 'sites' | 'group' | 'notes' | 'counts' | 'states' | 'entries' | 'next'
>;

export async function readEntriesPage(app: App, { texts, query }: ReadSelection): Promise<Read> {
  const { db, config } = app;
  await foldReviewCounts(db);
  const id = texts.group;
  // Bound before the entries are read: what comes in between is shown, but not decided.
  const counts = await offersFor(app, query);
  const [group] = id === undefined ? [] : await listGroups(db, query, { groups: 1, values: SHOWN_VALUES });
  const { entries, next } = await reviewPage(db, query, SHOWN_ENTRIES, decodeCursor(texts.cursor, entryPlace));
  return {
    texts,
    ...choices(config),
    group,
    notes: id === undefined ? [] : (group?.notes ?? (await readGroupNotes(db, [id]))),
    counts,
    states: statesOf(
      config,
      counts.of.edit.byFeed.map(({ feed }) => feed),
    ),
    entries,
    next: encodeCursor(next) ?? undefined,
  };
}

/** The states that the sites of these feeds accept, by the name of the field. */
export function statesOf(
  { feeds }: Pick<App['config'], 'feeds'>,
  names: readonly FeedName[],
): ReadonlyMap<string, readonly string[]> {
  const states = new Map<string, readonly string[]>();
  for (const name of names) {
    const mapping = feeds.get(name)?.mapping;
    if (mapping === undefined) continue;
    const field = mapping.stateField.name;
    states.set(field, [...new Set([...(states.get(field) ?? []), ...stateValues(mapping)])]);
  }
  return states;
}

/** What a filter offers. */
export const choices = ({ feeds, sites }: Pick<App['config'], 'feeds' | 'sites'>) => ({
  feeds: [...feeds.keys()],
  sites: [...sites.keys()],
});

export const Entries = (props: EntriesProps) => {
  const { texts, feeds, sites, group, notes, counts, entries, refused } = props;
  const discarded = texts.discarded === 'true';
  const title =
    group !== undefined
      ? excerpt(groupTitle(groupWords(group)))
      : discarded
        ? 'Discarded entries'
        : 'Entries that need a person';
  const { group: _, cursor: __, ...aside } = texts;
  return (
    <Layout
      title={title}
      section="review"
      about={texts.feed === undefined ? 'all' : currentVisit().aboutFeed?.(texts.feed as FeedName)}
    >
      <p>
        <a href={linkTo(pageAddress.review(aside))}>All groups</a>
      </p>
      <RefusedForm why={refused} />
      {group !== undefined && <Facts group={group} discarded={discarded} />}
      <FilterForm address={linkTo(pageAddress.entries({}))} texts={texts} feeds={feeds} sites={sites} />
      {texts.group !== undefined && (
        <>
          <Notes texts={texts} notes={notes} />
          <RulesOfGroup rules={group?.rules ?? []} texts={texts} />
        </>
      )}
      {counts.total === 0 ? (
        <p class="notice good">
          {discarded ? 'No entry is discarded here.' : 'No entry waits here.'}
          {!discarded && texts.group !== undefined && (
            <>
              {' '}
              <a href={linkTo(pageAddress.entries({ ...texts, discarded: 'true' }))}>Show discarded entries</a>
            </>
          )}
        </p>
      ) : mayReview() ? (
        <PostForm action={pageAddress.entries({})} id="decide" hidden={{ ...texts }}>
          <DecisionForm {...props} />
          <List {...props} checkable />
        </PostForm>
      ) : (
        <List {...props} checkable={false} />
      )}
      <Pages texts={texts} next={props.next} shown={entries.length} />
    </Layout>
  );
};

const Facts = ({ group, discarded }: { group: ListedGroup; discarded: boolean }) => (
  <p class="row">
    <strong>{plural(group.count, 'entry', 'entries')}</strong>
    {!discarded && <span class={`trend ${group.trend}`}>{TREND_WORDS[group.trend]}</span>}
    <span>
      <TimeSince since={group.firstSeen} />
    </span>
    <span>
      newest <When at={group.lastSeen} />
    </span>
    <span class="quiet">{`group ${group.id}`}</span>
  </p>
);

const List = ({ texts, entries, checkable, group, typed }: EntriesProps & { readonly checkable: boolean }) => {
  const withKind = texts.kind === undefined && group === undefined;
  // Of all entries of a group the same was said.
  const withMessage = group === undefined || group.values.length === 0;
  return (
    <>
      <h2 id="entries">Entries</h2>
      <StackedTable
        label={{ heading: 'entries' }}
        columns={[
          checkable && {
            head: 'Choose',
            bare: true,
            cell: (entry) => (
              <input
                type="checkbox"
                name="entry"
                value={writeChosen(entry.id, tokenOfOne(entry))}
                checked={typed?.chosen.has(entry.id)}
                aria-label={`Choose ${nameOf(entry)}`}
                autocomplete="off"
              />
            ),
          },
          {
            head: 'Posting',
            namesRow: true,
            bare: true,
            cell: (entry) => <a href={linkTo(addressOf(entry, texts.group))}>{nameOf(entry)}</a>,
          },
          { head: 'Title', cell: ({ title }) => (title === null ? '' : excerpt(title, 120)) },
          { head: 'Feed', cell: ({ feed }) => feed },
          withKind && { head: 'Kind', cell: ({ kind }) => kind.replace('_', ' ') },
          { head: 'Value', cell: ({ value }) => excerpt(value ?? '', 120) },
          withMessage && { head: 'What was said', cell: ({ reason }) => excerpt(textOf(reason), 300) },
          { head: 'Since', cell: ({ since }) => <When at={since} /> },
        ]}
        rows={entries}
      />
    </>
  );
};

const nameOf = ({ key, id }: ReviewEntry): string => (key === undefined ? `record ${id}` : excerpt(key, 120));

const addressOf = ({ id, kind, feed, key }: ReviewEntry, group: string | undefined): string => {
  if (kind === 'in_doubt') return pageAddress.doubt(id);
  const isPosting = key !== undefined && kind !== 'unreadable' && kind !== 'duplicate';
  return isPosting ? pageAddress.posting(feed, key, group) : pageAddress.entry(id);
};

interface PagesProps {
  readonly texts: ReviewSelection;
  readonly next: string | undefined;
  readonly shown: number;
}

const Pages = ({ texts, next, shown }: PagesProps) => (
  <Pager
    label="Pages of entries"
    first={texts.cursor === undefined ? undefined : pageAddress.entries({ ...texts, cursor: undefined })}
    next={next && pageAddress.entries({ ...texts, cursor: next })}
    shown={shown}
  />
);

// What people say about a group, and the form to add to it.

export interface NotesProps {
  readonly texts: ReviewSelection;
  readonly notes: readonly GroupNote[];
}

const Notes = ({ texts, notes }: NotesProps) =>
  notes.length === 0 && !mayReview() ? null : (
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
              {mayReview() && (
                <PostForm action={pageAddress.removeNote(note.id)} hidden={{ ...texts }}>
                  <button type="submit" aria-label={`Remove note ${note.id}`}>
                    Remove
                  </button>
                </PostForm>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayReview() && (
        <details>
          <summary>Add a note</summary>
          <PostForm action={pageAddress.notes()} hidden={{ ...texts }}>
            <p>
              <label for="text">Note, for everybody who reviews</label>
              <textarea id="text" name="text" rows={3} maxlength={LONGEST_NOTE} required />
            </p>
            <Submit>Add note</Submit>
          </PostForm>
        </details>
      )}
    </section>
  );
