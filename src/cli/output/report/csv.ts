// The report on a feed as CSV: a line per posting and per entry of records.
import type { FeedName } from '../../../posting/identifiers.ts';
import { csvLine } from '../../../review/csv-line.ts';
import type { ReportLine } from '../../../store/status/report-lines.ts';
import { oneLine } from '../../../telemetry/print.ts';
import { fieldsOf, reasonText } from './words.ts';

const COLUMNS = [
  'feed',
  'key',
  'state',
  'site_job_id',
  'site_job_url',
  'since',
  'fields',
  'reason',
  'record_number',
  'records',
  'discarded',
  'excerpt',
];

export const reportHeader = csvLine(COLUMNS);

/** Longer texts make a table hard to read; the JSON report has all of them. */
const REASON_CHARS = 1_000;
const EXCERPT_CHARS = 300;

export function reportRow(feed: FeedName, line: ReportLine): string {
  const { state, key, siteJobId, url, since, record } = line;
  return csvLine([
    feed,
    key ?? '',
    state,
    siteJobId ?? '',
    url ?? '',
    since.toISOString(),
    fieldsOf(line),
    oneLine(reasonText(line), REASON_CHARS),
    record?.number === undefined ? '' : String(record.number),
    record === undefined ? '' : String(record.count),
    record === undefined ? String(state === 'discarded') : String(record.discarded),
    record === undefined ? '' : oneLine(record.excerpt, EXCERPT_CHARS),
  ]);
}
