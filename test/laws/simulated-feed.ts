// A feed that changes at random: postings appear, disappear, return, change, revert, break rules, repeat and move.
import { feedXml, recordXml, type TestPosting } from '../support/indeed-feed.ts';
import type { Random } from './random.ts';

export interface SimulatedFeed {
  /** The current valid postings that appear once. */
  readonly postings: readonly TestPosting[];
  /** Moves to another version. Returns a description of the change. */
  change(): string;
  /** The XML of this version, often with a fault, and a description of it. */
  write(): { readonly xml: string; readonly note: string };
  /** The XML without faults. */
  clean(): string;
  /** Makes sure that postings with these keys exist, each with new content. */
  renew(keys: readonly string[]): void;
}

const TITLES = ['Nurse', 'Head nurse', 'Cook', 'Driver (CDL-A)', 'Data-entry clerk', 'Cook,  night shift'];
const SALARIES = ['20.50', '18.00', '7', undefined];
const STARTS = ['2027-01-01T12:00:00Z', '2027-07-01T08:30:00+02:00', undefined];
const REMOTE = ['yes', 'no', 'true', undefined];
const DESCRIPTIONS = [
  '<p>#</p>',
  '<p style="color: red">#<br/>R&D</p>',
  '<script>x()</script> Line #\n  and  more',
  '#',
];
const CITIES = ['Boston', 'Salem', 'Lynn'];

export function simulateFeed(random: Random, size: number): SimulatedFeed {
  let made = 0;
  const content = (): Omit<TestPosting, 'key'> => {
    const [salary, startsAt, remote] = [random.pick(SALARIES), random.pick(STARTS), random.pick(REMOTE)];
    return {
      title: random.pick(TITLES),
      city: random.pick(CITIES),
      description: random.pick(DESCRIPTIONS).replace('#', String(random.number(9))),
      ...(salary === undefined ? {} : { salary }),
      ...(startsAt === undefined ? {} : { startsAt }),
      ...(remote === undefined ? {} : { remote }),
    };
  };
  const added = (): TestPosting => ({ key: `s${made++}`, ...content() });
  let postings: readonly TestPosting[] = Array.from({ length: size }, added);
  const versions = [postings];

  const moves: Readonly<Record<string, () => readonly TestPosting[]>> = {
    'some come': () => [...postings, ...Array.from({ length: 1 + random.number(4) }, added)],
    'some go': () => {
      const going = new Set(random.some(postings, 1 + random.number(3)));
      return postings.filter((posting) => !going.has(posting));
    },
    'many go': () => random.some(postings, Math.ceil(postings.length / 2)),
    'some change': () => {
      const changing = new Set(random.some(postings, 1 + random.number(5)));
      return postings.map((posting) => (changing.has(posting) ? { ...posting, ...content() } : posting));
    },
    'an earlier version comes back': () => random.pick(versions),
    'all change their order': () => random.some(postings, postings.length),
  };

  return {
    get postings() {
      return postings;
    },
    change() {
      const name = random.pick(Object.keys(moves));
      postings = moves[name]?.() ?? postings;
      versions.push(postings);
      return name;
    },
    write() {
      const xml = feedXml(postings);
      const [victim] = random.some(postings, 1);
      if (victim === undefined || random.chance(55)) return { xml, note: '' };
      const record = recordXml(victim);
      switch (random.number(6)) {
        case 0:
          return { xml: xml.slice(0, random.number(xml.length)), note: ', cut' };
        case 1:
          return {
            xml: xml.replace(record, record.replace('<state>MA', '<state>Jalisco')),
            note: `, ${victim.key} invalid`,
          };
        case 2:
          return { xml: xml.replace(record, `${record}${record}`), note: `, ${victim.key} twice` };
        case 3:
          return {
            xml: xml.replaceAll('</city>', `</city><noise>${random.number(99)}</noise>`),
            note: ', other bytes',
          };
        case 4:
          return {
            xml: xml.replace('referencenumber', 'x').replace('referencenumber', 'x'),
            note: ', one without key',
          };
        default:
          return { xml: '<!DOCTYPE html><html><body>Sorry</body></html>', note: ', a page in its place' };
      }
    },
    clean: () => feedXml(postings),
    renew(keys) {
      const renewed = new Set(keys);
      postings = [
        ...postings.filter(({ key }) => !renewed.has(key)),
        ...keys.map((key) => ({ key, title: `Renewed ${made++}`, city: 'Lynn' })),
      ];
    },
  };
}
