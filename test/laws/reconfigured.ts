// Changes of the way a feed is read, and the states that a posting can be in at that time.

import { readFile, writeFile } from 'node:fs/promises';
import type { FeedName } from '../../src/posting/identifiers.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { approveChanges, discardEntries, retryChanges } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { posting, recordXml, type TestPosting } from '../support/indeed-feed.ts';
import type { MirrorOptions } from '../support/mirror.ts';
import type { Installation } from './installation.ts';

const ACME = 'acme' as FeedName;
const COUNT = 12;

/** The posting that is put into a state. */
export const TARGET = 'p1';

/** All postings of the feed. The site shows each posting's name as `number`, whatever its key is. */
export const everyone: readonly TestPosting[] = Array.from({ length: COUNT }, (_, at) => posting(`p${at + 1}`));

const numberOf = (key: string): number => Number(key.slice(1));

/** One record: `next` is the name of another posting; `half` differs from the name for every second posting. */
function record(one: TestPosting): string {
  const n = numberOf(one.key);
  const other = `<next>p${(n % COUNT) + 1}</next><half>${n % 2 === 0 ? one.key : `other-${one.key}`}</half>`;
  const xml = recordXml(one).replace('<job>', `<job>${other}`);
  return one === BROKEN ? xml.replace(/<!\[CDATA\[(Work & more)]]>/, '$1') : xml;
}

/** The second half of the postings is in an element of its own, with records of the same form. */
export function documentOf(list: readonly TestPosting[]): string {
  const [inner, outer] = [list.filter((one) => isInner(one.key)), list.filter((one) => !isInner(one.key))];
  return `<?xml version="1.0"?>\n<source>\n${outer.map(record).join('\n')}\n<inner>${inner.map(record).join('\n')}</inner>\n</source>\n`;
}

const isInner = (key: string): boolean => numberOf(key) > COUNT / 2;

/** The document without its end, after the first records of each kind. */
export function cutDocumentOf(list: readonly TestPosting[]): string {
  const whole = documentOf(list);
  return whole.slice(0, whole.lastIndexOf('<job>'));
}

const INLINE = (records: string, key: string, title: string) =>
  `{ records: "${records}", key: ${key}, fields: { number: referencenumber, title: { template: "${title}" }, category-name: category, ` +
  'description: description, location-city: city, location-state: { from: state, as: us_state }, ' +
  'contact-web-address: { from: url, as: url } } }';

/** Other laws are about keys that seem to have changed (`rekey.test.ts`): here creates are not held for that. */
const ALWAYS = { rekey_guard: '{ percent: 100, count: 100 }' };

/** The configuration before the change. */
export const BEFORE = { ...ALWAYS, format: INLINE('source/job', 'referencenumber', '{title}') };

/** One change of the way the feed is read. */
export interface Change {
  readonly name: string;
  /** The YAML lines of the feed afterwards. */
  readonly feed: Readonly<Record<string, string>>;
  /** The key that a posting has afterwards. */
  readonly keyOf: (key: string) => string;
  /** Whether a posting is among the records afterwards; before, the first half is. */
  readonly reads: (key: string) => boolean;
  readonly titleOf: (key: string) => string;
  /** Whether a rule skips the posting's record afterwards, if the record can be read. */
  readonly skips?: (key: string) => boolean;
}

const same = {
  keyOf: (key: string) => key,
  reads: (key: string) => !isInner(key),
  titleOf: (key: string) => `Nurse ${key}`,
};

export const CHANGES: readonly Change[] = [
  {
    ...same,
    name: 'another key',
    feed: { ...BEFORE, key: 'url' },
    keyOf: (key) => `https://jobs.example.com/${key}`,
  },
  {
    ...same,
    name: 'keys that belonged to other postings',
    feed: { ...BEFORE, key: 'next' },
    keyOf: (key) => `p${(numberOf(key) % COUNT) + 1}`,
  },
  {
    ...same,
    name: 'another key for every second posting',
    feed: { ...BEFORE, key: 'half' },
    keyOf: (key) => (numberOf(key) % 2 === 0 ? key : `other-${key}`),
  },
  {
    ...same,
    name: 'another path to the same records',
    feed: { ...ALWAYS, format: INLINE('*/job', 'referencenumber', '{title}') },
  },
  {
    ...same,
    name: 'a path to other records',
    feed: { ...ALWAYS, format: INLINE('source/inner/job', 'referencenumber', '{title}') },
    reads: isInner,
  },
  {
    ...same,
    name: 'another format',
    feed: { ...ALWAYS, format: INLINE('*/job', 'url', '{title} in {city}') },
    keyOf: (key) => `https://jobs.example.com/${key}`,
    titleOf: (key) => `Nurse ${key} in Boston`,
  },
  { ...same, name: 'a preset', feed: { ...ALWAYS, format: 'indeed' } },
  {
    ...same,
    name: 'another field mapping',
    feed: { ...BEFORE, fields: '{ title: { template: "{title} in {city}" } }' },
    titleOf: (key) => `Nurse ${key} in Boston`,
  },
  {
    ...same,
    name: 'a rule that skips every second posting',
    feed: { ...BEFORE, skip: '{ half: { matches: "^other-" } }' },
    skips: (key) => numberOf(key) % 2 === 1,
  },
  { ...same, name: 'an encoding', feed: { ...BEFORE, encoding: 'utf-8' } },
];

