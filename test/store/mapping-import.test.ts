// Importing mappings from a file: all or none, no job of another posting, and no duplicate job from a pending create.
import { describe, expect, it } from 'vitest';
import { postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { createClaimer } from '../../src/store/change/claim.ts';
import { countMappings, listMappings } from '../../src/store/mapping/find-jobs.ts';
import { type ImportLine, importMappings } from '../../src/store/mapping/mapping-import.ts';
import { acme, openStage } from '../review/stage.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

const stage = openedForEach(() => openStage());

const line = (at: number, key: string, id: string): ImportLine => ({
  kind: 'mapping',
  line: at,
  feed: acme,
  site: siteName('board'),
  key: postingKey(key),
  siteJobId: siteJobId(id),
  url: undefined,
});

async function importLines(...lines: readonly ImportLine[]) {
  async function* stream() {
    yield* lines;
  }
  // Checks with the site are tested in test/scenarios/known-less.test.ts.
  return importMappings(stage.app.db, stream(), 'tester', undefined);
}

const rows = () => stage.app.db.query('select key, site_job_id from mapping order by key');

it('writes all lines; the next pull sends all fields and deletes jobs that the feed lacks', async () => {
  await stage.pull([posting('other')]);
  expect(await importLines(line(1, 'a', '1'), line(2, 'b', '2'))).toEqual({ kind: 'imported', added: 2, known: 0 });
  await stage.pull([posting('a'), posting('other')]);
  expect((await stage.claim('a')).request).toMatchObject({
    kind: 'update',
    siteJobId: '1',
    fields: { number: 'a', title: 'Nurse a', 'location-state': 'Massachusetts' },
  });
  expect((await stage.claim('b')).request).toEqual({ kind: 'delete', siteJobId: '2' });
  expect(await stage.app.db.query('select actor, action, feed, detail from audit')).toEqual([
    { actor: 'tester', action: 'import mappings', feed: 'acme', detail: { added: 2, unchecked: true } },
  ]);
});

it('changes nothing the second time', async () => {
  await importLines(line(1, 'a', '1'));
  expect(await importLines(line(1, 'a', '1'), line(2, 'b', '2'))).toEqual({ kind: 'imported', added: 1, known: 1 });
  expect(await rows()).toEqual([
    { key: 'a', site_job_id: '1' },
    { key: 'b', site_job_id: '2' },
  ]);
});

it('turns a waiting create into an update, even if a worker has just read it', async () => {
  await stage.pull([posting('a')]);
  const claims = createClaimer(stage.app.db.prepared, 1, new Map());
  const session = await stage.app.db.session();
  await session.query('begin');
  await session.query(`select from change where key = 'a' for update`);
  const importing = importLines(line(1, 'a', '1'));
  await waitForLocks(1);
  // The worker reads "not mapped", and commits its intent only once the import has committed.
  const claiming = claims({ feed: acme, key: postingKey('a') });
  await waitForLocks(2);
  await session.query('commit');
  await session.end();
  expect(await importing).toMatchObject({ kind: 'imported' });
  expect((await claiming).kind).toBe('not_due');
  expect((await stage.claim('a')).request).toMatchObject({ kind: 'update', siteJobId: '1' });
});

async function waitForLocks(waiting: number): Promise<void> {
  const sessions = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(() => stage.app.db.query(sessions)).toHaveLength(waiting);
}

it('refuses a line of which no site was asked because of a problem that has just ended', async () => {
  const { db } = stage.app;
  await stage.pull([posting('a')]);
  await db.query(`insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '9', 'acme', 'x')`);
  async function* lines() {
    yield line(1, 'a', '9');
  }
  // The job is deleted while sites are asked about other lines.
  const ask = async () => {
    await db.query('delete from orphan_site_job');
    return [];
  };
  const message =
    'job 9 is an orphan of posting x, about to be deleted; this has just changed, so import the file again';
  expect(await importMappings(db, lines(), 'tester', ask)).toEqual({
    kind: 'refused',
    problems: [{ line: 1, message }],
    more: false,
  });
  expect(await rows()).toEqual([]);
});

/** Each with the problems of its lines, once posting `p1` has a job and the create of `doubtful` is in doubt. */
const REFUSED: readonly {
  readonly name: string;
  readonly lines: readonly ImportLine[];
  readonly problems: readonly unknown[];
}[] = [
  {
    name: 'a posting that is mapped to another job',
    lines: [line(2, 'p1', 'x')],
    problems: [{ line: 2, message: 'posting p1 is already mapped to job job-p1' }],
  },
  {
    name: 'a job of another posting',
    lines: [line(2, 'new', 'job-p1')],
    problems: [{ line: 2, message: 'job job-p1 belongs to posting p1 of feed acme' }],
  },
  {
    name: 'a posting that appears twice',
    lines: [line(2, 'a', '1'), line(3, 'a', '2')],
    problems: [{ line: 3, message: 'posting a already appears in line 2' }],
  },
  {
    name: 'a job that appears twice',
    lines: [line(2, 'a', '1'), line(3, 'b', '1')],
    problems: [{ line: 3, message: 'job 1 already appears in line 2' }],
  },
  {
    name: 'an unreadable line, and the whole file with it',
    lines: [{ kind: 'problem', line: 5, message: 'odd' } as const, line(6, 'p1', 'x')],
    problems: [
      { line: 5, message: 'odd' },
      { line: 6, message: 'posting p1 is already mapped to job job-p1' },
    ],
  },
  {
    name: 'a posting whose create is in doubt',
    lines: [line(2, 'doubtful', '9')],
    problems: [{ line: 2, message: expect.stringContaining('is in flight or in doubt; resolve that first: entry') }],
  },
  {
    name: 'a feed of another site',
    lines: [{ ...line(2, 'a', '1'), site: siteName('other') } as ImportLine],
    problems: [{ line: 2, message: 'feed acme is mirrored into site board, not into other' }],
  },
];

describe('refuses', () => {
  it('everything if one line cannot be true', async () => {
    await stage.pull(postings(1));
    await stage.acceptAll();
    await stage.pull([...postings(1), posting('doubtful')]);
    await stage.fail('doubtful', 'in_doubt');
    for (const { name, lines, problems } of REFUSED) {
      expect({ name, ...(await importLines(...lines, line(99, 'sound', '99'))) }).toEqual({
        name,
        kind: 'refused',
        problems,
        more: false,
      });
      expect(await rows(), name).toEqual([{ key: 'p1', site_job_id: 'job-p1' }]);
    }
  });

  it('a posting that the feed no longer has, if a job was found for it: it would be deleted', async () => {
    await stage.pull([...postings(1), posting('doubtful')]);
    await stage.fail('doubtful', 'in_doubt');
    await stage.app.db.query(`update change set found_job_id = '9' where key = 'doubtful'`);
    await stage.pull(postings(1));
    const entry = await stage.entry('doubtful');
    expect(await importLines(line(2, 'doubtful', '9'))).toMatchObject({
      kind: 'refused',
      problems: [
        { line: 2, message: expect.stringContaining(`would be deleted at once; decide about entry ${entry}`) },
      ],
    });
    expect(await stage.change('doubtful')).toMatchObject({ state: 'in_doubt', desired: 'absent' });
  });

  it('reports that there are more problems than it lists', async () => {
    const wrong = Array.from(
      { length: 150 },
      (_, at): ImportLine => ({ kind: 'problem', line: at + 1, message: 'odd' }),
    );
    const end = await importLines(...wrong);
    expect(end).toMatchObject({ kind: 'refused', more: true });
    expect(end.kind === 'refused' && end.problems.length).toBe(100);
  });

  it('an import while the feed is pulled', async () => {
    const release = await holdPullLock(stage.app.db, acme);
    expect(await importLines(line(1, 'a', '1'))).toEqual({ kind: 'busy', feed: 'acme' });
    await release();
    expect(await importLines(line(1, 'a', '1'))).toMatchObject({ kind: 'imported' });
  });
});

it('lists more mappings than one chunk, each once, and up to a limit', async () => {
  await importLines(...Array.from({ length: 1_234 }, (_, at) => line(at + 1, `k${at}`, String(at))));
  const list = async (limit?: number) => {
    const keys: string[] = [];
    for await (const row of listMappings(stage.app.db, acme, limit)) keys.push(row.key);
    return keys;
  };
  expect(new Set(await list()).size).toBe(1_234);
  expect(await list(1_100)).toHaveLength(1_100);
  expect(await countMappings(stage.app.db, acme)).toBe(1_234);
});
