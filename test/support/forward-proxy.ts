// An HTTP proxy as companies have them, for tests: it forwards requests to http, and opens tunnels (CONNECT) to https.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { listen } from './listen.ts';

export interface ForwardProxy extends AsyncDisposable {
  /** Without user and password. */
  readonly url: URL;
  /** The request lines that it got, such as `CONNECT site:443`. */
  readonly got: string[];
  /** `user:password` that it wants; `undefined`: none. */
  login: string | undefined;
  /** What it offers with 407. */
  challenge: string;
  /** What it answers instead of doing anything; `undefined`: nothing. */
  refusal: number | undefined;
  /** How many more requests it refuses so. */
  refusals: number;
  /** Does not answer. */
  isSilent: boolean;
  /** Passes `Proxy-Authorization` on, as no proxy should. */
  passesLogin: boolean;
  /** Also tunnels. */
  breakConnections(): void;
}

/** @param tls of the proxy itself */
export async function startForwardProxy(tls?: { readonly cert: string; readonly key: string }): Promise<ForwardProxy> {
  const sockets = new Set<Socket>();
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  server.on('connection', keep);
  server.on('secureConnection', keep);
  const refusalOf = ({ method, url, headers }: IncomingMessage): number | undefined => {
    proxy.got.push(`${method} ${url}`);
    const sent = Buffer.from((headers['proxy-authorization'] ?? '').replace('Basic ', ''), 'base64').toString();
    if (proxy.login !== undefined && sent !== proxy.login) return 407;
    return proxy.refusal === undefined || proxy.refusals-- <= 0 ? undefined : proxy.refusal;
  };
  server.on('request', (incoming, response) => {
    const refusal = refusalOf(incoming);
    if (proxy.isSilent) return;
    if (refusal !== undefined)
      return void response
        .writeHead(refusal, { 'proxy-authenticate': proxy.challenge, server: 'tinyproxy/1.11.1' })
        .end('<html>refused</html>');
    const { 'proxy-authorization': login, ...headers } = incoming.headers;
    const passed = proxy.passesLogin ? { ...headers, 'proxy-authorization': login } : headers;
    const onward = request(incoming.url ?? '', { method: incoming.method, headers: passed }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.headersSent || response.writeHead(502).end());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    const refusal = refusalOf(incoming);
    if (proxy.isSilent) return;
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal} No\r\nProxy-Authenticate: ${proxy.challenge}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const onward = connect(Number(port || 80), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    keep(onward);
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroy());
  });
  const port = await listen(server);
  const proxy: ForwardProxy = {
    url: new URL(`${tls === undefined ? 'http' : 'https'}://localhost:${port}`),
    got: [],
    login: undefined,
    challenge: 'Basic realm="proxy"',
    refusal: undefined,
    refusals: Number.POSITIVE_INFINITY,
    isSilent: false,
    passesLogin: false,
    breakConnections() {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      proxy.breakConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
