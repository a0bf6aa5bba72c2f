// What the XML interface and the pages of the site share: its data, settings, faults and request log.
import type { HttpBindings } from '@hono/node-server';
import type { Switchboard } from './faults/switchboard.ts';
import type { OpenRequest, RequestLog, SandboxLog } from './request-log.ts';
import type { SandboxSettings } from './settings.ts';
import type { SignInLimit } from './sign-in-limit.ts';
import type { Account, AccountStore, SessionStore } from './store/accounts.ts';
import type { JobStore } from './store/jobs.ts';

export interface JobSite {
  /** The current settings; they may change while the site runs. */
  settings(): SandboxSettings;
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly signIns: SignInLimit;
  readonly jobs: JobStore;
  readonly requests: RequestLog;
  readonly faults: Switchboard;
  readonly log: SandboxLog;
  /** Aborted when the sandbox closes. */
  readonly closing: AbortSignal;
  refuseConnections(ms: number): void;
}

/** Hono's environment of each request. */
export interface SiteEnv {
  Bindings: HttpBindings;
  Variables: {
    /** The requester; absent: an anonymous visitor. */
    account?: Account;
    /** The entry in the request log; only requests of the XML interface have one. */
    request: OpenRequest;
    /** The body, once it is being read; `too-large` if it exceeds the limit. */
    body?: Promise<Uint8Array | 'too-large'>;
  };
}
