// Looks into a page before it is handed over: how many records it has, which total it states, and its JSON around the
// records, which says where the next page is. The records themselves are split again when the page is read as a document.
import { createHash } from 'node:crypto';
import { toUtf8 } from '../../decode/charset.ts';
import { decompress } from '../../decode/gunzip.ts';
import { bounded, SizeExceeded } from '../../decode/size-limits.ts';
import { isZip } from '../../decode/zip/unzip-documents.ts';
import { formatOf } from '../../format/formats.ts';
import { BrokenOff } from '../source.ts';
import type { PageFormat, PageLimits } from './pages-config.ts';

export interface PageContent {
  readonly records: number;
  /** Equal for pages with the same records. */
  readonly digest: string;
  readonly declaredTotal: number | undefined;
  /** The page's JSON without its records. Throws {@link BrokenOff} if it is not JSON. */
  around(): unknown;
}

/** Throws {@link BrokenOff} if the bytes cannot be decoded. */
export async function readPageContent(
  bytes: Buffer,
  charset: string | undefined,
  { format, encoding, ...options }: PageFormat,
  { maxPageBytes }: PageLimits,
): Promise<PageContent> {
  // Its files would be read as documents later, and not be counted here.
  if (isZip(bytes)) throw new BrokenOff('the page is a zip archive, which cannot be one of several pages');
  const page = await decoded(bytes, { configured: encoding, transport: charset }, maxPageBytes);
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
  return { records, declaredTotal, digest: digest.digest('hex'), around: () => parseAround(page, spans) };
}

async function decoded(
  bytes: Buffer,
  hints: { readonly configured?: string; readonly transport?: string },
  maxBytes: number,
): Promise<Buffer> {
  const size = { bytes: 0, compressedBytes: bytes.length };
  const chunks: Buffer[] = [];
  try {
    const unpacked = bounded(decompress(once(bytes), { isProven: true }), size, {
      maxBytes,
      maxRatio: Number.POSITIVE_INFINITY,
    });
    // A chunk is valid only until the next one is requested.
    for await (const chunk of toUtf8(unpacked, hints)) chunks.push(Buffer.from(chunk));
  } catch (error) {
    if (error instanceof SizeExceeded) throw new BrokenOff(pageTooLarge(maxBytes));
    throw error;
  }
  return Buffer.concat(chunks);
}

export const pageTooLarge = (maxBytes: number): string =>
  `a page is larger than the limit of ${maxBytes} bytes; ask for smaller pages, or raise max_page_bytes`;

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Broken records do no harm, because each record becomes `null` before the page is parsed. */
function parseAround(page: Buffer, spans: readonly { readonly start: number; readonly end: number }[]): unknown {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    parts.push(page.toString('utf8', at, start), 'null');
    at = end;
  }
  parts.push(page.toString('utf8', at));
  try {
    return JSON.parse(parts.join(''));
  } catch {
    throw new BrokenOff('the page is not JSON as a whole, so it does not show where the next page is');
  }
}
