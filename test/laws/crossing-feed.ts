// The feed of a crossing life: postings with two identifiers, in one of two shapes, intact or with typical damage.

import type { Setup } from './crossing-setup.ts';
import type { Random } from './random.ts';

/** One posting. Both identifiers derive from `number`, and so does its web address, which no site changes. */
export interface CrossingPosting {
  readonly number: number;
  readonly title: string;
  readonly city: string;
  readonly text: string;
  /** Breaks the site's rule about states. */
  readonly invalid?: true;
}

export const addressOfPosting = (number: number): string => `https://jobs.example.com/s${number}`;

/** How a document is damaged. `whole`: not at all, so it proves which postings are gone. */
export const DAMAGES = [
  'whole',
  'whole',
  'whole',
  'cut',
  'page',
  'unreadable',
  'unreadable without key',
  'without key',
] as const;
export type Damage = (typeof DAMAGES)[number];

const TITLES = ['Nurse', 'Head nurse', 'Cook', 'Driver'];
const CITIES = ['Boston', 'Salem', 'Lynn'];
const TEXTS = ['<p>Work  here</p>', 'Café\r\nof the house', 'By day'];

export interface CrossingFeed {
  readonly postings: readonly CrossingPosting[];
  change(): string;
  /** Gives new content to the postings with these numbers, and brings back those that are gone. */
  renew(numbers: Iterable<number>): void;
  /** Makes all postings valid. */
  repair(): void;
  /** Takes all other postings out. */
  keep(postings: readonly CrossingPosting[]): void;
}

/** @param isSteady as many postings come as go, as in a list of the newest ones */
export function crossingFeed(random: Random, size: number, isSteady = false): CrossingFeed {
  let made = 0;
  let renewed = 0;
  const added = (): CrossingPosting => ({
    number: made++,
    title: random.pick(TITLES),
    city: random.pick(CITIES),
    text: random.pick(TEXTS),
  });
  let postings: readonly CrossingPosting[] = Array.from({ length: size }, added);
  const versions = [postings];
  const changeSome = (count: number, change: (posting: CrossingPosting) => CrossingPosting) => {
    const chosen = new Set(random.some(postings, count));
    return postings.map((posting) => (chosen.has(posting) ? change(posting) : posting));
  };
  const moves: Readonly<Record<string, () => readonly CrossingPosting[]>> = {
    'some come': () => [...postings, ...Array.from({ length: 1 + random.number(4) }, added)],
    'some go': () => random.some(postings, Math.max(1, postings.length - 1 - random.number(3))),
    'many go': () => random.some(postings, Math.ceil(postings.length / 2)),
    'some change': () =>
      changeSome(1 + random.number(5), (posting) => ({
        ...posting,
        title: random.pick(TITLES),
        text: random.pick(TEXTS),
      })),
    'some break a rule': () => changeSome(1 + random.number(2), (posting) => ({ ...posting, invalid: true })),
    'some are repaired': () => postings.map(({ invalid: _, ...posting }) => posting),
    'an earlier version comes back': () => random.pick(versions),
  };
  const replaceSome = (): readonly CrossingPosting[] => {
    const staying = random.some(postings, size - 1 - random.number(3));
    return [...staying, ...Array.from({ length: size - staying.length }, added)];
  };
  return {
    get postings() {
      return postings;
    },
    change() {
      const name = isSteady && random.chance(70) ? 'as many come as go' : random.pick(Object.keys(moves));
      postings = moves[name]?.() ?? replaceSome();
      versions.push(postings);
      return name;
    },
    renew(numbers) {
      const chosen = new Set(numbers);
      const others = postings.filter(({ number }) => !chosen.has(number));
      postings = [
        ...others,
        ...[...chosen].map((number) => ({ number, title: `Renewed ${renewed++}`, city: 'Lynn', text: 'New' })),
      ];
    },
    repair() {
      postings = postings.map(({ invalid: _, ...posting }) => posting);
    },
    keep(kept) {
      postings = kept;
    },
  };
}

export const keyOf = ({ number }: Pick<CrossingPosting, 'number'>, key: Setup['key']): string =>
  key === 'requisition' ? `r-${number}` : `s${number}`;

const recordOf = ({ number, title, city, text, invalid }: CrossingPosting, element: string): string =>
  `<${element}><referencenumber>s${number}</referencenumber><requisition>r-${number}</requisition><title>${title}</title>
<city>${city}</city><state>${invalid ? 'Jalisco' : 'MA'}</state><url>${addressOfPosting(number)}</url>
<description><![CDATA[${text}]]></description></${element}>`;

export interface CrossingDocument {
  readonly xml: string;
  /** Whether it proves which postings are gone although it is damaged: the damaged record is skipped without its key. */
  readonly isProof?: boolean;
  /** The key of the damaged record, if it can still be recovered. */
  readonly brokenKey?: string;
}

/** The document in the shape that the setup expects. */
export function crossingXml(
  postings: readonly CrossingPosting[],
  { records, key, skip }: Setup,
  damage: Damage,
  random: Random,
): CrossingDocument {
  if (records === 'jobs') return crossingJson(postings, key, skip, damage, random);
  const [root, inner, element] = records.split('/') as [string, string, string | undefined];
  const recordXml = (posting: CrossingPosting) => recordOf(posting, element ?? inner);
  const list = postings.map(recordXml).join('\n');
  const [open, close] = element === undefined ? ['', ''] : [`<${inner}>`, `</${inner}>`];
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${open}\n${list}\n${close}</${root}>\n`;
  const [victim] = random.some(postings, 1);
  if (victim === undefined) return { xml };
  const record = recordXml(victim);
  switch (damage) {
    case 'whole':
      return { xml };
    case 'cut':
      // Without its last line break alone, it would still be whole.
      return { xml: xml.slice(0, random.number(xml.length - 1)) };
    case 'page':
      return { xml: '<!DOCTYPE html><html><body>Sorry</body></html>' };
    case 'unreadable':
      return {
        xml: xml.replace(record, record.replace('</title>', ` & co ${random.number(1e6)}</title>`)),
        brokenKey: keyOf(victim, key),
      };
    case 'unreadable without key':
      return { xml: xml.replace(record, record.replace(`</${key}>`, ` & ${random.number(1e6)}</${key}>`)) };
    case 'without key':
      return {
        xml: xml.replace(record, record.replace(`<${key}>`, '<x>').replace(`</${key}>`, '</x>')),
        isProof: victim.city === skip,
      };
    default:
      return damage satisfies never;
  }
}

/** An unreadable record makes the rest of JSON unreadable as well. */
function crossingJson(
  postings: readonly CrossingPosting[],
  key: Setup['key'],
  skip: Setup['skip'],
  damage: Damage,
  random: Random,
): CrossingDocument {
  const isCut = damage.startsWith('unreadable') || damage === 'cut';
  const [victim] = random.some(postings, 1);
  const records = postings.map((posting) => {
    const { number, title, city, text, invalid } = posting;
    const identifiers = { referencenumber: `s${number}`, requisition: `r-${number}` };
    const shown = damage === 'without key' && posting === victim ? { ...identifiers, [key]: undefined } : identifiers;
    const state = invalid ? 'Jalisco' : 'MA';
    return { ...shown, title, city, state, url: addressOfPosting(number), description: text };
  });
  const xml = JSON.stringify({ jobs: records });
  if (damage === 'page') return crossingXml([], { records: 'source/job', key, skip } as Setup, damage, random);
  return {
    xml: isCut ? xml.slice(0, random.number(xml.length - 1)) : xml,
    isProof: !isCut && (damage === 'whole' || victim === undefined || victim.city === skip),
  };
}