/** A state that a posting is in when the feed is reconfigured. */
export interface State {
  readonly name: string;
  readonly options?: MirrorOptions;
  /** Produces the state under {@link BEFORE}. Returns the postings of the feed from then on. */
  readonly begin: (installation: Installation) => Promise<readonly TestPosting[]>;
  /** A person's edit that makes the target valid. It belongs to the key. */
  readonly edited?: string;
  /** The target is unreadable; a person discards its entry, and does so again after the change. */
  readonly unreadable?: true;
}

/** A description that breaks its record after the key. */
const BROKEN = posting(TARGET, { description: 'Work & more' });
const BAD = posting(TARGET, { state: 'Jalisco' });
const withTarget = (target: TestPosting | undefined): readonly TestPosting[] =>
  everyone.flatMap((one) => (one.key === TARGET ? (target ?? []) : one));

async function mirror(installation: Installation, list: readonly TestPosting[]): Promise<readonly TestPosting[]> {
  await installation.writeFeed(documentOf(list));
  await installation.sync();
  return list;
}

const entryOfTarget = async (installation: Installation): Promise<number> => {
  const [row] = await installation.query<{ id: number }>('select id from change where key = $1', [TARGET]);
  if (row === undefined) throw new Error('the target has no open change');
  return row.id;
};

export const STATES: readonly State[] = [
  {
    name: 'live',
    begin: (installation) => mirror(installation, everyone),
  },
  {
    name: 'rejected',
    begin: (installation) => mirror(installation, withTarget(BAD)),
  },
  {
    name: 'live, with a rejected update',
    async begin(installation) {
      await mirror(installation, everyone);
      return mirror(installation, withTarget(BAD));
    },
  },
  {
    name: 'failed',
    async begin(installation) {
      await installation.sandbox.setFaults([{ name: '403', on: ['create'], count: 1 }]);
      return mirror(installation, everyone);
    },
  },
  {
    name: 'gone, with its delete held',
    async begin(installation) {
      await mirror(installation, everyone);
      return mirror(
        installation,
        everyone.filter(({ key }) => ['p2', 'p8', 'p9'].includes(key)),
      );
    },
  },
  {
    name: 'in doubt',
    options: { site: { list_path: undefined } },
    async begin(installation) {
      await installation.sandbox.setFaults([{ name: '500', made: true, on: ['create'], count: 1 }]);
      return mirror(installation, everyone);
    },
  },
  {
    name: 'discarded',
    async begin(installation) {
      const list = await mirror(installation, withTarget(BAD));
      const { db } = await installation.app();
      await db.transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: ACME }), 'a person'));
      return list;
    },
  },
  {
    name: 'live, with an unreadable record that was discarded',
    unreadable: true,
    async begin(installation) {
      await mirror(installation, everyone);
      const list = await mirror(installation, withTarget(BROKEN));
      await discardUnreadable(installation);
      return mirror(installation, list);
    },
  },
  {
    name: 'edited',
    edited: 'Texas',
    async begin(installation) {
      const list = await mirror(installation, withTarget(BAD));
      const { db, config } = await installation.app();
      const acting = { actor: 'a person' };
      await editEntry(db, config, await entryOfTarget(installation), { 'location-state': 'Texas' }, acting);
      return mirror(installation, list);
    },
  },
  {
    name: 'missing within its grace period',
    options: { feed: { ...BEFORE, delete_guard: '{ missing_pulls: 2 }' } },
    async begin(installation) {
      await mirror(installation, everyone);
      return mirror(installation, withTarget(undefined));
    },
  },
];

/** Replaces lines of the feed in the configuration; the next command reads it. */
export async function reconfigure(
  installation: Installation,
  before: Readonly<Record<string, string | undefined>>,
  after: Readonly<Record<string, string>>,
): Promise<void> {
  await installation.stopEngine();
  const lines = (await readFile(installation.configPath, 'utf8')).split('\n');
  const kept = lines.filter((line) => !Object.keys(before).some((name) => line.startsWith(`    ${name}: `)));
  const at = kept.indexOf('  acme:') + 1;
  const added = Object.entries(after).map(([name, value]) => `    ${name}: ${value}`);
  await writeFile(installation.configPath, kept.toSpliced(at, 0, ...added).join('\n'));
}

/** Configures the site's list action if it is missing: doubts resolve themselves from then on. */
export async function allowList(installation: Installation): Promise<void> {
  await installation.stopEngine();
  const text = await readFile(installation.configPath, 'utf8');
  if (text.includes('list_path:')) return;
  await writeFile(installation.configPath, text.replace('  board:\n', '  board:\n    list_path: /jobs.xml\n'));
}

export async function discardUnreadable(installation: Installation): Promise<void> {
  const { db } = await installation.app();
  await db.transaction(async (tx) =>
    discardEntries(tx, await selectedIds(tx, { feed: ACME, kinds: ['unreadable'] }), 'a person'),
  );
}

export async function approve(installation: Installation): Promise<void> {
  const { db } = await installation.app();
  await db.transaction(async (tx) => approveChanges(tx, await selectedIds(tx, { feed: ACME }), 'a person'));
}

export async function retry(installation: Installation): Promise<void> {
  const { db } = await installation.app();
  await db.transaction(async (tx) => retryChanges(tx, await selectedIds(tx, { feed: ACME }), 'a person'));
}
