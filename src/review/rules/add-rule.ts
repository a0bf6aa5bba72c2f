// Adds and ends rules: what is done with the new entries of a group, without asking a person again.
import type { Config } from '../../config/config.ts';
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
import { countSelected, selectedIds } from '../../store/review/selected-counts.ts';
import type { Refused } from '../act-on-entries.ts';
import { severalFeeds, tryEdit, whyNotEdit, whyOneFeed } from '../try-edit.ts';

export interface RuleRequest {
  readonly group: string;
  /** Only entries of this feed. */
  readonly feed: FeedName | undefined;
  readonly action: RuleAction;
  readonly detail: RuleDetail;
  readonly actor: string;
}

/** Of a rule that edits: what keeps it from being made. */
interface RuleCheck {
  readonly config: Config;
  /** Some waiting entries would still be rejected. */
  readonly onlyIfValid: boolean;
  /** The group has entries of several feeds, and none is named. Of one, the rule is only for that one. */
  readonly onlyOneFeed: boolean;
}

export type RuleEnd =
  | { readonly kind: 'done'; readonly rule: ListedRule }
  /** Nothing was changed. */
  | { readonly kind: 'unknown' | 'refused'; readonly message: string; readonly edit?: Refused['edit'] };

/** The rule takes no entry that the group has now. */
export async function addRule(db: Database, request: RuleRequest, check?: RuleCheck): Promise<RuleEnd> {
  await foldReviewCounts(db);
  return db.transaction(async (tx) => {
    const checked = await checkedRule(tx, request, check);
    const made = 'group' in checked ? await addRuleWithin(tx, checked) : checked;
    if (made.kind !== 'made') return made;
    return { kind: 'done', rule: (await findRule(tx, made.id)) as ListedRule };
  });
}

async function checkedRule(
  tx: Queryable,
  request: RuleRequest,
  check: RuleCheck | undefined,
): Promise<RuleRequest | Exclude<RuleEnd, { kind: 'done' }>> {
  const { group, detail } = request;
  if (check === undefined || detail.edit === undefined) return request;
  const select = (feed: FeedName | undefined, discarded: boolean) =>
    countSelected(tx, { groups: [group], feed, discarded });
  const all = [...(await select(request.feed, false)), ...(await select(request.feed, true))];
  const several = severalFeeds(all);
  if (check.onlyOneFeed && several !== undefined)
    return { kind: 'refused', message: whyOneFeed(several), edit: several };
  const feed = request.feed ?? (check.onlyOneFeed ? all[0]?.feed : undefined);
  if (check.onlyIfValid) {
    const trial = await tryEdit(tx, check.config, await selectedIds(tx, { groups: [group], feed }), detail.edit);
    const message = whyNotEdit(trial);
    if (message !== undefined) return { kind: 'refused', message, edit: trial };
  }
  return { ...request, feed };
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
