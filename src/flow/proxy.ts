// Leads requests through an HTTP proxy, for undici's client and for Node's: a tunnel (CONNECT) to https, and, as curl does it, forwarded requests to
// http, because Squid and its likes open tunnels to port 443 only. ProxyAgent of undici serves no client of Node, which reads feeds and lists.
import {
  type AgentOptions,
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  STATUS_CODES,
} from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { BlockList, connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { onAbort } from './pause.ts';

/** Which proxy leads to which target. Without `http` and `https`, none. */
export interface ProxySettings {
  /** The addresses of the proxies to http and to https, valid, with user and password. */
  readonly http?: { reveal(): string };
  readonly https?: { reveal(): string };
  /** The hosts that are reached without one, as NO_PROXY has them. */
  readonly except: string;
  /** Only these settings of a feed name it. */
  readonly isOfFeed?: true;
}

/** Nothing of the request has reached the target. The message names the proxy, and holds no secret. */
export class ProxyFailure extends Error {}

export interface ProxyRoute {
  /** For people: `the proxy proxy.example.com:3128`. */
  readonly name: string;
  /** The proxy reads the requests, and may answer them itself; otherwise there is a tunnel. */
  readonly isForwarded: boolean;
  /** Headers that only the proxy may see. */
  readonly headers: Readonly<Record<string, string>>;
  /** User and password as they are sent, in Base64, and the password, if the target may see them because the proxy passes them on. */
  readonly secrets: readonly string[];
  /** What a request asks the connection for: a path, or a whole address. */
  target(url: URL): string;
  /**
   * A new connection: to the target, encrypted, or to the proxy that forwards.
   * @param tls of the target
   * @throws {ProxyFailure} or an error of TLS with the target
   */
  connect(tls: ConnectionOptions, signal: AbortSignal, lookup?: LookupFunction): Promise<Socket>;
  /** That the proxy did not pass the request on. */
  refusalOf(status: number, headers: IncomingHttpHeaders): ProxyFailure | undefined;
}

/** The way to a target; `undefined`: directly. @throws if a secret of the address is absent */
export function routeTo(url: URL, settings: ProxySettings | undefined): ProxyRoute | undefined {
  const isForwarded = url.protocol === 'http:';
  const address = (isForwarded ? settings?.http : settings?.https)?.reveal();
  if (settings === undefined || address === undefined || isExcepted(url, settings.except)) return undefined;
  const server = new URL(address);
  const place = { host: plainHost(server), port: portOf(server) };
  const name = `the proxy ${server.hostname}:${place.port}`;
  const [user, password] = [server.username, server.password].map(decodeURIComponent) as [string, string];
  const login = user === '' && password === '' ? undefined : Buffer.from(`${user}:${password}`).toString('base64');
  const headers: Record<string, string> = login === undefined ? {} : { 'proxy-authorization': `Basic ${login}` };
  const refused = (response: Answered, did: string): ProxyFailure => describeRefusal(name, login, response, did);
  return {
    name,
    isForwarded,
    headers: isForwarded ? headers : {},
    secrets: login === undefined || !isForwarded ? [] : [login, password],
    target: ({ origin, pathname, search }) => `${isForwarded ? origin : ''}${pathname}${search}`,
    async connect(tls, signal, lookup) {
      const socket = await opened(
        server.protocol === 'https:'
          ? connectTls({ ...place, lookup, servername: serverName(place.host), ALPNProtocols: HTTP_1 })
          : connectTcp({ ...place, lookup, noDelay: true, keepAlive: true }),
        signal,
      ).catch((error) => {
        throw signal.aborted
          ? late(name)
          : new ProxyFailure(`${name} can't be reached: ${inWords(error)}; check proxy`);
      });
      if (isForwarded) return socket;
      const host = plainHost(url);
      const target = `${url.hostname}:${portOf(url)}`;
      const response = await openTunnel(socket, target, headers, signal).catch((error) => {
        throw signal.aborted
          ? late(name)
          : new ProxyFailure(`${name} gave no answer to CONNECT ${target}: ${inWords(error)}`);
      });
      const { statusCode = 0 } = response;
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        throw refused(response, `does not connect to ${target}`);
      }
      return opened(connectTls({ ...tls, socket, host, servername: serverName(host), ALPNProtocols: HTTP_1 }), signal);
    },
    refusalOf: (statusCode, received) =>
      isForwarded && (statusCode === 407 || (statusCode === 401 && /^tinyproxy/i.test(String(received.server))))
        ? refused({ statusCode, headers: received }, `does not pass requests on to ${url.host}`)
        : undefined,
  };
}

