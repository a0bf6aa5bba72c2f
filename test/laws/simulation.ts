// One simulated life of an installation, from a seed: feed versions, faults of the site, crashes, reviewers. At the end the
// faults stop, and all laws are checked against the jobs that the site really has.

import { join } from 'node:path';
import { expect } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import type { FeedName, PostingKey } from '../../src/posting/identifiers.ts';
import { editPosting, undoEdits } from '../../src/review/edit-posting.ts';
import type { Fault } from '../../src/sandbox/interface/fault-table.ts';
import type { Operation } from '../../src/sandbox/interface/write-xml.ts';
import { approveChanges, discardEntries, retryChanges } from '../../src/store/change/act-in-review.ts';
import { editsOfPosting, renewPostings } from '../../src/store/change/edit.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import type { Step } from '../../src/telemetry/times.ts';
import type { TestPosting } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { checkCounts, checkLaws, desiredFields, keyOf } from './laws.ts';
import { type Random, randomOf } from './random.ts';
import { resolveAsPeopleDo } from './resolve-as-people-do.ts';
import { type SimulatedFeed, simulateFeed } from './simulated-feed.ts';
import { checkKept, endedJobsOf, type LifeKind, noteLive, noteVersions, type Seen } from './simulated-kind.ts';

export const FAULTS: readonly Omit<Fault, 'on'>[] = [
  { name: 'latency', ms: 60 },
  { name: 'reset-before' },
  { name: 'reset-during' },
  { name: 'reset-after' },
  { name: 'timeout' },
  { name: 'timeout-made' },
  { name: 'timeout-late', ms: 60 },
  { name: 'cut' },
  { name: 'html', status: 502, made: true },
  { name: 'html', status: 200, made: true },
  { name: '429', seconds: 1 },
  { name: '503', retryAfter: 'none' },
  { name: '502', made: true },
  { name: '504', made: false },
  { name: '500', made: true },
  { name: '500', made: false },
  { name: '401' },
  { name: '403' },
  { name: '404' },
  { name: 'malformed' },
  { name: 'empty' },
  { name: 'refuse', ms: 200 },
];

const OPERATIONS: readonly (readonly Operation[])[] = [
  ['create'],
  ['update'],
  ['delete'],
  ['create', 'update', 'delete'],
  ['list', 'show'],
];

/** All steps at which a process can be killed. */
export const STEPS: readonly Step[] = [
  'pull-started',
  'records-read',
  'changes-merged',
  'pull-committed',
  'intent-committed',
  'answer-received',
  'outcome-committed',
  'doubt-listed',
  'doubt-resolved',
];

const ROUNDS = 6;
/** The rounds before which a backup is made, and before which it is restored. */
const BACKED_UP = 1;
const RESTORED = 4;
const ACME = 'acme' as FeedName;

interface Life {
  readonly installation: Installation;
  readonly random: Random;
  readonly feed: SimulatedFeed;
  /** Keys whose jobs were deleted on the website. This is only noticed when their postings change, which they do at the end. */
  readonly deletedByHand: Set<string>;
  /** Keys whose jobs have been on the site for so long that their postings expire; `undefined`: none does. */
  readonly aged: Set<string> | undefined;
  readonly kind: LifeKind;
  readonly seen: Seen;
  /** The history, a line per event. */
  readonly story: string[];
}

/** Plays the life, in an installation with the options of its kind. Throws the broken law with the seed and the history. */
export async function simulate(seed: number, installation: Installation, kind: LifeKind): Promise<void> {
  const random = randomOf(seed);
  const life: Life = {
    installation,
    random,
    feed: simulateFeed(random, 8 + random.number(10)),
    deletedByHand: new Set(),
    aged: kind.expires ? new Set() : undefined,
    kind,
    seen: { versions: new Map(), live: new Set(), quiet: new Map() },
    story: [`site: ${JSON.stringify({ ...kind.habits.settings, reference: kind.habits.hasReference })}`],
  };
  try {
    await installation.writeFeed(life.feed.clean());
    await installation.sync();
    noteVersions(life.seen, life.feed.postings, kind.habits.stored);
    for (let round = 0; round < ROUNDS; round++) {
      if (kind.isRestored && round === BACKED_UP) await backUp(life);
      if (kind.isRestored && round === RESTORED) await restore(life);
      await live(life);
    }
    await end(life);
  } catch (cause) {
    const again = `SEED=${seed} npx vitest run test/laws/simulation.test.ts`;
    throw new Error(`seed ${seed} broke a law; replay it with: ${again}\n${life.story.join('\n')}\n${cause}`, {
      cause,
    });
  }
}

