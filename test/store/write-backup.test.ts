import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { writeBackup } from '../../src/store/backup/write-backup.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { openDatabaseProxy } from '../support/database-proxy.ts';
import { runSql } from '../support/sql.ts';

it('is whole although the server says later than the last row how many rows there were', async () => {
  const database = await createTestDatabase({ own: true });
  await runSql(database.url, `insert into site_state (site) select 'site ' || n from generate_series(1, 50) n`);
  const proxy = await openDatabaseProxy(database.url);
  const db = openDatabase(proxy.url);
  let divided = 0;
  let passed = Promise.resolve();
  proxy.pass = (bytes, to) => {
    const pieces = beforeRowCount(bytes);
    divided += pieces.length - 1;
    for (const [at, piece] of pieces.entries())
      passed = passed.then(async () => {
        if (at > 0) await setTimeout(5);
        to.write(piece);
      });
  };
  try {
    const out = new PassThrough();
    const written = buffer(out);
    await writeBackup(db, out, '1.0.0', new AbortController().signal);
    out.end();
    expect((await written).toString('latin1')).toContain('site 50');
    expect(divided).toBeGreaterThan(20);
  } finally {
    await db.close();
    await proxy.close();
    await database.drop();
  }
});

/** Divided before the message `COPY n` of the server, which follows its code and length. */
function beforeRowCount(bytes: Buffer): Buffer[] {
  const message = bytes.lastIndexOf('COPY ') - 5;
  return message > 0 && bytes[message] === 'C'.charCodeAt(0)
    ? [bytes.subarray(0, message), bytes.subarray(message)]
    : [bytes];
}
