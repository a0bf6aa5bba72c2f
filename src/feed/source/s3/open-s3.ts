// Reads an object, or the objects of a folder, from S3-compatible storage.
import { type Folder, MAX_FOLDER_FILES, openFolder } from '../files/folder.ts';
import { type HttpConditions, type HttpExchange, readBody } from '../http/exchange.ts';
import type { HttpConfig } from '../http/http-config.ts';
import { askedVersion, conditionalHeaders, versionOf } from '../http/http-version.ts';
import { systemNetwork } from '../http/redirect-guard.ts';
import { requestResource } from '../http/request-resource.ts';
import { describeBody, responseRefusal } from '../http/response.ts';
import { BrokenOff, type OpenedSource, oneDocument, type SourceContext, type SourceDocument } from '../source.ts';
import { type ListedObject, type ObjectList, parseObjectList } from './list-objects.ts';
import { encodeStrictly, type S3Config, s3Address, s3Place } from './s3-config.ts';
import { signedHeaders } from './sign-request.ts';

export async function openS3(config: S3Config, context: SourceContext): Promise<OpenedSource> {
  const { version, signal, network = systemNetwork } = context;
  const conditions = { signal, network };
  if (config.pick !== undefined) return openFolder(bucketFolder(config, conditions), config.pick);
  const { url, exchange } = await get(config, s3Address(config, config.key), conditions, version);
  if (exchange.response.statusCode === 304) {
    exchange.response.destroy();
    return { kind: 'not_modified' };
  }
  return oneDocument(documentOf(exchange, s3Place(config), signal), versionOf(url, exchange.response.headers));
}

const documentOf = (exchange: HttpExchange, name: string, signal: AbortSignal): SourceDocument => ({
  name,
  chunks: readBody(exchange, signal),
  ...describeBody(exchange),
  // The length is that of the object, also if its encoding was stored with it.
  relayed: undefined,
});

const bucketFolder = (config: S3Config, conditions: HttpConditions): Folder => ({
  place: s3Place({ ...config, pick: undefined }),
  async list(matches) {
    const files = [];
    for await (const { key, modified, etag, size } of listed(config, conditions)) {
      const name = key.slice(config.key.length);
      if (name === '' || name.includes('/') || !matches(name)) continue;
      const modifiedMs = Date.parse(modified);
      if (Number.isNaN(modifiedMs)) throw new BrokenOff(`the list of objects has no time for ${name}`);
      files.push({ name, modifiedNs: BigInt(modifiedMs) * 1_000_000n, identity: `${etag} ${size} ${modified}` });
      if (files.length > MAX_FOLDER_FILES) break;
    }
    return files;
  },
  async read(name) {
    const { exchange } = await get(config, s3Address(config, config.key + name), conditions);
    return documentOf(exchange, name, conditions.signal);
  },
});

/** A list with more pages of a thousand objects is no folder of a feed. */
const MAX_LISTS = 100;
const MAX_LIST_BYTES = 8 * 1024 * 1024;

async function* listed(config: S3Config, conditions: HttpConditions): AsyncGenerator<ListedObject> {
  let token: string | undefined;
  for (let lists = 0; lists < MAX_LISTS; lists++) {
    const { objects, next } = await list(config, token, conditions);
    yield* objects;
    if (next === undefined) return;
    if (next === token) throw new BrokenOff('the list of objects leads back to a page that was already read');
    token = next;
  }
  throw new BrokenOff(`${s3Place(config)} has more than ${MAX_LISTS} pages of objects`);
}

async function list(config: S3Config, token: string | undefined, conditions: HttpConditions): Promise<ObjectList> {
  const url = s3Address(config, '');
  const parameters = { 'list-type': '2', delimiter: '/', prefix: config.key };
  const asked = token === undefined ? parameters : { ...parameters, 'continuation-token': token };
  // Not URLSearchParams, whose + for a space is signed differently by some services.
  url.search = Object.entries(asked)
    .map(([name, value]) => `${name}=${encodeStrictly(value)}`)
    .join('&');
  const { exchange } = await get(config, url, conditions);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of readBody(exchange, conditions.signal)) {
    bytes += chunk.length;
    if (bytes > MAX_LIST_BYTES) throw new BrokenOff(`a list of objects is larger than ${MAX_LIST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return parseObjectList(Buffer.concat(chunks).toString());
}

/** Throws {@link BrokenOff} for a response that is neither the object nor "not modified". */
async function get(
  config: S3Config,
  url: URL,
  conditions: HttpConditions,
  version?: string,
): Promise<{ readonly url: URL; readonly exchange: HttpExchange }> {
  const headersFor = (target: URL) => ({
    // The signature is for one host; it must not be sent to another.
    ...(target.origin === url.origin ? signedHeaders(target, config.access, new Date()) : {}),
    ...conditionalHeaders(askedVersion(version, target)),
  });
  const answer = await requestResource(PLAIN, { url, headersFor }, conditions);
  if (answer.kind === 'failed') throw new BrokenOff(answer.message);
  const { response } = answer.exchange;
  if (response.statusCode === 304 && askedVersion(version, answer.url) !== undefined) return answer;
  const refusal = responseRefusal(answer.url, answer.exchange);
  if (refusal === undefined) return answer;
  response.destroy();
  throw new BrokenOff(response.statusCode === 403 ? `${refusal}, the region, and the clock of this machine` : refusal);
}

/** What the redirects and the media types of a request obey; its signature is added for each address. */
const PLAIN: HttpConfig = {
  kind: 'http',
  url: 'https://s3.amazonaws.com/',
  headers: {},
  accept: '*/*',
  maxRedirects: 3,
  allowPrivateRedirects: false,
};
