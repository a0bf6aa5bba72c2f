// Which redirects are safe: none to a private address (the address that is checked is the one that is connected to),
// and none to another posting.
import dns from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { FeedReadingError, type Network } from '../source.ts';

/** All ranges that are not globally reachable, from IANA's special-purpose registries (RFC 6890 and its updates). */
const SUBNETS: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 96],
  // IPv4 addresses that are translated (SIIT, RFC 2765).
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['100:0:0:1::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

/** Made with the first address: the first look at an IPv6 address compiles a long pattern. */
let blocked: BlockList | undefined;
function blockedNetworks(): BlockList {
  if (blocked !== undefined) return blocked;
  blocked = new BlockList();
  for (const [network, prefix] of SUBNETS) blocked.addSubnet(network, prefix, isIPv6(network) ? 'ipv6' : 'ipv4');
  return blocked;
}

/** IPv6 addresses with an IPv4 address in their last two groups: mapped, and NAT64 (RFC 6052). */
const EMBEDDED_IPV4 = /^(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** Whether an IP address (as text, without brackets) is private, loopback, link-local or otherwise not public. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) === 4) return blockedNetworks().check(bare, 'ipv4');
  if (isIP(bare) !== 6) return true;
  // The URL parser normalises every IPv6 address.
  const canonical = new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  const embedded = EMBEDDED_IPV4.exec(canonical);
  if (embedded === null) return blockedNetworks().check(canonical, 'ipv6');
  const [high, low] = [Number.parseInt(embedded[1] ?? '', 16), Number.parseInt(embedded[2] ?? '', 16)];
  return blockedNetworks().check(`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`, 'ipv4');
}

export const systemNetwork: Network = {
  lookup: ((...asked) => dns.lookup(...asked)) as LookupFunction,
  isPrivate: isPrivateAddress,
};

/** For addresses that somebody names who may not reach what this machine can reach. */
export const publicNetwork: Network = { ...systemNetwork, publicOnly: true };

/** What reading a feed requests, as it is written. */
export interface RequestedAddresses {
  /** In their order, files included. */
  readonly sources: readonly string[];
  /** Such as that of a token, or of details. */
  readonly others: readonly string[];
}

/**
 * Where the sources of a feed may be of which some addresses must be public; `undefined`: anywhere. What records name must be public as soon
 * as one source must be.
 */
export function networkOfSources(
  { sources, others }: RequestedAddresses,
  mustBePublic: (address: string) => boolean,
): Network | undefined {
  const isAnyOther = others.some(mustBePublic);
  if (!isAnyOther && !sources.some(mustBePublic)) return undefined;
  if (isAnyOther || sources.every(mustBePublic)) return publicNetwork;
  return {
    ...publicNetwork,
    ofMember: (at) => (mustBePublic(sources[at] ?? '') ? publicNetwork : systemNetwork),
  };
}

export const refusedPlace = (): FeedReadingError =>
  new FeedReadingError(
    'it is not a public address, and feeds from pages and the API may come only from public ones; to allow others, set web.private_sources',
  );

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

/** Throws `refusal()` if this machine knows a private address of the name. Another one, which a proxy may know, is let pass. */
export const refusePrivateName = (name: string, network: Network, refusal: () => FeedReadingError): Promise<void> =>
  new Promise((resolve, reject) => {
    guardLookup(network, refusal)(name, { all: true }, (error) =>
      error instanceof FeedReadingError ? reject(error) : resolve(),
    );
  });

/**
 * Whether a redirect certainly stayed with one posting: it may add to the query, add or remove a language before the path, add a title after
 * the number that ends it, or the name of a file, change the case, or the host.
 */
export function isSameResource(requested: URL, answered: URL): boolean {
  const from = plainPath(requested);
  const to = plainPath(answered);
  const isKept = [...requested.searchParams].every(([name, value]) =>
    answered.searchParams.getAll(name).includes(value),
  );
  return (
    isKept &&
    (to.endsWith(from) || (from.endsWith(to) && LANGUAGE.test(from.slice(0, -to.length))) || isNamed(from, to))
  );
}

const LANGUAGE = /^\/[a-z]{2}(?:-[a-z]{2})?$/;
const TITLE = /^-[a-z]/;
const FILE_NAME = /^(?:\.html?|\/index\.html?)$/;

/** Whether what follows `from` in `to` names the same page. */
function isNamed(from: string, to: string): boolean {
  if (!to.startsWith(from)) return false;
  const rest = to.slice(from.length);
  return FILE_NAME.test(rest) || (/\d$/.test(from) && TITLE.test(rest) && !rest.includes('/'));
}

function plainPath({ pathname }: URL): string {
  const path = pathname.replace(/\/+$/, '').toLowerCase();
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
