// Sends each request of the interface through the faults that are switched on.
import type { MiddlewareHandler } from 'hono';
import type { JobSite, SiteEnv } from '../job-site.ts';
import { readBody } from './request-body.ts';

export const throughFaults =
  (site: JobSite): MiddlewareHandler<SiteEnv> =>
  async (c, next) => {
    const request = c.get('request');
    const answer = await site.faults.run(
      {
        incoming: c.env.incoming,
        outgoing: c.env.outgoing,
        closing: site.closing,
        operation: request.operation,
        struck: (name) => request.faults.push(name),
        receive: async () => void (await readBody(c, site)),
        refuseConnections: site.refuseConnections,
      },
      async () => {
        await next();
        request.processed = c.res.status;
        return c.res;
      },
    );
    if (answer === c.res) return;
    // Assigning over an answer merges its headers into the new one; a fault's answer must stay as it is.
    c.res = undefined;
    c.res = answer;
  };
