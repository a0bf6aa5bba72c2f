// Passes each request of the interface through the active faults.
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
    // Assigning a response over another merges the headers; a fault's response must stay unchanged.
    c.res = undefined;
    c.res = answer;
  };
