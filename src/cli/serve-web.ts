// Serves pages, API, health and metrics, and does what they ask of the running process.
import type { Hono } from 'hono';
import { lateControl } from '../operations/control.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import { adoptNow } from '../runtime/adopting/adopt-now.ts';
import type { App } from '../runtime/app.ts';
import { startBulkRunner } from '../runtime/bulk-runner.ts';
import type { Engine } from '../runtime/engine.ts';
import { startHttp } from '../runtime/http/serve.ts';
import { pullNow } from '../runtime/schedule/pull-now.ts';
import { accessTo } from '../web/access/access.ts';
import { webRoutes } from '../web/web-routes.ts';

export interface WebServer {
  /** `http://host:port` with the actual port. */
  readonly url: string;
  /** The process can pull and send from now on. @param signal ends running pulls */
  begin(engine: Engine, setups: readonly FeedSetup[], signal: AbortSignal): void;
  /** Waits up to `graceMs` for what was started over HTTP. */
  stop(graceMs: number): Promise<void>;
}

/** Answers at once; until `begin`, it says that the process is still starting. @throws {UserError} if it cannot listen */
export async function serveWeb(app: App): Promise<WebServer> {
  let queueCounts: Engine['queueCounts'] = async () => new Map();
  const control = lateControl();
  const access = accessTo(app.db, app.config);
  const pages = app.config.web.served ? (webRoutes(app, control, access) as unknown as Hono) : undefined;
  const http = await startHttp(app, () => queueCounts(), { mayMonitor: access.mayMonitor, pages });
  const ends: ((graceMs: number) => Promise<void>)[] = [() => http.close()];
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
      ends.push(pulls.stop, bulk.stop, adoptions.stop);
    },
    async stop(graceMs) {
      await Promise.all(ends.map((end) => end(graceMs)));
    },
  };
}
