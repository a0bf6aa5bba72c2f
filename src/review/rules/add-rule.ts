// Adds and ends rules: what is done with the new entries of a group, without asking a person again.
import { whyNoRule } from '../../plan/allowed.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { auditAction } from '../../store/access/audit.ts';
import type { Database, Queryable } from '../../store/postgres/database.ts';
import { findGroup } from '../../store/review/group-kind.ts';
import { foldReviewCounts } from '../../store/review/review-totals.ts';
import {
  endRule,
  findRule,
  insertRule,
  type ListedRule,
  lockRules,
  type RuleAction,
  type RuleDetail,
  ruleInForce,
} from '../../store/review/rules.ts';

export interface RuleRequest {
  readonly group: string;
  /** Only entries of this feed. */
  readonly feed: FeedName | undefined;
  readonly action: RuleAction;
  readonly detail: RuleDetail;
  readonly actor: string;
}

export type RuleEnd =
  | { readonly kind: 'done'; readonly rule: ListedRule }
  /** Nothing was changed. */
  | { readonly kind: 'unknown' | 'refused'; readonly message: string };

/** The rule takes no entry that the group has now. */
export async function addRule(db: Database, request: RuleRequest): Promise<RuleEnd> {
  await foldReviewCounts(db);
  return db.transaction(async (tx) => {
    const made = await addRuleWithin(tx, request);
    if (made.kind !== 'made') return made;
    return { kind: 'done', rule: (await findRule(tx, made.id)) as ListedRule };
  });
}

/** The same as part of a decision about the entries that the group has now. */
export async function addRuleWithin(
  tx: Queryable,
  { group, feed, action, detail, actor }: RuleRequest,
): Promise<{ readonly kind: 'made'; readonly id: number } | Exclude<RuleEnd, { kind: 'done' }>> {
  await lockRules(tx);
  const subject = await findGroup(tx, group);
  if (subject === undefined) return { kind: 'unknown', message: `there is no entry in group ${group}` };
  const obstacle = whyNoRule(action, subject.kind);
  if (obstacle !== undefined) return { kind: 'refused', message: obstacle };
  const other = await ruleInForce(tx, group, feed ?? null);
  if (other !== undefined) {
    const message = `rule ${other.id} of ${other.actor} decides new entries of group ${group} already: end it first`;
    return { kind: 'refused', message };
  }
  const { id } = await insertRule(tx, { ...subject, feed: feed ?? null, action, detail, actor });
  const scope = feed === undefined ? {} : { feed };
  await auditAction(tx, { actor, action: 'add rule', ...scope, detail: { rule: id, group, action, ...detail } });
  return { kind: 'made', id };
}

/** What it has begun is stopped; what it did stays. */
export async function endRuleOf(db: Database, id: number, actor: string): Promise<RuleEnd> {
  return db.transaction(async (tx) => {
    const found = await findRule(tx, id);
    if (found === undefined) return { kind: 'unknown', message: `there is no rule ${id}` };
    if (!(await endRule(tx, id, actor))) {
      return { kind: 'refused', message: `rule ${id} was ended already, by ${found.endedBy ?? 'somebody'}` };
    }
    const scope = found.feed === null ? {} : { feed: found.feed };
    await auditAction(tx, { actor, action: 'end rule', ...scope, detail: { rule: id, group: found.group } });
    return { kind: 'done', rule: (await findRule(tx, id)) as ListedRule };
  });
}
