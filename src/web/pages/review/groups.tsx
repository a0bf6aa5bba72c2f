// Groups of review entries: what was said about how many postings, the largest first.
import type { z } from 'zod';
import { describeDecision, type ruleOutput } from '../../../operations/rules.ts';
import { plural, textOf } from '../../../plan/message.ts';
import { excerpt } from '../../../posting/markup.ts';
import { groupTitle, groupWords, type ListedGroup, namesWithCounts, TREND_WORDS } from '../../../review/list-groups.ts';
import { MOST_FOUND } from '../../../store/review/found-entries.ts';
import type { GroupTotals } from '../../../store/review/review-groups.ts';
import type { ListedRule } from '../../../store/review/rules.ts';
import { linkTo, mayReview, pageAddress, type ReviewSelection } from '../parts/addresses.ts';
import { Layout, PostForm } from '../parts/layout.tsx';
import { type OtherPages, Pager, StackedTable, TimeSince, When } from '../parts/parts.tsx';
import { FilterForm } from './filter-form.tsx';

export interface GroupsProps {
  readonly texts: ReviewSelection;
  readonly feeds: readonly string[];
  readonly sites: readonly string[];
  readonly groups: readonly ListedGroup[];
  /** Of all groups, also of those that are not shown. */
  readonly totals: GroupTotals;
  /** From 1. */
  readonly page: number;
  /** How many groups a page has. */
  readonly size: number;
}

export const Groups = ({ texts, feeds, sites, groups, totals, page, size }: GroupsProps) => {
  const isFiltered = Object.entries(texts).some(([name, value]) => name !== 'discarded' && value !== undefined);
  return (
    <Layout title={texts.discarded === 'true' ? 'Discarded entries' : 'Review'} section="review">
      <p class="row">
        <a href={linkTo(pageAddress.bulkActions())}>Actions on many entries</a>
        <a href={linkTo(pageAddress.rules())}>Rules</a>
        <a href={linkTo(pageAddress.doubts())}>Doubts</a>
        <a href={linkTo(pageAddress.held())}>Held deletes</a>
      </p>
      <FilterForm address={linkTo(pageAddress.review())} texts={texts} feeds={feeds} sites={sites} />
      {groups.length === 0 ? (
        <p class="notice good">
          {page > 1
            ? 'There are no more groups.'
            : isFiltered
              ? 'Nothing matches this filter.'
              : texts.discarded === 'true'
                ? 'Nothing is discarded.'
                : 'Nothing needs a person.'}
        </p>
      ) : (
        <>
          <p>
            <a href={linkTo(pageAddress.entries(texts))}>
              {totals.cut ? `More than ${MOST_FOUND} entries` : plural(totals.entries, 'entry', 'entries')}
            </a>
            {totals.cut
              ? ` match. The numbers are of the first ${MOST_FOUND} that were found, in ${plural(totals.groups, 'group')}.`
              : ` in ${plural(totals.groups, 'group')}.`}
            {totals.groups > groups.length &&
              ` These are the groups ${(page - 1) * size + 1} to ${(page - 1) * size + groups.length}, the largest first.`}
          </p>
          <ul class="groups">
            {groups.map((group) => (
              <Group group={group} texts={texts} />
            ))}
          </ul>
        </>
      )}
      {(page > 1 || totals.groups > page * size) && (
        <nav aria-label="Pages of groups" class="row">
          {page > 1 && (
            <a href={linkTo(pageAddress.review({ ...texts, page: page === 2 ? undefined : page - 1 }))} rel="prev">
              Larger groups
            </a>
          )}
          {totals.groups > page * size && (
            <a href={linkTo(pageAddress.review({ ...texts, page: page + 1 }))} rel="next">
              Smaller groups
            </a>
          )}
        </nav>
      )}
    </Layout>
  );
};

/** Held deletes are a group of their feed, so the sentence of one, with its numbers, is that of all. */
const titleOf = (group: ListedGroup): string =>
  group.kind === 'held' ? `Deletes held: ${textOf(group.example.reason)}` : groupTitle(groupWords(group));

