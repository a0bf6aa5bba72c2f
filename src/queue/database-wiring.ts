// Configures BullMQ to keep its queues in the schema `queue` of the installation's Postgres.
import {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  PostgresConnection,
  type PostgresPoolConfig,
  type PostgresQueueBackend,
  runMigrations,
  SchemaMigrationRequiredError,
} from 'bullmq';
import { passwordForms, reportedError, sharingFactory, type WhenFree } from './shared-connection.ts';
import type { Wiring } from './wiring.ts';

const SCHEMA = 'queue';

/** For the whole process. More connections do not finish jobs faster, as their transactions wait for one another. */
const MOST_CONNECTIONS = 6;

/**
 * Pool options for the given database. The queue may be lost at any time, so its commits do not wait for the disk.
 * BullMQ names its schema in the connection's `options`, which poolers refuse or ignore. Those of the URL replace them, even if they
 * are empty, and each connection gets its settings once it is open.
 */
function poolOptions(databaseUrl: string, max: number): PostgresPoolConfig {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', url.searchParams.get('options') ?? '');
  const settings = `set search_path = ${SCHEMA}; set synchronous_commit = off`;
  const onConnect = (client: { query(text: string): Promise<unknown> }): Promise<unknown> => client.query(settings);
  const options = {
    connectionString: url.href,
    schema: SCHEMA,
    max,
    application_name: 'jobmirror queue',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    onConnect,
  };
  return options;
}

/** Creates the schema, or migrates it to this version of BullMQ. Several processes may do so at once. */
async function migrate(databaseUrl: string): Promise<void> {
  const connection = new PostgresConnection(poolOptions(databaseUrl, 1));
  try {
    const client = await connection.pool.connect();
    try {
      if (!(await isMigrated(client))) await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
  } finally {
    await connection.close();
  }
}

/** With one statement that locks nothing: mostly there is nothing to migrate. */
async function isMigrated(client: Parameters<typeof assertSchemaCompatibility>[0]): Promise<boolean> {
  try {
    return (await assertSchemaCompatibility(client, SCHEMA)) >= LATEST_SCHEMA_VERSION;
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return false;
    throw error;
  }
}

/**
 * Prepares the schema and returns the connection settings.
 *
 * @throws Error without the password.
 */
export async function databaseWiring(
  databaseUrl: string,
  whenFree: WhenFree = (_pool, connect) => connect(),
): Promise<Wiring<PostgresQueueBackend, PostgresPoolConfig>> {
  const secrets = passwordForms(new URL(databaseUrl));
  try {
    await whenFree(undefined, () => migrate(databaseUrl));
  } catch (error) {
    throw new Error(`queue: the database can't hold the queue: ${reportedError(error, secrets).message}`);
  }
  const options = poolOptions(databaseUrl, MOST_CONNECTIONS);
  return {
    kind: 'database',
    factory: sharingFactory(options, whenFree),
    producer: options,
    worker: () => options,
    prefix: '',
    // Each deduplicated job holds an advisory lock until its batch is added; Postgres has room for some thousands.
    addAtOnce: 200,
    secrets,
  };
}
