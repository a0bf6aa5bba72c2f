// Reads an http or https URL as a source: conditional requests, repeated until the first byte, and proof that the body is whole.
import { retry } from '../../../flow/retry.ts';
import type { FollowingPage } from '../../format/format.ts';
import { nextLink } from '../pages/next-address.ts';
import {
  FeedReadingError,
  type OpenedSource,
  oneDocument,
  reasonOf,
  type SourceContext,
  type SourceKind,
} from '../source.ts';
import { addressForMessages, baseAddress, type HttpConfig, httpDescriptions } from './http-config.ts';
import { isSameResource, systemNetwork } from './redirects.ts';
import { askedVersion, conditionalHeaders, requestResource, versionOf } from './request-resource.ts';
import { answerRefusal, describeBody, readBody, retryOptionsOf, TransientFailure } from './response.ts';

export const httpSource: SourceKind<HttpConfig> = {
  isRemote: true,
  isRepeatable: true,
  open: openHttp,
  ...httpDescriptions,
};

const ONCE = { attempts: 1, firstDelayMs: 0, maxDelayMs: 0 };

async function openHttp(config: HttpConfig, context: SourceContext): Promise<OpenedSource> {
  const { signal, onRetry } = context;
  const policy = config.retry ?? ONCE;
  const { delayMs, ...others } = retryOptionsOf(policy, signal);
  const wait = (tried: number, error: unknown): number => {
    const ms = delayMs(tried, error);
    onRetry?.(ms);
    return ms;
  };
  try {
    return await retry(() => openOnce(config, context), policy, { ...others, delayMs: wait });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FeedReadingError) return { kind: 'failed', message: error.message };
    throw error;
  }
}

/** Throws {@link FeedReadingError} if there is no document. */
async function openOnce(config: HttpConfig, context: SourceContext): Promise<OpenedSource> {
  const { version, signal, network = systemNetwork, limiter } = context;
  await limiter?.take(signal);
  signal.throwIfAborted();
  const answer = await requestResource(
    config,
    { url: new URL(config.url), headersFor: (url) => conditionalHeaders(askedVersion(version, url)) },
    { signal, network },
  );
  if (answer.kind === 'failed') {
    throw answer.isPassing ? new TransientFailure(answer.message) : new FeedReadingError(answer.message);
  }
  const { url, exchange } = answer;
  const { response } = exchange;
  if (response.statusCode === 304) {
    response.destroy();
    if (askedVersion(version, url) !== undefined) return { kind: 'not_modified' };
    throw new FeedReadingError(`${addressForMessages(url)} answered 304 Not Modified to an unconditional request`);
  }
  const refusal = answerRefusal(url, exchange);
  if (refusal !== undefined) {
    response.destroy();
    throw refusal;
  }
  const chunks = config.retry === undefined ? readBody(exchange, signal) : await begun(readBody(exchange, signal));
  const address = baseAddress(config);
  const isElsewhere = !isSameResource(new URL(address), url);
  const following = followingPage(response.headers.link);
  const document = {
    name: addressForMessages(url),
    address,
    isElsewhere,
    requested: [url.href, config.url] as const,
    chunks,
    following,
    ...describeBody(exchange),
  };
  return oneDocument(document, versionOf(url, response.headers));
}

/** How the Link header says that another page follows. */
function followingPage(link: string | string[] = []): FollowingPage | undefined {
  try {
    const address = nextLink([link].flat().join(', '));
    return address === undefined ? undefined : { said: 'the response has a Link header with rel="next"', address };
  } catch (error) {
    return { said: reasonOf(error) };
  }
}

/** Waits for the first bytes, without which nothing is handed on. Throws {@link TransientFailure} if none arrive. */
async function begun(body: AsyncGenerator<Buffer>): Promise<AsyncGenerator<Buffer>> {
  try {
    const first = await body.next();
    return first.done ? body : rest(first.value, body);
  } catch (error) {
    throw error instanceof FeedReadingError ? new TransientFailure(error.message) : error;
  }
}

async function* rest(first: Buffer, body: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* body;
}
