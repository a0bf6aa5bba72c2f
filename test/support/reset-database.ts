// Puts a test database back into the state of its template, which is faster than to copy the template again.
import pg from 'pg';

/** How to reset a copy of one template. Made once per run. */
export interface Reset {
  /** Prepares `pg_temp.reset(used)` on a connection, which empties tables and restores rows and sequences. */
  readonly prepare: string;
  /** Tables that have rows in the template. */
  readonly restored: readonly string[];
  /** What `describes` returns for an unchanged copy. */
  readonly fingerprint: string;
  readonly describes: string;
}

/** BullMQ creates a sequence for each queue. */
const OF_A_QUEUE = `(relkind = 'S' and relname >= 'bullmq_jid_' and relname < 'bullmq_jie')`;
/** The first object ID after those of the system's own catalogs. */
const OWN = 16384;

/**
 * How many tables, columns, indexes, constraints, triggers, functions and settings there are, whether one is newer than the template,
 * of which the newest transaction is given, and the row that proves that data was not restored from a backup. A database in which a
 * test has changed one of these is not used again. Texts of all rows would take several times as long.
 */
const fingerprintOf = (newest: string): string => {
  const counts = `concat_ws('/', count(*), count(*) filter (where age(t.xmin) < age('${newest}'::xid)))`;
  return `
  with queues as materialized (select oid from pg_class where ${OF_A_QUEUE})
  select concat_ws(' ',
    (select ${counts} from pg_class t where oid >= ${OWN} and relpersistence = 'p' and oid not in (select oid from queues)),
    (select ${counts} from pg_attribute t where attrelid >= ${OWN} and attrelid not in (select oid from queues)),
    (select ${counts} from pg_trigger t),
    (select ${counts} from pg_constraint t where oid >= ${OWN}),
    (select ${counts} from pg_proc t where oid >= ${OWN} and pronamespace <> pg_my_temp_schema()),
    (select count(*) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where datname = current_database()),
    (select concat_ws(' ', stamp, xmin) from data_stamp)) as fingerprint`;
};

/** Rows of these never change, or their changes show in the fingerprint. */
const CONSTANT = ['migration', 'data_stamp', 'queue.migration', 'sandbox.migration'];

/** A test has filled it with so many bytes that emptying it would take long, and leave it slower. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Up to this size a table keeps its dead rows, as tables in use do: a vacuum has all plans made again that use the table, which takes
 * as long as a small pull.
 */
const DEAD_BYTES = 64 * 1024;

/** Tables that have pages. */
const USED = `
  select * from (select oid::regclass::text as name, pg_relation_size(oid)::float8 as bytes from pg_class
    where relkind = 'r' and relpersistence = 'p' and oid >= ${OWN}) t where bytes > 0`;

const OTHERS = `select pid from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;

const TABLES = `
  select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = relnamespace
  where relkind = 'r' and nspname !~ '^pg_' and nspname <> 'information_schema' order by 1`;

/** Returns undefined if the user may not switch off triggers: then copies can't be reset. */
export async function describeReset(templateUrl: string): Promise<Reset | undefined> {
  const client = new pg.Client({ connectionString: templateUrl });
  await client.connect();
  try {
    const { rows: who } = await client.query('select rolsuper from pg_roles where rolname = current_user');
    if (!who[0].rolsuper) return undefined;
    const { rows: tables } = await client.query<{ name: string }>(TABLES);
    const names = tables.map(({ name }) => name).filter((name) => !CONSTANT.includes(name));
    const restored = [...CONSTANT];
    const statements: string[] = [];
    for (const name of names) {
      const { rows } = await client.query(`select coalesce(jsonb_agg(t), '[]')::text as content from ${name} t`);
      const content = client.escapeLiteral(rows[0].content);
      if (rows[0].content === '[]') {
        statements.push(`if '${name}' = any(used) then delete from ${name}; end if`);
        continue;
      }
      restored.push(name);
      statements.push(`delete from ${name}`);
      statements.push(
        `insert into ${name} overriding system value select * from jsonb_populate_recordset(null::${name}, ${content})`,
      );
    }
    const { rows: sequences } = await client.query(
      `select format('%I.%I', schemaname, sequencename) as name from pg_sequences`,
    );
    for (const { name } of sequences) {
      const { rows } = await client.query(`select last_value, is_called from ${name}`);
      statements.push(`perform setval('${name}', ${rows[0].last_value}, ${rows[0].is_called})`);
    }
    statements.push(`perform setval(oid::regclass, 1, false) from pg_class where ${OF_A_QUEUE}`);
    const { rows: ids } = await client.query<{ newest: string }>('select pg_current_xact_id()::xid::text as newest');
    const describes = fingerprintOf(ids[0]?.newest as string);
    const { rows } = await client.query(describes);
    // A function of the session keeps the plans of its statements, until the role changes: in it, triggers are not executed.
    const prepare = `set session_replication_role = replica;
      create function pg_temp.reset(used text[]) returns void language plpgsql as $reset$ begin ${statements.join(';\n')}; end $reset$`;
    return { prepare, restored, fingerprint: rows[0].fingerprint, describes };
  } finally {
    await client.end();
  }
}

/** Opens a connection that resets a database. */
export async function openReset(url: string, reset: Reset): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'test keeper' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query(reset.prepare);
  return client;
}

/**
 * Ends what still uses the database, except for `kept` connections, and resets it.
 * @param client of {@link openReset}.
 * @returns the connections that still exist, or undefined if the database must not be used again.
 */
export async function resetDatabase(
  client: pg.Client,
  reset: Reset,
  kept: readonly number[],
): Promise<number[] | undefined> {
  await client.query(`select pg_terminate_backend(pid, 10000) from (${OTHERS}) o where pid <> all($1)`, [kept]);
  const { rows: same } = await client.query({
    name: 'usable',
    text: `select (${reset.describes}) = $1 as usable`,
    values: [reset.fingerprint],
  });
  if (!same[0].usable) return undefined;
  const { rows: used } = await client.query<{ name: string; bytes: number }>({ name: 'used', text: USED });
  if (used.reduce((sum, { bytes }) => sum + bytes, 0) >= MOST_BYTES) return undefined;
  const filled = used.map(({ name }) => name).filter((name) => !reset.restored.includes(name));
  await client.query({ name: 'reset', text: 'select pg_temp.reset($1::text[])', values: [filled] });
  const large = used.filter(({ name, bytes }) => bytes > DEAD_BYTES && filled.includes(name)).map(({ name }) => name);
  if (large.length > 0) await client.query(`vacuum (truncate) ${large.join(', ')}`);
  const { rows: after } = await client.query<{ full: boolean; alive: number[] }>({
    name: 'after',
    text: `select exists (select from unnest($1::text[]) name where pg_relation_size(name::regclass) > 0) as full,
      array(${OTHERS}) as alive`,
    values: [large],
  });
  return after[0]?.full === false ? after[0].alive : undefined;
}
