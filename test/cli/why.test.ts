// `jobmirror why`: the story of a posting, for each possible state.
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { runProgram } from './run-program.ts';

// Each command runs in a process of its own.

// All tests share one installation, as `why` changes nothing.
const mirror = openedForAll(() => openMirror());
beforeAll(async () => {
  await mirror.syncOf([...postings(12), posting('gone', { title: 'Welder' })]);
  await mirror.syncOf(postings(12));
  await mirror.sandbox.setFaults([{ name: '403', on: ['create'] }]);
  await mirror.writeFeed(
    feedXml([...postings(2), posting('odd', { state: 'Jalisco' }), posting('failed', { title: 'A\u0007B' })]),
  );
  await mirror.sync();
  await mirror.stopEngine();
});

it.each([
  {
    key: 'p1',
    says: [
      /^It is on site board as job \d+, http:.*, since /,
      'There is nothing to send: the site shows it as the feed has it.',
      /The last pull was 3 of .*; it was complete\./,
      /: create of job \d+: created \(201\)/,
    ],
  },
  { key: 'odd', says: ['is not on the site', 'breaks a rule of the site', 'Jalisco', /review edit \d+ --set/] },
  { key: 'p3', says: ['It is on site board', 'held for approval', 'above the limit', /review approve \d+/] },
  {
    key: 'failed',
    says: [
      'is not on the site',
      /failed for good .*: You are not allowed to do this\.$/m,
      /review retry \d+/,
      'create failed:',
      "Changed while reading: title: removed 1 character that XML can't carry",
    ],
  },
  {
    key: 'gone',
    says: [
      'The site has no job for posting gone of feed acme',
      'none with this key.\n',
      'delete of job',
      /create of job/,
    ],
  },
  { key: 'nothing', says: ['No posting nothing is recorded for feed', 'none with this key'] },
])('explains $key', async ({ key, says }) => {
  const { out, status } = await runProgram(mirror, 'why', 'acme', key);
  expect(status).toBe(0);
  for (const text of says) expect(out).toMatch(text);
});

it('finds a posting by a part of its key or title, if only one has it', async () => {
  const only = await runProgram(mirror, 'why', 'acme', 'ODD');
  expect(only).toMatchObject({ status: 0, errors: 'No posting has exactly this key; this is odd.\n' });
  expect(only.out).toContain('Jalisco');
  const [json] = (await runProgram(mirror, 'why', 'acme', 'nurse p12', '--json')).json();
  expect(json).toMatchObject({ key: 'p12' });
  const several = await runProgram(mirror, 'why', 'acme', 'p1', '--json');
  expect(several.json()).toMatchObject([{ key: 'p1' }]);
  const { status, out, errors } = await runProgram(mirror, 'why', 'acme', 'nurse');
  expect({ status, out }).toEqual({ status: 1, out: '' });
  expect(errors).toMatch(
    /several postings of feed acme have nurse .*:\n {2}odd {2}Nurse odd\n {2}p1 {2}Nurse p1\n[\s\S]*Name one of them: .*why acme odd/,
  );
  const none = await runProgram(mirror, 'why', 'acme', 'nothing');
  expect(none.out).toMatch(/found by key, job ID and words of a title: .*mappings find nothing/);
  const { folder, env, configPath } = mirror;
  const dashed = await runProgram({ folder, env }, 'why', '--config', configPath, '--', 'acme', '-nothing');
  expect(dashed.out).toMatch(/No posting -nothing is recorded[\s\S]*mappings find --config .* -- -nothing/);
});

it('prints one JSON object for scripts', async () => {
  const [json] = (await runProgram(mirror, 'why', 'acme', 'p3', '--json')).json();
  expect(json).toMatchObject({
    feed: 'acme',
    key: 'p3',
    site_job: { site: 'board', site_job_id: expect.any(String), fields: { number: 'p3' } },
    change: { state: 'held', operation: 'delete' },
    requests: [{ operation: 'create', outcome: 'created', status: 201 }],
    last_pull: { pull: 3, status: 'review' },
  });
});

it('says why nothing is sent at present, and of a delete no longer that its posting is within the grace', async () => {
  const other = await openMirror({ feed: { delete_guard: '{ missing_pulls: 2 }' } });
  onTestFinished(() => other.close());
  const why = async (key: string) => (await runProgram(other, 'why', 'acme', key)).out;
  await other.syncOf(postings(12));
  await other.syncOf(postings(2));
  expect(await why('p3')).toContain('missing from the last 1 complete pull, but is within its grace');
  await other.syncOf(postings(2));
  expect(await why('p3')).toMatch(/^(?!.*grace).*held for approval/s);
  await other.stopEngine();
  await runProgram(other, 'pause', 'acme', '--reason', 'prices');
  await other.writeFeed(feedXml([...postings(2), posting('new')]));
  await runProgram(other, 'sync');
  expect(await why('new')).toMatch(
    /It is not sent now: feed acme is paused by .*: prices; to go on, run: .*resume acme/,
  );
  await runProgram(other, 'resume', 'acme');
  const [json] = (await runProgram(other, 'why', 'acme', 'new', '--json')).json();
  expect(json).toMatchObject({ waits_for: expect.stringMatching(/^no process is sending/) });
});
