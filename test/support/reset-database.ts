// Puts a test database back into the state of its template, which is faster than to copy the template again.
import pg from 'pg';

/** How to reset a copy of one template. Made once per run. */
export interface Reset {
  /** Empties tables, restores rows and sequences. */
  readonly statements: string;
  /** What `FINGERPRINT` returns for an unchanged copy. */
  readonly fingerprint: string;
}

/** BullMQ creates a sequence for each queue. */
const OF_A_QUEUE = `(relkind = 'S' and relname like 'bullmq\\_jid\\_%')`;

/**
 * Tables, columns, indexes, constraints, triggers, functions and settings, and the row that proves that data was not
 * restored from a backup. A database in which a test has changed one of these is not used again.
 */
const FINGERPRINT = `
  with own as (select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema')
  select md5(concat_ws(' ',
    (select string_agg(concat_ws(' ', c.oid, relname, relnatts, relhastriggers, c.xmin), ',' order by c.oid)
       from pg_class c where relnamespace in (select oid from own) and not ${OF_A_QUEUE}),
    (select sum(hashtext(concat_ws(' ', attrelid, attname, xmin)))
       from pg_attribute where attrelid in (select oid from pg_class where relnamespace in (select oid from own) and not ${OF_A_QUEUE})),
    (select sum(hashtext(concat_ws(' ', oid, tgenabled, xmin))) from pg_trigger),
    (select sum(hashtext(concat_ws(' ', oid, xmin))) from pg_constraint),
    (select sum(hashtext(concat_ws(' ', oid, xmin))) from pg_proc where pronamespace in (select oid from own)),
    (select count(*) from pg_db_role_setting where setdatabase <> 0 and setdatabase = (select oid from pg_database where datname = current_database())),
    (select concat_ws(' ', stamp, xmin) from data_stamp))) as fingerprint`;

/** Rows of these never change, or their changes show in the fingerprint. */
const CONSTANT = ['public.migration', 'public.data_stamp', 'queue.migration', 'sandbox.migration'];

/** A test has filled it with so many bytes that emptying it would take long, and leave it slower. */
const MOST_BYTES = 4 * 1024 * 1024;

const TABLES = `
  select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = relnamespace
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
    const statements = ['set session_replication_role = replica', ...names.map((name) => `delete from ${name}`)];
    for (const name of names) {
      const { rows } = await client.query(`select coalesce(jsonb_agg(t), '[]')::text as content from ${name} t`);
      const content = client.escapeLiteral(rows[0].content);
      if (rows[0].content !== '[]')
        statements.push(
          `insert into ${name} overriding system value select * from jsonb_populate_recordset(null::${name}, ${content})`,
        );
    }
    const { rows: sequences } = await client.query(
      `select format('%I.%I', schemaname, sequencename) as name from pg_sequences`,
    );
    for (const { name } of sequences) {
      const { rows } = await client.query(`select last_value, is_called from ${name}`);
      statements.push(`select setval('${name}', ${rows[0].last_value}, ${rows[0].is_called})`);
    }
    statements.push(`select setval(oid::regclass, 1, false) from pg_class where ${OF_A_QUEUE}`);
    statements.push('set session_replication_role = origin');
    const { rows } = await client.query(FINGERPRINT);
    return { statements: statements.join(';\n'), fingerprint: rows[0].fingerprint };
  } finally {
    await client.end();
  }
}

/**
 * Ends what still uses the database, except for `kept` connections, and resets it.
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
  const { rows } = await client.query(
    `select (${FINGERPRINT}) = $1 and (select sum(pg_relation_size(oid)) from pg_class
       where relkind = 'r' and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)) < $2
     as usable`,
    [reset.fingerprint, MOST_BYTES],
  );
  if (!rows[0].usable) return undefined;
  await client.query(reset.statements);
  const { rows: alive } = await client.query<{ pid: number }>(others);
  return alive.map(({ pid }) => pid);
}
