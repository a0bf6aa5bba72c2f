// Looks into a page before it is handed over: how many records it has, which total it states, and what is around its
// records, which says where the next page is. The records themselves are split again when the page is read as a document.
import { createHash } from 'node:crypto';
import { isTreeList } from '../../../posting/paths/value-path.ts';
import type { RecordTree } from '../../../posting/posting.ts';
import { toUtf8 } from '../../decode/charset.ts';
import { decompress, limitDecompressedBytes, SizeExceeded } from '../../decode/gunzip.ts';
import { isZip } from '../../decode/unzip-documents.ts';
import { formatKind } from '../../format/format-kinds.ts';
import { formatOf } from '../../format/formats.ts';
import { FeedReadingError } from '../source.ts';
import { type FetchLimits, type PageFormat, pageTooLarge } from './pages-config.ts';

export interface PageContent {
  readonly records: number;
  /** Equal for pages with the same records. */
  readonly digest: string;
  readonly declaredTotal: number | undefined;
  /** The page without its records. Throws {@link FeedReadingError} if it cannot be parsed. */
  around(): unknown;
}

/** Throws {@link FeedReadingError} if the bytes cannot be decoded. */
export async function readPageContent(
  bytes: Buffer,
  charset: string | undefined,
  { format, encoding, ...options }: PageFormat,
  limits: FetchLimits,
): Promise<PageContent> {
  // The files of the archive would be read as documents later, and their records not be counted here.
  if (isZip(bytes)) throw new FeedReadingError('the page is a zip archive, which cannot be one of several pages');
  const page = await decodedPage(bytes, { configured: encoding, transport: charset }, limits);
  const spans: { readonly start: number; readonly end: number }[] = [];
  const digest = createHash('sha256');
  const splitter = formatOf(format).createSplitter(options, {
    record(buffer, start, end) {
      digest.update(buffer.subarray(start, end)).update('\n');
      if (buffer.buffer === page.buffer) {
        const shift = buffer.byteOffset - page.byteOffset;
        spans.push({ start: start + shift, end: end + shift });
      }
    },
    oversized: (head, length) => void digest.update(`${length}`).update(head),
  });
  splitter.push(page);
  const { records, declaredTotal } = splitter.finish(true);
  return {
    records,
    declaredTotal,
    digest: digest.digest('hex'),
    around: () => (formatKind(format).around === 'xml' ? parseXmlAround : parseJsonAround)(page, spans),
  };
}

/** Decompresses a page and decodes it to UTF-8. Throws {@link FeedReadingError}. @param length see `decompress`. */
export async function decodedPage(
  bytes: Buffer,
  hints: { readonly configured?: string; readonly transport?: string },
  limits: FetchLimits,
  length = { isProven: true },
): Promise<Buffer> {
  const size = { bytes: 0, compressedBytes: bytes.length };
  const chunks: Buffer[] = [];
  try {
    const unpacked = limitDecompressedBytes(decompress(once(bytes), length), size, {
      maxBytes: limits.maxPageBytes,
      maxRatio: Number.POSITIVE_INFINITY,
    });
    // A chunk is valid only until the next one is requested.
    for await (const chunk of toUtf8(unpacked, hints)) chunks.push(Buffer.from(chunk));
  } catch (error) {
    if (error instanceof SizeExceeded) throw new FeedReadingError(pageTooLarge(limits));
    throw error;
  }
  return Buffer.concat(chunks);
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

type Spans = readonly { readonly start: number; readonly end: number }[];

/** Broken records do no harm, because each record becomes `null` before the page is parsed. */
function parseJsonAround(page: Buffer, spans: Spans): unknown {
  try {
    return JSON.parse(withoutRecords(page, spans, 'null'));
  } catch {
    throw new FeedReadingError('the page is not JSON as a whole, so it does not show where the next page is');
  }
}

/** What precedes the root element. */
const PROLOG = /^(?:\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!DOCTYPE[^[>]*>)*/i;
const ROOT = /^<(?:[^\s<>/:]+:)?([^\s<>/:]+)/;

function parseXmlAround(page: Buffer, spans: Spans): unknown {
  const text = withoutRecords(page, spans, '').replace(PROLOG, '').trimEnd();
  const parsed = formatOf('xml').parseRecord(Buffer.from(text));
  const [, root] = ROOT.exec(text) ?? [];
  if (parsed.kind === 'unreadable' || root === undefined) {
    throw new FeedReadingError('the page is not XML as a whole, so it does not show where the next page is');
  }
  return { [root]: withoutPrefixes(parsed.tree) };
}

function withoutRecords(page: Buffer, spans: Spans, instead: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    parts.push(page.toString('utf8', at, start), instead);
    at = end;
  }
  parts.push(page.toString('utf8', at));
  return parts.join('');
}

/** Trims the texts. Elements that differ only in their prefixes become one list. */
function withoutPrefixes(tree: RecordTree): RecordTree {
  if (typeof tree === 'string') return tree.trim();
  if (isTreeList(tree)) return tree.map(withoutPrefixes);
  const found = new Map<string, RecordTree[]>();
  for (const [name, child] of Object.entries(tree)) {
    if (name === '#markup') continue;
    const local = name.replace(/^(@?)[^:]+:/, '$1');
    const own = withoutPrefixes(child);
    found.set(local, [...(found.get(local) ?? []), ...(isTreeList(own) ? own : [own])]);
  }
  return Object.fromEntries([...found].map(([name, list]) => [name, list.length === 1 ? (list[0] ?? '') : list]));
}
