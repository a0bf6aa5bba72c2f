// What the XML interface and the pages of the site share: its data, its settings, its faults, its books.
import type { HttpBindings } from '@hono/node-server';
import type { Switchboard } from './faults/switchboard.ts';
import type { SandboxLog } from './log.ts';
import type { OpenRequest, RequestLog } from './request-log.ts';
import type { SandboxSettings } from './settings.ts';
import type { SignInLimit } from './sign-in-limit.ts';
import type { Account, AccountStore } from './store/accounts.ts';
import type { JobStore } from './store/jobs.ts';
import type { SessionStore } from './store/sessions.ts';

export interface JobSite {
  /** As they are now: they may be changed while the site runs. */
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

/** What Hono hands to each request of the site. */
export interface SiteEnv {
  Bindings: HttpBindings;
  Variables: {
    /** Who is asking; absent: a visitor. */
    account?: Account;
    /** The entry in the request log; only requests of the XML interface have one. */
    request: OpenRequest;
    /** The body, once it was read; `too-large`: it was above the limit. */
    body?: Promise<Uint8Array | 'too-large'>;
  };
}
