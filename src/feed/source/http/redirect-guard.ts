// A name lookup that refuses private addresses: the address that is checked is the one that is connected to.
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Network } from '../source.ts';
import { isPrivateAddress } from './private-addresses.ts';

export const systemNetwork: Network = { lookup: systemLookup as LookupFunction, isPrivate: isPrivateAddress };

/** The IP address that a URL contains literally, for which there is no lookup; `undefined` for a name. */
export function hostAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

/**
 * A lookup that fails with `refusal()` if any address of the name is private. The connection itself calls it, so the
 * name can't resolve to another address when connecting (DNS rebinding).
 */
export const guardLookup =
  (network: Network, refusal: () => Error): LookupFunction =>
  (hostname, options, callback) =>
    network.lookup(hostname, options, (error, address, family) => {
      const addresses = Array.isArray(address) ? address.map((entry) => entry.address) : [address];
      if (error === null && addresses.some((found) => network.isPrivate(found))) callback(refusal(), '');
      else callback(error, address, family);
    });
