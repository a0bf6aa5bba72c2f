// A site that, like many, also finds job 12 as `0012` and `12-nurse`: a proxy in front of the sandbox.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { listen } from './listen.ts';

export interface FindingProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** @param site the site that receives the requests, with the number alone as ID. */
export async function startFindingProxy(site: string): Promise<FindingProxy> {
  const server = createServer(async (incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const path = url.replace(/^\/jobs\/0*(\d+)(-[a-z-]+)?\.xml/, '/jobs/$1.xml');
    const { 'transfer-encoding': _coding, connection: _connection, expect: _expect, ...passed } = headers;
    const sent = await buffer(incoming);
    const answer = await request(`${site}${path}`, {
      method: method as 'GET',
      headers: passed,
      body: sent.length === 0 ? null : sent,
    });
    const { connection: _closes, 'transfer-encoding': _chunks, ...kept } = answer.headers;
    response.writeHead(answer.statusCode, kept as Record<string, string>).end(await buffer(answer.body));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
