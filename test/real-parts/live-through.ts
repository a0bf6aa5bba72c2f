// One round of changes with a fault in its middle, and then a sync without: each posting has one job in the end.
import { expect } from 'vitest';
import { inTheMiddle } from '../laws/in-the-middle.ts';
import type { Ended, Installation, Running } from '../laws/installation.ts';
import { checkLaws } from '../laws/laws.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';

export const BEFORE = postings(30);
/** Five have left, five have changed, fifteen have come: in the middle, some of these are made. */
const AFTER = postings(45)
  .slice(5)
  .map((each, at) => (at < 5 ? { ...each, city: 'Salem' } : each));

/** So slow that a queue job has one posting: otherwise one has all of them, and nothing is asked of the queue meanwhile. */
export const SITE = { ...patientSite(30), limits: '{ requests_per_second: 40, concurrency: 4, timeout_seconds: 30 }' };

/** What each cell does, in words. */
export const ROUND = `${BEFORE.length} postings are mirrored; then five change, five leave and fifteen come, and the fault of the row begins in the middle of the changes. After another sync each posting has exactly one job, as the feed has it.`;

export interface Round {
  /** Begins in the middle of the changes; resolves when the fault is over. */
  readonly pass: () => Promise<unknown>;
  readonly before?: () => Promise<unknown>;
  readonly after?: () => Promise<unknown>;
  /** What a command that could not do its work says. */
  readonly complaint: RegExp;
  /** Whether the fault loses what was stored: then a posting whose job was found may wait for a person. */
  readonly loses?: boolean;
}

/** Mirrors all, then the changes with the fault in the middle, then once more without. Returns how the command in the middle ended. */
export async function liveThrough(installation: Installation, round: Round): Promise<string> {
  await installation.writeFeed(feedXml(BEFORE));
  const first = await installation.spawn(['sync', '--json']).ended;
  expect(first.status, first.output).toBe(0);
  await round.before?.();
  const end = await changesWithFault(installation, round).finally(() => round.after?.());
  if (process.env.SHOW !== undefined) console.log(end);
  const mirrored = round.loses === true ? [0, 2] : [0];
  expect([...mirrored, 1]).toContain(end.status);
  if (end.status === 1) expect(end.output).toMatch(round.complaint);
  const last = await installation.spawn(['sync', '--json']).ended;
  expect(mirrored, last.output).toContain(last.status);
  const inDoubt = round.loses === true ? await keysInDoubt(installation) : [];
  await checkLaws(installation, AFTER, { inDoubt });
  await installation.stopEngine();
  return `${describeEnd(end)}${inDoubt.length === 0 ? '' : `; ${inDoubt.length} in review`}`;
}

async function keysInDoubt({ app }: Installation): Promise<string[]> {
  const { db } = await app();
  const rows = await db.query<{ key: string }>("select key from change where state = 'in_doubt' order by key");
  return rows.map(({ key }) => key);
}

async function changesWithFault(installation: Installation, { pass }: Round): Promise<Ended> {
  const begun = await untilTheMiddle(installation);
  await installation.sandbox.setFaults([{ name: 'latency', ms: 500 }]);
  await pass();
  await installation.sandbox.setFaults([]);
  return begun.ended;
}

/** Or until the command has ended before: what it says then is checked as well. */
async function untilTheMiddle(installation: Installation): Promise<Running> {
  return new Promise((resolve, reject) => {
    const begin = (): Running => {
      const running = installation.spawn(['sync', '--json']);
      running.ended.then(() => resolve(running), reject);
      return running;
    };
    inTheMiddle(installation, AFTER, begin).then(({ begun }) => resolve(begun), reject);
  });
}

/** What the command said: its status, and the codes of the errors that it reported. */
function describeEnd({ status, output }: { readonly status: number | null; readonly output: string }): string {
  const codes =
    output.match(/(?<=")(?:[0-9]{2}[0-9A-Z]{3}|ECONN[A-Z]+|EPIPE)(?=")|\b(?:OOM|READONLY|LOADING|MASTERDOWN)\b/g) ?? [];
  const named = [...new Set(codes)].sort();
  const how = status !== 1 ? 'goes on' : `status ${status}`;
  return named.length === 0 ? how : `${how} (${named.join(', ')})`;
}
