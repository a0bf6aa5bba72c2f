// Reads what is known of a feed whose keys seem to have changed: why, and which new posting may be which missing one.
import pg from 'pg';
import type { Message } from '../../../plan/message.ts';
import { judgeRekey, type RekeyVerdict } from '../../../plan/rekey.ts';
import type { FeedName, PostingKey, SiteJobId } from '../../../posting/identifiers.ts';
import { inBatches } from '../../postgres/cursor.ts';
import type { Database, Queryable, Row } from '../../postgres/database.ts';
import { HAS_ENDED } from '../../pull/posting-expiry.ts';
import type { RekeyPair } from './rekey-postings.ts';

export interface RekeyState {
  /** What a person should know; `undefined`: no change of keys is suspected. */
  readonly note: Message | undefined;
  /** Creates that wait for it. */
  readonly waiting: number;
}

export async function readRekey(db: Queryable, feed: FeedName): Promise<RekeyState> {
  const [row] = await db.query<{ note: Message | null; waiting: number }>(
    `select f.rekey_note as note, (select count(*) from change c where c.feed = f.feed and c.state = 'ready'
         and c.operation = 'create' and c.desired = 'present' and not c.gone and not c.unseen) as waiting
     from feed_state f where f.feed = $1 and f.rekey_since is not null`,
    [feed],
  );
  return { note: row?.note ?? undefined, waiting: row?.waiting ?? 0 };
}

/** A new posting, a missing posting that has a job or whose job has ended, or both, if the first may be the second under another key. */
export interface RekeyLine {
  /** Of the new posting. */
  readonly key: PostingKey | undefined;
  /** Of the missing posting. */
  readonly oldKey: PostingKey | undefined;
  /** Of the missing posting; `undefined`: its job has ended. */
  readonly siteJobId: SiteJobId | undefined;
  readonly title: string | undefined;
  readonly verdict: RekeyVerdict;
  readonly reasons: readonly string[];
  /** Another text if the content of one of the two postings is another one. */
  readonly contents: string;
}

const BATCH = 500;

/** Reads the pairs as they were at one moment, as often as it is called and whatever is bound meanwhile. */
export type ReadPairs = () => AsyncGenerator<RekeyLine[]>;

/**
 * Each reading yields the pairs, the most certain first, then the postings without a pair; by the keys of the new postings.
 * @param only the pair of these postings is right, if there is one; of the others, not all are read
 */
export async function withPairs<Result>(
  db: Database,
  feed: FeedName,
  use: (read: ReadPairs) => Promise<Result>,
  only?: RekeyPair,
): Promise<Result> {
  const session = await db.session();
  try {
    await session.query('begin isolation level repeatable read read only');
    const result = await use(async function* () {
      for await (const rows of inBatches<PairRow>(session, 'rekey_pairs', selectPairs(feed, only), BATCH))
        yield rows.map(lineOf);
    });
    await session.query('commit');
    return result;
  } finally {
    await session.end();
  }
}

interface PairRow extends Row {
  readonly oldKey: PostingKey | null;
  readonly key: PostingKey | null;
  readonly siteJobId: SiteJobId | null;
  readonly title: string | null;
  readonly how: 'equal' | 'alike' | 'single';
  readonly missing: number;
  readonly added: number;
  readonly proven: boolean;
  readonly edited: boolean;
  readonly differing: readonly string[] | null;
  readonly contents: string;
}

const HAS_NO_JOB = 'its job has ended, so it gets none';

function lineOf({ key, oldKey, siteJobId, title, how, differing, contents, ...evidence }: PairRow): RekeyLine {
  const named = {
    key: key ?? undefined,
    oldKey: oldKey ?? undefined,
    siteJobId: siteJobId ?? undefined,
    title: title ?? undefined,
    contents,
  };
  if (how !== 'single') {
    const { verdict, reasons } = judgeRekey({ ...evidence, equal: how === 'equal', differing: differing ?? [] });
    return { ...named, verdict, reasons: siteJobId === null ? [...reasons, HAS_NO_JOB] : reasons };
  }
  const other = key === null ? 'no new posting' : 'no missing posting';
  return { ...named, verdict: 'unmatched', reasons: [`${other} has its content, or its title and place`] };
}