const Group = ({ group, texts }: { group: ListedGroup; texts: ReviewSelection }) => {
  const { id, kind, count, feeds, sites, firstSeen, lastSeen, notes, rules, trend } = group;
  return (
    <li class="panel">
      <h2>
        <a href={linkTo(pageAddress.entries({ ...texts, group: id }))}>{excerpt(titleOf(group))}</a>
      </h2>
      <p class="row">
        <strong>{`${count} ${kind.replace('_', ' ')}`}</strong>
        {texts.discarded !== 'true' && <span class={`trend ${trend}`}>{TREND_WORDS[trend]}</span>}
        <span>
          <TimeSince since={firstSeen} />
        </span>
        <span>
          newest <When at={lastSeen} />
        </span>
        <span>{`feed ${namesWithCounts(feeds)}`}</span>
        {sites.length > 0 && <span>{`site ${namesWithCounts(sites)}`}</span>}
        {notes.length > 0 && <span>{plural(notes.length, 'note')}</span>}
        {rules.length > 0 && <span>{`${plural(rules.length, 'rule')} in force`}</span>}
      </p>
      <Example group={group} />
    </li>
  );
};

const Example = ({ group: { id, example } }: { group: ListedGroup }) => (
  <p class="quiet">
    {'Example: '}
    {example.key === undefined ? (
      <a href={linkTo(pageAddress.entry(example.id))}>{`record ${example.id}`}</a>
    ) : (
      <a href={linkTo(pageAddress.posting(example.feed, example.key, id))}>{excerpt(example.key)}</a>
    )}
    {example.value !== undefined && `: “${excerpt(example.value)}”`}
  </p>
);

// All rules: what is done with new entries of groups without asking again, by whom and since when.

type ShownRule = z.output<typeof ruleOutput>;

export const Rules = ({ rules, others }: { rules: readonly ShownRule[]; others: OtherPages }) => (
  <Layout title="Rules" section="review">
    <p>
      <a href={linkTo(pageAddress.review())}>All groups</a>
    </p>
    <StackedTable
      label="Rules, those in force first"
      caption={<caption class="hint">Those in force first, then the newest</caption>}
      columns={[
        { head: 'Rule', number: true, namesRow: true, cell: ({ rule }) => rule },
        {
          head: 'Group',
          cell: ({ group, feed, field, message }) => (
            <a href={linkTo(pageAddress.entries({ group, feed: feed ?? undefined }))}>
              {excerpt(`${field === null ? '' : `${field}: `}${message}`)}
            </a>
          ),
        },
        { head: 'Feed', inline: true, cell: ({ feed }) => feed ?? 'all' },
        { head: 'Does', cell: (rule) => excerpt(describeDecision(rule), 300) },
        { head: 'By', inline: true, cell: ({ actor }) => actor },
        { head: 'Since', inline: true, cell: ({ made_at }) => <When at={made_at} /> },
        { head: 'Done', number: true, inline: true, cell: ({ done }) => done },
        { head: 'Left alone', number: true, inline: true, cell: ({ left_alone }) => left_alone },
        { head: 'State', inline: true, cell: (rule) => <StateOfRule rule={rule} /> },
      ]}
      rows={rules}
      none={<p>There are no rules. An action on a group can make one for its new entries.</p>}
    />
    <Pager label="Pages of rules" {...others} />
  </Layout>
);

const StateOfRule = ({ rule: { rule, ended_at, ended_by } }: { rule: ShownRule }) => {
  if (ended_at === null) return mayReview() ? <EndRule rule={rule} /> : <>in force</>;
  return (
    <>
      {`ended by ${ended_by ?? 'somebody'}, `}
      <When at={ended_at} />
    </>
  );
};

// The rules in force for new entries of one group.

export interface RulesOfGroupProps {
  readonly texts: ReviewSelection;
  readonly rules: readonly ListedRule[];
}

export const RulesOfGroup = ({ texts, rules }: RulesOfGroupProps) =>
  rules.length === 0 ? null : (
    <section aria-labelledby="rules">
      <h2 id="rules">For new entries of this group</h2>
      <ul>
        {rules.map((rule) => (
          <li>
            {`Rule ${rule.id} of ${rule.actor}${rule.feed === null ? '' : ` for feed ${rule.feed}`}: ${excerpt(describeDecision({ action: rule.action, edit: rule.detail.edit, reason: rule.detail.reason }), 300)} (${rule.done} done, ${rule.leftAlone} left alone)`}
            {mayReview() && <EndRule rule={rule.id} texts={texts} />}
          </li>
        ))}
      </ul>
    </section>
  );

/** @param rule its number; texts where it was shown, if it was with its group */
const EndRule = ({ rule, texts }: { rule: number; texts?: ReviewSelection }) => (
  <PostForm action={pageAddress.endRule(rule)} hidden={{ ...texts }}>
    <button type="submit" aria-label={`End rule ${rule}`}>
      End
    </button>
  </PostForm>
);
