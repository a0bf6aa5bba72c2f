// Applies the rules in force to the new entries of their groups. Taking the entries and storing the bulk action for them are one
// transaction, so that each rule decides each entry once, whichever processes apply it and wherever one of them ends.
import type { Config } from '../../config/config.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { ActedEntry } from '../../store/change/act-in-review.ts';
import type { Database, Queryable } from '../../store/postgres/database.ts';
import { createBulk } from '../../store/review/bulk-actions.ts';
import { lockRule, rulesInForce, takeNewEntries } from '../../store/review/rules.ts';
import { runBulk } from '../bulk/run-bulk.ts';
import { editableFeed } from '../plan-edit.ts';

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
