// Computes the digests that represent this configuration's tokens in the database, to tell its own pauses from others'; a token that it does not have is left out.
import type { Config } from '../config/config.ts';
import type { SiteName } from '../posting/identifiers.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { readInstallation } from '../store/postgres/migrate.ts';
import { tokenDigest } from '../store/site/refused-token.ts';

export async function tokenDigests(db: Queryable, config: Config): Promise<ReadonlyMap<SiteName, string>> {
  const installation = await readInstallation(db);
  const sites = [...config.sites.values()];
  return new Map(
    sites
      .filter(({ options }) => options.token.absence === undefined)
      .map(({ name, options }) => [name, tokenDigest(installation, name, options.token.reveal())]),
  );
}
