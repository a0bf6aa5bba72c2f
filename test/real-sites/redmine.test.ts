// The life of a feed at Redmine 5.0, whose issues are its jobs: an interface that nobody here wrote.
// @module-tag slow
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { processesOf } from '../laws/installation.ts';
import { createTestDatabase } from '../support/database.ts';
import { FAST_TIMING } from '../support/fast-timing.ts';
import { openProgram } from '../support/mirror.ts';
import { type RedmineIssue, type RedmineSite, redmineForTests, startRedmine } from './redmine-site.ts';

const redmine = redmineForTests();
/** Where answers get lost: a create is looked for when its answer is this late. Elsewhere no machine is so slow. */
const LATE_SECONDS = 10;
const NEVER_LATE_SECONDS = 60;
const OTHER_KEY = '0123456789abcdef0123456789abcdef01234567';

interface Posting {
  readonly number: string;
  readonly title: string;
  readonly text?: string;
  readonly starts?: string;
}

const posting = (number: string, more: Partial<Posting> = {}): Posting => ({
  number,
  title: `Nurse (RN) ${number}`,
  text: `First line of ${number}\nSecond <b>line</b> & more`,
  starts: '2027-01-15',
  ...more,
});
const postings = (count: number): Posting[] => Array.from({ length: count }, (_, at) => posting(`p${at + 1}`));
const subjectOf = ({ number, title }: Posting) => `${title} [${number}]`;

let site: RedmineSite;
const opened: (() => Promise<void>)[] = [];

/** A mirror of one feed into a project of its own. */
async function open(
  options: { readonly account?: boolean; readonly searched?: boolean; readonly lossy?: boolean } = {},
) {
  const lateSeconds = options.lossy === true ? LATE_SECONDS : NEVER_LATE_SECONDS;
  const project = await site.addProject();
  let feed = '';
  const on = async (searched: boolean) => {
    const database = await createTestDatabase();
    const program = await openProgram({ url: site.url, token: site.key }, database.url, {
      searched,
      timing: FAST_TIMING,
      site: {
        resource: '{ element: issue, path: /issues }',
        // Redmine shows 25 issues on a page, and at most 100; without status_id only those that are open.
        list_path: `/issues.xml?project_id=${project}&status_id=*&sort=id&limit=100`,
        account_path: options.account === false ? undefined : '/users/current.xml',
        constants: `{ project_id: ${project}, tracker_id: 1 }`,
        reference_field: 'subject',
        required: '[subject]',
        limits: `{ requests_per_second: 5000, concurrency: 1, timeout_seconds: ${lateSeconds - 0.5} }`,
        doubts: `{ resolve_after_seconds: ${lateSeconds} }`,
        retry: '{ attempts: 5, first_delay_seconds: 0.05, max_delay_seconds: 0.2 }',
      },
      feed: {
        format: `{ type: json, records: jobs, key: number, fields: { subject: { template: "{title} [{number}]" }, description: text, start_date: starts, location-state: { value: Ohio } } }`,
        delete_guard: '{ percent: 100, count: 200 }',
      },
    });
    const processes = processesOf(program, FAST_TIMING);
    const close = async () => {
      await processes.close();
      await database.drop();
    };
    return { program, processes, close };
  };
  let current = await on(options.searched === true);
  opened.push(() => current.close());
  return {
    project,
    issues: () => site.issues(project),
    write: (list: readonly Posting[]) => {
      feed = JSON.stringify({ jobs: list });
      return current.program.writeFeed(feed);
    },
    sync: () => current.program.sync(),
    spawn: (command: readonly string[], env: Record<string, string>) => current.processes.spawn(command, env).ended,
    async run(...command: readonly string[]) {
      await current.program.stopEngine();
      return runProgram(current.program, ...command);
    },
    query: async (sql: string) => (await current.program.app()).db.query(sql),
    /** From now on there is an empty database. */
    async loseDatabase() {
      await current.close();
      current = await on(true);
      await current.program.writeFeed(feed);
    },
  };
}

