// Review groups as scripts see them, and their title for people.
import { tell, type WriteAction } from '../../plan/message.ts';
import type { GroupTrend, ListedGroup } from '../list-groups.ts';
import { noteJson, ruleJson } from './rule.ts';

export function groupJson(group: ListedGroup, write: WriteAction) {
  const {
    id,
    kind,
    field,
    message,
    count,
    firstSeen,
    lastSeen,
    trend,
    values,
    valueCount,
    feeds,
    sites,
    example,
    notes,
    rules,
  } = group;
  return {
    group: id,
    kind,
    field: field ?? null,
    message,
    count,
    first_seen: firstSeen,
    last_seen: lastSeen,
    trend,
    values: values.map(({ of, count: n }) => ({ value: of, count: n })),
    value_count: valueCount,
    feeds: feeds.map(({ of, count: n }) => ({ feed: of, count: n })),
    sites: sites.map(({ of, count: n }) => ({ site: of, count: n })),
    example: {
      id: example.id,
      feed: example.feed,
      key: example.key ?? null,
      value: example.value ?? null,
      reason: tell(example.reason, write),
    },
    notes: notes.map(noteJson),
    rules: rules.map(ruleJson),
  };
}

export const TREND_WORDS: Readonly<Record<GroupTrend, string>> = {
  new: 'new',
  back: 'back again',
  growing: 'growing',
  shrinking: 'shrinking',
  steady: 'steady',
};

/** `location-state: … is not a valid U.S. state: Jalisco, Sonora and 12 more` */
export function groupTitle(
  { field, message, values, valueCount }: Pick<ListedGroup, 'field' | 'message' | 'values' | 'valueCount'>,
  shown = 2,
): string {
  const first = values.slice(0, shown).map(({ of }) => (of.includes(',') ? `"${of}"` : of));
  // What follows a semicolon is advice.
  const said = first.length === 0 ? message : (message.split('; ', 1)[0] ?? '');
  const named = field === undefined || message.includes(field) ? said : `${field}: ${said.replace(/^…\s*/, '')}`;
  if (first.length === 0) return named;
  const more = valueCount - first.length;
  return `${named}: ${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
