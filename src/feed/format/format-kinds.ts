// What each format is to the configuration and to pages: plain data, so that reading a configuration loads no parser.
interface FormatKind {
  /** What is asked of a source that offers several formats. */
  readonly accept: string;
  /**
   * What `records` names: the path of an element, or of a list, which the document itself may be; or nothing, where a document has nothing
   * but records.
   */
  readonly records: 'element' | 'list' | { readonly each: string };
  /** Details may have it. */
  readonly isDetail?: boolean;
  /** How a page is read without its records, to find the next one; absent: it shows nothing else. */
  readonly around?: 'xml' | 'json';
}

const FORMAT_KINDS = {
  xml: { accept: 'application/xml, text/xml, */*;q=0.5', records: 'element', isDetail: true, around: 'xml' },
  json: { accept: 'application/json, */*;q=0.5', records: 'list', isDetail: true, around: 'json' },
  jsonl: {
    accept: 'application/x-ndjson, application/jsonl, application/json;q=0.9, */*;q=0.5',
    records: { each: 'line' },
  },
  csv: { accept: 'text/csv, text/tab-separated-values, */*;q=0.5', records: { each: 'row' } },
  html: { accept: 'text/html, */*;q=0.5', records: 'list', isDetail: true },
  'json-ld': {
    accept: 'text/html, application/ld+json;q=0.9, application/json;q=0.8, */*;q=0.5',
    records: { each: 'JobPosting' },
    isDetail: true,
  },
} as const satisfies Readonly<Record<string, FormatKind>>;

export type FormatName = keyof typeof FORMAT_KINDS;

export const FORMAT_NAMES = Object.keys(FORMAT_KINDS) as readonly FormatName[];

export const formatKind = (name: FormatName): FormatKind => FORMAT_KINDS[name];
