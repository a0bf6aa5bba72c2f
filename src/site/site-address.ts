// Turns a site's base URL into the address by which it is told from another site.

/** Behind a port of this machine itself is a sandbox, a tunnel or a forwarded port, which may get another one with each start. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Host, port where it is not the usual one, and path without a slash at its end. http and https are the same site: both
 * appear in the interface, and sites go from one to the other (site-interface.md, section 1).
 */
export const addressOf = ({ host, hostname, pathname }: URL): string =>
  `${LOOPBACK.test(hostname) ? hostname : host}${pathname.replace(/\/+$/, '')}`;
