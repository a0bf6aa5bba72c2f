// Adds and ends rules: what is done with the new entries of a group, without asking a person again.
import type { Config } from '../config/config.ts';
import { whyNoRule } from '../plan/allowed.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { auditAction } from '../store/access/audit.ts';
import type { ActedEntry } from '../store/change/act-in-review.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { createBulk } from '../store/review/bulk-actions.ts';
import { findGroup } from '../store/review/review-groups.ts';
import { countSelected, foldReviewCounts, selectedIds } from '../store/review/review-totals.ts';
import {
  endRule,
  findRule,
  insertRule,
  type ListedRule,
  lockRule,
  lockRules,
  type RuleAction,
  type RuleDetail,
  ruleInForce,
  rulesInForce,
  takeNewEntries,
} from '../store/review/rules.ts';
import type { Refused } from './act-on-entries.ts';
import { runBulk } from './bulk/run-bulk.ts';
import { editableFeed } from './plan-edit.ts';
import { severalFeeds, tryEdit, whyNotEdit, whyOneFeed } from './try-edit.ts';

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

// Applies the rules in force to the new entries of their groups. Taking the entries and storing the bulk action for them are one
// transaction, so that each rule decides each entry once, whichever processes apply it and wherever one of them ends.

/** The others are taken the next time. */
const MOST_AT_ONCE = 10_000;

/** Stores a bulk action for each rule with new entries of these feeds. Returns their numbers: somebody carries them out. */
export async function startRules(
  db: Database,
  config: Config,
  feeds: Iterable<FeedName>,
  limit = MOST_AT_ONCE,
): Promise<number[]> {
  const rules = await rulesInForce(db);
  if (rules.length === 0) return [];
  // An edit needs the mapping of its feed: the entries of other feeds are left to the processes that have it.
  const ours = [...feeds].filter((feed) => typeof editableFeed(config, feed) !== 'string');
  const started: number[] = [];
  for (const id of rules) {
    const bulk = await db.transaction((tx) => startRule(tx, id, ours, limit));
    if (bulk !== undefined) started.push(bulk);
  }
  return started;
}

async function startRule(
  tx: Queryable,
  id: number,
  feeds: readonly FeedName[],
  limit: number,
): Promise<number | undefined> {
  const rule = await lockRule(tx, id);
  const ids = rule === undefined ? [] : await takeNewEntries(tx, rule, feeds, limit);
  if (rule === undefined || ids.length === 0) return undefined;
  const detail = { query: { groups: [rule.group], ids }, ...rule.detail, unattended: true };
  return (await createBulk(tx, { action: rule.action, actor: rule.actor, detail, rule: id })).bulk.id;
}

/** Applies the rules to these feeds and waits for the end. Returns what they acted on. */
export async function applyRules(
  db: Database,
  config: Config,
  feeds: Iterable<FeedName>,
  signal: AbortSignal,
): Promise<ActedEntry[]> {
  const acted: ActedEntry[] = [];
  const names = [...feeds];
  // An entry that one rule edited may be new in the group of another; each rule takes it once, so this ends.
  for (let started = [0]; started.length > 0 && !signal.aborted; ) {
    started = await startRules(db, config, names);
    for (const id of started) acted.push(...((await runBulk(db, config, id, { signal }))?.acted ?? []));
  }
  return acted;
}
