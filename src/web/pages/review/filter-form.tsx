// The form that narrows what a page of review shows: it asks for the same page again, so it also works in a bookmark.
import type { Child } from 'hono/jsx';
import { ENTRY_KINDS } from '../../../store/backlog/open-counts.ts';
import type { ReviewSelection } from '../parts/addresses.ts';
import { Choice, type ChoiceProps, SelectField, Submit, TextField } from '../parts/parts.tsx';

export interface FilterFormProps {
  /** The page, with the prefix. */
  readonly address: string;
  readonly texts: ReviewSelection;
  readonly feeds: readonly string[];
  readonly sites: readonly string[];
}

const AGES = ['1h', '12h', '1d', '3d', '7d', '30d'];

/** Folded where the form would push the entries off the first screen: see `details.filters` in the styles. */
export const FilterForm = (props: FilterFormProps) => (
  <FoldedFilter chosen={chosenOf(props.texts)}>
    <Fields {...props} />
  </FoldedFilter>
);

/** The form of a filter, with what was chosen as the line that is left of it while it is folded. */
export const FoldedFilter = ({ chosen, children }: { chosen: readonly string[]; children: Child }) => (
  <details class="filters">
    <summary>{chosen.length === 0 ? 'Filter' : `Filter: ${chosen.join(', ')}`}</summary>
    {children}
  </details>
);

const SHOWN = ['feed', 'site', 'kind', 'older_than', 'newer_than', 'q'] as const;

const wordsOfKind = (kind: string): string => kind.replaceAll('_', ' ');

const chosenOf = (texts: ReviewSelection): readonly string[] => [
  ...SHOWN.flatMap((name) => (name === 'kind' && texts.kind ? wordsOfKind(texts.kind) : texts[name]) || []),
  ...(texts.discarded === 'true' ? ['discarded'] : []),
];

const Fields = ({ address, texts, feeds, sites }: FilterFormProps) => (
  <form method="get" action={address} class="row filter" aria-label="Filter">
    {texts.group !== undefined && <input type="hidden" name="group" value={texts.group} />}
    <Filter name="feed" label="Feed" of={feeds} chosen={texts.feed} none="all feeds" />
    {(sites.length > 1 || texts.site !== undefined) && (
      <Filter name="site" label="Site" of={sites} chosen={texts.site} none="all sites" />
    )}
    {texts.group === undefined && (
      <Filter name="kind" label="Kind" of={ENTRY_KINDS} chosen={texts.kind} none="all kinds" words={wordsOfKind} />
    )}
    <Filter name="older_than" label="Waiting for at least" of={AGES} chosen={texts.older_than} none="any time" />
    <Filter name="newer_than" label="Waiting for less than" of={AGES} chosen={texts.newer_than} none="any time" />
    <TextField id="filter-q" name="q" label="Key, title, value or message" value={texts.q ?? ''} maxlength={200} />
    <SelectField id="filter-discarded" name="discarded" label="State">
      <option value="">waiting</option>
      <option value="true" selected={texts.discarded === 'true'}>
        discarded
      </option>
    </SelectField>
    <Submit>Show</Submit>
  </form>
);

const Filter = (choice: ChoiceProps) => <Choice id={`filter-${choice.name}`} {...choice} />;
