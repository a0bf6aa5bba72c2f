// A job site that tells the token back in everything that it answers, as a proxy with a debug page does.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TellingSite {
  readonly url: string;
  /** What `/feed.xml` is answered with; it tells back the header `x-key`. */
  feed: string;
  /** Values of `x-key` so far. */
  readonly keys: readonly string[];
  close(): Promise<void>;
}

type Tell = (response: ServerResponse, told: string, token: string) => void;

const answer = (response: ServerResponse, status: number, headers: Record<string, string>, body: string) =>
  response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(body);

/** What a create is answered with, by the posting's key. */
const TELLS: Readonly<Record<string, Tell>> = {
  invalid: (response, told) =>
    answer(response, 422, {}, `<errors><error field="title">Title: not for ${told}</error></errors>`),
  forbidden: (response, told) => answer(response, 403, {}, `<error>${told} may not</error>`),
  located: (response, told, token) =>
    answer(
      response,
      201,
      { location: `/jobs/71?user=${encodeURIComponent(token)}` },
      `<job><owner>${told}</owner></job>`,
    ),
  identified: (response, told, token) =>
    answer(response, 201, { location: `/jobs/${encodeURIComponent(token)}` }, `<job><title>${told}</title></job>`),
  redirected: (response, _told, token) =>
    answer(
      response,
      302,
      { location: `http://${encodeURIComponent(token)}@127.0.0.1:1/jobs.xml?t=${encodeURIComponent(token)}` },
      '',
    ),
  broken: (response, told) =>
    answer(response, 500, { 'content-type': 'text/html' }, `<html><body>${told}</body></html>`),
  malformed: (response, told) => answer(response, 201, {}, `<job><${told}`),
  lasting: (response, told) => answer(response, 503, {}, told),
  strange: (response, told) => response.socket?.end(`HTTP/9 ${told}\r\n${told}\r\n\r\n`),
  refused: (response, told) => answer(response, 401, { 'www-authenticate': `Basic realm="${told}"` }, told),
};

/** Keys of the postings that it has an answer for; `refused` comes last, as it pauses the site. */
export const TOLD_KEYS = Object.keys(TELLS);

export async function startTellingSite(): Promise<TellingSite> {
  const site = { feed: '', keys: [] as string[] };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    if (path.startsWith('/feed.xml')) {
      const key = String(request.headers['x-key']);
      site.keys.push(key);
      return void answer(response, 200, { 'x-told': key }, site.feed);
    }
    const authorization = request.headers.authorization ?? '';
    const token = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().replace(/:X$/, '');
    const told = [token, authorization, encodeURIComponent(token), Buffer.from(token).toString('base64')].join(' ');
    const body = await text(request);
    const [, key = ''] = /<number>([^<]*)</.exec(body) ?? [];
    if (request.method === 'POST') return TELLS[key]?.(response, told, token);
    answer(response, 500, {}, told);
  };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(site, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
