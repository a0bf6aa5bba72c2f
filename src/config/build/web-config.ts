// Builds the settings of pages and API from what is written, reads their secrets, and refuses what would be open to a network.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { parsePasswordHash } from '../password-hash.ts';
import type { Secret } from '../read-secret.ts';
import { bearerFault, readSecret, type SecretSettings, signingFault } from '../read-secret.ts';
import type { ROLES, SCOPES, WrittenWeb } from '../schema/services-schema.ts';

export type Role = (typeof ROLES)[number];
export type Scope = (typeof SCOPES)[number];

/** Where and for whom pages and the API are served. */
export interface WebConfig {
  /** Not open to a network, or protected by users or tokens. Otherwise only health is served, as without pages and API. */
  readonly served: boolean;
  readonly users: ReadonlyMap<string, WebUser>;
  readonly tokens: ReadonlyMap<string, WebToken>;
  readonly webhooks: ReadonlyMap<string, WebhookSender>;
  readonly trustedProxies: readonly string[];
  readonly requestsPerMinute: number;
  /** Files of feeds are shown to be committed, not written. */
  readonly readOnlyConfiguration: boolean;
  /** Absolute paths of the folders from which feeds may read that are saved over HTTP. */
  readonly sourceFolders: readonly string[];
  /** Feeds that are saved over HTTP may come from addresses that are not public. */
  readonly privateSources: boolean;
  /** Without a slash at its end; `undefined`: nobody said where people reach the pages. */
  readonly publicUrl: string | undefined;
}

export interface WebUser {
  readonly passwordHash: Secret;
  readonly role: Role;
}

interface WebToken {
  readonly token: Secret;
  readonly scopes: ReadonlySet<Scope>;
}

/** Who says that feeds or postings have changed. */
export interface WebhookSender {
  readonly secret: Secret;
  /** `undefined`: all feeds. */
  readonly feeds: ReadonlySet<string> | undefined;
}

interface WebSurroundings extends SecretSettings {
  /** Whether the setting `listen` is written: it and `web.listen` exclude each other. */
  readonly listens: boolean;
  /** The setting `listen`, or its default. */
  readonly listen: { readonly host: string; readonly port: number };
}

/** @param written `undefined`: there is no setting `web` */
export async function makeWebConfig(written: WrittenWeb | undefined, around: WebSurroundings): Promise<WebConfig> {
  const users = new Map<string, WebUser>();
  const tokens = new Map<string, WebToken>();
  for (const [name, { role, ...secrets }] of Object.entries(written?.users ?? {})) {
    const passwordHash = await readSecret(secrets, [['users', name], 'password_hash'], around, hashFault);
    if (passwordHash !== undefined) users.set(name, { passwordHash, role });
  }
  for (const [name, { scopes, ...secrets }] of Object.entries(written?.tokens ?? {})) {
    const token = await readSecret(secrets, [['tokens', name], 'token'], around, bearerFault(20));
    if (token !== undefined) tokens.set(name, { token, scopes: new Set(scopes) });
  }
  const webhooks = new Map<string, WebhookSender>();
  for (const [name, { feeds, ...secrets }] of Object.entries(written?.webhooks ?? {})) {
    const secret = await readSecret(secrets, [['webhooks', name], 'secret'], around, signingFault);
    if (secret !== undefined) webhooks.set(name, { secret, feeds: feeds && new Set(feeds) });
  }
  const { host } = written?.listen ?? around.listen;
  const isProtected = written !== undefined && Object.keys({ ...written.users, ...written.tokens }).length > 0;
  const served = isProtected || isLoopback(host);
  if (written?.listen !== undefined && around.listens) {
    around.complain(['listen'], 'and the setting listen both say where to listen; remove one');
  }
  if (written !== undefined && !served) {
    const message = `${host} can be reached from other machines, so pages and API need users or tokens; add them, or listen at 127.0.0.1`;
    around.complain(written.listen === undefined ? [] : ['listen'], message);
  }
  if ((written?.trusted_proxies ?? []).length > 0 && !isProtected) {
    around.complain(
      ['trusted_proxies'],
      'lets others in through the proxy, so pages and API need users or tokens; add them',
    );
  }
  for (const proxy of written?.trusted_proxies ?? []) {
    if (!isRange(proxy)) around.complain(['trusted_proxies'], `${proxy} is not an IP address or a range of them`);
  }
  return {
    served,
    users,
    tokens,
    webhooks,
    trustedProxies: written?.trusted_proxies ?? [],
    requestsPerMinute: written?.requests_per_minute ?? 1_200,
    readOnlyConfiguration: written?.configuration === 'read-only',
    sourceFolders: (written?.source_folders ?? []).map((folder) => resolve(around.folder, folder)),
    privateSources: written?.private_sources ?? false,
    publicUrl: written?.public_url?.replace(/\/+$/, ''),
  };
}

/** Whether an IP address is one of this machine only. */
export const isLoopbackAddress = (address: string): boolean => addressesIn(['127.0.0.0/8', '::1'])(address);

/** Whether only this machine can reach a host: a name or an address, in brackets as in a URL or without. */
export const isLoopback = (host: string): boolean =>
  host.toLowerCase() === 'localhost' || isLoopbackAddress(host.replace(/^\[|\]$/g, ''));

/** Whether an address is one of these, which are addresses and ranges. @throws if one of them is neither */
export function addressesIn(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** An IPv4 address as such, which a socket for both families shows as IPv6. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Somebody with an IPv6 address usually has the whole network of 64 bits. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::', 2);
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const zeros = address.includes('::') ? 8 - groups(head).length - groups(tail).length : 0;
  return [...groups(head), ...Array<string>(Math.max(0, zeros)).fill('0'), ...groups(tail)].slice(0, 4).join(':');
}

function isRange(range: string): boolean {
  try {
    addressesIn([range]);
    return true;
  } catch {
    return false;
  }
}

const hashFault = (text: string): string | undefined =>
  parsePasswordHash(text) === undefined
    ? 'it is not the hash of a password; jobmirror users hash makes one ($scrypt$…; single quotes keep a shell from changing it)'
    : undefined;
