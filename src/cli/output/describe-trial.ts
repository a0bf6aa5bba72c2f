// Formats the trial of a feed for people, and as the JSON objects of `try --json`.
import { plural } from '../../plan/message.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import type {
  CountedField,
  ProblemKind,
  RepeatedKey,
  SkippedTrial,
  TriedPosting,
  TriedRecord,
} from '../../pull/preview/trial-counts.ts';
import type { Trial } from '../../pull/preview/try-feed.ts';
import { encodeSiteJob } from '../../site/xml/encode.ts';
import { oneLine, printJson, printLines, printNotice } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { formatTable } from './table.ts';

type ReadTrial = Extract<Trial, { kind: 'read' }>;

interface TrialOptions {
  readonly json?: boolean | undefined;
  /** The postings are shown as the XML that would be sent, below this element. */
  readonly xml?: boolean | undefined;
  readonly element?: string | undefined;
}

/** Prints the first postings, and what the whole feed becomes. */
export async function printTrial(setup: FeedSetup, trial: Trial, options: TrialOptions): Promise<void> {
  const { samples, documents } = trial.kind === 'read' ? trial : { samples: [], documents: 0 };
  for (const [at, sample] of samples.entries()) {
    if (options.json === true) await printJson(sampleJson(sample, options));
    else await printLines(describeSample(sample, at + 1, { ...options, documents }));
  }
  if (options.json === true) await printJson(trialJson(setup, trial));
  else if (trial.kind === 'failed') printNotice(`${setup.feed}: failed: ${trial.message}`);
  else await printLines(describeTrial(setup, trial));
}

/** Long texts are cut here. */
const SHOWN_CHARACTERS = 160;

/** One posting as it would be sent, and what would reject it. */
function describeSample(
  sample: TriedPosting,
  number: number,
  { xml, documents, element }: TrialOptions & { readonly documents: number },
): string[] {
  const { key, fields, problems, notes } = sample;
  const width = Math.max(0, ...Object.keys(fields).map((field) => field.length));
  const lines =
    xml === true
      ? encodeSiteJob(fields, element).xml.split('\n')
      : Object.entries(fields).map(([field, text]) => `${field.padEnd(width)}  ${shown(text)}`);
  return [
    `${number}. ${oneLine(key, 200)} (${placeWriter(documents)(sample)})`,
    ...lines.map((line) => `   ${line}`),
    ...notes.map(({ field, message }) => `   note: ${field === undefined ? '' : `${field}: `}${message}`),
    ...problems.map(({ message }) => `   would be rejected: ${oneLine(message, 300)}`),
    '',
  ];
}

const shown = (text: string): string =>
  text.length > SHOWN_CHARACTERS
    ? `${oneLine(text, SHOWN_CHARACTERS)} (${text.length} characters)`
    : oneLine(text, SHOWN_CHARACTERS);

/** What the whole feed becomes. */
function describeTrial({ feed, site }: FeedSetup, trial: ReadTrial): string[] {
  const { seen, postings, rejected, repeated, unreadable, skipped, shortfalls, mistakes } = trial;
  const placeOf = placeWriter(trial.documents);
  const counts = [
    `${feed}: ${plural(seen, 'record')}: ${plural(postings - rejected, 'posting')} to send to site ${site}`,
    `${rejected} rejected`,
    plural(repeated, 'repeated key'),
    `${unreadable} unreadable`,
    ...(skipped === 0 ? [] : [`${skipped} skipped by the feed's rule`]),
  ];
  return [
    counts.join(', '),
    ...(shortfalls.length === 0
      ? [trial.weak === undefined ? 'The feed is complete.' : `The feed is complete, but ${trial.weak}.`]
      : ['The feed is not proven complete, so nothing would be deleted:', ...shortfalls.map((text) => `  ${text}`)]),
    ...section(
      trial.withoutDetail === 0
        ? 'Fields'
        : `Fields of the first ${plural(trial.postings - trial.withoutDetail, 'posting')}; the details of the others were not requested`,
      fieldTable(trial),
    ),
    ...section(
      'Rejected by the rules of the mapping and the site',
      trial.rejections.flatMap((kind) => describeKind(kind, placeOf)),
    ),
    ...section(
      'Unreadable',
      trial.unreadableKinds.flatMap((kind) => describeKind(kind, placeOf)),
    ),
    ...section(
      `Repeated keys${more(repeated, trial.repeatedKeys)}`,
      trial.repeatedKeys.map((repeat) => describeRepeat(repeat, placeOf)),
    ),
    ...section(
      `Skipped${more(skipped, trial.skippedRecords)}`,
      trial.skippedRecords.map((record) => describeSkipped(record, placeOf)),
    ),
    ...section('Unescaped characters (`R&amp;D` to R&D)', trial.unescaped.map(describeCount)),
    ...section('Names taken from pairs of an id and a name (`[52, "Texas"]` to Texas)', trial.named.map(describeCount)),
    ...section('Likely mistakes', mistakes),
  ];
}

const describeCount = ({ field, count }: CountedField): string => `${field} in ${plural(count, 'posting')}`;

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];

const more = (all: number, listed: readonly unknown[]): string =>
  all > listed.length ? ` (the first ${listed.length} of ${all})` : '';

