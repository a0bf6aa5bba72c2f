// Rules and notes of groups as scripts see them, and what a rule does in words.
import type { BulkEdit } from '../../store/review/bulk-actions.ts';
import type { GroupNote } from '../../store/review/group-notes.ts';
import type { ListedRule } from '../../store/review/rules.ts';

export function ruleJson(rule: ListedRule) {
  const { id, group, kind, field, message, feed, action, detail, actor, madeAt, endedAt, endedBy, done } = rule;
  return {
    rule: id,
    group,
    kind,
    field,
    message,
    feed,
    action,
    edit: detail.edit ?? null,
    reason: detail.reason ?? null,
    actor,
    made_at: madeAt,
    ended_at: endedAt,
    ended_by: endedBy,
    done,
    left_alone: rule.leftAlone,
  };
}

export const noteJson = ({ id, group, text, actor, at }: GroupNote) => ({ note: id, group, text, actor, at });

/** What a rule or a person does. */
export interface Decision {
  readonly action: string;
  readonly edit: BulkEdit | null | undefined;
  readonly reason: string | null | undefined;
}

/** `edit: sets location-state to "Texas"` without the number of entries. */
export function describeDecision({ action, edit, reason }: Decision): string {
  const set = Object.entries(edit?.set ?? {}).map(([field, value]) =>
    value === '' ? `removes ${field}` : `sets ${field} to ${quoted(value)}`,
  );
  const map = edit?.map === undefined ? [] : [`replaces values of ${edit.map.field}: ${pairsOf(edit.map.values)}`];
  const parts = [...set, ...map, ...(reason == null ? [] : [quoted(reason)])];
  return parts.length === 0 ? action : `${action}: ${parts.join(', ')}`;
}

const SHOWN = 3;

function pairsOf(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(([from, to]) => `${quoted(from)} → ${quoted(to)}`);
  const more = pairs.length > SHOWN ? ` and ${pairs.length - SHOWN} more` : '';
  return `${pairs.slice(0, SHOWN).join(', ')}${more}`;
}

const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
