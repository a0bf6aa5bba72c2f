// The site of a crossing life behind a proxy that repeats requests, as proxies do whose connection ended before the answer came; the site
// refuses a number that a job has, or leads to that job, as some do that redirect each create to its job. The proxy also serves the feed, as
// documents of the web.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import type { InspectedJob } from '../../src/sandbox/sandbox.ts';
import { listen } from '../support/listen.ts';
import type { Installation } from './installation.ts';
import type { Random } from './random.ts';

export interface CrossingSite {
  readonly url: string;
  /** The share of requests that arrive twice, in percent. */
  repeats: number;
  /** What a header of the feed states as the total of its list, if any. */
  total: number | undefined;
  /** What happened since this was emptied. */
  readonly story: string[];
  /** Resolves once no request is under way, here or at the sandbox. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

const TAKEN: Answer = {
  status: 422,
  headers: { 'content-type': 'application/xml' },
  body: '<errors><error>Number has already been taken</error></errors>',
};
const redirectTo = (location: string): Answer => ({
  status: 302,
  headers: { location },
  body: '<html>See the job</html>',
});
const PASSED = ['link', 'location', 'retry-after', 'content-type'];
/** Longer than the mirror waits: a request that it has given up still arrives, but not for ever. */
const GIVEN_UP_MS = 700;

export async function openCrossingSite(
  { sandbox, owner, folder }: Installation,
  random: Random,
): Promise<CrossingSite> {
  let inFlight = 0;
  /** The share of creates that are answered by a redirect, in percent. */
  const redirects = random.pick([0, 0, 50, 100]);
  let creating: Promise<unknown> = Promise.resolve();

  async function forward({ method = 'GET', url = '/', headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    const number = /<number>(.*?)<\/number>/.exec(body.toString())?.[1];
    const taken = method === 'POST' && number !== undefined ? await jobOf(number) : undefined;
    if (taken !== undefined) {
      const leads = random.chance(redirects);
      site.story.push(`${number} is taken${leads ? `, which leads to ${taken.id}` : ''}`);
      return leads ? redirectTo(`${site.url}/jobs/${taken.id}`) : TAKEN;
    }
    const { authorization, 'content-type': type } = headers;
    const answer = await request(sandbox.url + url, {
      method: method as 'GET',
      headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
      body: body.length === 0 ? null : body,
      signal: AbortSignal.timeout(GIVEN_UP_MS),
    });
    const passed = PASSED.flatMap((name) => {
      const value = answer.headers[name];
      return value === undefined ? [] : [[name, String(value).replaceAll(sandbox.url, site.url)]];
    });
    const content = Buffer.from(await answer.body.arrayBuffer());
    const location = String(answer.headers.location ?? '').replaceAll(sandbox.url, site.url);
    if (method === 'POST' && answer.statusCode === 201 && random.chance(redirects)) {
      site.story.push(`${number} is made, which leads to ${location}`);
      return redirectTo(location);
    }
    return { status: answer.statusCode, headers: Object.fromEntries(passed), body: content };
  }

  const jobOf = async (number: string): Promise<InspectedJob | undefined> =>
    (await sandbox.inspect.jobs()).find(
      (job) => job.owner === owner && job.fields.number?.toLowerCase() === number.toLowerCase(),
    );

  async function answer(incoming: IncomingMessage): Promise<Answer> {
    if (incoming.url === '/feed.xml' || incoming.url === '/rest.xml') {
      const total: Record<string, string> = site.total === undefined ? {} : { 'x-total-count': `${site.total}` };
      const body = await readFile(join(folder, incoming.url.slice(1)));
      return { status: 200, headers: { 'content-type': 'text/xml', ...total }, body };
    }
    const body = await buffer(incoming);
    const pass = async () => {
      if (incoming.method !== 'GET' && random.chance(site.repeats)) {
        site.story.push(`${incoming.method} ${incoming.url} arrives twice`);
        await forward(incoming, body).catch(() => undefined);
      }
      return forward(incoming, body);
    };
    if (incoming.method !== 'POST') return pass();
    // A number is compared and taken at once.
    const created = creating.then(pass);
    creating = created.catch(() => undefined);
    return created;
  }

  const server = createServer((incoming, outgoing) => {
    inFlight++;
    void answer(incoming)
      .then(({ status, headers, body }) => outgoing.writeHead(status, headers).end(body))
      .catch(() => outgoing.destroy())
      .finally(() => inFlight--);
  });
  const site: CrossingSite = {
    url: `http://127.0.0.1:${await listen(server)}`,
    repeats: random.pick([0, 10, 30]),
    total: undefined,
    story: [],
    async idle() {
      do {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await sandbox.requests.idle();
      } while (inFlight > 0);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return site;
}
