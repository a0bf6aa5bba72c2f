// Reads the head of a response: whether its body may be a feed, and what it says about the body.
import { STATUS_CODES } from 'node:http';
import type { SourceDocument } from '../source.ts';
import type { HttpExchange } from './exchange.ts';
import { shown } from './http-config.ts';

/** Why a response is no feed; `undefined` if it may be one. @param ifMissing what to do if there is nothing at the address. */
export function responseRefusal(url: URL, { response }: HttpExchange, ifMissing?: string): string | undefined {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200)
    return (
      `${shown(url)} answered ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd() + hint(statusCode, ifMissing)
    );
  // Gzip is detected by its first bytes; other encodings were not requested.
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (['', 'identity', 'gzip', 'x-gzip'].includes(encoding)) return undefined;
  return `${shown(url)} sent the content encoding "${encoding}", although only gzip was requested`;
}

/** What the headers of a response say about its body. */
export function describeBody({
  response: { headers },
}: HttpExchange): Pick<SourceDocument, 'charset' | 'isEndProven' | 'totalBytes' | 'sentAt'> {
  const length = Number(headers['content-length'] ?? Number.NaN);
  const date = Date.parse(headers.date ?? '');
  // A cache keeps the date of the origin, and says how long ago it was (RFC 9111, 5.1).
  const ageMs = Number(/^\s*(\d{1,9})\s*$/.exec(headers.age ?? '')?.[1] ?? 0) * 1000;
  return {
    charset: /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1],
    isEndProven: Number.isSafeInteger(length) || /\bchunked$/i.test(headers['transfer-encoding'] ?? ''),
    totalBytes: Number.isSafeInteger(length) ? length : undefined,
    sentAt: Number.isNaN(date) ? undefined : date + ageMs,
  };
}

function hint(status: number, ifMissing = 'check its address'): string {
  if (status === 401 || status === 403) return '; check the credentials or headers of the feed';
  if (status === 404 || status === 410) return `; ${ifMissing}`;
  if (status === 429 || status >= 500) return '; it may work again later';
  return '';
}
