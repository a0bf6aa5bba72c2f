// What a job site that Rails made answers, and what jobmirror makes of it: invalid jobs, mistakes of the set-up, a token that is
// refused, references that it does not keep, and values that it rewrites.
// @module-tag slow
import { describe, expect } from 'vitest';
import { boardTest as it } from './board-test.ts';
import {
  boardPostings,
  checkBoard,
  entriesOf,
  expectReport,
  type MirroredBoard,
  ownJobs,
  resolveByHand,
  retryFailed,
  settle,
} from './mirrored-board.ts';
import { type BoardVariant, railsForTests } from './rails-board.ts';

const rails = railsForTests();
const TIMEOUT = { timeout: 600_000 };

interface Problem {
  readonly field?: string | null;
  readonly message: string;
}

/** The problems that review shows of a posting. */
async function problemsOf(mirrored: MirroredBoard, key: string): Promise<readonly Problem[]> {
  const entry = (await entriesOf(mirrored)).find((each) => each.key === key);
  const { json } = await mirrored.run('review', 'show', String(entry?.id), '--json');
  return json<{ problems: readonly Problem[] }>()[0]?.problems ?? [];
}

const DROPS_REFERENCE = { UNPERMITTED: 'number' };

describe.skipIf(!rails.available)(`a Rails site${rails.note}`, { concurrent: true }, () => {
  it.for(['to_xml', 'messages', 'details', 'full_messages', 'hash', 'response', 'text'])(
    'that answers errors as %s: each is attributed to its field, and said as a person would',
    TIMEOUT,
    async (form, { open }) => {
      const mirrored = await open({ variant: { ERRORS: form } });
      const [one, two, three] = boardPostings(3);
      if (one === undefined || two === undefined || three === undefined) return;
      await mirrored.writePostings([one, { ...two, salary: 'a lot' }, { ...three, category_name: 'x'.repeat(61) }]);
      expectReport(await settle(mirrored), { in_doubt: 0, rejected: 2 });
      const salary = await problemsOf(mirrored, two.number);
      const category = await problemsOf(mirrored, three.number);
      expect(salary).toMatchObject([{ field: 'salary', message: expect.stringMatching(/not[ _]a[ _]number/i) }]);
      expect(category).toMatchObject([{ field: 'category-name', message: expect.stringMatching(/too[ _]long/i) }]);
      for (const { message } of [...salary, ...category]) expect(message).not.toMatch(/^error|; |^a lot/);
      await mirrored.writePostings([one, two, three]);
      expectReport(await settle(mirrored), { status: 'mirrored', created: 2 });
      await checkBoard(mirrored, [one, two, three]);
    },
  );

  const SET_UPS: readonly { readonly title: string; readonly variant: BoardVariant; readonly says: RegExp }[] = [
    { title: 'refuses a field', variant: { ...DROPS_REFERENCE, STRICT: 'raise' }, says: /unpermitted.*number/i },
    { title: 'wants a CSRF token', variant: { CSRF: '1' }, says: /CSRF|authenticity|forgery/i },
  ];
  it.for(SET_UPS)(
    'that $title of every posting: none is called invalid, and it is said what is wrong',
    TIMEOUT,
    async ({ variant, says }, { open }) => {
      const mirrored = await open({ variant });
      const postings = boardPostings(8);
      await mirrored.writePostings(postings);
      const report = await mirrored.sync();
      expectReport(report, { created: 0, rejected: 0 });
      const { out } = await mirrored.run('status');
      expect(`${report.message ?? ''}\n${out}`).toMatch(says);
      // Somebody sets it right.
      await mirrored.board.kill();
      await mirrored.board.start({});
      await mirrored.run('resume', 'board');
      expectReport(await settle(mirrored), { status: 'mirrored' });
      await checkBoard(mirrored, postings);
    },
  );

  it(
    'that anybody may read: what a refused token reads proves nothing about a create',
    TIMEOUT,
    async ({ open, expect }) => {
      const mirrored = await open({ variant: { PUBLIC: '1' }, lossy: true });
      const { board } = mirrored;
      const [first, ...rest] = boardPostings(4);
      if (first === undefined) return;
      await mirrored.writePostings([first]);
      expectReport(await settle(mirrored), { status: 'mirrored' });
      // Each is made, and nobody hears of it; from then on the token is refused, and the list, which all may read, is an old copy.
      await board.setFaults([{ name: 'lost', count: 3 }]);
      await mirrored.writePostings([first, ...rest]);
      const lost = mirrored.spawn(['sync']);
      await expect.poll(async () => (await ownJobs(mirrored)).length).toBe(4);
      await board.setToken('another token');
      await lost.ended;
      const hidden = (await ownJobs(mirrored)).slice(1);
      for (const { id } of hidden) await board.edit(id, { deleted_at: '2026-01-01T00:00:00Z' });
      for (let pull = 0; pull < 3; pull++) await mirrored.sync();
      const { out } = await mirrored.run('check', '--online');
      expect(out).not.toMatch(/accepts the token/);
      for (const { id } of hidden) await board.edit(id, { deleted_at: null });
      await board.setToken(board.token);
      await mirrored.run('resume', 'board');
      for (let round = 0; round < 4 && (await settle(mirrored)).status !== 'mirrored'; round++)
        await resolveByHand(mirrored, [first, ...rest]);
      await checkBoard(mirrored, [first, ...rest]);
    },
  );

  it('that shows deleted rows with a flag: a posting that comes back gets a new job', TIMEOUT, async ({ open }) => {
    const mirrored = await open({ variant: { DELETED: 'flag' }, lossy: true });
    const postings = boardPostings(5);
    // The list, in which the last one is looked for, shows the deleted job of the first, too.
    await mirrored.board.setFaults([{ name: 'after', matching: 'p5', count: 1 }]);
    for (const list of [postings.slice(0, 4), postings.slice(1), postings]) {
      await mirrored.writePostings(list);
      expectReport(await settle(mirrored), { status: 'mirrored' });
      await checkBoard(mirrored, list);
    }
    expect(await mirrored.board.jobs()).toHaveLength(mirrored.foreign.length + 6);
    // A deleted job with the reference of a posting is no second job of it.
    expect(await mirrored.run('verify', 'acme')).toMatchObject({ status: 0 });
  });

  it('that drops the reference: said after the first create, by `check --online` too', TIMEOUT, async ({ open }) => {
    const mirrored = await open({ variant: DROPS_REFERENCE });
    const postings = boardPostings(3);
    await mirrored.writePostings(postings);
    const report = await settle(mirrored);
    const { out } = await mirrored.run('status');
    expect(`${report.message ?? ''}\n${out}`).toMatch(/reference_field|reference/);
    const check = await mirrored.run('check', '--online');
    expect(`${check.out}\n${check.errors}`).toMatch(/number.*(not|never)|(not|never).*number/);
    await checkBoard(mirrored, postings);
  });

  it(
    'that rewrites titles, shows no reference and fails after each commit: 24 postings become 24 jobs',
    TIMEOUT,
    async ({ open }) => {
      const mirrored = await open({ variant: { ...DROPS_REFERENCE, REWRITE: 'title:titleize' }, lossy: true });
      const postings = boardPostings(24);
      await mirrored.board.setFaults([{ name: 'after', every: 2, count: 12 }]);
      await mirrored.writePostings(postings);
      // The site may have been paused, and what it refused is sent again; nobody says which job is whose.
      for (let round = 0; round < 5 && (await settle(mirrored)).status !== 'mirrored'; round++) {
        await mirrored.run('resume', 'board');
        await retryFailed(mirrored);
      }
      await checkBoard(mirrored, postings);
    },
  );

  const REFORMATS: readonly { readonly title: string; readonly variant: BoardVariant }[] = [
    { title: 'sanitizes descriptions', variant: { REWRITE: 'description:sanitize', UPDATED: '200' } },
    {
      title: 'formats descriptions, in another zone',
      variant: { REWRITE: 'description:simple_format', TIME_ZONE: 'Hawaii' },
    },
  ];
  it.for(REFORMATS)(
    'that $title, of 24 jobs: each of three edits by hand is found, and no other',
    TIMEOUT,
    async ({ variant }, { open }) => {
      const mirrored = await open({ variant });
      const postings = boardPostings(24);
      await mirrored.writePostings(postings);
      expectReport(await settle(mirrored), { created: 24 });
      const findings = async (...options: readonly string[]) => {
        const { json } = await mirrored.run('verify', 'acme', '--json', ...options);
        return json()
          .flatMap(({ finding, key }) => (finding === undefined ? [] : [`${finding} ${key}`]))
          .sort();
      };
      expect(await findings()).toEqual([]);
      const jobs = await ownJobs(mirrored);
      const edited = ['p3', 'p11', 'p20'];
      for (const { id, fields } of jobs)
        if (edited.includes(fields.number ?? ''))
          await mirrored.board.edit(id, { description: `<p>By hand ${id}</p>` });
      const found = edited.map((key) => `changed ${key}`).sort();
      expect(await findings('--repair')).toEqual(found);
      await settle(mirrored);
      await checkBoard(mirrored, postings);
      expect(await findings()).toEqual([]);
    },
  );
});
