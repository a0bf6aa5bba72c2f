// Derives from a site's options the address that distinguishes it from other sites.
import type { SiteOptions } from '../exchange.ts';
import { JOB } from './job-address.ts';

/**
 * Host, port unless it is the default, and path without a trailing slash. Another port is another site, even on this
 * machine: a tunnel or forwarded port may lead anywhere. http and https are the same site: both appear in the
 * interface, and sites switch between them (site-interface.md, section 1). Where jobs are not below `/jobs`, the path at
 * which they are created is a part of it: the same ID below another path is another record.
 */
export function addressOf({ baseUrl, resource = JOB }: Pick<SiteOptions, 'baseUrl' | 'resource'>): string {
  const collection = `${baseUrl.host}${baseUrl.pathname.replace(/\/+$/, '')}${resource.path}`;
  return collection.endsWith(JOB.path) ? collection.slice(0, -JOB.path.length) : `${collection}.xml`;
}
