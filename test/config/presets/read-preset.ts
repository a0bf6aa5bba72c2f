// Reads a file with a preset as a pull does, without a database, and sums up what its postings become.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FeedConfig } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import type { RecordBatch } from '../../../src/feed/batch/record-batch.ts';
import { formatOf } from '../../../src/feed/format/formats.ts';
import { readFeed } from '../../../src/feed/read-feed.ts';
import { feedName } from '../../../src/posting/identifiers.ts';
import type { ReadResult } from '../../../src/posting/posting.ts';
import { compileReader } from '../../../src/posting/reader.ts';

/** A configuration whose only feed has these settings; a site as `docs/` describes it. */
export async function feedWith(folder: string, settings: Readonly<Record<string, unknown>>): Promise<FeedConfig> {
  const path = join(folder, 'jobmirror.yaml');
  const env = new Map<string, string>([['BOARD_TOKEN', 'zq-1']]);
  const text = JSON.stringify({
    sites: { board: { base_url: 'https://jobs.example.com', token: `\${BOARD_TOKEN}` } },
    feeds: { acme: { site: 'board', ...settings } },
  });
  for (const [, name = ''] of text.matchAll(/\$\{(\w+)\}/g)) env.set(name, 'zq-1');
  // YAML contains JSON.
  writeFileSync(path, text);
  const config = await loadConfig({ path, env: Object.fromEntries(env), cwd: folder });
  const feed = config.feeds.get(feedName('acme'));
  if (feed === undefined) throw new Error('the configuration has no feed acme');
  return feed;
}

/** What a file's records become, in a form that fits into a page. */
export interface Summary {
  readonly postings: number;
  readonly keys: number;
  readonly skipped?: number;
  readonly shortfalls?: readonly string[];
  readonly failed?: string;
  /** Messages of records that can't be read, and how many have them. */
  readonly unreadable?: Readonly<Record<string, number>>;
  /** Field and message of each problem, and how many postings have it. */
  readonly invalid?: Readonly<Record<string, number>>;
  /** How many postings have each field. */
  readonly filled: Readonly<Record<string, number>>;
  /** The posting with the most fields, the first of several; long texts are cut. */
  readonly sample: Readonly<Record<string, string>>;
}

/** Reads the records of a feed, one result for each. */
export async function readResults(feed: FeedConfig) {
  const format = formatOf(feed.source.format);
  const reader = compileReader(feed.mapping);
  const { lenient, table } = feed.source;
  const results: ReadResult[] = [];
  const take = (batch: RecordBatch) => {
    for (let at = 0; at < batch.count; at++) {
      const parsed = format.parseRecord(batch.recordOf(at), { lenient, table });
      results.push(parsed.kind === 'tree' ? reader.read(parsed.tree) : parsed);
    }
  };
  const { signal } = new AbortController();
  const reading = await readFeed(feed.source, { take, drain: () => undefined }, { signal });
  return { results, reading };
}

export async function summarize(feed: FeedConfig): Promise<Summary> {
  const { results, reading } = await readResults(feed);
  const postings = results.flatMap((result) => ('posting' in result ? [result.posting] : []));
  const problems = results.flatMap((result) => (result.kind === 'invalid' ? result.problems : []));
  const unreadable = results.flatMap((result) => (result.kind === 'unreadable' ? result.problems : []));
  const skipped = results.filter(({ kind }) => kind === 'skipped').length;
  const fullest = postings.toSorted((a, b) => Object.keys(b.fields).length - Object.keys(a.fields).length)[0];
  return {
    postings: postings.length,
    keys: new Set(postings.map(({ key }) => key)).size,
    ...(skipped === 0 ? {} : { skipped }),
    ...(reading.kind === 'read' && reading.shortfalls.length > 0 ? { shortfalls: reading.shortfalls } : {}),
    ...(reading.kind === 'failed' ? { failed: reading.message } : {}),
    ...counts(
      'unreadable',
      unreadable.map(({ message }) => message),
    ),
    ...counts(
      'invalid',
      problems.map(({ field, message }) => `${field} ${withoutValues(message)}`),
    ),
    filled: countOf(postings.flatMap(({ fields }) => Object.keys(fields))),
    sample: Object.fromEntries(Object.entries(fullest?.fields ?? {}).map(([name, text]) => [name, short(text)])),
  };
}

const short = (text: string): string =>
  text.length > 90 ? `${text.slice(0, 60)} … (${text.length} characters)` : text;

/** The reason alone: the values would fill pages. */
const withoutValues = (message: string): string =>
  message
    .replaceAll(/"[^"]*"/g, '…')
    .replace(/(states|places in)[: ].*?(?=, so|$)/, '$1 …')
    .replace(/^location-state /, '')
    .replace(/[;,] .*/, '');

function counts(name: string, texts: readonly string[]): object {
  return texts.length === 0 ? {} : { [name]: countOf(texts) };
}

function countOf(texts: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const text of texts) found[text] = (found[text] ?? 0) + 1;
  return found;
}
