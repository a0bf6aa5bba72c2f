// Reads an object, or the objects of a folder, from S3-compatible storage. Signs requests itself (AWS Signature Version
// 4): the AWS SDK has some 60 packages. Reads lists with saxes, not with fast-xml-parser, whose validator passes much that is not
// well-formed: files that a list lacks are gone.

import { createHash, createHmac } from 'node:crypto';
import { SaxesParser } from 'saxes';
import type { HttpConfig } from '../http/http-config.ts';
import { systemNetwork } from '../http/redirects.ts';
import { askedVersion, conditionalHeaders, requestResource, versionOf } from '../http/request-resource.ts';
import { describeBody, type HttpConditions, type HttpExchange, readBody, responseRefusal } from '../http/response.ts';
import {
  FeedReadingError,
  type OpenedSource,
  oneDocument,
  type SourceContext,
  type SourceDocument,
} from '../source.ts';
import { type Folder, MAX_FOLDER_FILES, openFolder } from './file-source.ts';
import { encodeStrictly, type S3Access, type S3Config, s3Address, s3Place } from './remote-config.ts';

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
      if (Number.isNaN(modifiedMs)) throw new FeedReadingError(`the list of objects has no time for ${name}`);
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
    if (next === token) throw new FeedReadingError('the list of objects leads back to a page that was already read');
    token = next;
  }
  throw new FeedReadingError(`${s3Place(config)} has more than ${MAX_LISTS} pages of objects`);
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
    if (bytes > MAX_LIST_BYTES) throw new FeedReadingError(`a list of objects is larger than ${MAX_LIST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return parseObjectList(Buffer.concat(chunks).toString());
}

/** Throws {@link FeedReadingError} for a response that is neither the object nor "not modified". */
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
  const answer = await requestResource({ ...PLAIN, proxy: config.proxy }, { url, headersFor }, conditions);
  if (answer.kind === 'failed') throw new FeedReadingError(answer.message);
  const { response } = answer.exchange;
  if (response.statusCode === 304 && askedVersion(version, answer.url) !== undefined) return answer;
  const refusal = responseRefusal(answer.url, answer.exchange);
  if (refusal === undefined) return answer;
  response.destroy();
  throw new FeedReadingError(
    response.statusCode === 403 ? `${refusal}, the region, and the clock of this machine` : refusal,
  );
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

// Reads one page of a list of objects (ListObjectsV2).

interface ListedObject {
  readonly key: string;
  readonly modified: string;
  readonly etag: string;
  readonly size: string;
}

interface ObjectList {
  readonly objects: readonly ListedObject[];
  /** For the request of the next page; `undefined` at the end. */
  readonly next: string | undefined;
}

/** Keys are as they are: services disagree on how `encoding-type=url` writes a space. Throws {@link FeedReadingError} for anything that is not a whole list. */
export function parseObjectList(xml: string): ObjectList {
  const objects: ListedObject[] = [];
  let object: Record<string, string> = {};
  const list: Record<string, string> = {};
  const path: string[] = [];
  let text = '';
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw new FeedReadingError(`the list of objects is not well-formed: ${error.message}`);
  });
  parser.on('opentag', ({ name }) => {
    path.push(name);
    text = '';
    if (name === 'Contents') object = {};
  });
  parser.on('text', (piece) => {
    text += piece;
  });
  parser.on('closetag', ({ name }) => {
    path.pop();
    if (path.length === 1 && name !== 'Contents') list[name] = text;
    else if (path.length === 2 && path[1] === 'Contents') object[name] = text;
    else if (path.length === 1) objects.push(objectOf(object));
    if (path.length === 0 && name !== 'ListBucketResult')
      throw new FeedReadingError('the response is no list of objects');
  });
  parser.write(xml).close();
  if (list.IsTruncated !== 'true' && list.IsTruncated !== 'false') {
    throw new FeedReadingError('the list of objects does not say whether it is whole');
  }
  const next = list.IsTruncated === 'true' ? list.NextContinuationToken : undefined;
  if (list.IsTruncated === 'true' && !next)
    throw new FeedReadingError('the list of objects is cut, without a token to go on');
  return { objects, next };
}

function objectOf({ Key, LastModified = '', ETag = '', Size = '' }: Record<string, string>): ListedObject {
  if (Key === undefined) throw new FeedReadingError('the list of objects has one without a key');
  return { key: Key, modified: LastModified, etag: ETag, size: Size };
}

// Signs a GET for S3 (AWS Signature Version 4, in the Authorization header). Not the AWS SDK: it has some 60 packages.

const EMPTY_BODY = createHash('sha256').update('').digest('hex');

/** The headers that authenticate a request without a body. @param more other headers to sign, with names in lower case. */
export function signedHeaders(
  url: URL,
  access: S3Access,
  now: Date,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const time = now.toISOString().replace(/[:-]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const headers: Record<string, string> = { ...more, 'x-amz-content-sha256': EMPTY_BODY, 'x-amz-date': time };
  if (access.sessionToken !== undefined) headers['x-amz-security-token'] = access.sessionToken.reveal();
  const signed = Object.entries({ ...headers, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    'GET',
    url.pathname,
    canonicalQuery(url),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    EMPTY_BODY,
  ].join('\n');
  const scope = `${date}/${access.region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const start: string | Buffer = `AWS4${access.secretAccessKey.reveal()}`;
  const key = scope.split('/').reduce<string | Buffer>((secret, part) => hmac(secret, part), start);
  const credential = `AWS4-HMAC-SHA256 Credential=${access.accessKeyId}/${scope}`;
  return {
    ...headers,
    authorization: `${credential}, SignedHeaders=${names}, Signature=${hmac(key, text).toString('hex')}`,
  };
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const canonicalQuery = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .sort()
    .join('&');