/** Both sides as they are now: what was mapped, sent or deleted meanwhile is left out. */
const selectSides = (feed: string, source: string): string => `
  select r.is_new, r.key, r.content, r.likeness, r.proven, m.site_job_id,
    exists (select from override o where o.feed = r.feed and o.key = r.key) as edited
  from ${source} r left join mapping m on m.feed = r.feed and m.key = r.key
    left join change c on c.feed = r.feed and c.key = r.key
  where r.feed = ${feed} and case when r.is_new then m.key is null and c.operation = 'create' and c.desired = 'present'
    else m.key is not null or exists (select from posting_expiry e where e.feed = r.feed and e.key = r.key and ${HAS_ENDED}) end`;

/**
 * Numbers the postings of each group in the order of their keys; numbers in keys count by their size. Postings with the same number are
 * a pair. No join, as the planner expects few rows of any of these and would compare all with all.
 */
const numbered = (source: string, group: 'content' | 'likeness'): string =>
  `select side.*, place is not null and place <= least(added, missing) as paired from (
     select is_new, key, content, likeness, proven, site_job_id, edited,
       case when ${group} is not null
         then row_number() over (partition by is_new, ${group} order by length(key), key collate "C") end as place,
       count(*) filter (where is_new) over same as added, count(*) filter (where not is_new) over same as missing,
       bool_or(edited and not is_new) over same as any_edited
     from ${source} window same as (partition by ${group})) side`;

const pairsOf = (source: string, group: 'content' | 'likeness'): string =>
  `select max(key) filter (where not is_new) as old_key, max(key) filter (where is_new) as new_key,
     max(site_job_id) as site_job_id, max(missing) as missing, max(added) as added,
     bool_or(proven) filter (where not is_new) as proven, bool_or(any_edited) as any_edited
   from ${source} where paired group by ${group}, place`;

/** What decides about the pair of these postings: all that share a content or a likeness with either, and what shares their contents. */
function aroundPair(feed: string, { key, oldKey }: RekeyPair): string {
  const named = `(select * from rekey_posting where feed = ${feed} and is_new and key = ${pg.escapeLiteral(key)}
    union all select * from rekey_posting where feed = ${feed} and not is_new and key = ${pg.escapeLiteral(oldKey)})`;
  const sharing = (group: 'content' | 'likeness', source: string) =>
    `(select p.* from (select distinct ${group} from ${source} s) g join rekey_posting p on p.feed = ${feed} and p.${group} = g.${group})`;
  const alike = sharing('likeness', named);
  return `(select * from ${named} n union select * from ${alike} a
    union select * from ${sharing('content', `(select content from ${named} n union select content from ${alike} a)`)} c)`;
}

const differingNames = `(select array_agg(name order by name) from (
    select key as name from jsonb_each_text(d.fields::jsonb) a full join jsonb_each_text(c.fields::jsonb) b using (key)
    where a.value is distinct from b.value) differing)`;

function selectPairs(name: FeedName, pair: RekeyPair | undefined): string {
  const feed = pg.escapeLiteral(name);
  const source = pair === undefined ? 'rekey_posting' : aroundPair(feed, pair);
  const documents = (line: string) => `left join document d on d.feed = ${feed} and d.key = ${line}.old_key
    left join mapping m on m.feed = ${feed} and m.key = ${line}.old_key
    left join change c on c.feed = ${feed} and c.key = ${line}.new_key`;
  return `
    with side as materialized (${selectSides(feed, source)}),
      by_content as materialized (${numbered('side', 'content')}),
      by_likeness as materialized (${numbered('(select * from by_content where not paired) unpaired', 'likeness')}),
      line as (
        select 1 as rank, 'equal' as how, equal.* from (${pairsOf('by_content', 'content')}) equal
        union all select 2, 'alike', alike.* from (${pairsOf('by_likeness', 'likeness')}) alike
        union all select 3, 'single', case when is_new then null else key end, case when is_new then key end, site_job_id,
          0, 0, proven, edited from by_likeness where not paired)
    select line.old_key as "oldKey", line.new_key as key, line.site_job_id as "siteJobId", how, missing, added, proven,
      any_edited as edited, coalesce(c.fields->>'title', d.fields->>'title') as title,
      case when how = 'alike' and d.key is not null then ${differingNames} end as differing,
      concat_ws('/', encode(m.content_hash, 'hex'), encode(c.content_hash, 'hex')) as contents
    from line ${documents('line')}
    order by rank, length(coalesce(line.new_key, line.old_key)), coalesce(line.new_key, line.old_key) collate "C"`;
}
