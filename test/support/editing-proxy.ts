// A proxy in front of a site that changes its answers: a site whose list lies, or that answers as another one.
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { listen } from './listen.ts';

export interface ProxiedAnswer {
  readonly status: number;
  readonly body: string;
}

export interface EditingProxy {
  readonly url: string;
  /** Where requests go; set it before the first one. */
  target: string;
  /** The path to ask for instead. */
  route: (path: string) => string;
  /** Changes an answer; called for each. May wait. */
  edit: (path: string, method: string, answer: ProxiedAnswer) => ProxiedAnswer | Promise<ProxiedAnswer>;
  /** Method and path of each request. */
  readonly asked: string[];
  close(): Promise<void>;
}

const PASSED = ['link', 'location'] as const;

export async function openEditingProxy(): Promise<EditingProxy> {
  const server = createServer((incoming, outgoing) => {
    void answer(incoming).then(
      ({ status, body, headers }) => outgoing.writeHead(status, headers).end(body),
      () => outgoing.destroy(),
    );
  });
  async function answer(incoming: IncomingMessage) {
    const { method = 'GET', url = '/', headers } = incoming;
    proxy.asked.push(`${method} ${url}`);
    const sent = await buffer(incoming);
    const got = await request(proxy.target + proxy.route(url), {
      method: method as 'GET',
      headers: {
        ...(headers.authorization === undefined ? {} : { authorization: headers.authorization }),
        ...(headers['content-type'] === undefined ? {} : { 'content-type': headers['content-type'] }),
      },
      body: sent.length === 0 ? undefined : sent,
    });
    const edited = await proxy.edit(url, method, { status: got.statusCode, body: await got.body.text() });
    const passed = PASSED.flatMap((name) => {
      const value = got.headers[name];
      return value === undefined ? [] : [[name, String(value).replaceAll(proxy.target, proxy.url)]];
    });
    const type = got.headers['content-type'] ?? 'application/xml';
    return { ...edited, headers: { ...Object.fromEntries(passed), 'content-type': String(type) } };
  }
  const port = await listen(server);
  const proxy: EditingProxy = {
    url: `http://127.0.0.1:${port}`,
    target: '',
    route: (same) => same,
    edit: (_path, _method, same) => same,
    asked: [],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
