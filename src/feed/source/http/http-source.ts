// Reads an http or https URL as a source: conditional requests, and proof that the body is whole.
import { type OpenedSource, oneDocument, type SourceContext, type SourceKind } from '../source.ts';
import { readBody } from './exchange.ts';
import { type HttpConfig, httpDescriptions, shown } from './http-config.ts';
import { askedVersion, conditionalHeaders, versionOf } from './http-version.ts';
import { systemNetwork } from './redirect-guard.ts';
import { requestResource } from './request-resource.ts';
import { describeBody, responseRefusal } from './response.ts';

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

const failed = (message: string): OpenedSource => ({ kind: 'failed', message });
