// Settles creates in doubt: reads the site's list once for all of them, then adopts, sends again, or asks a person.
import { clueOf, type DoubtfulCreate, likeness } from '../src/plan/match-doubt.ts';
import type { SiteJob } from '../src/site/exchange.ts';
import {
  adoptDoubt,
  countDoubtsByContent,
  type Doubt,
  dueDoubts,
  explainDoubts,
  noteLook,
  ownedJobIds,
  refuteDoubt,
} from '../src/store/doubt.ts';
import { crossStep } from './fault-hook.ts';
import type { SiteDesk } from './site-desk.ts';

/** Doubts that one reading of the list serves. */
const DOUBTS_AT_ONCE = 2_000;
/** How far the site's clock and the database's may be apart. ASSUMED: check by comparing a `created_at` with the time. */
const CLOCK_SKEW_MS = 5 * 60_000;
/** Jobs kept for one doubt. Many may look alike and belong to other postings, which is known only after the list. */
const MAX_CANDIDATES = 200;

interface OpenDoubt extends DoubtfulCreate {
  readonly doubt: Doubt;
  readonly candidates: SiteJob[];
  /** There were more candidates than are kept, so that none left does not mean none made. */
  crowded: boolean;
}

/** Settles the doubts of a site that are old enough. Gives how many were settled. Does nothing without a list action. */
export async function resolveDoubts(desk: SiteDesk, signal: AbortSignal): Promise<number> {
  const { db, site, policy, client } = desk;
  if (!policy.canList) return 0;
  const due = await dueDoubts(db, site, policy.doubts.settleAfterMs, DOUBTS_AT_ONCE);
  if (due.length === 0) return 0;
  const doubts = due.map((doubt) => openDoubt(doubt, policy.doubts.settleAfterMs));
  const byClue = groupByClue(doubts, policy.referenceField);
  const listing = await client.list(
    (siteJob) => collect(byClue, siteJob, policy.referenceField),
    signal,
    desk.turns.take,
  );
  // Called off, it says nothing of the list.
  if (signal.aborted) return 0;
  if (listing.kind === 'unreadable') {
    desk.log.warn({ site, doubts: due.length, message: listing.message }, 'list not readable, doubts remain');
    await explainDoubts(db, due, listing.message, policy.doubts.settleAfterMs);
    return 0;
  }
  crossStep('doubt-listed');
  await keepUnowned(desk, doubts);
  return settleEach(desk, doubts, signal);
}

function openDoubt(doubt: Doubt, settleAfterMs: number): OpenDoubt {
  const started = doubt.startedAt.getTime();
  const latest = started + settleAfterMs * (1 + doubt.looks * 0.5);
  return {
    doubt,
    fields: doubt.attempt.result.fields,
    notBefore: new Date(started - CLOCK_SKEW_MS),
    notAfter: new Date(latest + CLOCK_SKEW_MS),
    candidates: [],
    crowded: false,
  };
}

/** Doubts by what their job can be recognised by at first glance, so that a long list is gone through but once. */
function groupByClue(doubts: readonly OpenDoubt[], referenceField: string | undefined): Map<string, OpenDoubt[]> {
  const byClue = new Map<string, OpenDoubt[]>();
  for (const open of doubts) {
    const key = clueOf(open.fields, referenceField) ?? NO_CLUE;
    byClue.set(key, [...(byClue.get(key) ?? []), open]);
  }
  return byClue;
}

const NO_CLUE = '';

function collect(byClue: Map<string, OpenDoubt[]>, siteJob: SiteJob, referenceField: string | undefined): void {
  const key = clueOf(siteJob.fields, referenceField);
  // A list entry that shows too little may be any of them; the limit of candidates bounds what that costs.
  const possible =
    key === undefined ? [...byClue.values()].flat() : [...(byClue.get(key) ?? []), ...(byClue.get(NO_CLUE) ?? [])];
  for (const open of possible) {
    if (likeness(open, siteJob, referenceField) === 'other') continue;
    if (open.candidates.length < MAX_CANDIDATES) open.candidates.push(siteJob);
    else open.crowded = true;
  }
}

/** Drops the candidates that a mapping owns already. */
async function keepUnowned(desk: SiteDesk, doubts: readonly OpenDoubt[]): Promise<void> {
  const ids = new Set(doubts.flatMap((open) => open.candidates.map((candidate) => candidate.siteJobId)));
  const owned = await ownedJobIds(desk.db, desk.site, [...ids]);
  for (const open of doubts) {
    const unowned = open.candidates.filter((candidate) => !owned.has(candidate.siteJobId));
    open.candidates.splice(0, open.candidates.length, ...unowned);
  }
}

