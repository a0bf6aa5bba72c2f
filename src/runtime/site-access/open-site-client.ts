// Opens a client of a site. It is loaded here: commands that ask no site start without HTTP and XML libraries.

import { proveReads } from '../../apply/prove-token.ts';
import type { SiteConfig } from '../../config/config.ts';
import type { SiteClient, SiteOptions } from '../../site/exchange.ts';
import type { Queryable } from '../../store/postgres/database.ts';
import { readInstallation } from '../../store/postgres/migrate.ts';
import { tokenDigest } from '../../store/site/refused-token.ts';

/** Whatever reads with it proves nothing about the token. */
export async function openSiteClient(options: SiteOptions): Promise<SiteClient> {
  const { createSiteClient } = await import('../../site/http/client.ts');
  return createSiteClient(options);
}

/** What it does not find is missing only if it is proven that the site accepts the token: see `proveReads`. */
export async function openProvenClient(db: Queryable, { name, options }: SiteConfig): Promise<SiteClient> {
  const digest = tokenDigest(await readInstallation(db), name, options.token.reveal());
  return proveReads({ db, site: name, tokenDigest: digest, client: await openSiteClient(options) });
}
