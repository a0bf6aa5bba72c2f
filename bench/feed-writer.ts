// Writes feeds of realistic postings. The same number of records and the same seed give the same bytes.
import { createWriteStream, existsSync, renameSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type PostingKey, postingKey } from '../src/posting/identifiers.ts';
import { type BenchFormat, type Fields, writerOf } from './feed-formats.ts';

/** What makes one feed differ from another. */
export interface FeedShape {
  readonly records: number;
  readonly seed: number;
  /** How many of 10,000 records differ from the feed that has 0 here. */
  readonly changedPer10k: number;
  /** `xml` by default. */
  readonly format?: BenchFormat;
}

/** One record of about 2.6 kB, with the fields that an applicant tracking system writes for Indeed. */
export interface FeedRecord {
  readonly key: PostingKey;
  /** As the splitter hands it over. */
  readonly record: string;
}

const PIECE_RECORDS = 256;

/** Yields the records in order; the same shape gives the same records. */
export function* feedRecords(shape: FeedShape): Generator<FeedRecord> {
  const write = recordWriter(shape.seed);
  const { text } = writerOf(shape.format);
  for (let index = 0; index < shape.records; index++) {
    // Spreads the changed records over the feed without repeats: Knuth's multiplier is odd and no multiple of 5.
    const changed = (index * 2_654_435_761) % 10_000 < shape.changedPer10k;
    const { key, fields } = write(index, changed);
    yield { key, record: text(fields) };
  }
}

/** The same as text, in pieces of many records. */
export function* feedPieces({ records, seed, changedPer10k, format }: FeedShape): Generator<Buffer> {
  const { opening, separator, closing } = writerOf(format);
  let piece = opening;
  let count = 0;
  for (const { record } of feedRecords({ records, seed, changedPer10k, format })) {
    piece += `${count === 0 ? '' : separator}${record}`;
    if (++count % PIECE_RECORDS !== 0) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  yield Buffer.from(piece + closing);
}

/** Writes a feed to `path`, gzipped if the path ends in `.gz`. An existing file is kept: it is assumed to be the same feed. */
export async function writeFeed(path: string, shape: FeedShape): Promise<void> {
  if (existsSync(path)) return;
  const half = `${path}.half`;
  const pieces = Readable.from(feedPieces(shape), { objectMode: false });
  const file = createWriteStream(half);
  if (path.endsWith('.gz')) await pipeline(pieces, createGzip({ level: 6 }), file);
  else await pipeline(pieces, file);
  renameSync(half, path);
}

const SENTENCES = 2_048;
const TITLES = ['Registered Nurse', 'Forklift Operator', 'Software Engineer', 'Accountant', 'Line Cook', 'Électricien'];
const SHIFTS = ['Day Shift', 'Night Shift', 'Weekends', 'Part-Time', 'Contract', 'Remote – U.S.'];
const STATES = ['Massachusetts', 'Connecticut', 'New York', 'TX', 'CA', 'Ohio', 'Washington', 'N.J.'];
const CITIES = ['Springfield', 'Franklin', 'Clinton', 'Greenville', 'Salem', 'Madison', 'Georgetown'];
const CATEGORIES = ['Healthcare', 'Warehouse', 'Engineering', 'Finance', 'Hospitality', 'Skilled Trades'];
const WORDS =
  `team work care patient schedule weekly shift support client quality safety report manage deliver benefit health
  dental vision paid training growth career experience required preferred degree license certified ability strong
  communication customer service order warehouse lift pounds stand operate machine equipment maintain record plan
  project software system network design build test review code data analysis budget invoice account tax audit kitchen
  clean prepare food guest hotel travel local remote hybrid office hourly salary bonus overtime holiday insurance
  retirement match employer equal opportunity veteran disability status background check drug screen résumé apply`.split(
    /\s+/,
  );

/** Makes the sentences once and recombines them for each record: a million records take seconds. */
function recordWriter(seed: number): (index: number, changed: boolean) => { key: PostingKey; fields: Fields } {
  const random = randomNumbers(seed);
  const sentences = Array.from({ length: SENTENCES }, () => {
    const words = Array.from({ length: 10 + random(14) }, () => WORDS[random(WORDS.length)] as string);
    const text = words.join(' ');
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  });
  return (index, changed) => {
    const pick = randomNumbers(seed ^ Math.imul(index + 1, 0x9e3779b1));
    const sentence = () => sentences[pick(SENTENCES)] as string;
    const of = (list: readonly string[]) => list[pick(list.length)] as string;
    const key = postingKey(`REQ-${String(index).padStart(8, '0')}`);
    const paragraphs = Array.from({ length: 4 }, () => `<p>${sentence()} ${sentence()}</p>\n`).join('');
    const points = Array.from({ length: 6 }, () => `<li>${sentence()}</li>\n`).join('');
    const description = `${paragraphs}<h3>What you bring</h3>\n<ul>\n${points}</ul>\n<p>Pay &amp; benefits: ${sentence()}</p>`;
    const fields = {
      title: `${of(TITLES)} – ${of(SHIFTS)}${changed ? ' (updated)' : ''}`,
      date: `Fri, ${1 + pick(28)} Mar 2026 08:00:00 GMT`,
      referencenumber: key,
      url: `https://jobs.example.com/apply/${key}?source=indeed&campaign=${pick(1_000)}`,
      company: 'Example Staffing, Inc.',
      city: of(CITIES),
      state: of(STATES),
      country: 'US',
      postalcode: String(10_000 + pick(89_999)),
      salary: `$${15 + pick(60)} per hour`,
      jobtype: 'fulltime',
      category: of(CATEGORIES),
      description,
    };
    return { key, fields };
  };
}

/** A small random number generator (mulberry32): numbers below a bound, the same for the same seed. */
function randomNumbers(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}
