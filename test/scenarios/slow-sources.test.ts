// Sources that do not respond, or send a byte now and then, hold up neither other pulls nor connections to the database.
// @module-tag slow
import { appendFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, expect } from 'vitest';
import { lawTest as it } from '../laws/law-test.ts';
import { createTestDatabase } from '../support/database.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { runSql } from '../support/sql.ts';

const SLOW = 24;
/** More than a small feed may have, so it is read while it streams. */
const LARGE = feedXml(postings(1_000));

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  const port = await listen(server);
  return `http://127.0.0.1:${port}`;
}

/** Sends nothing, only the headers, the beginning of a small feed, or that of a large one. */
async function slowSource(): Promise<{ readonly url: string; readonly asked: ReadonlySet<string> }> {
  const asked = new Set<string>();
  const url = await serve((request, response) => {
    const path = request.url ?? '';
    asked.add(path);
    const kind = Number(path.slice('/slow'.length)) % 4;
    if (kind === 1) response.writeHead(200).flushHeaders();
    if (kind === 2) response.write('<source><job>');
    if (kind === 3) response.write(LARGE.slice(0, -20));
  });
  return { url, asked };
}

/** On a loaded machine, the first statements of so many feeds take most of a minute. */
const PATIENTLY = { timeout: 180_000 };

it('a small feed is pulled each second beside sources that never end', { timeout: 600_000 }, async ({ open }) => {
  const installation = await open({ feed: { schedule: '"* * * * * *"' } });
  const { url, asked } = await slowSource();
  const slow = Array.from({ length: SLOW }, (_, at) =>
    [
      `  slow${at}:`,
      `    source: ${url}/slow${at}`,
      '    format: indeed',
      '    site: board',
      '    schedule: "* * * * * *"',
    ].join('\n'),
  );
  await appendFile(installation.configPath, `${slow.join('\n')}\nlisten: { port: 0 }\n`);
  await installation.writeFeed(feedXml(postings(3)));
  installation.spawn(['start']);
  const { db } = await installation.app();
  const committed = async () =>
    (
      await db.query<{ n: number }>(`select count(*) as n from pull where feed = 'acme' and committed_at is not null`)
    )[0]?.n ?? 0;
  await expect.poll(() => asked.size, PATIENTLY).toBe(SLOW);
  const before = await committed();
  await expect.poll(committed, PATIENTLY).toBeGreaterThanOrEqual(before + 3);
  // Only the feeds that are too large for memory hold a database connection.
  const streaming = async () =>
    (
      await db.query<{ n: number }>(
        `select count(*) as n from pg_stat_activity
         where datname = current_database() and state = 'idle in transaction' and state_change < now() - interval '1 second'`,
      )
    )[0]?.n;
  // While the process gets no processor, short transactions are open for as long.
  await expect.poll(streaming, PATIENTLY).toBeLessThanOrEqual(SLOW / 4);
});

it('a pull outlasts the time that the server allows for idle transactions', async ({ open }) => {
  // Larger than what is read before a transaction is opened.
  const larger = feedXml(postings(40).map((one) => ({ ...one, description: 'Care for patients. '.repeat(2_000) })));
  const database = await createTestDatabase({ own: true });
  const name = new URL(database.url).pathname.slice(1);
  await runSql(database.url, `alter database ${name} set idle_in_transaction_session_timeout = '500ms'`);
  const url = await serve(async (_request, response) => {
    response.write(larger.slice(0, -20));
    await untilIdleOrEnded(database.url);
    response.end(larger.slice(-20));
  });
  const installation = await open({ databaseUrl: database.url, feed: { source: url } });
  expect(await installation.sync()).toMatchObject({ complete: true, created: 40 });
  await installation.stopEngine();
  await database.drop();
});

/** Resolves when a transaction has been idle for twice as long as allowed, or was ended. */
async function untilIdleOrEnded(url: string): Promise<void> {
  for (let seen = false; ; ) {
    const idle = await runSql<{ long: boolean }>(
      url,
      `select state_change < now() - interval '1 second' as long from pg_stat_activity
       where datname = current_database() and state = 'idle in transaction'`,
    );
    if (idle.some(({ long }) => long) || (seen && idle.length === 0)) return;
    seen ||= idle.length > 0;
  }
}
