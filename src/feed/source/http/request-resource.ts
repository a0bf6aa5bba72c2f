// Requests a resource over HTTP: with credentials, which stay within their origin, and through safe redirects.
import { BrokenOff, reasonOf } from '../source.ts';
import { mayRenew, secretHeaders, withKey } from './credentials.ts';
import { type Headers, type HttpConditions, type HttpExchange, type HttpRequest, send } from './exchange.ts';
import { type HttpConfig, shown } from './http-config.ts';

export interface ResourceRequest {
  /** At the origin of the configured address. */
  readonly url: URL;
  readonly method?: 'GET' | 'POST';
  /** JSON. */
  readonly body?: string;
  /** More headers for an address, which redirects may lead to. */
  headersFor?(url: URL): Headers;
}

export type ResourceAnswer =
  /** Any status that is no redirect. */
  | { readonly kind: 'answered'; readonly url: URL; readonly exchange: HttpExchange }
  | { readonly kind: 'failed'; readonly message: string; readonly isPassing?: boolean };

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Sends the request, a second time with a new access token if the first is refused. Throws the reason of the signal. */
export async function requestResource(
  config: HttpConfig,
  request: ResourceRequest,
  conditions: HttpConditions,
): Promise<ResourceAnswer> {
  const answer = await follow(config, request, conditions);
  if (answer.kind === 'failed' || answer.exchange.response.statusCode !== 401 || !mayRenew(config)) return answer;
  answer.exchange.response.destroy();
  return follow(config, request, conditions);
}

async function follow(
  config: HttpConfig,
  { url: first, method = 'GET', body, headersFor }: ResourceRequest,
  conditions: HttpConditions,
): Promise<ResourceAnswer> {
  let url = withKey(first, config);
  let secrets: Headers;
  try {
    secrets = await secretHeaders(config, conditions);
  } catch (error) {
    conditions.signal.throwIfAborted();
    if (error instanceof BrokenOff) return failed(error.message);
    throw error;
  }
  let tls = config.credentials?.tls;
  let startedPublic = true;
  const plain = { accept: config.accept, 'accept-encoding': 'gzip', ...(body === undefined ? {} : JSON_BODY) };
  for (let redirects = 0; ; redirects++) {
    const mustBePublic = redirects > 0 && startedPublic && !config.allowPrivateRedirects;
    const headers = { ...plain, ...secrets, ...headersFor?.(url) };
    const sent = await sendOnce({ url, method, headers, body, tls, mustBePublic }, conditions);
    if (sent.kind === 'failed') return sent;
    const { response, connectedTo } = sent.exchange;
    if (redirects === 0) startedPublic = connectedTo === undefined || !conditions.network.isPrivate(connectedTo);
    const status = response.statusCode ?? 0;
    if (!REDIRECTS.has(status)) return { kind: 'answered', url, exchange: sent.exchange };

    response.destroy();
    const { location } = response.headers;
    if (location === undefined || !URL.canParse(location, url.href))
      return failed(`${shown(url)} redirects (${status}) without a valid Location header`);
    // A request with a body would have to be repeated as another one (RFC 9110, 15.4).
    if (method === 'POST' && status !== 307 && status !== 308)
      return failed(`${shown(url)} redirects a POST (${status}); configure the final address of the feed`);
    const target = new URL(location, url);
    if (redirects >= config.maxRedirects) {
      return failed(
        `${shown(url)} redirects again after ${redirects} redirects; configure the final address of the feed`,
      );
    }
    if (target.protocol !== 'https:' && (target.protocol !== 'http:' || url.protocol === 'https:')) {
      return failed(`${shown(url)} redirects to ${shown(target)}; redirects from https are followed only to https`);
    }
    // RFC 9110, 15.4: credentials for one origin must not be sent to another.
    if (target.origin !== url.origin) {
      if (body !== undefined) return failed(`${shown(url)} redirects a POST to another origin, ${target.origin}`);
      secrets = {};
      tls = undefined;
    }
    url = target;
  }
}

const JSON_BODY = { 'content-type': 'application/json' };

async function sendOnce(
  request: HttpRequest,
  conditions: HttpConditions,
): Promise<{ kind: 'sent'; exchange: HttpExchange } | { kind: 'failed'; message: string; isPassing: boolean }> {
  try {
    return { kind: 'sent', exchange: await send(request, conditions) };
  } catch (error) {
    conditions.signal.throwIfAborted();
    const message = `${shown(request.url)} can't be reached: ${reasonOf(error)}`;
    return { kind: 'failed', message, isPassing: !(error instanceof BrokenOff) };
  }
}

const failed = (message: string): ResourceAnswer => ({ kind: 'failed', message });
