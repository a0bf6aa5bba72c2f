// One life that combines features: the configuration, the feed's name, the token and the site change, people upload the feed, pause
// everything, review, edit, undo, verify, restore a backup and retire the feed, between and during runs. Of some lives the site refuses a
// reference that a job has, or the feed may list only its newest postings. Laws 1, 3 and 4 are checked after each step, all laws at the end.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { expect } from 'vitest';
import type { FeedName, PostingKey, SiteName } from '../../src/posting/identifiers.ts';
import { editPosting, undoEdits } from '../../src/review/edit-posting.ts';
import type { PullReportJson } from '../../src/runtime/conclude-pull.ts';
import type { Fault } from '../../src/sandbox/interface/fault-table.ts';
import type { InspectedJob } from '../../src/sandbox/sandbox.ts';
import type { SandboxSettings } from '../../src/sandbox/settings.ts';
import { approveChanges, discardEntries, reopenEntries, retryChanges } from '../../src/store/change/act-in-review.ts';
import { addUpload } from '../../src/store/feed/feed-uploads.ts';
import { unreadHashSql } from '../../src/store/pull/record-hashes.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { resumeSite, trustGoneForADay } from '../../src/store/site/site-state.ts';
import { runProgram } from '../cli/run-program.ts';
import {
  addressOfPosting,
  type CrossingFeed,
  type CrossingPosting,
  crossingFeed,
  crossingXml,
  DAMAGES,
  type Damage,
  keyOf,
} from './crossing-feed.ts';
import { categoryOf, changeSetup, FIRST_SETUP, NEIGHBOUR, NEWEST, type Setup, writeSetup } from './crossing-setup.ts';
import { type CrossingSite, openCrossingSite } from './crossing-site.ts';
import type { Installation, Running } from './installation.ts';
import { checkCounts } from './laws.ts';
import { type Random, randomOf } from './random.ts';
import { resolveAsPeopleDo } from './resolve-as-people-do.ts';
import { FAULTS, STEPS } from './simulation.ts';

const ROUNDS = 8;
/** Of all postings that break no rule. */
const STATE = 'Massachusetts';
const SITE = 'board' as SiteName;
const PASSWORDS = ['a password of the mirror', 'another password', 'a third password'];

/** Lists of the newest postings of a source that has more, or of which a header states the total. */
const LISTS = [
  { setup: NEWEST[0], most: 10, postings: 12 },
  { setup: NEWEST[1], most: 10, postings: 16 },
  { setup: NEWEST[0], most: 10, postings: 12, isCounted: true },
  { setup: NEWEST[2], most: 100, postings: 102 },
] as const;

interface Life {
  readonly installation: Installation;
  readonly queue: string;
  readonly random: Random;
  readonly feed: CrossingFeed;
  /** `undefined`: the document lists all postings. */
  readonly list: { readonly most: number; readonly isCounted?: true } | undefined;
  /** `undefined`: no proxy is before the site, which allows equal references. */
  readonly site: CrossingSite | undefined;
  setup: Setup;
  /** The configuration before the last change, still used by processes that were not restarted. */
  former: Setup;
  password: number;
  settings: Partial<SandboxSettings>;
  /** Postings that a whole document allowed to delete since the site last agreed with the feed, as `category address`. */
  readonly mayBeGone: Set<string>;
  /** Numbers of postings whose jobs were removed on the site, or whose entries a person handled. */
  readonly touched: Set<number>;
  /** The IDs of the jobs of the other feed. */
  neighbours: readonly string[];
  /** What the feed was called, and its keys, when the database was last backed up. */
  backup: Pick<Setup, 'feed' | 'key'> | undefined;
  /** The site may have jobs that the database does not know any more. */
  wasRestored: boolean;
  /** Nobody let the restored database learn what the site has since: updates send what differs from what it knows. */
  isOutdated: boolean;
  readonly story: string[];
}