type Answered = Pick<IncomingMessage, 'statusCode' | 'headers'>;

const HTTP_1 = ['http/1.1'];

const plainHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));
/** An address is no server name (RFC 6066, 3). */
const serverName = (host: string): string => (isIP(host) === 0 ? host : '');

/** Resolves when the socket is connected, and encrypted if it is to be. */
function opened(socket: Socket, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const late = Object.assign(new Error('it took too long'), { code: 'ETIMEDOUT' });
    const forget = onAbort(signal, () => socket.destroy(late));
    // Stays: an error that nobody hears would end the process.
    socket.on('error', (error) => {
      forget();
      reject(error);
    });
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      forget();
      resolve(socket);
    });
  });
}

function openTunnel(
  socket: Socket,
  path: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = requestHttp({
      method: 'CONNECT',
      path,
      headers: { host: path, 'user-agent': 'jobmirror', ...headers },
      createConnection: () => socket,
    });
    const forget = onAbort(signal, () => asked.destroy());
    asked.once('connect', (response) => {
      forget();
      resolve(response);
    });
    asked.once('error', (error) => {
      forget();
      reject(error);
    });
    asked.end();
  });
}

const late = (name: string): ProxyFailure => new ProxyFailure(`${name} opened no connection in time`);

function inWords(error: NodeJS.ErrnoException): string {
  const { code, message } = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}

function describeRefusal(
  name: string,
  login: string | undefined,
  { statusCode = 0, headers }: Answered,
  did: string,
): ProxyFailure {
  // Tinyproxy answers 401 to a wrong password.
  if (statusCode !== 407 && statusCode !== 401) {
    const next = statusCode === 403 || statusCode === 405 ? '; ask its operator to allow it, or set proxy: none' : '';
    return new ProxyFailure(
      `${name} ${did}: it answered ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd() + next,
    );
  }
  const schemes = [headers['proxy-authenticate'] ?? []].flat().join(', ');
  if (statusCode === 407 && schemes !== '' && !/\bbasic\b/i.test(schemes))
    return new ProxyFailure(
      `${name} ${did} (${statusCode}): it takes no Basic credentials, and jobmirror has no others; ask its operator for an exception`,
    );
  return new ProxyFailure(
    login === undefined
      ? `${name} wants a user and a password (${statusCode}): write them into proxy, http://user:\${NAME}@host:port`
      : `${name} refuses the user and the password of proxy (${statusCode})`,
  );
}

/** As curl and undici read NO_PROXY: names with those below them, addresses, `*`, with a port or for all; and ranges of addresses, as curl does. */
function isExcepted(url: URL, except: string): boolean {
  const host = plainHost(url);
  return except.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    const [, named = entry, port] = isIP(entry) === 0 ? (/^(.+):(\d+)$/.exec(entry) ?? []) : [];
    if (port !== undefined && Number(port) !== portOf(url)) return false;
    const name = named.toLowerCase().replace(/^\*?\.|^\[|\]$/g, '');
    return name !== '' && (host === name || (isIP(host) === 0 ? host.endsWith(`.${name}`) : isInRange(host, name)));
  });
}

function isInRange(address: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  const version = isIP(network);
  if (version === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (version === 4 ? 32 : 128)) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return isIP(address) === version && list.check(address, family);
}

/** Connects a pool of undici. */
export const connectorOf =
  (route: ProxyRoute, timeoutMs: number): buildConnector.connector =>
  (_target, callback) =>
    void route.connect({}, AbortSignal.timeout(timeoutMs)).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );

/** An agent of Node's client for one target. @param signal limits the opening of a connection @param lookup of the proxy */
export function agentFor(
  { protocol }: URL,
  route: ProxyRoute | undefined,
  options: AgentOptions,
  signal: () => AbortSignal,
  lookup?: LookupFunction,
): HttpAgent {
  const agent = protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  if (route === undefined) return agent;
  agent.createConnection = ({ cert, key, passphrase, ca }: ConnectionOptions, callback) => {
    route.connect({ cert, key, passphrase, ca }, signal(), lookup).then(
      (socket) => callback?.(null, socket),
      (error) => callback?.(error, undefined as never),
    );
    return undefined;
  };
  return agent;
}
