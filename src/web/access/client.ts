// Says where a request comes from and which address it was sent to, believing the headers of configured proxies only.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { addressesIn, plainAddress } from '../../config/build/web-config.ts';
import { ProblemError } from '../problem.ts';

export interface Client {
  /** IP address. */
  readonly address: string;
  /** Scheme, host and port as the client sees them: `https://jobs.example.com`. */
  readonly origin: string;
  readonly host: string;
  readonly isSecure: boolean;
  /** The path below which a proxy serves us: empty, or `/mirror`. */
  readonly prefix: string;
}

export type ReadClient = (request: IncomingMessage) => Client;

const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;
const PREFIX = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}){0,8}$/;

/** @throws {ProblemError} (on use) if the host or a header of a trusted proxy is malformed */
export function clientReader(trustedProxies: readonly string[]): ReadClient {
  const isTrusted = addressesIn(trustedProxies);
  return ({ headers, rawHeaders, socket }) => {
    // Node takes the first of several, and a proxy before it may have taken the last.
    if (rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1) {
      throw malformed('Host', 'is given several times');
    }
    const peer = plainAddress(socket.remoteAddress ?? '');
    const forwarded = isTrusted(peer) ? headers : {};
    const protocol = one(forwarded['x-forwarded-proto']) ?? 'http';
    const host = one(forwarded['x-forwarded-host']) ?? headers.host ?? '';
    const prefix = (one(forwarded['x-forwarded-prefix']) ?? '').replace(/\/$/, '');
    if (!HOST.test(host)) throw malformed('Host', 'is missing or malformed');
    if (protocol !== 'http' && protocol !== 'https') throw malformed('X-Forwarded-Proto', 'must be http or https');
    if (!PREFIX.test(prefix)) throw malformed('X-Forwarded-Prefix', 'must be a path such as /mirror');
    return {
      address: nearestUntrusted(one(forwarded['x-forwarded-for'], ','), isTrusted) ?? peer,
      origin: `${protocol}://${host.toLowerCase()}`,
      host: host.toLowerCase(),
      isSecure: protocol === 'https',
      prefix,
    };
  };
}

/** A header may be repeated, or hold a list by several proxies. */
const one = (header: string | readonly string[] | undefined, join = ''): string | undefined => {
  const text = typeof header === 'string' ? header : header?.join(',');
  return text === undefined || join !== '' ? text : text.split(',')[0]?.trim();
};

/** Each proxy adds its client at the end; what stands before the first untrusted address may be invented. */
function nearestUntrusted(list: string | undefined, isTrusted: (address: string) => boolean): string | undefined {
  const addresses = (list ?? '').split(',').map((address) => plainAddress(address.trim()));
  const nearest = addresses.findLast((address) => !isTrusted(address));
  return nearest !== undefined && isIP(nearest) !== 0 ? nearest : undefined;
}

const malformed = (header: string, message: string): ProblemError =>
  new ProblemError({ status: 400, detail: `${header} ${message}`, faults: [{ where: `header.${header}`, message }] });
