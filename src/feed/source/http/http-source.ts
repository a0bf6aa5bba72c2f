// Reads an http or https URL as a source: conditional requests, and proof that the body is whole.
import { STATUS_CODES } from 'node:http';
import { type OpenedSource, oneDocument, type SourceContext, type SourceKind } from '../source.ts';
import { type HttpExchange, readBody } from './exchange.ts';
import { type HttpConfig, httpDescriptions, shown } from './http-config.ts';
import { askedVersion, conditionalHeaders, versionOf } from './http-version.ts';
import { systemNetwork } from './redirect-guard.ts';
import { requestResource } from './request-resource.ts';

export const httpSource: SourceKind<HttpConfig> = {
  isRemote: true,
  isRepeatable: true,
  open: openHttp,
  ...httpDescriptions,
};

async function openHttp(config: HttpConfig, context: SourceContext): Promise<OpenedSource> {
  const { version, signal, network = systemNetwork } = context;
  const answer = await requestResource(
    config,
    { url: new URL(config.url), headersFor: (url) => conditionalHeaders(askedVersion(version, url)) },
    { signal, network },
  );
  if (answer.kind === 'failed') return failed(answer.message);
  const { url, exchange } = answer;
  const { response } = exchange;
  if (response.statusCode === 304) {
    response.destroy();
    if (askedVersion(version, url) !== undefined) return { kind: 'not_modified' };
    return failed(`${shown(url)} answered 304 Not Modified to an unconditional request`);
  }
  const refusal = responseRefusal(url, exchange);
  if (refusal !== undefined) {
    response.destroy();
    return failed(refusal);
  }
  const document = { name: shown(url), chunks: readBody(exchange, signal), ...describeBody(exchange) };
  return oneDocument(document, versionOf(url, response.headers));
}

/** Why a response is no feed; `undefined` if it may be one. */
function responseRefusal(url: URL, { response }: HttpExchange): string | undefined {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200)
    return `${shown(url)} answered ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd() + hint(statusCode);
  // Gzip is detected by its first bytes; other encodings were not requested.
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (['', 'identity', 'gzip', 'x-gzip'].includes(encoding)) return undefined;
  return `${shown(url)} sent the content encoding "${encoding}", although only gzip was requested`;
}

/** What the headers of a response say about its body. */
function describeBody({ response: { headers } }: HttpExchange): { charset?: string; totalBytes?: number } {
  const length = Number(headers['content-length'] ?? Number.NaN);
  return {
    charset: /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1],
    totalBytes: Number.isSafeInteger(length) ? length : undefined,
  };
}

function hint(status: number): string {
  if (status === 401 || status === 403) return '; check the credentials or headers of the feed';
  if (status === 404 || status === 410) return '; check its address';
  if (status === 429 || status >= 500) return '; it may work again later';
  return '';
}

const failed = (message: string): OpenedSource => ({ kind: 'failed', message });
