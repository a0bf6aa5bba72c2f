// Limits how often someone may ask: requests of the API, and wrong attempts to sign in; and how many may wait for costly work.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { addressesIn, plainAddress } from '../config/build/web-config.ts';
import { ProblemError } from './problem.ts';

// Not rate-limiter-flexible 11: in memory it counts within fixed windows and knows every name until its window ends, however many come.

export interface Limiter {
  /** Counts one. Returns 0 if it is allowed, otherwise the seconds to wait; what is refused does not count. */
  take(who: string): number;
  /** Gives the last one back. */
  giveBack(who: string): void;
}

interface Bucket {
  left: number;
  at: number;
}

/** Bounds the memory; the longest unused go first. */
const MOST_KNOWN = 10_000;

/** A bucket of `most`, filled evenly within `windowMs`. @param now a monotonic clock, in milliseconds */
export function limiter(most: number, windowMs: number, now: () => number = () => performance.now()): Limiter {
  const buckets = new Map<string, Bucket>();
  const current = (who: string): Bucket => {
    const bucket = buckets.get(who) ?? { left: most, at: now() };
    buckets.delete(who);
    buckets.set(who, bucket);
    for (const oldest of buckets.keys()) {
      if (buckets.size <= MOST_KNOWN) break;
      buckets.delete(oldest);
    }
    bucket.left = Math.min(most, bucket.left + ((now() - bucket.at) * most) / windowMs);
    bucket.at = now();
    return bucket;
  };
  return {
    take(who) {
      const bucket = current(who);
      if (bucket.left < 1) return Math.max(1, Math.ceil(((1 - bucket.left) * windowMs) / most / 1000));
      bucket.left -= 1;
      return 0;
    },
    giveBack(who) {
      const bucket = current(who);
      bucket.left = Math.min(most, bucket.left + 1);
    },
  };
}

/** Slots for costly work that anybody may ask for. */
export interface ContestedSlots {
  /** Resolves to the function that releases the slot; `undefined`: too many wait. @param who the network that asks */
  take(who: string): Promise<(() => void) | undefined>;
}

interface Waiting {
  readonly who: string;
  /** Without a slot, it is refused. */
  answer(release: (() => void) | undefined): void;
}

/**
 * A flood of those who ask fills no queue for the others: of each network only a few wait, the one who asked last is served as often as
 * the one who has waited longest, and where too many wait, one from the middle is refused.
 * @param ofOne how many of one network may wait
 */
export function contestedSlots({
  atOnce,
  waiting: most,
  ofOne,
}: {
  readonly atOnce: number;
  readonly waiting: number;
  readonly ofOne: number;
}): ContestedSlots {
  const waiting: Waiting[] = [];
  let free = atOnce;
  let newestNext = true;
  const release = (): void => {
    const next = newestNext ? waiting.pop() : waiting.shift();
    newestNext = !newestNext;
    if (next === undefined) free += 1;
    else next.answer(release);
  };
  return {
    async take(who) {
      if (free > 0) {
        free -= 1;
        return release;
      }
      if (waiting.filter((each) => each.who === who).length >= ofOne) return undefined;
      if (waiting.length >= most) waiting.splice(Math.floor(most / 2), 1)[0]?.answer(undefined);
      return new Promise((resolve) => waiting.push({ who, answer: resolve }));
    },
  };
}

// Says where a request comes from and which address it was sent to, believing the headers of configured proxies only.

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
