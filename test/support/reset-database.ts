// Puts a test database back into the state of its template, which is faster than to copy the template again.
import pg from 'pg';

/** How to reset a copy of one template. Made once per run. */
export interface Reset {
  /** Prepares `pg_temp.reset()` on a connection, which empties tables and restores rows and sequences. */
  readonly prepare: string;
  /** Tables that have rows in the template. */
  readonly restored: readonly string[];
  /** What `FINGERPRINT` returns for an unchanged copy. */
  readonly fingerprint: string;
}

/** BullMQ creates a sequence for each queue. */
const OF_A_QUEUE = `(relkind = 'S' and relname >= 'bullmq_jid_' and relname < 'bullmq_jie')`;
/** The first object ID after those of the system's own catalogs. */
const OWN = 16384;

/**
 * Tables, columns, indexes, constraints, triggers, functions and settings, and the row that proves that data was not
 * restored from a backup. A database in which a test has changed one of these is not used again.
 */
const FINGERPRINT = `
  with queues as materialized (select oid from pg_class where ${OF_A_QUEUE})
  select concat_ws(' ',
    (select sum(hashtext(concat_ws(' ', c.oid, relname, relnatts, relhastriggers, c.xmin))) from pg_class c
       where c.oid >= ${OWN} and relpersistence = 'p' and c.oid not in (select oid from queues)),
    (select sum(hashtext(concat_ws(' ', attrelid, attname, a.xmin))) from pg_attribute a
       where attrelid >= ${OWN} and attrelid not in (select oid from queues)),
    (select sum(hashtext(concat_ws(' ', oid, tgenabled, xmin))) from pg_trigger),
    (select sum(hashtext(concat_ws(' ', oid, xmin))) from pg_constraint where oid >= ${OWN}),
    (select sum(hashtext(concat_ws(' ', oid, xmin))) from pg_proc
       where oid >= ${OWN} and pronamespace <> pg_my_temp_schema()),
    (select count(*) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where datname = current_database()),
    (select concat_ws(' ', stamp, xmin) from data_stamp)) as fingerprint`;

/** Rows of these never change, or their changes show in the fingerprint. */
const CONSTANT = ['migration', 'data_stamp', 'queue.migration', 'sandbox.migration'];

/** A test has filled it with so many bytes that emptying it would take long, and leave it slower. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Empty tables that have pages. */
const USED = `
  select oid::regclass::text as name from pg_class
  where relkind = 'r' and relpersistence = 'p' and oid >= ${OWN} and pg_relation_size(oid) > 0
    and oid::regclass::text <> all($1)`;

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
    const statements = names.map((name) => `delete from ${name}`);
    for (const name of names) {
      const { rows } = await client.query(`select coalesce(jsonb_agg(t), '[]')::text as content from ${name} t`);
      const content = client.escapeLiteral(rows[0].content);
      if (rows[0].content === '[]') continue;
      restored.push(name);
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
    const { rows } = await client.query(FINGERPRINT);
    // A function of the session keeps the plans of its statements. Triggers are not executed.
    const prepare = `create function pg_temp.reset() returns void language plpgsql set session_replication_role = replica
      as $reset$ begin ${statements.join(';\n')}; end $reset$`;
    return { prepare, restored, fingerprint: rows[0].fingerprint };
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
  const others = `select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  await client.query(`select pg_terminate_backend(pid, 10000) from (${others}) o where pid <> all($1)`, [kept]);
  const { rows } = await client.query({
    name: 'usable',
    text: `select (${FINGERPRINT}) = $1 and (select sum(pg_relation_size(oid)) from pg_class
       where relkind = 'r' and oid >= ${OWN}) < $2 as usable`,
    values: [reset.fingerprint, MOST_BYTES],
  });
  if (!rows[0].usable) return undefined;
  await client.query('select pg_temp.reset()');
  const { rows: used } = await client.query<{ name: string }>({ name: 'used', text: USED, values: [reset.restored] });
  // Rows come out as they went in: without room between old rows, the next ones are not put there.
  if (used.length > 0) await client.query(`vacuum (truncate) ${used.map(({ name }) => name).join(', ')}`);
  const { rows: full } = await client.query({ name: 'used', text: USED, values: [reset.restored] });
  if (full.length > 0) return undefined;
  const { rows: alive } = await client.query<{ pid: number }>(others);
  return alive.map(({ pid }) => pid);
}
