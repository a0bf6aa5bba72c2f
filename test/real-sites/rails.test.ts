// The life of a feed at a job site that Rails made, in each variant that its authors could have chosen.
// @module-tag slow
import { describe, expect } from 'vitest';
import { spread } from '../support/extent.ts';
import { boardTest as it } from './board-test.ts';
import {
  type BoardPosting,
  boardPostings,
  checkBoard,
  expectReport,
  LATE_SECONDS,
  type MirroredBoard,
  ownJobs,
  resolveByHand,
  settle,
} from './mirrored-board.ts';
import { railsForTests } from './rails-board.ts';
import { VARIANTS, type Variant } from './rails-variants.ts';

const rails = railsForTests();
const TIMEOUT = { timeout: 600_000 };

const writes = async ({ board }: MirroredBoard): Promise<readonly string[]> =>
  (await board.requests()).flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`]));

/** What `verify` finds, such as `changed p1`. */
async function findings(mirrored: MirroredBoard, ...options: readonly string[]): Promise<readonly string[]> {
  const { json } = await mirrored.run('verify', 'acme', '--json', ...options);
  return json()
    .flatMap(({ finding, key }) => (finding === undefined ? [] : [`${finding} ${key}`]))
    .sort();
}

async function mirrorAll(mirrored: MirroredBoard, postings: readonly BoardPosting[]): Promise<void> {
  await mirrored.writePostings(postings);
  expectReport(await settle(mirrored), { status: 'mirrored', created: postings.length });
}

/** Somebody publishes the jobs that the site lists only then. */
async function publish(mirrored: MirroredBoard): Promise<void> {
  for (const { id } of await ownJobs(mirrored)) await mirrored.board.edit(id, { published: true });
}

/** Two leave, three change in every kind of field, two come; then one that left comes back. */
async function changeAll(
  mirrored: MirroredBoard,
  first: readonly BoardPosting[],
  showsDeleted = false,
): Promise<readonly BoardPosting[]> {
  const [one, two, three, ...same] = first.slice(2) as [BoardPosting, BoardPosting, BoardPosting];
  const second = [
    { ...one, title: 'Head of (every) nurse-station', description: '<p>Other  work &amp; more</p>' },
    { ...two, salary: '99.90', starts_at: '2027-06-30T23:30:00-04:00', remote: 'false', openings: '7' },
    { ...three, location_city: 'Salem', location_state: 'Oregon' },
    ...same,
    ...boardPostings(2, 21),
  ];
  await mirrored.writePostings(second);
  expectReport(await settle(mirrored), { status: 'mirrored', created: 2, updated: 3, deleted: 2 });
  await checkBoard(mirrored, second);
  if (showsDeleted) return second;
  const third = [...second.slice(1), ...first.slice(0, 1)];
  await mirrored.writePostings(third);
  expectReport(await settle(mirrored), { status: 'mirrored', created: 1, updated: 0, deleted: 1 });
  await checkBoard(mirrored, third);
  return third;
}

/** Edits the jobs of six postings by hand, expects that each is found and no other, and has them repaired once. */
async function repair(mirrored: MirroredBoard, postings: readonly BoardPosting[]): Promise<void> {
  const { board } = mirrored;
  expect(await findings(mirrored)).toEqual([]);
  const own = await ownJobs(mirrored);
  const edited = postings.slice(0, 6).map((posting) => ({
    key: posting.number,
    id: own.find(({ fields }) => fields.contact_web_address === posting.contact_web_address)?.id ?? '',
    remote: posting.remote,
  }));
  const EDITS: readonly Readonly<Record<string, unknown>>[] = [
    { title: 'Sales manager' },
    { description: 'Written by hand' },
    { salary: '11.5' },
    { starts_at: '2027-03-01T00:00:00Z' },
    { remote: edited[4]?.remote === 'false' },
  ];
  for (const [at, columns] of EDITS.entries()) await board.edit(edited[at]?.id ?? '', columns);
  await board.remove(edited[5]?.id ?? '');
  const all = edited.map(({ key }, at) => `${at < 5 ? 'changed' : 'gone'} ${key}`).sort();
  expect(await findings(mirrored)).toEqual(all);
  expect(await findings(mirrored, '--repair')).toEqual(all);
  await board.clearRequests();
  await settle(mirrored);
  // That the job is gone is also what the site answers to its update.
  const sent = edited.map(({ id }) => `PUT /jobs/${id}.xml`);
  expect([...(await writes(mirrored))].sort()).toEqual([...sent, 'POST /jobs.xml'].sort());
  await checkBoard(mirrored, postings);
  expect(await findings(mirrored, '--repair')).toEqual([]);
  await checkBoard(mirrored, postings);
}

/** The database is lost: the site has each job already, all are adopted, and none is made or sent again without need. */
async function adoptAll(mirrored: MirroredBoard, postings: readonly BoardPosting[], rewrites = false): Promise<void> {
  await mirrored.loseDatabase();
  expectReport(await settle(mirrored), { created: 0, in_doubt: postings.length });
  await mirrored.board.clearRequests();
  await mirrored.run('mappings', 'adopt', 'acme', '--sure');
  expectReport(await settle(mirrored), { status: 'mirrored', created: 0 });
  const sent = await writes(mirrored);
  expect(sent).toEqual(rewrites ? [...new Set(sent)] : []);
  await checkBoard(mirrored, postings);
}

/** Jobs that the site makes, changes and deletes without saying so, kills of the site and of the worker. */
async function suffer(
  mirrored: MirroredBoard,
): Promise<{ readonly postings: readonly BoardPosting[]; readonly byHand: number }> {
  const { board } = mirrored;
  const first = boardPostings(6);
  await mirrored.writePostings(first);
  // On a slow machine an answer may be lost already.
  for (let round = 0; round < 3 && (await settle(mirrored)).status !== 'mirrored'; round++)
    await resolveByHand(mirrored, first);
  await board.setFaults([
    { name: 'after', matching: 'p21', count: 1 },
    { name: 'lost', matching: 'p22', count: 1 },
    { name: 'slow-after', matching: 'p23', count: 1, seconds: LATE_SECONDS },
    { name: 'before', matching: 'p24', count: 1 },
    { name: 'busy', matching: 'p25', count: 1 },
    { name: 'die', matching: 'p26', count: 1 },
    { name: 'after', on: ['update', 'destroy'], count: 1 },
    { name: 'busy', on: ['update', 'destroy'], count: 1 },
    { name: 'stale', on: ['update'], count: 1 },
  ]);
  const second = [
    ...first.slice(2).map((posting) => ({ ...posting, description: `<p>Other work ${posting.number}</p>` })),
    ...boardPostings(8, 21),
  ];
  await mirrored.writePostings(second);
  await mirrored.sync();
  await board.start();
  const third = [...second, ...boardPostings(3, 41)];
  await mirrored.writePostings(third);
  await mirrored.run('resume', 'board');
  await mirrored.spawn(['sync'], { FAULT_AT: 'answer-received', FAULT_NTH: '2' }).ended;
  await mirrored.run('resume', 'board');
  let byHand = 0;
  for (let round = 0; round < 5 && (await settle(mirrored)).status !== 'mirrored'; round++) {
    // On a slow machine the site may have been paused meanwhile, and a doubt waits until it is read again.
    if (round === 0) await mirrored.run('resume', 'board');
    else byHand += await resolveByHand(mirrored, third);
  }
  return { postings: third, byHand };
}

interface Life {
  readonly title: string;
  readonly lossy?: boolean;
  readonly live: (mirrored: MirroredBoard, variant: Variant) => Promise<void>;
}

const LIVES: readonly Life[] = [
  {
    title: 'is mirrored, quiet when nothing changed, verified, repaired once, and adopted',
    async live(mirrored, { hides, rewrites, showsDeleted }) {
      const first = boardPostings(8);
      await mirrorAll(mirrored, first);
      await checkBoard(mirrored, first);
      const postings = await changeAll(mirrored, first, showsDeleted);
      if (hides === true) await publish(mirrored);
      await repair(mirrored, postings);
      if (hides === true) await publish(mirrored);
      await adoptAll(mirrored, postings, rewrites);
    },
  },
  {
    title: 'loses nothing and doubles nothing when processes die and answers get lost',
    lossy: true,
    async live(mirrored, { hides }) {
      const { postings, byHand } = await suffer(mirrored);
      await checkBoard(mirrored, postings);
      if (hides !== true) expect(byHand).toBe(0);
    },
  },
];

describe.skipIf(!rails.available)(`a Rails site${rails.note}`, () => {
  describe.for(VARIANTS.map((variant, number) => ({ variant, number, name: variant.name })))(
    '$name',
    { concurrent: true },
    ({ variant, number }) => {
      it.for(spread(LIVES, number, LIVES.length))('$title', TIMEOUT, async ({ lossy, live }, { open }) => {
        await live(await open(lossy === true ? { ...variant, lossy } : variant), variant);
      });
    },
  );
});