const fieldTable = ({ fields, postings: all, withoutDetail }: ReadTrial): string[] => {
  const postings = all - withoutDetail;
  if (postings === 0) return [];
  const columns = [
    { title: 'FIELD' },
    { title: 'FILLED', align: 'right' },
    { title: 'SHARE', align: 'right' },
  ] as const;
  const isAnyRefused = fields.some(({ refused }) => refused > 0);
  return formatTable(
    isAnyRefused ? [...columns, { title: 'REFUSED', align: 'right' }] : columns,
    fields.map(({ field, filled, refused }) => [
      field,
      String(filled),
      `${shareOf(filled, postings)} %`,
      ...(isAnyRefused ? [refused === 0 ? '' : String(refused)] : []),
    ]),
  );
};

/** Rounded down, so that 100 % means all. */
const shareOf = (filled: number, postings: number): number => Math.floor((filled / postings) * 100);

function describeKind({ message, count, examples }: ProblemKind, placeOf: PlaceOf): string[] {
  const named = examples.slice(0, 3).map((example) => {
    const key = example.key === undefined ? '' : `${oneLine(example.key, 60)}, `;
    return `${key}${placeOf(example)}`;
  });
  return [`${count} × ${oneLine(message, 300)}`, `    ${count > named.length ? 'such as ' : ''}${named.join('; ')}`];
}

function describeRepeat(repeat: RepeatedKey, placeOf: PlaceOf): string {
  const first = repeat.first === undefined ? '' : `, first in ${placeOf(repeat.first)}`;
  return `${oneLine(repeat.key, 100)}: again in ${placeOf(repeat)}${first}; ${repeat.isSame ? 'the same content' : 'other content: only the first one would be sent'}`;
}

function describeSkipped(record: SkippedTrial, placeOf: PlaceOf): string {
  const { byDate } = record;
  if (byDate === undefined) return placeOf(record);
  const { since, until } = timesOf(byDate);
  const when = [since && ` since ${formatTime(since)}`, until && ` until ${formatTime(until)}`]
    .filter(Boolean)
    .join('');
  const key = byDate.key === undefined ? '' : `${oneLine(byDate.key, 100)}, `;
  return `${key}${placeOf(record)}: by its dates,${when}`;
}

const timesOf = ({ since, until }: NonNullable<SkippedTrial['byDate']>) => ({
  since: dateAt(since),
  until: dateAt(until),
});

/** `undefined`: ever, or beyond what a `Date` can say. */
const dateAt = (ms: number | undefined): Date | undefined => {
  const date = new Date(ms ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
};

/** Names the document if the feed has several. */
const placeWriter =
  (documents: number): PlaceOf =>
  ({ ordinal, place: { document, line } }) => {
    const where = line === undefined ? '' : `, line ${line}`;
    return `record ${ordinal + 1}${where}${documents > 1 ? ` of ${oneLine(document, 100)}` : ''}`;
  };

type PlaceOf = (record: TriedRecord) => string;

/** One shown posting as `try --json` prints it. */
export function sampleJson({ key, fields, problems, ...record }: TriedPosting, { xml, element }: TrialOptions) {
  return {
    key,
    fields,
    problems: problems.map(({ field, message }) => ({ field: field ?? null, message })),
    ...placeJson(record),
    ...(xml === true ? { xml: encodeSiteJob(fields, element).xml } : {}),
  };
}

/** The last object of `try --json`. */
function trialJson({ feed }: FeedSetup, trial: Trial): object {
  if (trial.kind === 'failed') return { feed, complete: false, message: trial.message };
  const { seen, bytes, postings, rejected, unreadable, skipped, repeated, conflicting } = trial;
  const kindJson = ({ field, message, count, examples }: ProblemKind) => ({
    field: field ?? null,
    message,
    count,
    examples: examples.map(({ key, value, ...record }) => ({ key: key ?? null, value, ...placeJson(record) })),
  });
  return {
    feed,
    complete: trial.shortfalls.length === 0,
    shortfalls: trial.shortfalls,
    ...(trial.weak === undefined ? {} : { weak: trial.weak }),
    seen,
    postings,
    without_detail: trial.withoutDetail,
    rejected,
    unreadable,
    skipped,
    repeated,
    conflicting,
    bytes,
    fields: Object.fromEntries(trial.fields.map(({ field, filled }) => [field, filled])),
    refused_fields: Object.fromEntries(
      trial.fields.flatMap(({ field, refused }) => (refused === 0 ? [] : [[field, refused]])),
    ),
    unescaped_fields: countsJson(trial.unescaped),
    fields_of_pairs: countsJson(trial.named),
    rejections: trial.rejections.map(kindJson),
    unreadable_records: trial.unreadableKinds.map(kindJson),
    repeated_keys: trial.repeatedKeys.map(({ key, isSame, first, ...record }) => ({
      key,
      same_content: isSame,
      ...placeJson(record),
      first: first === undefined ? null : placeJson(first),
    })),
    skipped_records: trial.skippedRecords.map(({ byDate, ...record }) => ({
      ...placeJson(record),
      ...(byDate && {
        key: byDate.key ?? null,
        since: timesOf(byDate).since ?? null,
        until: timesOf(byDate).until ?? null,
      }),
    })),
    warnings: trial.mistakes,
  };
}

const countsJson = (counts: readonly CountedField[]) =>
  Object.fromEntries(counts.map(({ field, count }) => [field, count]));

const placeJson = ({ ordinal, place: { document, line } }: TriedRecord) => ({
  record: ordinal + 1,
  line: line ?? null,
  document,
});
