// The site of a crossing life behind a proxy that repeats requests, as proxies do whose connection ended before the answer came; the site
// refuses a number that a job has. The proxy also serves the feed, as a document of the web.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { listen } from '../support/listen.ts';
import type { Installation } from './installation.ts';
import type { Random } from './random.ts';

export interface CrossingSite {
  readonly url: string;
  /** The share of requests that arrive twice, in percent. */
  repeats: number;
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
const PASSED = ['link', 'location', 'retry-after', 'content-type'];
/** Longer than the mirror waits: a request that it has given up still arrives, but not for ever. */
const GIVEN_UP_MS = 700;

export async function openCrossingSite(
  { sandbox, owner, folder }: Installation,
  random: Random,
): Promise<CrossingSite> {
  let inFlight = 0;
  let creating: Promise<unknown> = Promise.resolve();

  async function forward({ method = 'GET', url = '/', headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    const number = /<number>(.*?)<\/number>/.exec(body.toString())?.[1];
    if (method === 'POST' && number !== undefined && (await isTaken(number))) {
      site.story.push(`${number} is taken`);
      return TAKEN;
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
    return { status: answer.statusCode, headers: Object.fromEntries(passed), body: content };
  }

  const isTaken = async (number: string): Promise<boolean> =>
    (await sandbox.inspect.jobs()).some(
      (job) => job.owner === owner && job.fields.number?.toLowerCase() === number.toLowerCase(),
    );

  async function answer(incoming: IncomingMessage): Promise<Answer> {
    if (incoming.url === '/feed.xml') {
      return { status: 200, headers: { 'content-type': 'text/xml' }, body: await readFile(join(folder, 'feed.xml')) };
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
