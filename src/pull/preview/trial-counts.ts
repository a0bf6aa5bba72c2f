// Sums up what the records of a tried feed become, with a few examples of each kind, in bounded memory.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RecordPlace } from '../../feed/read-documents.ts';
import type { CreateOnlyFields } from '../../plan/desired-change.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Fields, Problem, ReadPosting } from '../../posting/posting.ts';
import {
  type PlannedChange,
  plannedChanges,
  type UnsentPosting,
  unsentPostings,
} from '../../store/backlog/planned-changes.ts';
import type { Session } from '../../store/postgres/database.ts';
import type { UnreadableRecords } from '../../store/pull/record-problems.ts';

const MAX_EXAMPLES = 5;
/** More kinds of problems are only counted. */
const MAX_KINDS = 100;
/** Keys of which the first record is remembered, to name it beside a repeat. */
const MAX_KEYS = 50_000;

export interface TriedRecord {
  /** The position of the record in the feed, from 0. */
  readonly ordinal: number;
  readonly place: RecordPlace;
}

/** A posting as it would be sent. */
export interface TriedPosting extends TriedRecord {
  readonly key: PostingKey;
  readonly fields: Fields;
  readonly problems: readonly Problem[];
  /** What was changed while reading. */
  readonly notes: readonly Problem[];
  /** What the record has at each path, if that was asked for. */
  readonly record?: readonly { readonly path: string; readonly value: string }[] | undefined;
}

/** A record that a rule skips. */
export interface SkippedTrial extends TriedRecord {
  /** Because of a date: since when, and until when, in milliseconds since 1970; infinite: ever. */
  readonly byDate?: {
    readonly key: PostingKey | undefined;
    readonly since: number;
    readonly until?: number | undefined;
  };
}

/** Records with the same problem. */
export interface ProblemKind {
  readonly field: string | undefined;
  readonly message: string;
  readonly count: number;
  readonly examples: readonly (TriedRecord & { readonly key: PostingKey | undefined; readonly value?: string })[];
}

export interface RepeatedKey extends TriedRecord {
  readonly key: PostingKey;
  /** Whether the content is the same, too. */
  readonly isSame: boolean;
  readonly first: TriedRecord | undefined;
}

export interface CountedField {
  readonly field: string;
  /** Postings. */
  readonly count: number;
}

export interface TrialSums {
  /** Postings with different keys, whether valid or not. */
  readonly postings: number;
  /** How many of them have fields that are not known, as their details were not requested. */
  readonly withoutDetail: number;
  readonly rejected: number;
  readonly unreadable: number;
  readonly skipped: number;
  /** Further records with the key of an earlier one. */
  readonly repeated: number;
  /** How many of them have other content than the first. */
  readonly conflicting: number;
  /** Each mapped field, and in how many of the postings with known fields it has a value that nothing refuses, or one that is refused. */
  readonly fields: readonly { readonly field: string; readonly filled: number; readonly refused: number }[];
  /** Fields in which escaped characters were unescaped, and in how many postings. */
  readonly unescaped: readonly CountedField[];
  /** Fields that got the name of a list of an id and a name, and in how many postings. */
  readonly named: readonly CountedField[];
  readonly samples: readonly TriedPosting[];
  /** What the site's rules and the mapping would reject, the most frequent first. */
  readonly rejections: readonly ProblemKind[];
  readonly unreadableKinds: readonly ProblemKind[];
  readonly repeatedKeys: readonly RepeatedKey[];
  readonly skippedRecords: readonly SkippedTrial[];
}

