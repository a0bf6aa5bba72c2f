// A worker as a team would write it by hand: one queue job a posting, one request, one upsert. It commits no intent, keeps no
// documents, no journal and no doubts, and repeats a create whose answer is lost.
import { createHash } from 'node:crypto';
import {
  type BackendFactory,
  type ConnectionOptions,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  Queue,
  type RedisQueueBackend,
  Worker,
} from 'bullmq';
import pg from 'pg';
import { Pool } from 'undici';
import { encodeSiteJob } from '../../src/site/xml/encode.ts';
import { measureWork } from '../measure-work.ts';

const [queueUrl, origin, count, concurrency] = process.argv.slice(2) as [string, string, string, string];
const databaseUrl = process.env.DATABASE_URL as string;
const NAME = 'plain';
const ADDED_AT_ONCE = 500;
const description = '<p>Team work care patient schedule weekly shift support client quality.</p>\n'.repeat(28);

interface Posting {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
}

const db = new pg.Pool({ connectionString: databaseUrl, max: 10 });
await db.query(
  `create table if not exists plain_mapping (feed text, key text, site_job_id text not null, content_hash bytea not null,
     mapped_at timestamptz not null, primary key (feed, key))`,
);
const site = new Pool(origin, { connections: Number(concurrency), pipelining: 1 });

async function send({ data: { key, fields } }: { data: Posting }): Promise<void> {
  const { statusCode, headers, body } = await site.request({
    method: 'POST',
    path: '/jobs.xml',
    headers: { 'content-type': 'application/xml' },
    body: encodeSiteJob(fields).xml,
  });
  await body.text();
  if (statusCode !== 201) throw new Error(`the site answered ${statusCode}`);
  const hash = createHash('sha256').update(JSON.stringify(fields)).digest();
  await db.query(
    `insert into plain_mapping (feed, key, site_job_id, content_hash, mapped_at) values ($1, $2, $3, $4, now())
     on conflict (feed, key) do update set site_job_id = excluded.site_job_id, content_hash = excluded.content_hash,
       mapped_at = excluded.mapped_at`,
    ['acme', key, String(headers.location).split('/').at(-1), hash],
  );
}

const finished = { removeOnComplete: true, removeOnFail: true };

function open<B extends IQueueBackend, C>(connection: C, factory: BackendFactory<B, C>) {
  const queue = new Queue<Posting, void, string, Posting, void, string, B, C>(
    NAME,
    { connection, defaultJobOptions: finished },
    factory,
  );
  const worker = new Worker<Posting, void, string, B, object, C>(
    NAME,
    send,
    { connection, concurrency: Number(concurrency), autorun: false },
    factory,
  );
  return { queue, worker } as unknown as { queue: Queue; worker: Worker };
}

const { queue, worker } =
  queueUrl === 'database'
    ? open({ connectionString: databaseUrl, schema: 'plain_queue', max: 10, migrate: true }, createPostgresBackend)
    : open<RedisQueueBackend, ConnectionOptions>({ url: queueUrl, maxRetriesPerRequest: null }, createRedisBackend);
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
const work = await measureWork(async () => {
  let ended = 0;
  const all = new Promise<void>((resolve, reject) => {
    worker.on('completed', () => ++ended === Number(count) && resolve());
    worker.on('failed', (_job, error) => reject(error));
  });
  void worker.run();
  // As jobmirror's dispatcher does: queue jobs are added while others are being processed.
  for (let next = 0; next < Number(count); next += ADDED_AT_ONCE) {
    const length = Math.min(ADDED_AT_ONCE, Number(count) - next);
    const keys = Array.from({ length }, (_, at) => `REQ-${next + at}`);
    await queue.addBulk(
      keys.map((key) => ({
        name: 'send',
        data: { key, fields: { number: key, title: 'Registered Nurse', description } },
      })),
    );
  }
  await all;
});
const { rows } = await db.query('select count(*)::int as mapped from plain_mapping');
console.log(JSON.stringify({ ...work, ...rows[0] }));
await worker.close();
await queue.close();
await site.close();
await db.end();
