// Reads a sitemap index: the addresses of its sitemaps, and why it may not have all of them.
import { parseValuePath, textsAt } from '../../../posting/value-path.ts';
import { formatOf } from '../../format/formats.ts';
import type { FetchLimits } from './fetch-limits.ts';
import type { FetchedPage } from './fetch-page.ts';
import { decodedPage } from './page-content.ts';
import type { PageFormat } from './pages-config.ts';

export interface SitemapIndex {
  readonly addresses: readonly string[];
  readonly faults: readonly string[];
}

const ENTRIES = { recordPath: 'sitemapindex/sitemap', totalPaths: [] } as const;
const LOCATION = parseValuePath('loc');

/** `undefined`: the page is no index. Throws `BrokenOff` if its bytes cannot be decoded. */
export async function readSitemapIndex(
  { bytes, charset }: FetchedPage,
  { encoding, maxRecordBytes }: PageFormat,
  limits: FetchLimits,
): Promise<SitemapIndex | undefined> {
  const xml = formatOf('xml');
  const addresses: string[] = [];
  let unreadable = 0;
  const splitter = xml.createSplitter(
    { ...ENTRIES, maxRecordBytes },
    {
      record(buffer, start, end) {
        const parsed = xml.parseRecord(buffer.subarray(start, end));
        const address = parsed.kind === 'tree' ? textsAt(LOCATION, parsed.tree)[0]?.trim() : undefined;
        if (address) addresses.push(address);
        else unreadable++;
      },
      oversized: () => void unreadable++,
    },
  );
  splitter.push(await decodedPage(bytes, { configured: encoding, transport: charset }, limits));
  const { records, refusal, shortfalls } = splitter.finish(true);
  const faults = [...(refusal === undefined ? [] : [refusal]), ...shortfalls];
  // Without an entry, only a document that is whole is an index; the format of the feed reads others.
  if (records === 0 && faults.length > 0) return undefined;
  if (unreadable > 0) faults.push(`${unreadable} of its entries have no address that can be read`);
  return { addresses, faults };
}
