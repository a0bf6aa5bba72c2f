// A server that is of no use is refused by each command that opens the database, and its message says what to do.
import { afterEach, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { runSql } from '../support/sql.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

/** An installation on a server that claims to be of another version. */
async function onServerOfVersion(number: number, name: string): Promise<Mirror> {
  const database: TestDatabase = await createTestDatabase({ empty: true, own: true });
  open.push({ close: () => database.drop() });
  await runSql(
    database.url,
    `create schema claims;
     create function claims.current_setting(text) returns text language sql as $$
       select case $1 when 'server_version_num' then '${number}' when 'server_version' then '${name}'
         else pg_catalog.current_setting($1) end $$`,
  );
  const url = new URL(database.url);
  url.searchParams.set('options', '-c search_path=claims,pg_catalog,public');
  const mirror = await openMirror({ databaseUrl: url.href });
  open.push(mirror);
  await mirror.writeFeed(feedXml(postings(2)));
  return mirror;
}

it('refuses a Postgres that is too old, by its version', async () => {
  const mirror = await onServerOfVersion(130_014, '13.14 (Debian 13.14-1)');
  const refusal = /it is Postgres 13\.14, and jobmirror needs 14 or later/;
  const check = await runProgram(mirror, 'check');
  expect(check.status).toBe(1);
  expect(check.out).toMatch(refusal);
  expect(check.out).not.toContain('is right');
  for (const command of [['sync'], ['start'], ['work'], ['status'], ['plan']]) {
    const result = await runProgram(mirror, ...command);
    expect({ command, status: result.status }).toEqual({ command, status: 1 });
    expect(result.errors).toMatch(refusal);
  }
});

it('takes the oldest that is supported', async () => {
  const mirror = await onServerOfVersion(140_000, '14.0');
  expect(await runProgram(mirror, 'check')).toMatchObject({ status: 0 });
  expect((await runProgram(mirror, 'sync', '--json')).json()).toMatchObject([{ status: 'mirrored', created: 2 }]);
});
