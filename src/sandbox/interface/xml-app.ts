// The XML interface: handles requests whose path ends in `.xml` (site-interface.md).
// A request passes the request log, the faults, authentication and the resource, in this order.
import { Hono, type MiddlewareHandler } from 'hono';
import { identify } from '../credentials.ts';
import { gone } from '../faults/fault-row.ts';
import { stateBySlug } from '../job-rules.ts';
import type { JobSite, SiteEnv } from '../job-site.ts';
import { failure, notAllowed, notThere, operationOf, unauthorized, xmlAnswer } from './answers.ts';
import { createJob, deleteJob, updateJob } from './change-job.ts';
import { listJobs } from './list-jobs.ts';
import { readBody } from './request-body.ts';
import { element, emptyJobXml, jobXml, statesXml } from './write-xml.ts';

/** Whether a path requests the XML form of a page. */
export const asksForXml = (path: string): boolean => path.endsWith('.xml');

/** The path without its extension: `/jobs/7.xml` → `/jobs/7`, `/.xml` → `/`. */
const pagePath = (request: Request): string => new URL(request.url).pathname.slice(0, -'.xml'.length);

const UNSAFE = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export function createXmlApp(site: JobSite): Hono<SiteEnv> {
  const app = new Hono<SiteEnv>({ getPath: pagePath });
  app.use(recorded(site));
  app.use(throughFaults(site));
  app.use(async (c, next) => {
    // Browsers send cookies with cross-site requests too, so a cookie only authorises reads.
    const identity = await identify(c, site, !UNSAFE.has(c.req.method));
    if (identity.kind === 'wrong') return unauthorized();
    if (identity.kind === 'account') {
      c.set('account', identity.account);
      c.get('request').account = identity.account.email;
    }
    return next();
  });

  app.get('/', () => showHome(site));
  app.get('/jobs', (c) => listJobs(c, site, { search: c.req.query('q') || undefined }));
  app.post('/jobs', (c) => createJob(c, site));
  app.get('/jobs/new', () => xmlAnswer(emptyJobXml(site.settings())));
  app.get('/jobs/:id', async (c) => {
    const id = c.req.param('id');
    const job = await site.jobs.find(id);
    if (job !== undefined) return xmlAnswer(jobXml(job, site.settings()));
    const deleted = await site.jobs.findDeleted(id);
    const isShown = deleted !== undefined && site.settings().deletedJobs === 'flagged';
    return isShown ? xmlAnswer(jobXml(deleted, site.settings())) : notThere(deleted);
  });
  app.on(['PUT', 'PATCH'], '/jobs/:id', (c) => updateJob(c, site, c.req.param('id')));
  app.delete('/jobs/:id', (c) => deleteJob(c, site, c.req.param('id')));
  app.get('/states', async () => xmlAnswer(statesXml(await site.jobs.countByState())));
  app.get('/states/:slug', (c) => {
    const state = stateBySlug(c.req.param('slug'));
    return state ? listJobs(c, site, { state: state.abbreviation }) : failure(404, 'There is no such state.');
  });
  app.get('/account/jobs', (c) => {
    const account = c.get('account');
    return account ? listJobs(c, site, { ownerId: account.id }) : unauthorized();
  });

  app.all('/jobs', () => notAllowed('GET, POST'));
  app.all('/jobs/:id', () => notAllowed('GET, PUT, PATCH, DELETE'));
  for (const path of ['/', '/states', '/states/:slug', '/account/jobs']) app.all(path, () => notAllowed('GET'));
  app.notFound(() => failure(404, 'There is no such page.'));
  app.onError((error) => {
    if (!site.closing.aborted) site.log('request failed', { error: error.stack ?? error.message });
    return failure(500, 'Something went wrong.');
  });
  return app;
}

/** The home page: the number of jobs, and the newest ones. */
async function showHome(site: JobSite): Promise<Response> {
  const { jobs, total } = await site.jobs.list({}, 0, 5);
  return xmlAnswer(
    element('home', [
      element('total', String(total)),
      element(
        'newest',
        jobs.map((job) => jobXml(job, site.settings())),
        { type: 'array' },
      ),
    ]),
  );
}

// Passes each request of the interface through the active faults.
const throughFaults =
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

// Records each request of the interface in the request log, once its response is sent or its client is gone.
const recorded =
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