async function live(life: Life): Promise<void> {
  const { installation, random, feed, story } = life;
  const moved = random.chance(80) ? feed.change() : 'nothing changes';
  noteVersions(life.seen, feed.postings, life.kind.habits.stored);
  const { xml, note } = feed.write();
  await installation.writeFeed(xml);
  const faults = random.some(FAULTS, random.number(3)).map(
    (fault): Fault => ({
      ...fault,
      on: random.pick(OPERATIONS),
      rate: 0.1 + random.number(6) / 10,
      count: 1 + random.number(6),
    }),
  );
  await installation.sandbox.setFaults(faults);
  const spoken = faults.map(({ name, on, rate, count }) => `${name} on ${on?.join('+')} ${rate} × ${count}`);
  if (life.aged !== undefined) await letTimePass(life, life.aged);
  const how = random.number(10);
  story.push(
    `${moved}${note}; faults: ${spoken.join(', ') || 'none'}; ${how < 6 ? 'pull' : how < 9 ? 'stop' : 'kill'}`,
  );
  if (how < 6) await pull(life);
  else if (how < 9) await stopInTheMiddle(life);
  else await killInTheMiddle(life);
  if (random.chance(30)) await review(life);
  if (canEdit(life.kind) && random.chance(60)) await edit(life);
  await noteLive(life.seen, installation);
  // A feed that only creates jobs never notices.
  if (random.chance(15) && life.kind.policy !== 'create_only') await deleteByHand(life);
}

const backupOf = ({ installation }: Life): string => join(installation.folder, 'older.backup');

async function backUp(life: Life): Promise<void> {
  const { status, output } = await life.installation.spawn(['backup', backupOf(life)]).ended;
  expect({ status, output }).toMatchObject({ status: 0 });
  life.story.push('backed up');
}

/** The database is of that day again; a person then lets it learn what the site has. */
async function restore(life: Life): Promise<void> {
  const { installation, feed, story } = life;
  await installation.sandbox.setFaults([]);
  await installation.stopEngine();
  await installation.sandbox.requests.idle();
  const restored = await installation.spawn(['restore', backupOf(life), '--replace', '--yes']).ended;
  expect(restored).toMatchObject({ status: 0 });
  story.push('restored');
  life.seen.outdated = { endedJobs: await endedJobsOf(installation) };
  if (life.random.chance(50)) return;
  await installation.writeFeed(feed.clean());
  const { status, output } = await installation.spawn(['recover', 'acme', '--yes']).ended;
  if (status === 0 || status === 2) life.seen.outdated = undefined;
  story.push(`  recover: ${status} ${output.trim()}`);
}

async function pull({ installation, story, aged }: Life): Promise<void> {
  const report = await installation.sync();
  story.push(`  ${report.status}: ${JSON.stringify(report)}`);
  checkCounts(report);
  if (aged !== undefined) await checkExpired(installation, aged);
}

/** Some jobs have been on the site for as many days as the feed allows; now and then a person renews their postings. */
async function letTimePass({ installation, random, feed, story }: Life, aged: Set<string>): Promise<void> {
  const { db } = await installation.app();
  const keys = random.some(feed.postings, random.number(3)).map(({ key }) => key);
  await db.query(
    `update mapping set mapped_at = now() - interval '720 hours' where feed = 'acme' and key = any($1::text[])`,
    [keys],
  );
  for (const key of keys) aged.add(key);
  const renewed = random.chance(25) ? random.some([...aged], 1) : [];
  await renewPostings(db, ACME, renewed as PostingKey[]);
  story.push(`  30 days old: ${keys.join(', ') || 'none'}; renewed: ${renewed.join(', ') || 'none'}`);
}

/** No posting expires before its time. */
async function checkExpired(installation: Installation, aged: ReadonlySet<string>): Promise<void> {
  const expired = await installation.query<{ key: string }>(
    'select key from posting_expiry where expired_at is not null',
  );
  expect(expired.filter(({ key }) => !aged.has(key))).toEqual([]);
}

/** The process stops while requests are in flight. */
async function stopInTheMiddle({ installation, random }: Life): Promise<void> {
  const syncing = installation.sync().catch(() => undefined);
  let left = 1 + random.number(6);
  const reached = installation.sandbox.requests.next(() => --left === 0);
  await Promise.race([reached, syncing]);
  await installation.stopEngine(0);
  await syncing;
}

/** A second process dies at a step, if it gets there. */
async function killInTheMiddle({ installation, random, story }: Life): Promise<void> {
  const step = random.pick(STEPS);
  const env = { FAULT_AT: step, FAULT_NTH: String(1 + random.number(3)) };
  story.push(`  at ${step}, time ${env.FAULT_NTH}`);
  await installation.spawn(['sync'], env).ended;
}

async function review({ installation, random, story }: Life): Promise<void> {
  const action = random.pick(['approve', 'retry', 'discard'] as const);
  const act = { approve: approveChanges, retry: retryChanges, discard: discardEntries }[action];
  const { db } = await installation.app();
  const acted = await db.transaction(async (tx) => act(tx, await selectedIds(tx, { feed: ACME }), 'a reviewer'));
  story.push(`  a reviewer: ${action} ${acted.length}`);
}

/** The site shows edits where nothing else forbids it. */
const canEdit = ({ policy, isRestored }: LifeKind): boolean => policy === 'mirror' && !isRestored;