/** Plays the life. Throws the broken law with the seed and the history. */
export async function cross(seed: number, installation: Installation, queue = 'database'): Promise<void> {
  const random = randomOf(seed);
  const site = seed % 2 === 0 ? await openCrossingSite(installation, randomOf(~seed)) : undefined;
  const list = seed % 4 === 0 ? LISTS[(seed / 4) % LISTS.length] : undefined;
  const first: Setup = { ...FIRST_SETUP, ...list?.setup };
  const life: Life = {
    installation,
    queue,
    random,
    feed: list === undefined ? crossingFeed(random, 6 + random.number(8)) : crossingFeed(random, list.postings, true),
    list,
    site,
    setup: first,
    former: first,
    password: 0,
    settings: {},
    mayBeGone: new Set(),
    touched: new Set(),
    neighbours: [],
    backup: undefined,
    wasRestored: false,
    isOutdated: false,
    story: [],
  };
  try {
    await configure(life);
    await mirrorNeighbour(life);
    await writeFeed(life, 'whole');
    await sync(life);
    for (let round = 0; round < ROUNDS; round++) {
      await live(life);
      await checkAlways(life);
    }
    await end(life);
  } catch (cause) {
    const again = `SEED=${seed} npx vitest run test/laws/crossing.test.ts`;
    throw new Error(`seed ${seed} broke a law; replay it with: ${again}\n${life.story.join('\n')}\n${cause}`, {
      cause,
    });
  } finally {
    await site?.close();
  }
}

/** Resolves once no request is under way. */
const idle = ({ site, installation }: Life): Promise<void> => (site ?? installation.sandbox.requests).idle();

const siteUrl = ({ site, installation }: Life): string => (site ?? installation.sandbox).url;

/** Its postings have the titles and texts of the feed's own. */
async function mirrorNeighbour(life: Life): Promise<void> {
  const { installation, random, setup, story } = life;
  const { postings } = crossingFeed(random, 3);
  const { xml } = crossingXml(
    postings.map((posting) => ({ ...posting, number: posting.number + 1_000 })),
    { ...setup, records: 'source/job' },
    'whole',
    random,
  );
  await writeFile(join(installation.folder, `${NEIGHBOUR}.xml`), xml);
  // A busy machine may answer the first requests too late.
  for (let attempt = 0; attempt < 5 && life.neighbours.length < 3; attempt++) {
    story.push(`  neighbour: ${JSON.stringify(await installation.sync(NEIGHBOUR))}`);
    life.neighbours = await jobsOfNeighbour(life);
  }
  expect(life.neighbours).toHaveLength(3);
}

async function live(life: Life): Promise<void> {
  const { installation, random, story } = life;
  if (random.chance(45)) await changeConfiguration(life);
  if (random.chance(15)) await changeToken(life);
  if (random.chance(40)) changeSite(life);
  if (random.chance(15)) await expire(life);
  if (random.chance(80)) story.push(life.feed.change());
  await writeFeed(life, random.pick(DAMAGES));
  await setFaults(life);
  const isPaused = random.chance(20);
  if (isPaused) await pauseAll(life);
  const before = await ownJobs(life);
  installation.sandbox.requests.clear();
  const beside = random.chance(20) ? await startBeside(life) : undefined;
  const how = random.number(10);
  if (how < 6) await sync(life);
  else if (how < 8) await stopInTheMiddle(life);
  else await killInTheMiddle(life);
  if (beside !== undefined) await stopBeside(life, beside);
  if (random.chance(20)) story.push(`  neighbour: ${JSON.stringify(await life.installation.sync(NEIGHBOUR))}`);
  story.push(...(life.site?.story.splice(0) ?? []));
  await checkDeletes(life, before);
  if (isPaused) {
    expect(await ownJobs(life), 'jobs while everything is paused').toEqual(before);
    expect(await runProgram(installation, 'resume', '--all')).toMatchObject({ status: 0 });
  }
  if (random.chance(45)) await review(life);
  if (random.chance(30)) await editSome(life);
  if (random.chance(35)) await operate(life);
}

// Changes --------------------------------------------------------------------------------------------------------------

async function configure(life: Life): Promise<void> {
  const { installation, queue, setup } = life;
  await installation.stopEngine();
  await writeToken(life);
  await writeSetup(installation, siteUrl(life), setup, queue, `token-${life.password}`);
}

async function writeToken({ installation, password }: Life): Promise<void> {
  const { token } = await installation.sandbox.ensureUser(installation.owner);
  await writeFile(join(installation.folder, `token-${password}`), token, { mode: 0o600 });
}

