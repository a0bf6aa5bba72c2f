// The form that narrows what a page of review shows: it asks for the same page again, so it also works in a bookmark.
import type { Child } from 'hono/jsx';
import { ENTRY_KINDS } from '../../../store/backlog/open-counts.ts';
import type { ReviewSelection } from '../parts/addresses.ts';
import { SelectField, Submit, TextField } from '../parts/parts.tsx';

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

const chosenOf = (texts: ReviewSelection): readonly string[] => [
  ...SHOWN.flatMap((name) => texts[name]?.replaceAll('_', ' ') || []),
  ...(texts.discarded === 'true' ? ['discarded'] : []),
];

const Fields = ({ address, texts, feeds, sites }: FilterFormProps) => (
  <form method="get" action={address} class="row filter" aria-label="Filter">
    {texts.group !== undefined && <input type="hidden" name="group" value={texts.group} />}
    <Choice name="feed" label="Feed" of={feeds} chosen={texts.feed} none="all feeds" />
    {(sites.length > 1 || texts.site !== undefined) && (
      <Choice name="site" label="Site" of={sites} chosen={texts.site} none="all sites" />
    )}
    {texts.group === undefined && (
      <Choice name="kind" label="Kind" of={ENTRY_KINDS} chosen={texts.kind} none="all kinds" />
    )}
    <Choice name="older_than" label="Waiting for at least" of={AGES} chosen={texts.older_than} none="any time" />
    <Choice name="newer_than" label="Waiting for less than" of={AGES} chosen={texts.newer_than} none="any time" />
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

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly of: readonly string[];
  readonly chosen: string | undefined;
  /** What the empty choice is called. */
  readonly none: string;
}

const Choice = ({ name, label, of, chosen, none }: ChoiceProps) => (
  <SelectField id={`filter-${name}`} name={name} label={label}>
    <option value="">{none}</option>
    {[...new Set([...of, ...(chosen === undefined ? [] : [chosen])])].map((value) => (
      <option value={value} selected={value === chosen}>
        {value.replaceAll('_', ' ')}
      </option>
    ))}
  </SelectField>
);
