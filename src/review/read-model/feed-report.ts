// The report on a feed as scripts see it: first the whole, then one object per posting and per entry of records. Its
// readers produce the feed and can't act on the mirror, so messages come without advice.
import { textOf } from '../../plan/message.ts';
import { POSTING_STATES, type ReportLine } from '../../store/status/report-lines.ts';
import type { PostingReport, TrendPull } from '../feed-report.ts';

export function reportJson({
  feed,
  site,
  at,
  last,
  trend,
  counts,
  fields,
  postingsWithFields,
  reasons,
}: PostingReport) {
  const { lines, records, onSite } = counts;
  return {
    kind: 'report',
    feed,
    site: site ?? null,
    reported_at: at,
    last_pull:
      last === undefined
        ? null
        : {
            started_at: last.row.startedAt,
            status: last.row.status,
            ...last.summary,
            shortfalls: last.summary.shortfalls.map(textOf),
          },
    on_site: onSite,
    postings: Object.fromEntries([
      ['total', POSTING_STATES.reduce((sum, state) => sum + lines[state], 0)],
      ...POSTING_STATES.map((state) => [state, lines[state]] as const),
    ]),
    records: { ...records, skipped: last?.summary.skipped ?? 0 },
    fields: fields.map(({ field, required, filled, missing }) => ({ field, required, filled, missing })),
    postings_with_fields: postingsWithFields,
    reasons: reasons.map(({ state, field, message, count, example }) => ({
      state,
      field: field ?? null,
      message,
      count,
      example: example ?? null,
    })),
    trend: trend.map(trendJson),
  };
}

/** Uses the names of `sync --json`. Counts are null for a pull of which nothing was committed. */
function trendJson({ open, ...pull }: TrendPull) {
  const counted = open === undefined ? undefined : pull;
  return {
    pull: pull.id,
    started_at: pull.startedAt,
    status: pull.status,
    complete: pull.complete,
    seen: counted?.seen ?? null,
    unchanged: counted?.unchanged ?? null,
    created: counted?.created ?? null,
    updated: counted?.updated ?? null,
    rejected: open?.rejected ?? null,
    in_doubt: open?.in_doubt ?? null,
    pending: open?.pending ?? null,
    failed: open?.failed ?? null,
    duplicates: counted?.duplicates ?? null,
    unreadable: counted?.unreadable ?? null,
    skipped: counted?.skipped ?? null,
    gone: counted?.gone ?? null,
    deleted: counted?.deleted ?? null,
    held: open?.held ?? null,
    message: [...pull.notes, ...pull.shortfalls].map(textOf).join('; ') || null,
  };
}

/** Shorter than what is stored: a secret at its end may be cut, so it would not be recognised. */
const EXCERPT_CHARS = 1_500;

export function reportLineJson({ state, key, siteJobId, url, since, reason, problems, record }: ReportLine) {
  return {
    kind: record === undefined ? 'posting' : 'record',
    state,
    key: key ?? null,
    site_job_id: siteJobId ?? null,
    site_job_url: url ?? null,
    since,
    reason: reason ?? null,
    problems,
    ...(record === undefined
      ? {}
      : {
          record_number: record.number ?? null,
          records: record.count,
          discarded: record.discarded,
          excerpt: record.excerpt.slice(0, EXCERPT_CHARS),
        }),
  };
}
