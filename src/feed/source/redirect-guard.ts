// Turns a name look-up into one that refuses private addresses, so that the address that was checked is the one connected to.
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isPrivateAddress } from './private-addresses.ts';

/** How names become addresses, and which of them are private. */
export interface Network {
  readonly lookup: LookupFunction;
  isPrivate(address: string): boolean;
}

export const systemNetwork: Network = { lookup: systemLookup as LookupFunction, isPrivate: isPrivateAddress };

/** The IP address that a URL names literally (which no look-up will see), if it does. */
export function hostAddress(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? undefined : host;
}

/**
 * A look-up that fails with `refusal()` if any address of the name is private. It is called by the connection itself,
 * so a name can't have another address when it is connected to (DNS rebinding).
 */
export const guardLookup =
  (network: Network, refusal: () => Error): LookupFunction =>
  (hostname, options, callback) =>
    network.lookup(hostname, options, (error, address, family) => {
      const addresses = Array.isArray(address) ? address.map((entry) => entry.address) : [address];
      if (error === null && addresses.some((found) => network.isPrivate(found))) callback(refusal(), '');
      else callback(error, address, family);
    });
