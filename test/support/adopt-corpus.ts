// Makes pairs of postings that are nearly the same, and the jobs that a site has of them, for matching without mistakes.
import type { Fields } from '../../src/posting/posting.ts';

/** A posting of the feed. */
export interface CorpusPosting {
  readonly key: string;
  readonly fields: Fields;
}

/** A job of the site, and whose it is in truth: `undefined` is nobody's of the feed. */
export interface CorpusJob {
  readonly id: string;
  readonly fields: Fields;
  readonly of: string | undefined;
}

export interface Corpus {
  readonly postings: readonly CorpusPosting[];
  readonly jobs: readonly CorpusJob[];
  /** The kind of pair that a posting is of. */
  readonly kindOf: ReadonlyMap<string, string>;
}

type Random = () => number;

/** Numbers from 0 to 1 that depend only on the seed (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const TITLES = [
  'Nurse',
  'Cashier',
  'Driver',
  'Welder',
  'Cook',
  'Clerk',
  'Painter',
  'Teacher',
  'C++ Developer',
  'C# Developer',
];
const LEVELS = ['', 'Senior ', 'Junior ', 'Lead ', 'Assistant '];
const SHIFTS = ['', ' - Nights', ' - Days', ' (Part-Time)', ' II', ' III'];
const PLACES = [
  ['St. Louis', 'Missouri', 'Saint Louis', 'MO'],
  ['Springfield', 'Illinois', 'Springfield, IL', 'IL'],
  ['Springfield', 'Ohio', 'SPRINGFIELD', 'Ohio'],
  ['New York', 'New York', 'New York City', 'NY'],
  ['Ft. Worth', 'Texas', 'Fort Worth', 'TX'],
  ['Pittsburgh', 'Pennsylvania', 'Pittsburg', 'Pa.'],
  ['Coeur d’Alene', 'Idaho', 'Coeur d Alene', 'ID'],
  ['Portland', 'Oregon', 'portland', 'OR'],
  ['Portland', 'Maine', 'Portland ME', 'ME'],
  ['Mt. Pleasant', 'Michigan', 'Mount Pleasant', 'MI'],
  ['Boston', 'Massachusetts', 'Boston, MA 02118', 'MA'],
  ['Winston-Salem', 'North Carolina', 'Winston Salem', 'NC'],
] as const;
const WORDS =
  'care team patients shift weekly lift fifty pounds clean drive license report manager customers safety equipment training benefits dental vision paid time bonus hourly experience required preferred school diploma weekends nights schedule flexible growth mission quality process order stock floor kitchen vehicle route machine paint weld class lesson grade code review deploy'.split(
    ' ',
  );
const HOURS = ['8', '10', '12', '6'];

/** What tells the two postings of a pair apart, and what the site shows of their jobs. */
const KINDS: Readonly<Record<string, (pair: Pair) => void>> = {
  'another city, references shown': (pair) => pair.elsewhere().both().jobs(2),
  'another city, no references': (pair) => pair.elsewhere().both().hide().jobs(2),
  'another city, one job, no references': (pair) => pair.elsewhere().both().hide().jobs(1),
  'another requisition, references shown': (pair) => pair.both().jobs(2),
  'another requisition, no references': (pair) => pair.both().hide().jobs(2),
  'another requisition, the job of the other': (pair) => pair.onlyFirst().jobsOfSecond(),
  'edited text, no references': (pair) => pair.editText().both().hide().jobs(2),
  'edited text, the job of another, no references': (pair) => pair.editText().onlyFirst().hide().jobsOfSecond(),
  'edited title, no references': (pair) => pair.editTitle().both().hide().jobs(2),
  'edited title, the job of another, no references': (pair) => pair.editTitle().onlyFirst().hide().jobsOfSecond(),
  'edited since, references shown': (pair) => pair.both().jobs(2).editJobs(),
  'place spelled differently, no references': (pair) => pair.elsewhere().both().hide().jobs(2).spell(),
  'place spelled differently, references shown': (pair) => pair.elsewhere().both().jobs(2).spell(),
  'markup removed, no references': (pair) => pair.elsewhere().both().hide().jobs(2).reduce(),
  'markup removed, one of two texts': (pair) => pair.editText().both().hide().jobs(1).reduce(),
  'one requisition in two cities': (pair) => pair.elsewhere().sameReference().both().jobs(2),
  'one requisition in two cities, one job': (pair) => pair.elsewhere().sameReference().both().jobs(1),
  'references cut off': (pair) => pair.both().jobs(2).cutReferences(),
  'references in another form': (pair) => pair.both().jobs(2).reformReferences(),
  'numbers that begin alike': (pair) => pair.numbers().both().jobs(2),
  'a job twice': (pair) => pair.elsewhere().both().jobs(2).repeat(),
  'another category, no references': (pair) => pair.category().both().hide().jobs(1),
};

/** One pair while it is made. Each step returns the pair. */
class Pair {
  readonly #random: Random;
  readonly #number: number;
  readonly #fields: [Record<string, string>, Record<string, string>];
  #inFeed: readonly number[] = [0, 1];
  #isHidden = false;
  #jobs: { id: string; fields: Record<string, string>; of: number }[] = [];

