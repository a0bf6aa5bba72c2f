// A bounded log of the interface's requests, for the page `/requests`, tests and measurements.

import type { FaultName } from './interface/fault-table.ts';
import type { Operation } from './interface/write-xml.ts';

/** One request to the XML interface, without its credentials. */
export interface RequestRecord {
  /** Counted from 1 since the sandbox started. */
  readonly number: number;
  readonly at: Date;
  readonly method: string;
  /** Path and query, as requested. */
  readonly path: string;
  readonly operation?: Operation;
  /** E-mail address of the account that the token belongs to. */
  readonly account?: string;
  /** The body of the request, cut at {@link MAX_BODY} characters. */
  readonly body?: string;
  /** The faults that struck it. */
  readonly faults: readonly FaultName[];
  /** The site's own status; absent: the request never reached the site. */
  readonly processed?: number;
  /** The status that the client received; absent: no complete response. */
  readonly status?: number;
  readonly durationMs: number;
}

/** A request in flight, still being filled in. */
export type OpenRequest = { -readonly [Name in keyof RequestRecord]: RequestRecord[Name] } & { faults: FaultName[] };

export interface RequestLog {
  begin(method: string, path: string, operation: Operation | undefined): OpenRequest;
  /** Ends the request, which is listed from now on. */
  end(request: OpenRequest): void;
  /** The last requests that ended, oldest first. */
  recent(): readonly RequestRecord[];
  /** How many requests have begun since the start, listed or not. */
  total(): number;
  clear(): void;
  /** Resolves with the next request that ends and matches. */
  next(matches: (request: RequestRecord) => boolean): Promise<RequestRecord>;
  /** Resolves once no request is in flight, including those whose client is gone. */
  idle(): Promise<void>;
}

/** How many characters of a request's body are kept. */
export const MAX_BODY = 8_192;

/** @param keep how many requests are listed */
export function createRequestLog(keep: number): RequestLog {
  let listed: RequestRecord[] = [];
  let begun = 0;
  let underWay = 0;
  const waiting = new Set<(request: RequestRecord) => void>();
  const idle = new Set<() => void>();

  return {
    begin(method, path, operation) {
      begun += 1;
      underWay += 1;
      return { number: begun, at: new Date(), method, path, operation, faults: [], durationMs: 0 };
    },
    end(request) {
      request.durationMs = Date.now() - request.at.getTime();
      listed.push(request);
      // Trim now and then, not on each request.
      if (listed.length >= keep * 2) listed = listed.slice(-keep);
      for (const tell of [...waiting]) tell(request);
      underWay -= 1;
      if (underWay > 0) return;
      for (const resolve of idle) resolve();
      idle.clear();
    },
    recent: () => listed.slice(-keep),
    total: () => begun,
    clear() {
      listed = [];
    },
    next: (matches) =>
      new Promise((resolve) => {
        const tell = (request: RequestRecord): void => {
          if (!matches(request)) return;
          waiting.delete(tell);
          resolve(request);
        };
        waiting.add(tell);
      }),
    idle: () => (underWay === 0 ? Promise.resolve() : new Promise((resolve) => idle.add(resolve))),
  };
}

// The sandbox's log interface: a constant message and data. The starter provides the logger.

/** Writes one log line. */
export type SandboxLog = (message: string, data?: Readonly<Record<string, unknown>>) => void;
