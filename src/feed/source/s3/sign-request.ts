// Signs a GET for S3 (AWS Signature Version 4, in the Authorization header). Not the AWS SDK: it has some 60 packages.
import { createHash, createHmac } from 'node:crypto';
import { encodeStrictly, type S3Access } from './s3-config.ts';

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
