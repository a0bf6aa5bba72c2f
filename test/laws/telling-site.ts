// A job site that echoes the token in every response, like a proxy with a debug page.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../support/listen.ts';

export interface TellingSite {
  readonly url: string;
  /** The response to `/feed.xml`, which echoes the header `x-key`, and in the place of {@link ECHO} whatever the request has. */
  feed: string;
  /** What feeds were requested with so far: values of `x-key`, and of the credentials. */
  readonly keys: readonly string[];
  /** The access token that `/token` gives away, after it echoed its request in a failure. */
  accessToken: string;
  close(): Promise<void>;
}

type Echo = (response: ServerResponse, echo: string, token: string) => void;

const answer = (response: ServerResponse, status: number, headers: Record<string, string>, body: string) =>
  response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(body);

/** Stands in the feed for what its request has, in several forms. */
export const ECHO = '{{echo}}';

function echoOf(path: string, headers: IncomingMessage['headers']): string {
  const key = String(headers['x-key']);
  const query = new URL(path, 'http://localhost').searchParams.get('key') ?? '';
  const sent = [path, query, key, headers.authorization ?? ''];
  const forms = sent.flatMap((text) => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text),
    Buffer.from(text).toString('base64'),
    Buffer.from(`user:${text}`).toString('base64'),
    Buffer.from(text).toString('hex'),
  ]);
  return forms.join(' ').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Responses to creates, by posting key. */
const ECHOES: Readonly<Record<string, Echo>> = {
  invalid: (response, echo) =>
    answer(response, 422, {}, `<errors><error field="title">Title: not for ${echo}</error></errors>`),
  forbidden: (response, echo) => answer(response, 403, {}, `<error>${echo} may not</error>`),
  located: (response, echo, token) =>
    answer(
      response,
      201,
      { location: `/jobs/71?user=${encodeURIComponent(token)}` },
      `<job><owner>${echo}</owner></job>`,
    ),
  identified: (response, echo, token) =>
    answer(response, 201, { location: `/jobs/${encodeURIComponent(token)}` }, `<job><title>${echo}</title></job>`),
  redirected: (response, _echo, token) =>
    answer(
      response,
      302,
      { location: `http://${encodeURIComponent(token)}@127.0.0.1:1/jobs.xml?t=${encodeURIComponent(token)}` },
      '',
    ),
  broken: (response, echo) =>
    answer(response, 500, { 'content-type': 'text/html' }, `<html><body>${echo}</body></html>`),
  malformed: (response, echo) => answer(response, 201, {}, `<job><${echo}`),
  lasting: (response, echo) => answer(response, 503, {}, echo),
  strange: (response, echo) => response.socket?.end(`HTTP/9 ${echo}\r\n${echo}\r\n\r\n`),
  refused: (response, echo) => answer(response, 401, { 'www-authenticate': `Basic realm="${echo}"` }, echo),
};

/** Keys of the postings with a response; `refused` is last because it pauses the site. */
export const ECHOED_KEYS = Object.keys(ECHOES);

export async function startTellingSite(): Promise<TellingSite> {
  const site = { feed: '', keys: [] as string[], accessToken: '' };
  let tokenRequests = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    if (path.startsWith('/feed.xml')) {
      const key = String(request.headers['x-key']);
      const { searchParams } = new URL(path, 'http://localhost');
      site.keys.push(key, searchParams.get('key') ?? '', request.headers.authorization ?? '');
      return void answer(response, 200, { 'x-echo': key }, site.feed.replaceAll(ECHO, echoOf(path, request.headers)));
    }
    if (path === '/token') {
      const body = await text(request);
      const [status, content] =
        tokenRequests++ === 0
          ? [400, { error: body, error_description: request.headers.authorization }]
          : [200, { access_token: site.accessToken, token_type: 'bearer', expires_in: 3600 }];
      return void answer(response, status, { 'content-type': 'application/json' }, JSON.stringify(content));
    }
    if (path.startsWith('/refused')) return void answer(response, 403, {}, JSON.stringify(request.headers));
    const authorization = request.headers.authorization ?? '';
    const token = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().replace(/:X$/, '');
    const echo = [token, authorization, encodeURIComponent(token), Buffer.from(token).toString('base64')].join(' ');
    const body = await text(request);
    const [, key = ''] = /<number>([^<]*)</.exec(body) ?? [];
    if (request.method === 'POST') return ECHOES[key]?.(response, echo, token);
    answer(response, 500, {}, echo);
  };
  const server = createServer((request, response) => void handle(request, response));
  const port = await listen(server);
  return Object.assign(site, {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
