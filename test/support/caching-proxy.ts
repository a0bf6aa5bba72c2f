// A cache in front of a site, for tests: answers with copies of the site's lists, with a configurable age.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { listen } from './listen.ts';

export interface CachingProxy {
  readonly url: string;
  /** The age of the copies in seconds; `undefined`: lists are not cached. */
  age: number | undefined;
  /** Whether copies tell their age, as nginx does not. */
  tellsAge: boolean;
  /** Answers so to lists with a query that no cache knows. */
  refusal: number | undefined;
  /** The XML with which lists are answered, instead of those of the site. */
  list: string | undefined;
  /** Called before each request for a list, with its number. */
  onList: (nth: number) => Promise<void>;
  /** Empties the cache. */
  clear(): void;
  close(): Promise<void>;
}

interface Copy {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

/** @param site the site that receives the requests, with their path and headers. */
export async function startCachingProxy(site: string): Promise<CachingProxy> {
  const copies = new Map<string, Copy>();
  let lists = 0;
  const server = createServer(async (incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const isList = method === 'GET' && url.startsWith('/jobs.xml');
    if (isList) await proxy.onList(++lists);
    const body = await buffer(incoming);
    if (isList && proxy.list !== undefined) {
      return void response.writeHead(200, { 'content-type': 'application/xml' }).end(proxy.list);
    }
    if (isList && url.includes('_=') && proxy.refusal !== undefined)
      return void response.writeHead(proxy.refusal).end();
    const kept = isList && proxy.age !== undefined ? copies.get(url) : undefined;
    const { 'transfer-encoding': _coding, connection: _connection, expect: _expect, ...passed } = headers;
    const copy = kept ?? (await forward(`${site}${url}`, method, passed, body));
    if (copy === undefined) return void incoming.destroy();
    if (isList) copies.set(url, copy);
    const age: Record<string, string> =
      isList && proxy.age !== undefined && proxy.tellsAge ? { age: String(proxy.age) } : {};
    response.writeHead(copy.status, { ...copy.headers, ...age }).end(copy.body);
  });
  const proxy = {
    url: '',
    age: undefined as number | undefined,
    tellsAge: true,
    refusal: undefined as number | undefined,
    list: undefined as string | undefined,
    onList: async (_nth: number): Promise<void> => undefined,
    clear: () => copies.clear(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const port = await listen(server);
  proxy.url = `http://127.0.0.1:${port}`;
  return proxy;
}

/** `undefined`: the site did not respond. */
async function forward(
  url: string,
  method: string,
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
): Promise<Copy | undefined> {
  try {
    const sent = body.length === 0 ? {} : { body };
    const answer = await request(url, { method: method as 'GET', headers, ...sent });
    const { 'transfer-encoding': _coding, connection: _connection, ...kept } = answer.headers;
    return {
      status: answer.statusCode,
      headers: kept as Copy['headers'],
      body: Buffer.from(await answer.body.arrayBuffer()),
    };
  } catch {
    return undefined;
  }
}