/** A person sets fields of postings in whatever state they are, or undoes what was set. */
async function edit({ installation, random, feed, story }: Life): Promise<void> {
  const { db, config } = await installation.app();
  for (const { key } of random.some(feed.postings, 1 + random.number(4))) {
    const name = { feed: ACME, key: key as PostingKey };
    if (random.chance(20)) {
      const report = await undoEdits(db, ACME, name.key, { actor: 'an editor' });
      story.push(`  an editor undoes the edits of ${key}: ${report.kind}`);
      continue;
    }
    const edits = { [random.pick(['title', 'location-city'])]: `Edited ${random.number(3)}` };
    const report = await editPosting(db, config, name, edits, { actor: 'an editor' });
    const why = report.kind === 'refused' ? textOf(report.message) : '';
    story.push(`  an editor sets ${JSON.stringify(edits)} of ${key}: ${report.kind} ${why}`);
  }
}

/** An edit holds until the source changes the field. */
async function withEdits({ installation, feed }: Life): Promise<TestPosting[]> {
  const { db } = await installation.app();
  return Promise.all(
    feed.postings.map(async (posting) => {
      const edits = await editsOfPosting(db, ACME, posting.key as PostingKey);
      const source: Readonly<Record<string, string>> = desiredFields(posting);
      const holding = Object.fromEntries(
        edits
          .filter(({ field, sourceValue }) => sourceValue === source[field])
          .map(({ field, value }) => [field, value]),
      );
      return { ...posting, title: holding.title ?? posting.title, city: holding['location-city'] ?? posting.city };
    }),
  );
}

/** Somebody deletes a job on the website. */
async function deleteByHand({ installation, random, deletedByHand, kind, story }: Life): Promise<void> {
  const own = (await installation.sandbox.inspect.jobs()).filter(({ owner }) => owner === installation.owner);
  const [job] = random.some(own, 1);
  if (job === undefined) return;
  story.push(`  deleted by hand: ${keyOf(job.fields)}`);
  await installation.sandbox.inspect.removeJob(job.id, kind.habits.settings.deletedJobs !== 'no');
  deletedByHand.add(keyOf(job.fields));
}

/** Where nothing tells whether a job is the posting's, a person looks at it, and deletes it on the website. */
async function deleteUnconfirmed({ installation: { sandbox, query }, kind, story }: Life): Promise<void> {
  const waiting = await query<{ key: string; id: string }>(
    `select c.key, m.site_job_id as id from change c join mapping m using (feed, key)
     where c.state = 'failed' and c.desired = 'absent' and c.reason->>'kind' = 'unconfirmed'`,
  );
  for (const job of await sandbox.inspect.jobs()) {
    if (!waiting.some(({ key, id }) => id === job.id && key === keyOf(job.fields))) continue;
    story.push(`  a person deletes job ${job.id} of ${keyOf(job.fields)}`);
    await sandbox.inspect.removeJob(job.id, kind.habits.settings.deletedJobs !== 'no');
  }
}

/** What is left to do, for the story. */
async function entriesOf({ installation }: Life): Promise<string[]> {
  const entries = await installation.query<{ key: string; state: string; operation: string; why: string | null }>(
    `select key, state, operation, concat_ws('; ', reason->>'message', reason->>'note') as why from change order by key`,
  );
  return entries.map(({ key, state, operation, why }) => `  ${key}: ${operation} ${state}: ${why ?? ''}`);
}

async function end(life: Life): Promise<void> {
  const { installation, feed, deletedByHand, aged, kind, seen, story } = life;
  const { db } = await installation.app();
  // At last all postings are to be on the site.
  if (aged !== undefined) await renewPostings(db, ACME, [...aged] as PostingKey[]);
  const discarded = await db.query<{ key: string }>(`select key from change where state = 'discarded' order by key`);
  feed.renew([...new Set([...discarded.map(({ key }) => key), ...deletedByHand])]);
  noteVersions(seen, feed.postings, kind.habits.stored);
  await installation.writeFeed(feed.clean());
  for (let healed = 0; healed < 8; healed++) {
    const report = await heal(installation);
    story.push(`healed: ${JSON.stringify(report)}`);
    if (report.status === 'mirrored') break;
    story.push(...(await entriesOf(life)));
    await db.transaction(async (tx) => approveChanges(tx, await selectedIds(tx, { feed: ACME }), 'a reviewer'));
    await deleteUnconfirmed(life);
    // Postings with the same title make similar jobs: a doubt about one of them may need a person.
    const resolved = await resolveAsPeopleDo(installation, 'acme', ({ fields }, key) => keyOf(fields) === key);
    story.push(...resolved.story);
  }
  if (kind.policy === 'mirror' && !kind.isRestored)
    await checkLaws(installation, await withEdits(life), { stored: kind.habits.stored });
  else await checkKept(installation, feed.postings, kind, seen, deletedByHand);
}
