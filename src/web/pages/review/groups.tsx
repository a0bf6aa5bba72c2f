// Groups of review entries: what was said about how many postings, the largest first.
import { plural } from '../../../plan/plural.ts';
import { excerpt } from '../../../posting/xml-characters.ts';
import type { ListedGroup } from '../../../review/list-groups.ts';
import { groupTitle, TREND_WORDS } from '../../../review/read-model/group.ts';
import { pageAddress, type ReviewSelection } from '../addresses.ts';
import { Layout, type Visit } from '../layout.tsx';
import { When } from '../when.tsx';

import { FilterForm } from './filter-form.tsx';

export interface GroupsProps {
  readonly visit: Visit;
  readonly texts: ReviewSelection;
  readonly feeds: readonly string[];
  readonly sites: readonly string[];
  readonly groups: readonly ListedGroup[];
  /** Of all groups, also of those that are not shown. */
  readonly totals: { readonly groups: number; readonly entries: number };
}

export const Groups = ({ visit, texts, feeds, sites, groups, totals }: GroupsProps) => {
  const { prefix } = visit;
  const isFiltered = Object.entries(texts).some(([name, value]) => name !== 'discarded' && value !== undefined);
  return (
    <Layout title={texts.discarded === 'true' ? 'Discarded entries' : 'Review'} visit={visit} section="review">
      <p class="row">
        <a href={prefix + pageAddress.bulkActions()}>Actions on many entries</a>
        <a href={prefix + pageAddress.rules()}>Rules</a>
        <a href={prefix + pageAddress.doubts()}>Doubts</a>
        <a href={prefix + pageAddress.held()}>Held deletes</a>
      </p>
      <FilterForm address={prefix + pageAddress.review()} texts={texts} feeds={feeds} sites={sites} />
      {groups.length === 0 ? (
        <p class="notice good">
          {isFiltered
            ? 'Nothing matches this filter.'
            : texts.discarded === 'true'
              ? 'Nothing is discarded.'
              : 'Nothing needs a person.'}
        </p>
      ) : (
        <>
          <p>
            <a href={prefix + pageAddress.entries(texts)}>{plural(totals.entries, 'entry', 'entries')}</a>
            {` in ${plural(totals.groups, 'group')}.`}
            {totals.groups > groups.length && ` These are the ${groups.length} largest; a filter shows the others.`}
          </p>
          <ul class="groups">
            {groups.map((group) => (
              <Group group={group} texts={texts} prefix={prefix} />
            ))}
          </ul>
        </>
      )}
    </Layout>
  );
};

const Group = ({ group, texts, prefix }: { group: ListedGroup; texts: ReviewSelection; prefix: string }) => {
  const { id, kind, count, feeds, sites, firstSeen, lastSeen, notes, rules, trend } = group;
  return (
    <li class="panel">
      <h2>
        <a href={prefix + pageAddress.entries({ ...texts, group: id })}>{excerpt(groupTitle(group))}</a>
      </h2>
      <p class="row">
        <strong>{`${count} ${kind.replace('_', ' ')}`}</strong>
        {texts.discarded !== 'true' && <span class={`trend ${trend}`}>{TREND_WORDS[trend]}</span>}
        <span>
          since <When at={firstSeen} />
        </span>
        <span>
          newest <When at={lastSeen} />
        </span>
        <span>{`feed ${namesOf(feeds)}`}</span>
        {sites.length > 0 && <span>{`site ${namesOf(sites)}`}</span>}
        {notes.length > 0 && <span>{plural(notes.length, 'note')}</span>}
        {rules.length > 0 && <span>{`${plural(rules.length, 'rule')} in force`}</span>}
      </p>
      <Example group={group} prefix={prefix} />
    </li>
  );
};

const Example = ({ group: { id, example }, prefix }: { group: ListedGroup; prefix: string }) => (
  <p class="quiet">
    {'Example: '}
    {example.key === undefined ? (
      <a href={prefix + pageAddress.entry(example.id)}>{`record ${example.id}`}</a>
    ) : (
      <a href={prefix + pageAddress.posting(example.feed, example.key, id)}>{excerpt(example.key)}</a>
    )}
    {example.value !== undefined && `: “${excerpt(example.value)}”`}
  </p>
);

const SHOWN_NAMES = 3;

const namesOf = (names: readonly { readonly of: string; readonly count: number }[]): string => {
  const shown = names.slice(0, SHOWN_NAMES).map(({ of, count }) => (names.length === 1 ? of : `${of} (${count})`));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
};