async function changeConfiguration(life: Life): Promise<void> {
  const { setup, note } = changeSetup(life.setup, life.random);
  life.story.push(`configuration: ${note}`);
  life.former = life.setup;
  const renamed = setup.feed !== life.setup.feed;
  life.setup = setup;
  await configure(life);
  if (!renamed) return;
  if (life.random.chance(50)) {
    // Nothing may be created under a name that the database does not know yet.
    await writeFeed(life, 'whole');
    const creates = await countCreates(life, () => sync(life));
    const [known] = await life.installation.query<{ n: number }>('select count(*) as n from mapping where feed = $1', [
      life.former.feed,
    ]);
    if ((known?.n ?? 0) > 0) expect(creates, 'creates of a feed under a new name').toBe(0);
  }
  await rename(life);
}

async function countCreates({ installation }: Life, work: () => Promise<unknown>): Promise<number> {
  installation.sandbox.requests.clear();
  await work();
  return installation.sandbox.requests.recent().filter(({ method }) => method === 'POST').length;
}

/** Renames as a person would: the command asks to try again while changes are being sent. */
async function rename({ installation, former, setup, story }: Life): Promise<void> {
  for (let attempt = 0; attempt < 30; attempt++) {
    await installation.stopEngine();
    const { status, errors } = await runProgram(installation, 'feeds', 'rename', former.feed, setup.feed);
    if (status === 0) return;
    story.push(`  rename: ${errors.trim()}`);
    // The former feed was never recorded, so there is nothing to rename.
    if (/records no feed|knows no feed|no feed/.test(errors)) return;
    // What a killed process was sending is recovered by one that runs.
    await installation.engine();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  throw new Error('the feed could not be renamed');
}

async function changeToken(life: Life): Promise<void> {
  life.story.push('token changes');
  life.password = (life.password + 1) % PASSWORDS.length;
  await life.installation.sandbox.changePassword(life.installation.owner, PASSWORDS[life.password] ?? '');
  life.former = life.setup;
  await configure(life);
  if (life.random.chance(50)) {
    const { db } = await life.installation.app();
    await resumeSite(db, SITE);
  }
}

function changeSite(life: Life): void {
  const { random } = life;
  const settings: Partial<SandboxSettings> = {
    storedValues: random.pick(['exact', 'trimmed', 'upper-case', 'stripped', 'cut', 'composed']),
    idReuse: random.chance(30),
    paging: random.pick(['page', 'offset', 'link', 'none', 'cached']),
    pageSize: random.pick([2, 5, 50]),
    updateBody: random.pick(['job', 'empty']),
    deleteStatus: random.pick([200, 204]),
    idInBody: random.chance(70),
    deletedJobs: random.pick(['no', '410', 'flagged']),
    location: random.pick(['absolute', 'absolute-xml', 'relative', 'relative-xml']),
    validationStatus: random.pick([422, 400, 200]),
    types: random.chance(50),
  };
  life.story.push(`site: ${JSON.stringify(settings)}`);
  life.settings = settings;
  life.installation.sandbox.setSettings(settings);
}

/** The site removes its oldest jobs. */
async function expire(life: Life): Promise<void> {
  const jobs = (await ownJobs(life)).slice(0, 1 + life.random.number(3));
  life.story.push(`expired: ${jobs.map(identityOf).join(', ')}`);
  for (const job of jobs) {
    await life.installation.sandbox.inspect.removeJob(job.id);
    touch(life, job);
  }
}

async function writeFeed(life: Life, damage: Damage): Promise<void> {
  const { installation, feed, setup, random, story } = life;
  if (damage !== 'whole') story.push(`  document: ${damage}`);
  const [listed, others] = listsOf(life);
  const { xml, isProof = damage === 'whole', brokenKey } = crossingXml(listed, setup, damage, random);
  for (const file of ['feed.xml', 'other.xml']) await writeFile(join(installation.folder, file), xml);
  await writeFile(join(installation.folder, 'rest.xml'), crossingXml(others, setup, 'whole', random).xml);
  if (life.site !== undefined && life.list?.isCounted) life.site.total = feed.postings.length;
  const upload = { name: 'feed.xml', content: Buffer.from(xml), actor: 'an operator' };
  await (await installation.app()).db.transaction((tx) => addUpload(tx, setup.feed as FeedName, upload));
  if (!isProof && !(brokenKey !== undefined && (await isDiscarded(life, brokenKey)))) return;
  // It proves that all other live postings are gone: absent and skipped ones, and those known by another key.
  const expected = new Set(
    mirroredPostings(life).map(({ number }) => `${categoryOf(setup.key)} ${addressOfPosting(number)}`),
  );
  for (const job of await ownJobs(life)) if (!expected.has(identityOf(job))) life.mayBeGone.add(identityOf(job));
}

/** The postings in the feed's document, which may be only the newest ones, and in that of the second source. */
function listsOf({ feed, list, setup }: Life): readonly [readonly CrossingPosting[], readonly CrossingPosting[]] {
  const isOther = ({ number }: CrossingPosting) => setup.source === 'webs' && number % 4 === 0;
  const own = feed.postings.filter((posting) => !isOther(posting)).sort((a, b) => b.number - a.number);
  return [own.slice(0, list?.most), feed.postings.filter(isOther)];
}

/** The postings of the feed that the rule does not skip. */
const mirroredPostings = ({ feed, setup }: Pick<Life, 'feed' | 'setup'>) =>
  feed.postings.filter(({ city }) => city !== setup.skip);

/** Whether a person said that this unreadable record does not make the feed incomplete (docs/feeds.md). */
async function isDiscarded({ installation, setup }: Life, key: string): Promise<boolean> {
  const entries = await installation.query(
    `select from record_problem where feed = $1 and key = $2 and kind = 'unreadable' and discarded`,
    [setup.feed, key],
  );
  return entries.length > 0;
}

async function setFaults({ installation, random, story }: Life): Promise<void> {
  const faults = random.some(FAULTS, random.number(3)).map(
    (fault): Fault => ({
      ...fault,
      on: random.pick([['create'], ['update'], ['delete'], ['create', 'update', 'delete'], ['list', 'show']] as const),
      rate: 0.1 + random.number(6) / 10,
      count: 1 + random.number(6),
    }),
  );
  await installation.sandbox.setFaults(faults);
  if (faults.length > 0)
    story.push(`  faults: ${faults.map(({ name, on }) => `${name} on ${on?.join('+')}`).join(', ')}`);
}

// Processes ------------------------------------------------------------------------------------------------------------

async function sync(life: Life): Promise<PullReportJson> {
  const report = await life.installation.sync(life.setup.feed);
  life.story.push(`  sync: ${JSON.stringify(report)}`);
  checkCounts(report);
  return report;
}

async function stopInTheMiddle(life: Life): Promise<void> {
  const { installation, random, story } = life;
  story.push('  stopped in the middle');
  const syncing = installation.sync(life.setup.feed).catch(() => undefined);
  let left = 1 + random.number(6);
  const reached = installation.sandbox.requests.next(() => --left === 0);
  await Promise.race([reached, syncing]);
  await installation.stopEngine(0);
  await syncing;
}

async function killInTheMiddle({ installation, random, story }: Life): Promise<void> {
  const step = random.pick(STEPS);
  story.push(`  killed at ${step}`);
  const env = { FAULT_AT: step, FAULT_NTH: String(1 + random.number(3)) };
  await installation.spawn(['sync'], env).ended;
}

/** A process that still has the former configuration, including its token. */
async function startBeside(life: Life): Promise<Running> {
  const { installation, former, queue, password, random, story } = life;
  const tokens = [password, (password + PASSWORDS.length - 1) % PASSWORDS.length];
  const tokenFile = `token-beside`;
  const { token } = await installation.sandbox.ensureUser(installation.owner);
  const old = random.chance(30) && tokens[0] !== tokens[1];
  await writeFile(join(installation.folder, tokenFile), old ? 'a token of earlier days' : token, { mode: 0o600 });
  await writeSetup(installation, siteUrl(life), former, queue, tokenFile, 'former.yaml');
  story.push(`  in parallel: a worker with the former configuration${old ? ' and an old token' : ''}`);
  const running = installation.spawn(['work', '--config', join(installation.folder, 'former.yaml')]);
  await running.started;
  return running;
}

async function stopBeside({ random }: Life, { child, ended }: Running): Promise<void> {
  child.kill(random.chance(50) ? 'SIGTERM' : 'SIGKILL');
  await ended;
}

// People ---------------------------------------------------------------------------------------------------------------

async function review(life: Life): Promise<void> {
  const { installation, random, setup, story } = life;
  const { db } = await installation.app();
  const feed = setup.feed as FeedName;
  const actions = { approve: approveChanges, retry: retryChanges, discard: discardEntries, reopen: reopenEntries };
  const action = random.pick(['approve', 'retry', 'discard', 'reopen', 'edit', 'settle'] as const);
  if (action === 'edit') return edit(life);
  if (action === 'settle') return resolveDoubtsNow(life);
  // A person may approve what the feed does not prove, such as the delete of a posting that may be an unreadable record.
  if (action === 'approve') for (const key of await keysOfHeldDeletes(life)) life.mayBeGone.add(identityOfKey(key));
  const acted = await db.transaction(async (tx) => {
    const ids = await selectedIds(tx, { feed, discarded: action === 'reopen' });
    return actions[action](tx, ids, 'a reviewer');
  });
  story.push(`  a reviewer: ${action} ${acted.length}`);
}

const keysOfHeldDeletes = async ({ installation, setup }: Life): Promise<readonly string[]> =>
  (
    await installation.query<{ key: string }>(
      `select key from change where feed = $1 and state = 'held' and desired = 'absent'`,
      [setup.feed],
    )
  ).map(({ key }) => key);

async function edit(life: Life): Promise<void> {
  const { installation, setup, story } = life;
  const [entry] = await installation.query<{ id: number; key: string }>(
    `select id, key from change where feed = $1 and desired = 'present' and state in ('rejected', 'failed') order by id limit 1`,
    [setup.feed],
  );
  if (entry === undefined) return;
  const edits = ['--set', 'location-state=Ohio', '--set', 'title=Edited'];
  const { status, errors } = await runProgram(installation, 'review', 'edit', String(entry.id), ...edits);
  story.push(`  a reviewer: edits ${entry.key}: ${status} ${status === 0 ? '' : errors.trim()}`);
  for (const number of numbersIn([entry.key])) life.touched.add(number);
}

/** A person sets a field of postings in whatever state they are, or undoes that. */
async function editSome({ installation, random, setup, feed, story }: Life): Promise<void> {
  const { db, config } = await installation.app();
  for (const { number } of random.some(feed.postings, 1 + random.number(3))) {
    const name = { feed: setup.feed as FeedName, key: keyOf({ number }, setup.key) as PostingKey };
    const edits = { [random.pick(['title', 'location-city', 'location-state'])]: random.pick(['Ohio', 'Texas']) };
    const by = { actor: 'an editor' };
    const { kind } = random.chance(30)
      ? await undoEdits(db, name.feed, name.key, by)
      : await editPosting(db, config, name, edits, by);
    story.push(`  an editor sets ${JSON.stringify(edits)} of ${name.key}, or undoes that: ${kind}`);
  }
}

/** What was sent before has an answer by then. */
async function pauseAll(life: Life): Promise<void> {
  const { installation, random, story } = life;
  const paused = await runProgram(installation, 'pause', '--all', ...(random.chance(30) ? ['--pulls'] : []));
  story.push(`  ${paused.out.trim()}`);
  expect(paused).toMatchObject({ status: 0 });
  await idle(life);
}

async function resolveDoubtsNow(life: Life): Promise<void> {
  const { installation, setup, story } = life;
  await idle(life);
  const isJobOf = (job: InspectedJob, key: string): boolean => identityOf(job) === identityOfKey(key);
  story.push(...(await resolveAsPeopleDo(installation, setup.feed, isJobOf)).story);
}

// What operators do ----------------------------------------------------------------------------------------------------

async function operate(life: Life): Promise<void> {
  await life.installation.stopEngine();
  await life.random.pick([
    undo,
    verify,
    changeOnSite,
    backUp,
    restore,
    restore,
    retire,
    comeBack,
    decideKeys,
    decideKeys,
  ])(life);
}

const run = async ({ installation, story }: Life, ...args: readonly string[]): Promise<number | null> => {
  const { status, errors } = await runProgram(installation, ...args);
  story.push(`  an operator: ${args.join(' ')}: ${status} ${status === 0 ? '' : errors.trim()}`);
  return status;
};

/** Undoes the last pull that made or changed something, and has the feed pulled again. */
async function undo(life: Life): Promise<void> {
  const { installation, setup } = life;
  const [pull] = await installation.query<{ id: number }>(
    'select id from pull where feed = $1 and undoable order by id desc limit 1',
    [setup.feed],
  );
  if (pull === undefined) return;
  // A create whose answer was lost may have made the job of an open change.
  const made = await installation.query<{ key: string }>(
    `select key from mapping where feed = $1 and created_by = $2
     union select key from change where feed = $1 and pull = $2 and operation = 'create'`,
    [setup.feed, pull.id],
  );
  for (const { key } of made) life.mayBeGone.add(identityOfKey(key));
  const before = await ownJobs(life);
  installation.sandbox.requests.clear();
  await run(life, 'undo', String(pull.id), '--yes');
  await checkDeletes(life, before);
  await run(life, 'feeds', 'resume', setup.feed);
}

const verify = (life: Life) => run(life, 'verify', life.setup.feed, '--repair');

/** The site's owner changes a job. */
async function changeOnSite(life: Life): Promise<void> {
  const { installation } = life;
  const [job] = life.random.some(await ownJobs(life), 1);
  if (job === undefined) return;
  const { token } = await installation.sandbox.ensureUser(installation.owner);
  const { statusCode, body } = await request(`${installation.sandbox.url}/jobs/${job.id}.xml`, {
    method: 'PUT',
    headers: {
      authorization: `Basic ${Buffer.from(`${token}:X`).toString('base64')}`,
      'content-type': 'application/xml',
    },
    body: '<job><title>Changed by hand</title></job>',
  });
  await body.dump();
  life.story.push(`  the site's owner changes ${identityOf(job)}: ${statusCode}`);
  touch(life, job);
}

async function backUp(life: Life): Promise<void> {
  const { feed, key } = life.setup;
  if ((await run(life, 'backup', 'backup.gz', '--force')) === 0) life.backup = { feed, key };
}

/** The database is lost, and what a backup has is put in its place: the site is ahead of it. */
async function restore(life: Life): Promise<void> {
  const { backup, setup } = life;
  if (backup === undefined || backup.key !== setup.key) return;
  for (const job of await ownJobs(life)) touch(life, job);
  expect(await run(life, 'restore', 'backup.gz', '--replace', '--yes')).toBe(0);
  life.backup = undefined;
  life.wasRestored = true;
  if (backup.feed !== setup.feed) {
    life.former = { ...setup, feed: backup.feed };
    await rename(life);
  }
  const status = life.random.chance(50) ? await run(life, 'recover', setup.feed, '--yes') : 1;
  life.isOutdated = status !== 0 && status !== 2;
}

/** Whether the postings with new keys are those that are missing, if this is asked. */
async function decideKeys(life: Life): Promise<void> {
  const { installation, random, setup } = life;
  const asked = await installation.query('select from feed_state where feed = $1 and rekey_since is not null', [
    setup.feed,
  ]);
  if (asked.length === 0) return;
  await run(life, 'feeds', 'rekey', setup.feed, ...(random.chance(50) ? ['--sure', '--yes'] : ['--not-rekey']));
}

/** The feed is retired, comes back under another name, and is renamed only once nothing was made under it a second time. */
async function comeBack(life: Life): Promise<void> {
  const { installation, random, setup } = life;
  const feed = setup.feed === 'acme' ? 'globex' : 'acme';
  if ((await installation.query('select from feed_state where feed = $1', [feed])).length > 0) return;
  // The new name is recognised by postings that both have, with the same keys.
  await writeFeed(life, 'whole');
  if ((await sync(life)).status !== 'mirrored') return;
  life.former = setup;
  life.setup = { ...setup, feed };
  await configure(life);
  await run(life, 'feeds', 'retire', setup.feed);
  if (random.chance(50)) life.story.push(life.feed.change());
  await writeFeed(life, 'whole');
  await sync(life);
  await checkAlways(life);
  if (random.chance(30)) await editSome(life);
  await rename(life);
}

/** The feed is out of service for a moment, with its jobs left as they are. */
async function retire(life: Life): Promise<void> {
  const { installation, queue, setup, password } = life;
  const feed = setup.feed === 'acme' ? 'globex' : 'acme';
  await writeSetup(installation, siteUrl(life), { ...setup, feed }, queue, `token-${password}`);
  await run(life, 'feeds', 'retire', setup.feed);
  await configure(life);
  // Until then it is out of service, and its jobs may be created under another name.
  await writeFeed(life, 'whole');
  await sync(life);
}

// Checks ---------------------------------------------------------------------------------------------------------------

const isNeighbours = ({ fields }: InspectedJob): boolean => fields['category-name']?.toLowerCase() === NEIGHBOUR;

const ownJobs = async ({ installation: { sandbox, owner } }: Life): Promise<readonly InspectedJob[]> =>
  (await sandbox.inspect.jobs()).filter((job) => job.owner === owner && !isNeighbours(job));

const jobsOfNeighbour = async ({ installation: { sandbox } }: Life): Promise<readonly string[]> =>
  (await sandbox.inspect.jobs()).filter(isNeighbours).map(({ id }) => id);

const identityOf = ({ fields }: InspectedJob): string => `${fields['category-name']} ${fields['contact-web-address']}`;

const identityOfKey = (key: string): string =>
  `${categoryOf(keyKind(key))} ${addressOfPosting(numbersIn([key])[0] ?? -1)}`;

const keyKind = (key: string): Setup['key'] => (key.startsWith('r-') ? 'requisition' : 'referencenumber');

const numbersIn = (keys: readonly string[]): number[] => keys.map((key) => Number(/\d+$/.exec(key)?.[0] ?? -1));

function touch(life: Life, job: InspectedJob): void {
  for (const number of numbersIn([job.fields['contact-web-address'] ?? ''])) life.touched.add(number);
}

/**
 * Laws 1 and 4, at any time: no posting has two jobs, and nobody else's job was touched. Law 2: every uncertain posting has
 * a change that makes it certain again, or its record is read again because \`verify\` found that its job differs.
 */
async function checkAlways(life: Life): Promise<void> {
  const { sandbox, owner, foreign } = life.installation;
  await idle(life);
  const identities = (await ownJobs(life)).map(identityOf);
  expect(
    identities.filter((identity, at) => identities.indexOf(identity) !== at),
    'postings with two jobs',
  ).toEqual([]);
  expect((await sandbox.inspect.jobs()).filter((job) => job.owner !== owner)).toEqual(foreign);
  expect(await jobsOfNeighbour(life), 'jobs of the feed that never changes').toEqual(life.neighbours);
  const left = await life.installation.query(
    `select u.feed, u.key from uncertain_write u where u.fields is not null
       and not exists (select from change c where c.feed = u.feed and c.key = u.key)
       and not exists (select from mapping m where m.feed = u.feed and m.key = u.key and m.record_hash = ${unreadHashSql('verified', 'm.key')})`,
  );
  expect(left, 'uncertain postings without a change').toEqual([]);
}

/** Law 3: only postings that a whole document has shown to be gone are deleted. */
async function checkDeletes(life: Life, before: readonly InspectedJob[]): Promise<void> {
  const { sandbox } = life.installation;
  await idle(life);
  const byId = new Map(before.map((job) => [job.id, job]));
  for (const { method, path, processed } of sandbox.requests.recent()) {
    if (method !== 'DELETE' || processed === undefined || processed >= 300) continue;
    const job = byId.get(decodeURIComponent(path.replace(/^\/jobs\/|\.xml$/g, '')));
    if (job === undefined) continue;
    expect([...life.mayBeGone], 'what may be deleted').toContain(identityOf(job));
  }
}

// The end --------------------------------------------------------------------------------------------------------------

async function end(life: Life): Promise<void> {
  // With `leave`, the site would never get back the jobs that are gone.
  life.setup = { ...life.setup, onMissing: 'create', policy: 'mirror' };
  await configure(life);
  const { installation, feed, setup, story } = life;
  const { sandbox } = installation;
  story.push('the end: all faults are over, and people handle every open entry');
  await sandbox.setFaults([]);
  sandbox.setSettings({
    storedValues: 'exact',
    idReuse: false,
    paging: 'page',
    pageSize: 50,
    updateBody: 'job',
    idInBody: true,
  });
  await installation.stopEngine();
  await idle(life);
  const discarded = await installation.query<{ key: string }>(`select key from change where state = 'discarded'`);
  for (const number of numbersIn(discarded.map(({ key }) => key))) life.touched.add(number);
  if (life.site !== undefined) life.site.repeats = 0;
  feed.repair();
  // Less than a list has at most: it shows what is gone.
  if (life.list !== undefined) feed.keep(listsOf(life).flatMap((postings) => postings.slice(1)));
  const present = new Set(feed.postings.map(({ number }) => number));
  feed.renew([...life.touched].filter((number) => number >= 0 && present.has(number)));
  await writeFeed(life, 'whole');
  for (let round = 0; round < 14; round++) {
    await deal(life);
    const report = await sync(life);
    const advised = await installation.query(`select from change where reason->>'next' like '%emptied%'`);
    if (advised.length > 0 || report.message?.includes('--emptied') === true)
      await trustGoneForADay((await installation.app()).db, SITE);
    if (report.status === 'mirrored' && report.grace === 0 && report.discarded === 0) break;
  }
  if (life.isOutdated) {
    await installation.stopEngine();
    await verify(life);
    await sync(life);
  }
  await checkAlways(life);
  if (life.wasRestored) await removeStrays(life);
  const jobs = await ownJobs(life);
  expect(jobs.map(identityOf).sort()).toEqual(
    mirroredPostings(life)
      .map(({ number }) => `${categoryOf(setup.key)} ${addressOfPosting(number)}`)
      .sort(),
  );
  const shown = new Map(jobs.map((job) => [job.fields['contact-web-address'], job.fields]));
  const edited = await editedFields(life);
  for (const posting of mirroredPostings(life)) {
    const expected = { ...fieldsOf(posting, setup), ...edited.get(posting.number) };
    expect(comparable(shown.get(addressOfPosting(posting.number)) ?? {})).toEqual(comparable(expected));
  }
  expect(await installation.query('select feed, key, state from change')).toEqual([]);
  expect(await installation.query('select site_job_id from orphan_site_job')).toEqual([]);
  sandbox.requests.clear();
  await sync(life);
  expect(sandbox.requests.recent().map(({ method, path }) => `${method} ${path}`)).toEqual([]);
}

/** A person removes the jobs of postings that are gone, which were made after the backup: nothing knows them. */
async function removeStrays({ installation, story }: Life): Promise<void> {
  const mapped = await installation.query<{ id: string }>('select site_job_id as id from mapping');
  const { sandbox, owner } = installation;
  for (const job of await sandbox.inspect.jobs()) {
    if (job.owner !== owner || isNeighbours(job) || mapped.some(({ id }) => id === job.id)) continue;
    story.push(`  a person removes ${identityOf(job)}`);
    await sandbox.inspect.removeJob(job.id);
  }
}

/** An edit lasts until the source changes the field: where it never said anything else, the site shows the edit. */
async function editedFields({ installation, setup, feed }: Life): Promise<ReadonlyMap<number, Record<string, string>>> {
  const rows = await installation.query<{ key: string; field: string; value: string; source: string }>(
    'select key, field, value, source_value as source from override where feed = $1',
    [setup.feed],
  );
  const edited = new Map<number, Record<string, string>>();
  for (const posting of feed.postings) {
    const source = fieldsOf(posting, setup);
    const own = rows.filter((row) => row.key === keyOf(posting, setup.key) && row.source === source[row.field]);
    edited.set(posting.number, Object.fromEntries(own.map(({ field, value }) => [field, value])));
  }
  return edited;
}

/** Everything that a person would do at the end of a bad week. */
async function deal(life: Life): Promise<void> {
  const { installation, setup } = life;
  await decideKeys(life);
  const { db } = await installation.app();
  await resumeSite(db, SITE);
  const feed = setup.feed as FeedName;
  await db.transaction(async (tx) => reopenEntries(tx, await selectedIds(tx, { feed, discarded: true }), 'a reviewer'));
  await db.transaction(async (tx) => retryChanges(tx, await selectedIds(tx, { feed }), 'a reviewer'));
  await db.transaction(async (tx) => approveChanges(tx, await selectedIds(tx, { feed }), 'a reviewer'));
  await resolveDoubtsNow(life);
}

/** The site may change the values that it stores, so values are compared in a form that survives these changes. */
function comparable(fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const names = ['number', 'title', 'description', 'location-city', 'location-state'];
  return Object.fromEntries(
    names.map((name) => {
      const text = (fields[name] ?? '')
        .normalize('NFC')
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
      return [name, [...text.toLowerCase()].slice(0, 24).join('').trim()];
    }),
  );
}

const fieldsOf = ({ number, title, city, text }: CrossingPosting, setup: Setup): Record<string, string> => ({
  number: `s${number}`,
  title: setup.title === 'title' ? title : `${title}, ${city}`,
  description: text,
  'location-city': city,
  'location-state': STATE,
});
