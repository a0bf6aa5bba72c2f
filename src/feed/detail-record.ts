// Reads the document of a posting's detail, and adds it to the posting's record.
import type { MappingPath } from '../posting/paths/mapping-paths.ts';
import { parseValuePath, textsAt, type ValuePath } from '../posting/paths/value-path.ts';
import type { RecordTree } from '../posting/posting.ts';
import { formatOf } from './format/formats.ts';
import { refusalOf } from './format/unexpected-document.ts';
import {
  type DetailDocument,
  type DetailsConfig,
  detailRequestIdentity,
  httpOf,
  type Redirected,
  type SourceConfig,
} from './source/sources.ts';

export type ReadDetail =
  /** The record of the list with its detail. */
  | {
      readonly kind: 'record';
      readonly tree: RecordTree;
      /** The detail has no text that the mapping reads from details. */
      readonly isBare?: true;
      /** What was repaired in the detail, if it is not well-formed. */
      readonly repairs?: readonly string[];
    }
  | { readonly kind: 'failed'; readonly message: string };

/** What is known about how a detail was received. */
export interface DetailAnswer {
  /** Set if redirects have led to another address than the posting's. */
  readonly redirected?: Redirected;
  /** See `SourceDocument`. A detail that is stored was whole when it was received. */
  readonly isEndProven: boolean;
}

export type ReadDetailOf = (record: RecordTree, bytes: Buffer, answer?: DetailAnswer) => ReadDetail;

/**
 * Compiles how details are read. A detail is refused that may be no detail of this posting, such as an error with status 200
 * or that of another posting. @param used the paths that the mapping reads from details; `undefined` if they are unknown.
 * Throws `MalformedPathError`.
 */
export function compileDetailReader(
  { document, name, match }: DetailsConfig,
  used: readonly MappingPath[] | undefined,
): ReadDetailOf {
  const pairs = match.map(({ detail, record }) => ({
    detail,
    inDetail: parseValuePath(detail),
    inRecord: parseValuePath(record),
  }));
  const isProven = pairs.length > 0;
  return (record, bytes, { redirected, isEndProven } = STORED) => {
    const parsed = parseDetail(bytes, document, isEndProven);
    if (parsed.kind === 'failed') return parsed;
    if (redirected !== undefined && !isProven && !statesAddress(parsed.tree, redirected.from)) {
      return failed(
        `its detail was redirected to ${redirected.to}, which may be another posting's; ` +
          'if it is not, set details.match, so that each detail is proven to be that of its posting',
      );
    }
    for (const { detail, inDetail, inRecord } of pairs) {
      const [own, its] = [textsAt(inRecord, record)[0]?.trim(), textsAt(inDetail, parsed.tree)[0]?.trim()];
      if (own === its && own !== undefined) continue;
      return failed(`the detail is that of another posting: its ${detail} is ${shown(its)}, not ${shown(own)}`);
    }
    if (!isObject(record)) return failed('its record is a text, to which no detail can be added');
    if (Object.hasOwn(record, name)) {
      return failed(`its record has a ${name} of its own; set details.name to another name`);
    }
    const detail = { [name]: parsed.tree };
    const isBare = used !== undefined && used.length > 0 && !used.some(({ parsed: path }) => hasText(path, detail));
    if (isBare && !isProven) {
      const paths = [...new Set(used.map(({ path }) => path))].slice(0, 5).join(', ');
      return failed(
        `the detail has none of the texts that the mapping reads from it (${paths}), so it may be an error; ` +
          'if they may all be missing, set details.match, so that each detail is proven to be that of its posting',
      );
    }
    const tree = Object.assign(Object.create(null), record, detail) as RecordTree;
    return {
      kind: 'record',
      tree,
      ...(isBare ? { isBare } : {}),
      ...(parsed.repairs === undefined ? {} : { repairs: parsed.repairs }),
    };
  };
}

const STORED: DetailAnswer = { isEndProven: true };

const hasText = (path: ValuePath, tree: RecordTree): boolean => textsAt(path, tree).some((text) => text.trim() !== '');

