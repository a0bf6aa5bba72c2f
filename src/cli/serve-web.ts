// Serves pages, API, health and metrics, and does what they ask of the running process.
import type { Hono } from 'hono';
import { controlToCome } from '../operations/control.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import type { App } from '../runtime/app.ts';
import { startBulkRunner } from '../runtime/bulk-runner.ts';
import type { Engine } from '../runtime/engine.ts';
import { startHttp } from '../runtime/http/serve.ts';
import { adoptNow } from '../runtime/run-adoption.ts';
import { pullNow } from '../runtime/schedule/pull-now.ts';
import { accessTo } from '../web/access.ts';
import { webRoutes } from '../web/web-routes.ts';

export interface WebServer {
  /** `http://host:port` with the actual port. */
  readonly url: string;
  /** The process can pull and send from now on. @param signal ends running pulls */
  begin(engine: Engine, setups: readonly FeedSetup[], signal: AbortSignal): void;
  /** Begins nothing more with what it was begun with. Pulls that run go on; adoptions and actions on many entries are continued later. */
  leave(graceMs: number): Promise<void>;
  /** Leaves, then answers by another configuration, as a process that is still starting until `begin`. */
  replace(app: App, graceMs: number): Promise<void>;
  /** Waits up to `graceMs` for what was started over HTTP. */
  stop(graceMs: number): Promise<void>;
}

/** Answers at once; until `begin`, it says that the process is still starting. @throws {UserError} if it cannot listen */
export async function serveWeb(first: App): Promise<WebServer> {
  let app = first;
  let control = controlToCome();
  let queueCounts: Engine['queueCounts'] = async () => new Map();
  const served = () => {
    const access = accessTo(app.db, app.config);
    const pages = app.config.web.served ? (webRoutes(app, control, access) as unknown as Hono) : undefined;
    return { mayMonitor: access.mayMonitor, pages };
  };
  const http = await startHttp(app, () => queueCounts(), served());
  const left = new Set<(graceMs: number) => Promise<void>>();
  let present: ((graceMs: number) => Promise<unknown>)[] = [];
  let leave = async (_graceMs: number): Promise<void> => undefined;
  return {
    url: http.url,
    begin(engine, setups, signal) {
      queueCounts = engine.queueCounts;
      const pulls = pullNow(app, engine, setups, signal);
      const bulk = startBulkRunner(
        app,
        () => engine.wake(),
        (site) => engine.siteContexts.get(site),
      );
      const adoptions = adoptNow(app, engine);
      control.begin({
        pull: (feed) => pulls.pull(feed),
        pullSoon: (feed) => pulls.soon(feed),
        undone: (undo) => pulls.undone(undo),
        wake: () => engine.wake(),
        queueCounts: () => engine.queueCounts(),
        bulk: (id) => bulk.begin(id),
        adopt: (feed, actor, request) => adoptions.begin(feed, actor, request),
      });
      present = [pulls.stop, bulk.stop, adoptions.stop];
      leave = async (graceMs) => {
        left.add(pulls.stop);
        void pulls.leave().finally(() => left.delete(pulls.stop));
        await Promise.all([bulk.stop(graceMs), adoptions.stop(graceMs)]);
      };
    },
    leave: (graceMs) => leave(graceMs),
    async replace(next, graceMs) {
      await leave(graceMs);
      present = [];
      leave = async () => undefined;
      app = next;
      control = controlToCome();
      await http.replace(app, served());
    },
    async stop(graceMs) {
      await Promise.all([http.close(), ...[...present, ...left].map((end) => end(graceMs))]);
    },
  };
}
