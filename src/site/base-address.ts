// Turns a site's base URL into the address by which it is told from another site.

/**
 * Host, port where it is not the usual one, and path without a slash at its end. Another port is another site, on this
 * machine too: a tunnel or a forwarded port may lead to anybody's. http and https are the same site: both appear in the
 * interface, and sites go from one to the other (site-interface.md, section 1).
 */
export const addressOf = ({ host, pathname }: URL): string => `${host}${pathname.replace(/\/+$/, '')}`;
