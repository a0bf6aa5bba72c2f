// A user's own Postgres, from the oldest supported version on: the newest is the embedded one, on which all other tests run.
import { afterEach, describe, it } from 'vitest';
import { spread } from '../support/extent.ts';
import { type DatabaseServer, postgresServers } from './database-servers.ts';
import { liveThrough } from './life-of-database.ts';

let server: DatabaseServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

// With fewer combinations, Debian's is only that behind pgbouncer.
for (const { title, available, note, start } of spread(postgresServers(), 1, 2)) {
  describe.skipIf(!available)(`${title}${note}`, () => {
    it('holds an installation for all of its life', async () => {
      server = await start();
      await liveThrough(await server.newDatabase(), await server.newDatabase());
    });
  });
}