/** Whether a page states that it is to be found at this address. */
function statesAddress(detail: RecordTree, address: string): boolean {
  const [stated = ''] = textsAt(PAGE_ADDRESS, detail);
  return URL.canParse(stated) && new URL(stated).href === address;
}

const PAGE_ADDRESS = parseValuePath('page/address');

/** Identifies everything that decides which details are requested, and what their bytes are read into. @param from the list. */
export const detailReading = ({ request, document, name, match }: DetailsConfig, from: SourceConfig): object => {
  const list = httpOf(from);
  return {
    request: list === undefined ? null : detailRequestIdentity(request, new URL(list.url)),
    document,
    name,
    match,
  };
};

type ParsedDetail =
  | { readonly kind: 'tree'; readonly tree: RecordTree; readonly repairs?: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string };

/** A detail is an object, and the only record of its document. */
function parseDetail(bytes: Buffer, document: DetailDocument, isEndProven: boolean): ParsedDetail {
  const { format: name, recordPath, lenient } = document;
  const format = formatOf(name);
  const isWhole = name === 'json' && recordPath === '';
  const refusal =
    isWhole && bytes.subarray(0, 200).toString().trimStart().startsWith('<')
      ? refusalOf('JSON', bytes.subarray(0, 2048))
      : undefined;
  if (refusal !== undefined) return failed(`the detail is no JSON: ${refusal}`);
  const only = isWhole ? { kind: 'record' as const, bytes } : onlyRecord(bytes, document, isEndProven);
  if (only.kind !== 'record') return only;
  const parsed = format.parseRecord(only.bytes, { lenient });
  if (parsed.kind === 'unreadable') {
    return failed(parsed.problems.map(({ message }) => message.replace('the record', 'the detail')).join('; '));
  }
  return isObject(parsed.tree) ? parsed : failed('the detail is no object with names and values');
}

/** For `skip: { detail/page/empty: true }`. */
const EMPTY_PAGE: ParsedDetail = { kind: 'tree', tree: { page: { empty: 'true' } } };

type OnlyRecord =
  | { readonly kind: 'record'; readonly bytes: Buffer }
  | Extract<ParsedDetail, { kind: 'tree' }>
  | { readonly kind: 'failed'; readonly message: string };

function onlyRecord(bytes: Buffer, document: DetailDocument, isEndProven: boolean): OnlyRecord {
  const { format, recordPath, lenient, script, acceptsEmptyPages, clock } = document;
  const time = clock?.time;
  const found: Buffer[] = [];
  let repeats = 0;
  const splitter = formatOf(format).createSplitter(
    // A page adds its address to a record.
    { recordPath, totalPaths: [], maxRecordBytes: 4_096 + 2 * bytes.length, lenient, script, acceptsEmptyPages, time },
    {
      record(buffer, start, end) {
        const record = buffer.subarray(start, end);
        // Pages repeat their posting, for several readers.
        if (format === 'json-ld' && found.some((other) => other.equals(record))) repeats++;
        else if (found.length < 2) found.push(Buffer.from(record));
      },
      oversized: () => undefined,
    },
  );
  splitter.push(bytes);
  const { records, refusal, shortfalls } = splitter.finish(isEndProven);
  const reason = refusal ?? shortfalls[0];
  const [only] = found;
  if (reason !== undefined) return failed(`the detail can't be read: ${reason}`);
  if (records - repeats === 1 && only !== undefined) return { kind: 'record', bytes: only };
  if (format !== 'json-ld') {
    return failed(
      `the detail's document has ${records} records at ${recordPath}, instead of one; check details.records`,
    );
  }
  // As in a list without elements, which lacks nothing.
  if (records === 0) return acceptsEmptyPages ? EMPTY_PAGE : failed('the page has no JobPosting in JSON-LD');
  return failed(`the page has ${records} different JobPostings, instead of one`);
}

const failed = (message: string) => ({ kind: 'failed', message }) as const;

const isObject = (tree: RecordTree): tree is { readonly [name: string]: RecordTree } =>
  typeof tree === 'object' && !Array.isArray(tree);

const shown = (text: string | undefined): string =>
  text === undefined ? 'missing' : JSON.stringify(text.slice(0, 80));