export class TrialCounts {
  readonly #fields: Map<string, { filled: number; refused: number }>;
  readonly #unescaped = new FieldCounts();
  readonly #named = new FieldCounts();
  readonly #mostSamples: number;
  readonly #samples: TriedPosting[] = [];
  readonly #rejections = new ProblemKinds();
  readonly #unreadable = new ProblemKinds();
  readonly #repeatedKeys: RepeatedKey[] = [];
  readonly #skippedRecords: SkippedTrial[] = [];
  readonly #firstOf = new Map<PostingKey, TriedRecord>();
  readonly #counts = {
    postings: 0,
    withoutDetail: 0,
    rejected: 0,
    unreadable: 0,
    skipped: 0,
    repeated: 0,
    conflicting: 0,
  };

  constructor(fields: readonly string[], samples: number) {
    this.#fields = new Map(fields.map((field) => [field, { filled: 0, refused: 0 }]));
    this.#mostSamples = samples;
  }

  /** Counts the first posting of its key. @param valuesOf what its record has at each path */
  add(record: TriedRecord, read: ReadPosting, valuesOf?: () => TriedPosting['record']): void {
    const { key, fields, notes, unescaped = [], named = [] } = read.posting;
    const problems = read.kind === 'invalid' ? read.problems : [];
    this.#counts.postings++;
    if (problems.length > 0) this.#counts.rejected++;
    const refused = new Set(problems.map(({ field }) => field));
    for (const field of Object.keys(fields)) {
      const count = this.#fields.get(field) ?? { filled: 0, refused: 0 };
      this.#fields.set(field, count);
      if (refused.has(field)) count.refused++;
      else count.filled++;
    }
    this.#unescaped.add(unescaped);
    this.#named.add(named);
    for (const problem of problems) this.#rejections.add(problem, record, key);
    if (this.#samples.length < this.#mostSamples)
      this.#samples.push({ ...record, key, fields, problems, notes, ...(valuesOf && { record: valuesOf() }) });
    if (this.#firstOf.size < MAX_KEYS) this.#firstOf.set(key, record);
  }

  /** Counts the first posting of its key, of which only the record in the list is known. */
  addListed(record: TriedRecord, key: PostingKey): void {
    this.#counts.postings++;
    this.#counts.withoutDetail++;
    if (this.#firstOf.size < MAX_KEYS) this.#firstOf.set(key, record);
  }

  noteRepeat(record: TriedRecord, key: PostingKey, kind: 'identical' | 'conflicting'): void {
    this.#counts.repeated++;
    const isSame = kind === 'identical';
    if (!isSame) this.#counts.conflicting++;
    if (this.#repeatedKeys.length < MAX_EXAMPLES)
      this.#repeatedKeys.push({ ...record, key, isSame, first: this.#firstOf.get(key) });
  }

  noteUnreadable(record: TriedRecord, problems: readonly Problem[], key: PostingKey | undefined): void {
    this.#counts.unreadable++;
    for (const problem of problems) this.#unreadable.add(problem, record, key);
  }

  skip(record: SkippedTrial): void {
    this.#counts.skipped++;
    if (this.#skippedRecords.length < MAX_EXAMPLES) this.#skippedRecords.push(record);
  }

  sums(): TrialSums {
    return {
      ...this.#counts,
      fields: [...this.#fields].map(([field, count]) => ({ field, ...count })),
      unescaped: this.#unescaped.all(),
      named: this.#named.all(),
      samples: this.#samples,
      rejections: this.#rejections.all(),
      unreadableKinds: this.#unreadable.all(),
      repeatedKeys: this.#repeatedKeys,
      skippedRecords: this.#skippedRecords,
    };
  }
}

/** Counts postings by field. */
class FieldCounts {
  readonly #counts = new Map<string, number>();

  /** @param fields of one posting, perhaps several times. */
  add(fields: readonly string[]): void {
    for (const field of new Set(fields)) this.#counts.set(field, (this.#counts.get(field) ?? 0) + 1);
  }

  all(): readonly CountedField[] {
    return [...this.#counts].map(([field, count]) => ({ field, count }));
  }
}

/** Groups problems that differ only in the values that they quote. */
class ProblemKinds {
  readonly #kinds = new Map<string, { problem: Problem; count: number; examples: ProblemKind['examples'][number][] }>();

  add(problem: Problem, record: TriedRecord, key: PostingKey | undefined): void {
    const name = `${problem.field ?? ''} ${problem.message.replaceAll(/"[^"]*"/g, '…')}`;
    const kind = this.#kinds.get(name) ?? { problem, count: 0, examples: [] };
    if (kind.count === 0 && this.#kinds.size >= MAX_KINDS) return;
    this.#kinds.set(name, kind);
    kind.count++;
    const { value } = problem;
    if (kind.examples.length < MAX_EXAMPLES)
      kind.examples.push({ ...record, key, ...(value === undefined ? {} : { value }) });
  }

  all(): readonly ProblemKind[] {
    return [...this.#kinds.values()]
      .map(({ problem: { field, message }, count, examples }) => ({ field, message, count, examples }))
      .sort((a, b) => b.count - a.count);
  }
}

// The lines of a printed plan, which wait in a file until the plan has let go of the database.

/** One line of a printed plan: first each change, then each posting or record that is not sent. */
export type PlanLine = PlannedChange | UnsentPosting;

/** The lines of a plan whose changes are merged. */
export async function* planLines(
  session: Session,
  feed: FeedName,
  createOnly: CreateOnlyFields,
  unreadable: readonly UnreadableRecords[],
): AsyncGenerator<PlanLine> {
  yield* plannedChanges(session, feed, createOnly);
  yield* unsentPostings(session, feed);
  for (const { key, problems, excerpt, count } of unreadable) {
    const reason = problems.map(({ message }) => message).join('; ');
    yield {
      feed,
      key: key ?? null,
      operation: 'none',
      fields: {},
      kind: 'unreadable',
      reason,
      problems,
      excerpt,
      records: count,
    };
  }
}

/**
 * Calls `work` with a temporary file for the lines of a plan, and prints them once the plan has let go of the database: a slow reader
 * of the output must never hold up a worker.
 */
export async function withSpool<End extends { readonly kind: string }>(
  work: (spool: string) => Promise<End>,
  print: (line: PlanLine) => void | Promise<void>,
): Promise<End> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-plan-'));
  try {
    const spool = join(folder, 'changes.jsonl');
    const end = await work(spool);
    if (end.kind === 'planned') await printSpool(spool, print);
    return end;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the lines to a file. */
export async function spoolLines(spool: string, lines: AsyncIterable<PlanLine>): Promise<void> {
  const written = async function* (): AsyncGenerator<string> {
    for await (const line of lines) yield `${JSON.stringify(line)}\n`;
  };
  await pipeline(written, createWriteStream(spool));
}

async function printSpool(spool: string, print: (line: PlanLine) => void | Promise<void>): Promise<void> {
  await pipeline(createReadStream(spool, 'utf8'), async (chunks: AsyncIterable<string>) => {
    let rest = '';
    for await (const chunk of chunks) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) await print(JSON.parse(line) as PlanLine);
    }
  });
}
