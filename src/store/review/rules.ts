// Stores rules: what is done with new entries of a group. Each rule takes each entry once, whatever becomes of the entry.
import type { FeedName } from '../../posting/identifiers.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Queryable, readColumn, readNumber } from '../postgres/database.ts';
import type { BulkEdit } from './bulk-actions.ts';
import type { GroupSubject } from './review-groups.ts';

export const RULE_ACTIONS = ['edit', 'retry', 'discard'] as const;
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** The values of an edit, or the reason of a discard. */
export interface RuleDetail {
  readonly edit?: BulkEdit;
  readonly reason?: string;
}

export interface RuleRow extends GroupSubject {
  readonly id: number;
  /** Null: entries of all feeds. */
  readonly feed: FeedName | null;
  readonly action: RuleAction;
  readonly detail: RuleDetail;
  readonly actor: string;
  readonly madeAt: Date;
  readonly endedAt: Date | null;
  readonly endedBy: string | null;
}

/** A rule with what it has done so far. */
export interface ListedRule extends RuleRow {
  readonly done: number;
  readonly leftAlone: number;
}

const COLUMNS = `r.id, r.group_id as "group", r.kind, r.field, r.message, r.feed, r.action, r.detail, r.actor,
  r.made_at as "madeAt", r.ended_at as "endedAt", r.ended_by as "endedBy"`;

/** Keeps others from adding rules until the transaction ends. */
export const lockRules = (tx: Queryable) => tx.query('lock table review_rule in share row exclusive mode');

/** A rule in force for some of the same entries. */
export async function ruleInForce(tx: Queryable, group: string, feed: FeedName | null): Promise<RuleRow | undefined> {
  const rows = await tx.query<RuleRow>(
    `select ${COLUMNS} from review_rule r
     where r.group_id = $1 and r.ended_at is null and ($2::text is null or r.feed is null or r.feed = $2) order by r.id limit 1`,
    [group, feed],
  );
  return rows[0];
}

/** The entries that the group has now, also discarded ones, are not new: the rule will never take them. */
export async function insertRule(
  tx: Queryable,
  rule: Pick<RuleRow, 'group' | 'kind' | 'field' | 'message' | 'feed' | 'action' | 'detail' | 'actor'>,
): Promise<RuleRow> {
  const [made] = await tx.query<RuleRow>(
    `insert into review_rule as r (group_id, kind, field, message, feed, action, detail, actor)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${COLUMNS}`,
    [rule.group, rule.kind, rule.field, rule.message, rule.feed, rule.action, toJsonb(rule.detail), rule.actor],
  );
  await tx.query('insert into rule_entry (rule, entry) select $1, id from review_entry where group_id = $2', [
    made?.id,
    rule.group,
  ]);
  return made as RuleRow;
}

/** Ends the rule, and stops what it has begun. Returns false if it is not in force. */
export async function endRule(tx: Queryable, id: number, actor: string): Promise<boolean> {
  const ended = await tx.query(
    'update review_rule set ended_at = now(), ended_by = $2 where id = $1 and ended_at is null returning id',
    [id, actor],
  );
  if (ended.length === 0) return false;
  await tx.query(`update bulk_action set state = 'stopped' where rule = $1 and state = 'open'`, [id]);
  return true;
}

export async function findRule(db: Queryable, id: number): Promise<ListedRule | undefined> {
  return (await listed(db, 'r.id = $1', [id, 1]))[0];
}

/** All rules: those in force first, then the newest first. @param after only rules that follow this one, whatever became of it since */
export const listRules = (
  db: Queryable,
  limit: number,
  after?: { readonly inForce: boolean; readonly id: number },
): Promise<ListedRule[]> =>
  after === undefined
    ? listed(db, '$1', [true, limit])
    : listed(db, '(r.ended_at is not null, -r.id) > ($3::boolean, -$1::bigint)', [after.id, limit, !after.inForce]);

/** The rules in force for these groups. */
export const rulesOf = (db: Queryable, groups: readonly string[]): Promise<ListedRule[]> =>
  listed(db, 'r.group_id = any($1::text[]) and r.ended_at is null', [groups, null]);

const listed = (db: Queryable, condition: string, values: readonly unknown[]): Promise<ListedRule[]> =>
  db.query<ListedRule>(
    `select ${COLUMNS}, b.done, b."leftAlone" from review_rule r
       join lateral (
         select coalesce(sum(done), 0)::bigint as done, coalesce(sum(skipped), 0)::bigint as "leftAlone"
         from bulk_action where rule = r.id) b on true
     where ${condition} order by r.ended_at is not null, r.id desc limit $2`,
    values,
  );

/** The numbers of the rules in force. */
export const rulesInForce = (db: Queryable): Promise<number[]> =>
  readColumn<number>(db, 'select id from review_rule where ended_at is null order by id');

/** Locks the rule, if it is in force and no other process applies it at the moment. */
export async function lockRule(tx: Queryable, id: number): Promise<RuleRow | undefined> {
  const rows = await tx.query<RuleRow>(
    `select ${COLUMNS} from review_rule r where r.id = $1 and r.ended_at is null for update skip locked`,
    [id],
  );
  return rows[0];
}

/** Takes entries of these feeds that the rule has not taken yet, and keeps them as they are until the transaction ends. A delete is left to a person. */
export const takeNewEntries = (
  tx: Queryable,
  { id, group, feed }: RuleRow,
  feeds: readonly FeedName[],
  limit: number,
): Promise<number[]> =>
  readColumn<number>(
    tx,
    `with chosen as materialized (
       select e.id from review_entry e left join change c on c.id = e.id
       where e.group_id = $2 and not e.discarded and ($3::text is null or e.feed = $3) and e.feed = any($4::text[])
         and e.kind in ('rejected', 'failed', 'duplicate') and (c.id is null or c.desired = 'present' and not c.gone)
         and not exists (select from rule_entry t where t.rule = $1 and t.entry = e.id)
       order by e.id limit $5 for update of e skip locked)
     insert into rule_entry (rule, entry) select $1, id from chosen returning entry`,
    [id, group, feed, feeds, limit],
  );

/** Forgets entries that do not exist any more, as no other entry gets their number, and those of rules that have ended. */
export const forgetRuleEntries = (db: Queryable, limit: number): Promise<number> =>
  readNumber(
    db,
    `with gone as (
       delete from rule_entry where ctid = any(array(select t.ctid from rule_entry t join review_rule r on r.id = t.rule
         where r.ended_at is not null or not (
           exists (select from change c where c.id = t.entry) or exists (select from record_problem p where p.id = t.entry))
         limit $1)) returning 1)
     select count(*) as n from gone`,
    [limit],
  );
