// A site that calls its jobs something else: postings below /board/postings, with fields that all of them have.
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { openPublicBoard, type PublicBoard } from '../support/public-board.ts';

let mirror: Mirror;
let board: PublicBoard;
afterEach(async () => {
  await mirror.close();
  await board[Symbol.asyncDispose]();
});

const RESOURCE = { element: 'job_posting', path: '/board/postings' };

async function open(
  site: Record<string, string | undefined> = {},
  feed: Record<string, string> = {},
  searched = false,
): Promise<void> {
  const token = 'a-token-of-the-mirror';
  board = await openPublicBoard(token, RESOURCE);
  board.habits.private = true;
  mirror = await openMirror({
    searched,
    site: {
      base_url: board.url,
      resource: '{ element: job_posting, path: /board/postings }',
      list_path: '/board/postings.xml',
      limits: '{ requests_per_second: 5000, concurrency: 2, timeout_seconds: 2 }',
      doubts: '{ resolve_after_seconds: 2.5 }',
      ...site,
    },
    feed,
  });
  Object.assign(mirror.env, { BOARD_TOKEN: token });
}

const numbers = () => [...board.jobs.values()].map(({ fields }) => fields.number).sort();

it.each([false, true])('mirrors, and finds a job whose answer was lost; answers without a body: %s', async (terse) => {
  await open({}, {}, true);
  board.habits.terse = terse;
  board.habits.loses = 1;
  expect(await mirror.syncOf(postings(3))).toMatchObject({ status: 'mirrored', created: 3, in_doubt: 0 });
  expect(numbers()).toEqual(['p1', 'p2', 'p3']);
  expect(board.bodies[0]).toMatch(/<job_posting>[\s\S]*<\/job_posting>/);
  await mirror.writeFeed(feedXml([posting('p1', { title: 'Head nurse' }), posting('p2')]));
  expect(await mirror.sync()).toMatchObject({ updated: 1, deleted: 1 });
  expect(numbers()).toEqual(['p1', 'p2']);
  expect([...board.jobs.values()].map(({ fields }) => fields.title)).toContain('Head nurse');

  // Somebody deletes a job by hand: it is gone by that answer, and made again.
  const [first] = board.jobs.keys();
  board.jobs.delete(first ?? '');
  await mirror.syncOf([posting('p1', { title: 'Nurse 2' }), posting('p2', { title: 'Nurse 3' })]);
  expect(numbers()).toEqual(['p1', 'p2']);
  const program = { folder: mirror.folder, configPath: mirror.configPath, env: mirror.env };
  await mirror.stopEngine();
  expect(await runProgram(program, 'verify')).toMatchObject({ status: 0 });
  expect((await runProgram(program, 'try', 'acme', '--xml')).out).toContain('<job_posting>');
  expect((await runProgram(program, 'mappings', 'list')).out).toContain(`${board.url}/board/postings/`);
  expect((await runProgram(program, 'check', '--online')).out).toContain('a list of jobs');
});

it('sends constants with creates only, those of the feed before those of the site', async () => {
  await open(
    { constants: '{ project_id: 3, tracker-id: "007", "active.flag": true }' },
    { constants: '{ project_id: 4 }' },
  );
  await mirror.syncOf([posting('a')]);
  const [job] = board.jobs.values();
  expect(board.bodies[0]).toContain('<project_id>4</project_id>');
  expect(board.bodies[0]).toContain('<tracker-id>007</tracker-id>');
  expect(board.bodies[0]).toContain('<active.flag>true</active.flag>');
  // Somebody moves the job on the site: neither an update nor verify touches that.
  Object.assign(job?.fields ?? {}, { project_id: '5' });
  await mirror.syncOf([posting('a', { title: 'Head nurse' })]);
  expect(board.bodies[1]).not.toContain('project_id');
  await mirror.stopEngine();
  const program = { folder: mirror.folder, configPath: mirror.configPath, env: mirror.env };
  expect(await runProgram(program, 'verify')).toMatchObject({ status: 0 });
  expect(job?.fields.project_id).toBe('5');
});

it('sends constants with every update of a site that clears what an update omits', async () => {
  await open({ constants: '{ project_id: 3 }', omitted_fields: 'clear' });
  await mirror.syncOf([posting('a')]);
  await mirror.syncOf([posting('a', { title: 'Head nurse' })]);
  expect(board.bodies[1]).toContain('<project_id>3</project_id>');
});

it.each([
  ['resource: { path: postings }', 'must be a path on the site'],
  ['resource: { path: /postings.xml }', 'must be without .xml'],
  ['resource: { path: /postings/ }', 'must be a path on the site'],
  ['resource: { element: 1x }', 'must be a name that an XML element can have'],
  ['constants: { "a b": 1 }', 'must be a name that an XML element can have'],
])('%s is refused', async (written, message) => {
  const [name = '', value] = written.split(/: (.*)/s);
  await open({ [name]: value });
  const checked = await runProgram({ folder: mirror.folder, configPath: mirror.configPath, env: mirror.env }, 'check');
  expect(checked.status).toBe(1);
  expect(checked.out + checked.errors).toContain(message);
});

it('another path is another site until a person says otherwise: nothing is sent to its records', async () => {
  await open();
  expect(await mirror.syncOf(postings(2))).toMatchObject({ status: 'mirrored', created: 2 });
  await mirror.stopEngine();
  const before = board.requests.length;
  const configure = async (from: string, to: string) =>
    writeFile(mirror.configPath, (await readFile(mirror.configPath, 'utf8')).replaceAll(from, to));
  await configure('/board/postings', '/board/issues');
  const report = await mirror.syncOf([posting('p1', { title: 'Changed' })]);
  expect(report).toMatchObject({ status: 'pending', requests: 0, updated: 0, deleted: 0 });
  expect(report.message).toContain('base_url and resource.path lead to 127.0.0.1');
  expect(report.message).toContain('resume board --moved');
  expect(board.requests).toHaveLength(before);

  await mirror.stopEngine();
  await configure('/board/issues', '/board/postings');
  expect(await mirror.sync()).toMatchObject({ updated: 1, deleted: 1 });
  expect([...board.jobs.values()].map(({ fields }) => fields.title)).toEqual(['Changed']);
});