type Mirrored = Awaited<ReturnType<typeof open>>;

/** Syncs until nothing is left to send or to find out. */
async function finish({ sync, query }: Mirrored) {
  let report = await sync();
  for (let round = 0; round < 6 && report.pending + report.in_doubt + report.pending_deletes > 0; round++) {
    await query(`update change set not_before = '-infinity' where not_before < 'infinity'`);
    await query('update refused_token set next_probe = now() where refused_since is not null');
    report = await sync();
  }
  return report;
}

const plain = (text: string | null | undefined) => (text ?? '').replaceAll('\r\n', '\n');

/** Exactly one issue per posting, with its content; one more sync sends nothing. */
async function checkLaws(mirrored: Mirrored, list: readonly Posting[]): Promise<void> {
  const contentOf = ({ subject, description }: Pick<RedmineIssue, 'subject' | 'description'>) =>
    `${subject}: ${plain(description)}`;
  const expected = list.map((one) => contentOf({ subject: subjectOf(one), description: one.text ?? '' }));
  expect((await mirrored.issues()).map(contentOf).sort()).toEqual(expected.sort());
  await site.clearRequests();
  const report = await mirrored.sync();
  expect(report, JSON.stringify(report)).toMatchObject({ requests: 0, pending: 0, in_doubt: 0 });
  expect((await site.requests()).filter(({ method }) => method !== 'GET')).toEqual([]);
}

const findings = async (mirrored: Mirrored) => {
  const { json } = await mirrored.run('verify', 'acme', '--json');
  return json().flatMap(({ finding, key }) => (finding === undefined ? [] : [`${finding} ${key}`]));
};

