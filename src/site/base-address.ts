// Derives from a site's base URL the address that distinguishes it from other sites.

/**
 * Host, port unless it is the default, and path without a trailing slash. Another port is another site, even on this
 * machine: a tunnel or forwarded port may lead anywhere. http and https are the same site: both appear in the
 * interface, and sites switch between them (site-interface.md, section 1).
 */
export const addressOf = ({ host, pathname }: URL): string => `${host}${pathname.replace(/\/+$/, '')}`;
