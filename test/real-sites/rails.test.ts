// The life of a feed at a job site that Rails made, in each variant that its authors could have chosen.
import { describe, expect, test } from 'vitest';
import {
  type BoardOptions,
  type BoardPosting,
  boardPostings,
  checkBoard,
  entriesOf,
  type MirroredBoard,
  openMirroredBoard,
  ownJobs,
  resolveByHand,
  settle,
} from './mirrored-board.ts';
import { railsForTests } from './rails-board.ts';
import { VARIANTS } from './rails-variants.ts';

const rails = railsForTests();
const FILE_TIMEOUT = { timeout: 300_000 };

const it = test.extend<{ open: (options?: BoardOptions) => Promise<MirroredBoard> }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires this form for a fixture without dependencies.
  open: async ({}, use) => {
    const opened: MirroredBoard[] = [];
    await use(async (options) => {
      const mirrored = await openMirroredBoard(options);
      opened.push(mirrored);
      return mirrored;
    });
    for (const mirrored of opened) await mirrored.close();
  },
});

const writes = async ({ board }: MirroredBoard): Promise<readonly string[]> =>
  (await board.requests()).flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`]));

/** What `verify` finds: `changed p1`. */
async function findings(mirrored: MirroredBoard, ...options: readonly string[]): Promise<readonly string[]> {
  const { json } = await mirrored.run('verify', 'acme', '--json', ...options);
  return json()
    .flatMap(({ finding, key }) => (finding === undefined ? [] : [`${finding} ${key}`]))
    .sort();
}

const changed = (postings: readonly BoardPosting[], fields: (posting: BoardPosting) => Partial<BoardPosting>) =>
  postings.map((posting) => ({ ...posting, ...fields(posting) }));

async function mirrorAll(mirrored: MirroredBoard, postings: readonly BoardPosting[]): Promise<void> {
  await mirrored.writePostings(postings);
  expect(await settle(mirrored)).toMatchObject({ status: 'mirrored', created: postings.length });
}

describe.skipIf(!rails.available).for(VARIANTS)(`a Rails site $name${rails.note}`, { concurrent: true }, (variant) => {
  it('is mirrored, and quiet when nothing changed', FILE_TIMEOUT, async ({ open }) => {
    const mirrored = await open(variant);
    const first = boardPostings(8);
    await mirrorAll(mirrored, first);
    await checkBoard(mirrored, first);
    // Two leave, three change, two come.
    const [one, two, three, ...same] = first.slice(2) as [BoardPosting, BoardPosting, BoardPosting];
    const second = [
      { ...one, title: 'Head of (every) nurse-station', description: '<p>Other  work &amp; more</p>' },
      { ...two, salary: '99.90', starts_at: '2027-06-30T23:30:00-04:00', remote: 'false', openings: '7' },
      { ...three, location_city: 'Salem', location_state: 'Oregon' },
      ...same,
      ...boardPostings(2, 21),
    ];
    await mirrored.writePostings(second);
    expect(await settle(mirrored)).toMatchObject({ status: 'mirrored', created: 2, updated: 3, deleted: 2 });
    await checkBoard(mirrored, second);
    // One that left comes back.
    const third = [...second.slice(1), ...first.slice(0, 1)];
    await mirrored.writePostings(third);
    expect(await settle(mirrored)).toMatchObject({ status: 'mirrored', created: 1, updated: 0, deleted: 1 });
    await checkBoard(mirrored, third);
  });

  it(
    'is verified: nothing is found, then each edit by hand, which a repair sets right once',
    FILE_TIMEOUT,
    async ({ open }) => {
      const mirrored = await open(variant);
      const postings = boardPostings(8);
      await mirrorAll(mirrored, postings);
      if (variant.hides === true)
        for (const { id } of await ownJobs(mirrored)) await mirrored.board.edit(id, { published: true });
      expect(await findings(mirrored)).toEqual([]);
      await mirrored.board.clearRequests();
      const jobs = new Map(
        (await ownJobs(mirrored)).map((job) => [job.fields.contact_web_address?.split('/').at(-1), job.id]),
      );
      const idOf = (key: string): string => jobs.get(key) ?? '';
      await mirrored.board.edit(idOf('p1'), { title: 'Sales manager' });
      await mirrored.board.edit(idOf('p2'), { description: 'Written by hand' });
      await mirrored.board.edit(idOf('p3'), { salary: '11.5' });
      await mirrored.board.edit(idOf('p4'), { starts_at: '2027-03-01T00:00:00Z' });
      await mirrored.board.edit(idOf('p5'), { remote: postings[4]?.remote === 'false' });
      await mirrored.board.remove(idOf('p6'));
      const all = ['changed p1', 'changed p2', 'changed p3', 'changed p4', 'changed p5', 'gone p6'];
      expect(await findings(mirrored)).toEqual(all);
      expect(await findings(mirrored, '--repair')).toEqual(all);
      await settle(mirrored);
      expect([...(await writes(mirrored))].sort()).toEqual(
        [...['p1', 'p2', 'p3', 'p4', 'p5'].map((key) => `PUT /jobs/${idOf(key)}.xml`), 'POST /jobs.xml'].sort(),
      );
      await checkBoard(mirrored, postings);
      expect(await findings(mirrored, '--repair')).toEqual([]);
      await checkBoard(mirrored, postings);
    },
  );

  it('loses nothing and doubles nothing when processes die and answers get lost', FILE_TIMEOUT, async ({ open }) => {
    const mirrored = await open(variant);
    const { board } = mirrored;
    const first = boardPostings(6);
    await mirrorAll(mirrored, first);
    // The site makes each job but does not say so, or is killed.
    await board.setFaults([
      { name: 'after', matching: 'p21', count: 1 },
      { name: 'lost', matching: 'p22', count: 1 },
      { name: 'slow-after', matching: 'p23', count: 1, seconds: 4 },
      { name: 'before', matching: 'p24', count: 1 },
      { name: 'busy', matching: 'p25', count: 1 },
      { name: 'die', matching: 'p26', count: 1 },
      { name: 'after', on: ['update', 'destroy'], count: 1 },
      { name: 'busy', on: ['update', 'destroy'], count: 1 },
    ]);
    const second = [
      ...changed(first.slice(2), ({ number }) => ({ description: `<p>Other work ${number}</p>` })),
      ...boardPostings(8, 21),
    ];
    await mirrored.writePostings(second);
    await mirrored.sync();
    await board.start();
    // A worker is killed as well.
    const third = [...second, ...boardPostings(3, 41)];
    await mirrored.writePostings(third);
    await mirrored.run('resume', 'board');
    await mirrored.spawn(['sync'], { FAULT_AT: 'answer-received', FAULT_NTH: '2' }).ended;
    await mirrored.run('resume', 'board');
    let byHand = 0;
    for (let round = 0; round < 5 && (await settle(mirrored)).status !== 'mirrored'; round++)
      byHand += await resolveByHand(mirrored, third);
    await checkBoard(mirrored, third);
    if (variant.hides !== true) expect(byHand).toBe(0);
  });

  it('gets no second jobs after a lost database', FILE_TIMEOUT, async ({ open }) => {
    const mirrored = await open(variant);
    const postings = boardPostings(10);
    await mirrorAll(mirrored, postings);
    if (variant.hides === true)
      for (const { id } of await ownJobs(mirrored)) await mirrored.board.edit(id, { published: true });
    await mirrored.loseDatabase();
    expect(await settle(mirrored)).toMatchObject({ created: 0 });
    expect(await entriesOf(mirrored)).toHaveLength(10);
    await mirrored.board.clearRequests();
    await mirrored.run('mappings', 'adopt', 'acme', '--sure');
    expect(await settle(mirrored)).toMatchObject({ status: 'mirrored', created: 0 });
    const sent = await writes(mirrored);
    expect(sent).toEqual([...new Set(sent)]);
    if (variant.rewrites !== true) expect(sent).toEqual([]);
    await checkBoard(mirrored, postings);
  });
});