async function settleEach(desk: SiteDesk, doubts: readonly OpenDoubt[], signal: AbortSignal): Promise<number> {
  const taken = new Set<string>();
  let settled = 0;
  for (const open of doubts) {
    if (signal.aborted) break;
    const free = open.candidates.filter((candidate) => !taken.has(candidate.siteJobId));
    const matches = await confirm(desk, open, free, signal);
    if (matches === undefined) continue;
    const chosen = await choose(desk, matches, open);
    if (chosen === 'ask' || (chosen === undefined && open.crowded)) {
      await askPerson(desk, open, matches);
    } else if (chosen === undefined) {
      settled += await notFound(desk, open.doubt);
    } else {
      taken.add(chosen.siteJobId);
      await adoptDoubt(desk.db, open.doubt, chosen.siteJobId, chosen.url);
      desk.log.info({ ...namesOf(open.doubt), siteJobId: chosen.siteJobId }, 'doubt settled: adopted');
      settled++;
    }
    crossStep('doubt-settled');
  }
  return settled;
}

/** Candidates that match for certain; a list that shows too little is completed by the show action. */
async function confirm(
  desk: SiteDesk,
  open: OpenDoubt,
  candidates: readonly SiteJob[],
  signal: AbortSignal,
): Promise<SiteJob[] | undefined> {
  const { referenceField } = desk.policy;
  const matches: SiteJob[] = [];
  for (const candidate of candidates) {
    let verdict = likeness(open, candidate, referenceField);
    if (verdict === 'perhaps') {
      try {
        await desk.turns.take(signal);
        const shown = await desk.client.show(candidate.siteJobId, signal);
        verdict = shown === undefined ? 'other' : likeness(open, shown, referenceField);
      } catch (error) {
        if (signal.aborted) return undefined;
        desk.log.warn({ ...namesOf(open.doubt), err: error }, 'candidate could not be shown, doubt remains');
        await postpone(desk, open, `job ${candidate.siteJobId}, which it may have made, could not be shown`);
        return undefined;
      }
    }
    // Still not enough to tell: as a candidate it stands in the way of sending again, and a person has to look.
    if (verdict === 'perhaps') {
      await askPerson(desk, open, [candidate]);
      return undefined;
    }
    if (verdict === 'match') matches.push(candidate);
  }
  return matches;
}

/**
 * One match is it. Several are, only if as many doubts, due or not, are about the very same content: then any of them
 * will do.
 */
async function choose(
  desk: SiteDesk,
  matches: readonly SiteJob[],
  open: OpenDoubt,
): Promise<SiteJob | 'ask' | undefined> {
  if (matches.length <= 1) return matches[0];
  const alike = await countDoubtsByContent(desk.db, desk.site);
  const doubts = alike.get(open.doubt.attempt.result.contentHash.toString('hex')) ?? 0;
  return matches.length <= doubts ? matches[0] : 'ask';
}

async function askPerson(desk: SiteDesk, open: OpenDoubt, matches: readonly SiteJob[]): Promise<void> {
  const ids = matches.map((match) => match.siteJobId).join(', ');
  const message =
    matches.length === 0
      ? `more than ${MAX_CANDIDATES} jobs on the site look like it, and those looked at belong to other postings`
      : `jobs on the site that it may have made: ${ids}; say which one is it`;
  await postpone(desk, open, message);
}

async function postpone(desk: SiteDesk, open: OpenDoubt, message: string): Promise<void> {
  await explainDoubts(desk.db, [open.doubt], message, desk.policy.doubts.settleAfterMs);
}

/** No such job. After enough looks the site has surely not made it: what is wished now may be sent. */
async function notFound(desk: SiteDesk, doubt: Doubt): Promise<number> {
  if (doubt.looks + 1 < desk.policy.doubts.looks) {
    await noteLook(desk.db, [doubt]);
    return 0;
  }
  const refuted = await refuteDoubt(desk.db, doubt, desk.policy.retry.attempts);
  if (refuted) desk.log.info(namesOf(doubt), 'doubt settled: not made');
  return refuted ? 1 : 0;
}

const namesOf = ({ attempt }: Doubt) => ({ site: attempt.site, feed: attempt.feed, key: attempt.key });