  constructor(random: Random, number: number) {
    this.#random = random;
    this.#number = number;
    const place = this.#pick(PLACES);
    const fields = {
      title: `${this.#pick(LEVELS)}${this.#pick(TITLES)}${this.#pick(SHIFTS)}`,
      description: this.#text(),
      'category-name': 'General',
      'location-city': place[0],
      'location-state': place[1],
    };
    this.#fields = [
      { number: `REQ-2024-${String(number * 2).padStart(6, '0')}`, ...fields },
      { number: `REQ-2024-${String(number * 2 + 1).padStart(6, '0')}`, ...fields },
    ];
  }

  elsewhere(): this {
    const [here] = this.#fields;
    const others = PLACES.filter(([city, state]) => city !== here['location-city'] || state !== here['location-state']);
    const place = this.#pick(others);
    Object.assign(this.#fields[1], { 'location-city': place[0], 'location-state': place[1] });
    return this;
  }

  editText(): this {
    const words = (this.#fields[1].description ?? '').split(' ');
    for (let edit = 0; edit < 3; edit++) words[Math.floor(this.#random() * words.length)] = `changed${edit}`;
    this.#fields[1].description = words.join(' ');
    return this;
  }

  editTitle(): this {
    this.#fields[1].title = `${this.#fields[0].title} ${this.#pick(['(Float)', 'I', 'Weekend', '2nd Shift'])}`;
    return this;
  }

  category(): this {
    this.#fields[1]['category-name'] = 'Special';
    return this;
  }

  numbers(): this {
    this.#fields[0].number = `${70_000_000 + this.#number}`;
    this.#fields[1].number = `${70_000_000 + this.#number}0`;
    return this;
  }

  sameReference(): this {
    this.#fields[1].number = this.#fields[0].number ?? '';
    return this;
  }

  both(): this {
    this.#inFeed = [0, 1];
    return this;
  }

  onlyFirst(): this {
    this.#inFeed = [0];
    return this;
  }

  hide(): this {
    this.#isHidden = true;
    return this;
  }

  jobs(count: number): this {
    return this.#addJobs([0, 1].slice(0, count));
  }

  jobsOfSecond(): this {
    return this.#addJobs([1]);
  }

  #addJobs(of: readonly number[]): this {
    for (const side of of) {
      const { number, ...fields } = this.#fields[side] as Record<string, string>;
      const shown = this.#isHidden || number === undefined ? fields : { number, ...fields };
      this.#jobs.push({ id: `${100_000 + this.#number * 4 + this.#jobs.length}`, fields: { ...shown }, of: side });
    }
    return this;
  }

  /** People changed the text of the jobs since, and other fields. */
  editJobs(): this {
    for (const { fields } of this.#jobs) {
      fields.description = `${this.#pick(WORDS)} ${fields.description?.slice(40)}`;
      fields['category-name'] = 'By hand';
    }
    return this;
  }

  spell(): this {
    for (const { fields } of this.#jobs) {
      const place = PLACES.find(
        ([city, state]) => city === fields['location-city'] && state === fields['location-state'],
      );
      if (place !== undefined) Object.assign(fields, { 'location-city': place[2], 'location-state': place[3] });
    }
    return this;
  }

  reduce(): this {
    for (const { fields } of this.#jobs)
      fields.description = (fields.description ?? '')
        .replace(/<li>/g, '\n* ')
        .replace(/<[^>]*>/g, ' ')
        .trim();
    return this;
  }

  cutReferences(): this {
    for (const { fields } of this.#jobs) fields.number = (fields.number ?? '').slice(0, 12);
    return this;
  }

  reformReferences(): this {
    for (const { fields } of this.#jobs) fields.number = (fields.number ?? '').toLowerCase().replaceAll('-', ' ');
    return this;
  }

  repeat(): this {
    const [first] = this.#jobs;
    if (first !== undefined) this.#jobs.push({ id: `${first.id}9`, fields: { ...first.fields }, of: -1 });
    return this;
  }

  end(): Corpus {
    const keyOf = (side: number) => `k${this.#number}-${side}`;
    const postings = this.#inFeed.map((side) => ({ key: keyOf(side), fields: this.#fields[side] as Fields }));
    const keys = new Set(postings.map(({ key }) => key));
    const jobs = this.#jobs.map(({ id, fields, of }) => ({
      id,
      fields,
      of: keys.has(keyOf(of)) ? keyOf(of) : undefined,
    }));
    return { postings, jobs, kindOf: new Map() };
  }

  #text(): string {
    const words = (count: number) => Array.from({ length: count }, () => this.#pick(WORDS)).join(' ');
    const items = Array.from({ length: 4 }, () => `<li>${words(8)}</li>`).join('');
    return `<p>${words(30)} ${this.#pick(HOURS)} hours.</p><ul>${items}</ul><p>${words(20)}</p>`;
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item;
  }
}

/** `pairs` pairs, of all kinds in turn. The same seed makes the same pairs. */
export function makeCorpus(pairs: number, seed: number): Corpus {
  const random = randomFrom(seed);
  const kinds = Object.entries(KINDS);
  const postings: CorpusPosting[] = [];
  const jobs: CorpusJob[] = [];
  const kindOf = new Map<string, string>();
  for (let number = 0; number < pairs; number++) {
    const [kind, make] = kinds[number % kinds.length] as (typeof kinds)[number];
    const pair = new Pair(random, number);
    make(pair);
    const made = pair.end();
    postings.push(...made.postings);
    jobs.push(...made.jobs);
    for (const { key } of made.postings) kindOf.set(key, kind);
  }
  return { postings, jobs, kindOf };
}
