// What `init` proposes for the real feeds: the preset that reads each, or a format of its own that works.
// @module-tag slow
import { describe, expect, it } from 'vitest';
import { bundledPresets } from '../../src/config/presets.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { readOpening } from '../../src/setup/opening.ts';
import { feedConfigOf, formatFrom } from '../../src/setup/preset-fit.ts';
import { type Proposal, proposeFormat } from '../../src/setup/propose.ts';
import { sampleRecords } from '../../src/setup/sample-records.ts';
import { REAL_FEEDS } from '../config/presets/real-feed-cases.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';

const { signal } = new AbortController();

async function openingOf(file: string, encoding?: string) {
  const opening = await readOpening({ kind: 'file', path: sharedFeed(file) }, encoding, signal);
  if (opening.kind === 'failed') throw new Error(opening.message);
  return opening;
}

async function propose(file: string): Promise<{ readonly proposal: Proposal; readonly bytes: Buffer } | string> {
  const first = await openingOf(file);
  const opening = first.isBroken ? await openingOf(file, 'windows-1252') : first;
  const presets = await bundledPresets();
  const request = { ...opening, address: sharedFeed(file), presets, records: undefined, isOwn: false };
  const result = await proposeFormat(request);
  return result.kind === 'refused' ? result.message : { proposal: result.proposal, bytes: opening.bytes };
}

/** Of the sampled records, how many get a key, and how many a title, with a format of its own. */
async function worksFor({ settings, key, fields, lenient }: Proposal, bytes: Buffer) {
  const feed = feedConfigOf(formatFrom({ ...settings, key, fields }));
  const { trees } = await sampleRecords(bytes, { ...feed.source, lenient });
  const reader = compileReader(feed.mapping);
  const postings = trees.map((tree) => reader.read(tree)).flatMap((read) => ('posting' in read ? [read.posting] : []));
  return {
    records: trees.length,
    keys: new Set(postings.map((posting) => posting.key)).size,
    titles: postings.filter((posting) => posting.fields.title !== undefined).length,
  };
}

/** Their elements are those of Indeed's format, and both presets read them alike. */
const ALIKE: Readonly<Record<string, string>> = { 'ziprecruiter/organic-sample.xml': 'indeed' };
/** Feeds without the names of the preset that a person could adapt to them. */
const OWN: Readonly<Record<string, object>> = {
  'json/usajobs.json': { records: 2, keys: 2, titles: 2 },
  'csv/oil-gas-bom.csv': { records: 200, keys: 199, titles: 200 },
  'csv/france-travail.csv': { records: 118, keys: 118, titles: 118 },
  'csv/cgs.csv': { records: 16, keys: 16, titles: 16 },
  'misc-xml/exec-appointments.xml': { records: 4, keys: 4, titles: 4 },
  'misc-xml/linkedin-scraped-double-escaped.xml': { records: 18, keys: 18, titles: 18 },
  'rss/unescaped-ampersand.xml': { records: 17, keys: 17, titles: 17 },
};

describe.skipIf(!hasSharedFeeds)(`init on real feeds${sharedFeedsNote}`, () => {
  it(`proposes the right preset for all ${REAL_FEEDS.length} feeds that have one, and else a format of its own`, async () => {
    const wrong: string[] = [];
    let presets = 0;
    for (const [file, preset] of REAL_FEEDS) {
      const proposed = await propose(file);
      const name = typeof proposed === 'string' ? proposed : (proposed.proposal.preset?.name ?? 'own');
      const expected = ALIKE[file] ?? (file in OWN ? 'own' : preset);
      if (name === preset) presets++;
      if (name !== expected) wrong.push(`${file}: ${name}, not ${expected}`);
    }
    expect(wrong).toEqual([]);
    const others = REAL_FEEDS.filter(([file]) => file in OWN || file in ALIKE).length;
    expect({ presets, others }).toEqual({ presets: REAL_FEEDS.length - 5, others: 5 });
  });

  it.each(Object.entries(OWN))('proposes a format of its own for %s that works', async (file, expected) => {
    const proposed = await propose(file);
    if (typeof proposed === 'string') throw new Error(proposed);
    expect(await worksFor(proposed.proposal, proposed.bytes)).toEqual(expected);
  });

  it('names no key for a table in which no columns identify a row', async () => {
    const proposed = await propose('csv/cornell.tsv');
    expect(proposed).toMatchObject({ proposal: { key: undefined, fields: { title: 'Title:' } } });
  });

  it.each([
    ['json/avature.html', /^it is an HTML page without postings as JSON/],
    ['json/workday-detail.json', /^no records were found in it; name their path$/],
  ])('refuses %s', async (file, message) => {
    expect(await propose(file)).toMatch(message);
  });
});
