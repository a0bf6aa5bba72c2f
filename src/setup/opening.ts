// Reads the beginning of a source's first document, unpacked and in UTF-8, and recognises its type.
import { toUtf8 } from '../feed/decode/charset.ts';
import { decompress } from '../feed/decode/gunzip.ts';
import { unzipDocuments } from '../feed/decode/unzip-documents.ts';
import { FeedReadingError, type ListHeaders } from '../feed/source/source.ts';
import { type Network, openSource, type SourceConfig } from '../feed/source/sources.ts';

/** Enough for hundreds of records. */
const MOST_BYTES = 4 * 1024 * 1024;
const LIMITS = { maxBytes: 64 * 1024 * 1024, maxRatio: 200 };

export type Opening =
  | {
      readonly kind: 'opening';
      readonly bytes: Buffer;
      /** The bytes are the whole document. */
      readonly isWhole: boolean;
      readonly headers: ListHeaders;
      /** The bytes are not valid in the encoding that the document declares, UTF-8 by default. */
      readonly isBroken: boolean;
    }
  | { readonly kind: 'failed'; readonly message: string };

/** Throws only the reason of the signal. @param encoding overrides the one that the document declares. */
export async function readOpening(
  source: SourceConfig,
  encoding: string | undefined,
  signal: AbortSignal,
  network?: Network,
): Promise<Opening> {
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  try {
    const opened = await openSource(source, { signal: both, network });
    if (opened.kind === 'failed') return opened;
    if (opened.kind === 'not_modified') return { kind: 'failed', message: 'the source answered "not modified"' };
    for await (const document of unzipDocuments(opened.documents, LIMITS, both)) {
      const unpacked = decompress(document.chunks, { isProven: false });
      return await gather(toUtf8(unpacked, { configured: encoding, transport: document.charset }), document);
    }
    return { kind: 'failed', message: 'the source has no documents' };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FeedReadingError) return { kind: 'failed', message: error.message };
    throw error;
  } finally {
    ended.abort();
  }
}

async function gather(chunks: AsyncIterable<Buffer>, { following, listTotal }: ListHeaders): Promise<Opening> {
  const parts: Buffer[] = [];
  let length = 0;
  let isWhole = true;
  for await (const chunk of chunks) {
    // A chunk is valid only until the next one.
    parts.push(Buffer.from(chunk));
    length += chunk.length;
    isWhole = length < MOST_BYTES;
    if (!isWhole) break;
  }
  const bytes = Buffer.concat(parts);
  const headers = { following, listTotal };
  return { kind: 'opening', bytes, isWhole, headers, isBroken: hasBrokenCharacters(bytes) };
}

/** Undecodable bytes stay as they are, or become U+FFFD. The end may be cut within a character. */
function hasBrokenCharacters(bytes: Buffer): boolean {
  return bytes.toString('utf8', 0, Math.max(0, bytes.length - 4)).includes('\ufffd');
}

// Recognises the type of a document from its first bytes.

export type DocumentType = 'xml' | 'json' | 'jsonl' | 'csv' | 'html';

/** `undefined`: it is none of them, or empty. */
export function documentTypeOf(bytes: Buffer): DocumentType | undefined {
  const text = bytes
    .toString('utf8', 0, 65_536)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (text === '') return undefined;
  if (/^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html)[\s>]/i.test(text)) return 'html';
  if (text.startsWith('<')) return 'xml';
  // A string with JSON in it is none of ours either, but it is no table.
  if (text.startsWith('[') || /^"(?:\s|\\[nrt])*[[{]/.test(text)) return 'json';
  if (text.startsWith('{')) return isLines(text) ? 'jsonl' : 'json';
  // Some documents have a text before their root.
  if (/<\?xml\s|<(?:rss|source|jobs|feed)[\s>]/i.test(text.slice(0, 2_048))) return 'xml';
  return /[,;\t|]/.test(text.slice(0, 2_048)) ? 'csv' : undefined;
}

/** Whether the first two lines are objects. */
function isLines(text: string): boolean {
  const lines = text.split('\n', 50).filter((line) => line.trim() !== '');
  return lines.length > 1 && lines.slice(0, 2).every(isJsonText);
}

function isJsonText(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
