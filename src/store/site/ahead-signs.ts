// Stores signs that a site has jobs unknown to this database: each triggers a search of the site before further creates.
import type { Message } from '../../plan/message.ts';
import type { FeedName, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import type { Database, Queryable } from '../postgres/database.ts';

/** The same job counts as a new sign only after this time. */
const KEPT = `interval '90 days'`;
/**
 * Pause between two searches for signs, so that they take at most a tenth of the time. Times in the future are those of a clock that was
 * ahead: they tell nothing.
 */
const PAUSE = `greatest(interval '10 minutes', 10 * (select max(f.site_checked_at) - max(s.taken_at)
  from feed_state f where f.site = $1 and f.site_checked_at <= clock_timestamp()))`;
const LAST_IS_OVER = `(select coalesce(max(s.taken_at) + ${PAUSE} < clock_timestamp(), true) from site_sign s
  where s.site = $1 and s.taken_at <= clock_timestamp())`;

/** SQL: whether the data was neither restored since it was stamped, nor goes on on a standby that may lack what was stored last. */
const IS_INTACT = '(stamp = data_stamp.xmin::text and coalesce(timeline = server_timeline(), true))';

/**
 * SQL condition: no search is due because of a sign, a restore of the data or a failover, so creates of the site need not wait.
 * @param site SQL expression for the site's name.
 */
export const noSearchIsDue = (site: string): string =>
  `not exists (select from site_sign s where s.site = ${site} and s.blocks and s.taken_at is null)
     and exists (select from data_stamp where ${IS_INTACT})`;

/** Records that a site job belongs to another posting than the database knew. It is one sign, however often it is seen. */
export async function noteSign(tx: Queryable, site: SiteName, id: SiteJobId): Promise<void> {
  await tx.query(`delete from site_sign where site = $1 and noted_at < now() - ${KEPT}`, [site]);
  await tx.query(
    `insert into site_sign (site, site_job_id, blocks) select $1, $2, ${LAST_IS_OVER} on conflict do nothing`,
    [site, id],
  );
}

/**
 * Requests one search for all waiting signs, once the last search for signs is long enough ago.
 * @param note shown for the site's feeds instead if the site cannot be searched. @returns the jobs that were signs.
 */
export async function takeSigns(db: Database, site: SiteName, note: Message | undefined): Promise<SiteJobId[]> {
  const [waiting] = await db.query('select from site_sign where site = $1 and taken_at is null limit 1', [site]);
  if (waiting === undefined) return [];
  return db.transaction(async (tx) => {
    const rows = await tx.query<{ id: SiteJobId }>(
      `update site_sign set taken_at = clock_timestamp() where site = $1 and taken_at is null
         and (${LAST_IS_OVER} or exists (select from site_sign s where s.site = $1 and s.taken_at is null and s.blocks))
       returning site_job_id as id`,
      [site],
    );
    if (rows.length > 0) await searchAgain(tx, site, note);
    return rows.map(({ id }) => id);
  });
}

/** What was found, or declared by a person, for the site at another address does not apply at this one. */
export const searchAnew = (tx: Queryable, site: SiteName): Promise<void> => searchAgain(tx, site, undefined);

async function searchAgain(tx: Queryable, site: SiteName | undefined, note: Message | undefined): Promise<void> {
  const feeds = await tx.query<{ feed: FeedName }>(
    'select feed from feed_state where $1::text is null or site = $1 order by feed for update',
    [site ?? null],
  );
  await tx.query(
    `update feed_state set site_checked_at = case when $2::jsonb is not null then site_checked_at end, site_check_note = $2,
       site_check_failed_at = null, site_declared = false where feed = any($1::text[])`,
    [feeds.map(({ feed }) => feed), note === undefined ? null : toJsonb(note)],
  );
}

/** What a log says of it. */
const MOVED = 'the database was restored or moved';
const RESTORED = 'the database was restored from a backup';
const FAILED_OVER =
  'the database goes on on another timeline, as after a failover: it may lack what the former server had stored last';

/**
 * Makes all sites be searched again if the database is in a different place than before, if its data was restored into the same
 * tables, or if a standby was promoted: it may know less than the sites. @param place what identifies the place to this process;
 * `undefined`: checks only the data. @returns what happened to the database, for a log; `undefined`: nothing.
 */
export async function noticeRestore(db: Database, place: string | undefined): Promise<string | undefined> {
  const [here] = await db.query<{ same: boolean }>(
    `select ${IS_INTACT} and ($1::text is null or not exists (select from installation where place is distinct from ${PLACE})) as same
     from data_stamp`,
    [place ?? null],
  );
  if (here?.same === true) return undefined;
  return db.transaction(async (tx) => {
    const moved = place !== undefined && (await notePlace(tx, place)) ? MOVED : undefined;
    const found = (await stampData(tx)) ?? moved;
    if (found !== undefined) await searchAgain(tx, undefined, undefined);
    return found;
  });
}

/** SQL: what identifies the database and its files. $1 is the place of the server. */
const PLACE = `concat_ws('/', $1::text, (select oid from pg_database where datname = current_database()),
  pg_relation_filenode('feed_state'), pg_relation_filenode('mapping'))`;

/** Returns whether the database was in another place before. */
async function notePlace(tx: Queryable, place: string): Promise<boolean> {
  const [row] = await tx.query<{ old: string | null }>(
    `update installation i set place = new.place from installation old, (select ${PLACE} as place) new
     where i.id = old.id and i.place is distinct from new.place returning old.place as old`,
    [place],
  );
  return row !== undefined && row.old !== null;
}

/** Returns what happened if the stamp is missing, or was written by a different transaction than it names, or on another timeline. */
async function stampData(tx: Queryable): Promise<string | undefined> {
  await tx.query('lock table data_stamp in share row exclusive mode');
  const [former] = await tx.query<{ intact: boolean; restored: boolean }>(
    `select ${IS_INTACT} as intact, stamp <> xmin::text as restored from data_stamp`,
  );
  if (former?.intact === true) return undefined;
  await tx.query('delete from data_stamp');
  await tx.query(
    'insert into data_stamp (stamp, timeline) values ((txid_current() % 4294967296)::text, server_timeline())',
  );
  return former?.restored === false ? FAILED_OVER : RESTORED;
}
