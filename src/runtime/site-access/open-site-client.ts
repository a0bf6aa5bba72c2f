// Opens a client of a site. It is loaded here: commands that ask no site start without HTTP and XML libraries.
import type { SiteClient, SiteOptions } from '../../site/exchange.ts';

export async function openSiteClient(options: SiteOptions): Promise<SiteClient> {
  const { createSiteClient } = await import('../../site/http/client.ts');
  return createSiteClient(options);
}