describe.skipIf(!redmine.available)(`Redmine 5.0${redmine.note}`, { timeout: 600_000 }, () => {
  beforeAll(async () => {
    site = await startRedmine();
  }, 600_000);
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
    await site.setFaults([]);
    await site.setKey(site.key);
  });
  afterAll(async () => {
    await site?.close();
  });

  test('postings become issues, are updated, rejected, closed and deleted', async () => {
    const mirrored = await open({ searched: true });
    await mirrored.write(postings(6));
    expect(await finish(mirrored)).toMatchObject({ status: 'mirrored', created: 6 });
    expect((await mirrored.issues()).map(({ project_id }) => project_id)).toEqual(Array(6).fill(mirrored.project));
    await checkLaws(mirrored, postings(6));
    expect(await findings(mirrored)).toEqual([]);

    const [one, two, three, four, ...rest] = postings(6) as [Posting, Posting, Posting, Posting, ...Posting[]];
    const second = [
      { ...one, title: 'Head nurse' },
      { ...two, text: 'Other\ntext', starts: '2027-02-01' },
      three,
      ...rest,
    ];
    await mirrored.write(second);
    expect(await finish(mirrored)).toMatchObject({ updated: 2, deleted: 1 });
    await checkLaws(mirrored, second);
    expect((await mirrored.issues()).map(({ subject }) => subject)).not.toContain(subjectOf(four));

    // Somebody closes an issue, edits another by hand, and deletes a third.
    const idOf = async (one_: Posting) => {
      const issue = (await mirrored.issues()).find(({ subject }) => subject === subjectOf(one_));
      return issue?.id ?? 0;
    };
    await site.edit(await idOf(three), { status_id: 5 });
    await site.edit(await idOf(second[0] as Posting), { description: 'by hand' });
    await site.remove(await idOf(second[1] as Posting));
    expect((await findings(mirrored)).sort()).toEqual(['changed p1', 'gone p2']);
    await mirrored.run('verify', 'acme', '--repair');
    await finish(mirrored);
    await checkLaws(mirrored, second);
    expect(await findings(mirrored)).toEqual([]);
    // A closed issue is still its posting's.
    const third = second.map((each) => (each.number === 'p3' ? { ...each, title: 'Night nurse' } : each));
    await mirrored.write(third);
    expect(await finish(mirrored)).toMatchObject({ updated: 1, created: 0 });
    expect((await mirrored.issues()).find(({ closed }) => closed)?.subject).toBe('Night nurse [p3]');

    // Redmine refuses a subject of more than 255 characters.
    await mirrored.write([...third, posting('long', { title: 'x'.repeat(300) })]);
    expect(await finish(mirrored)).toMatchObject({ status: 'review', rejected: 1 });
    const [entry] = (await mirrored.run('review', 'list', '--json')).json();
    expect(entry).toMatchObject({ key: 'long', reason: expect.stringMatching(/subject/i) });
    await mirrored.write([...third, posting('long')]);
    expect(await finish(mirrored)).toMatchObject({ status: 'mirrored', created: 1 });
    await checkLaws(mirrored, [...third, posting('long')]);
  });

  test('answers that are lost, errors after the commit, and kills double nothing', async () => {
    const mirrored = await open({ lossy: true });
    await site.setFaults([
      { name: 'lost', every: 3 },
      { name: 'after', every: 4 },
      { name: 'before', every: 5 },
    ]);
    await mirrored.write(postings(12));
    await mirrored.sync();
    await site.setFaults([]);
    expect(await finish(mirrored)).toMatchObject({ status: 'mirrored' });
    await checkLaws(mirrored, postings(12));

    await mirrored.run('status');
    const more = [...postings(12), ...postings(16).slice(12)];
    await mirrored.write(more);
    await mirrored.spawn(['sync', '--json'], { FAULT_AT: 'answer-received' });
    await site.restart();
    await site.setKey(site.key);
    expect(await finish(mirrored)).toMatchObject({ status: 'mirrored' });
    await checkLaws(mirrored, more);
  });

  test('a wrong key reads what everybody reads, and proves nothing', async () => {
    const mirrored = await open({ account: false, lossy: true });
    await mirrored.write(postings(2));
    expect(await finish(mirrored)).toMatchObject({ status: 'mirrored', created: 2 });
    await site.setFaults([{ name: 'lost', count: 1, key: OTHER_KEY }]);
    await mirrored.write(postings(3));
    await mirrored.sync();
    const online = await mirrored.run('check', '--online');
    expect(online.out).toContain('readable; that the token may write is not proven');
    expect(online.out).not.toMatch(/is right|accepts the token/);
    await site.setKey(site.key);
    await mirrored.write(postings(3).map((one) => ({ ...one, title: `${one.title} again` })));
    await finish(mirrored);
    await checkLaws(
      mirrored,
      postings(3).map((one) => ({ ...one, title: `${one.title} again` })),
    );
  });

  test('its account page proves the token', async () => {
    const mirrored = await open();
    await mirrored.write(postings(1));
    expect((await mirrored.run('check', '--online')).out).toMatch(/accepts the token[\s\S]*is right/);
    await site.setKey(OTHER_KEY);
    const refused = await mirrored.run('check', '--online');
    expect(refused).toMatchObject({ status: 1, out: expect.stringContaining('it refuses the token') });
  });

  test('after a lost database its issues are found and adopted, on pages of 100', async () => {
    const mirrored = await open();
    const list = postings(110);
    await mirrored.write(list);
    expect(await finish(mirrored)).toMatchObject({ status: 'mirrored', created: 110 });
    await mirrored.loseDatabase();
    await mirrored.sync();
    expect(await mirrored.issues()).toHaveLength(110);
    // Each is found by its subject, and a person adopts those that are certain.
    await mirrored.run('mappings', 'adopt', 'acme', '--sure');
    await finish(mirrored);
    await checkLaws(mirrored, list);
    expect(await findings(mirrored)).toEqual([]);
  });
});
