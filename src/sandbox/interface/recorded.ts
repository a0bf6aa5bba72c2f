// Records each request of the interface in the request log, once its response is sent or its client is gone.
import type { MiddlewareHandler } from 'hono';
import { gone } from '../faults/fault-row.ts';
import type { JobSite, SiteEnv } from '../job-site.ts';
import { operationOf } from './operation.ts';

export const recorded =
  (site: JobSite): MiddlewareHandler<SiteEnv> =>
  async (c, next) => {
    const { incoming, outgoing } = c.env;
    const request = site.requests.begin(c.req.method, incoming.url ?? '', operationOf(c.req.method, c.req.path));
    c.set('request', request);
    const answered = gone(outgoing);
    try {
      await next();
    } finally {
      void answered.then(() => {
        if (outgoing.writableFinished) request.status = outgoing.statusCode;
        site.requests.end(request);
      });
    }
  };
