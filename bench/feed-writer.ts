// Writes feeds of realistic postings. The same number of records and the same seed give the same bytes.
import { createWriteStream, existsSync, renameSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type PostingKey, postingKey } from '../src/posting/identifiers.ts';

/** What makes one feed differ from another. */
export interface FeedShape {
  readonly records: number;
  readonly seed: number;
  /** How many of 10,000 records differ from the feed that has 0 here. */
  readonly changedPer10k: number;
}

/** One record of about 2.6 kB, as an applicant tracking system writes it for Indeed. */
export interface FeedRecord {
  readonly key: PostingKey;
  readonly xml: string;
}

const OPENING = '<?xml version="1.0" encoding="utf-8"?>\n<source>\n<publisher>Example Staffing</publisher>\n';
const CLOSING = '</source>\n';
const PIECE_RECORDS = 256;

/** Yields the records in order; the same shape gives the same records. */
export function* feedRecords(shape: FeedShape): Generator<FeedRecord> {
  const write = recordWriter(shape.seed);
  for (let index = 0; index < shape.records; index++) {
    // Spreads the changed records over the feed without repeats: Knuth's multiplier is odd and no multiple of 5.
    const changed = (index * 2_654_435_761) % 10_000 < shape.changedPer10k;
    yield write(index, changed);
  }
}

function* feedPieces(shape: FeedShape): Generator<Buffer> {
  let piece = OPENING;
  let count = 0;
  for (const { xml } of feedRecords(shape)) {
    piece += `${xml}\n`;
    if (++count % PIECE_RECORDS !== 0) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  yield Buffer.from(piece + CLOSING);
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
function recordWriter(seed: number): (index: number, changed: boolean) => FeedRecord {
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
    const xml = `<job>
<title><![CDATA[${of(TITLES)} – ${of(SHIFTS)}${changed ? ' (updated)' : ''}]]></title>
<date><![CDATA[Fri, ${1 + pick(28)} Mar 2026 08:00:00 GMT]]></date>
<referencenumber><![CDATA[${key}]]></referencenumber>
<url><![CDATA[https://jobs.example.com/apply/${key}?source=indeed&campaign=${pick(1_000)}]]></url>
<company><![CDATA[Example Staffing, Inc.]]></company>
<city><![CDATA[${of(CITIES)}]]></city>
<state><![CDATA[${of(STATES)}]]></state>
<country><![CDATA[US]]></country>
<postalcode><![CDATA[${String(10_000 + pick(89_999))}]]></postalcode>
<salary>$${15 + pick(60)} per hour</salary>
<jobtype>fulltime</jobtype>
<category><![CDATA[${of(CATEGORIES)}]]></category>
<description><![CDATA[${description}]]></description>
</job>`;
    return { key, xml };
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
