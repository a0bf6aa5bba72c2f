// Decides each doubt by its candidates: adopts a job, sends again, or asks a person.
import { cluesOf, contentOf, isProvenMade, likeness } from '../plan/match-doubt.ts';
import { fieldOf } from '../plan/same-value.ts';
import { reuseOf } from '../plan/whose-job.ts';
import { type Listing, type SiteJob, toCompare } from '../site/exchange.ts';
import { adoptDoubt, countDoubtsByContent, type Doubt, explainDoubts, recordListCheck } from '../store/change/doubt.ts';
import { refuteDoubt } from '../store/change/refute-doubt.ts';
import { crossStep } from '../telemetry/steps.ts';
import { MAX_CANDIDATES } from './doubt-candidates.ts';
import { type Matching, mayBeDeleted, namesOf, type OpenDoubt } from './open-doubt.ts';
import type { SiteContext } from './site-context.ts';

/** Tells why a list proves nothing about a create that was sent at this time: see `Listing`. */
type WhyUnproven = NonNullable<Extract<Listing, { kind: 'listed' }>['whyUnproven']>;

/**
 * Resolves certain matches first, so a job that merely resembles a doubt's is not queried if it is another one's.
 * Returns how many doubts were resolved.
 */
export async function decideDoubts(
  siteContext: SiteContext,
  doubts: readonly OpenDoubt[],
  matching: Matching,
  signal: AbortSignal,
  whyUnproven: WhyUnproven = async () => undefined,
): Promise<number> {
  const taken = new Set<string>();
  const undecided: { open: OpenDoubt; found: Found }[] = [];
  let resolved = 0;
  for (const open of doubts) {
    if (signal.aborted) return resolved;
    const free = open.candidates.filter((candidate) => !taken.has(candidate.siteJobId));
    const found = await confirm(siteContext, open, free, matching, signal);
    if (found === undefined) continue;
    const chosen = found.perhaps.length > 0 ? undefined : await choose(siteContext, found.matches, open);
    if (chosen === undefined || chosen === 'ask') {
      undecided.push({ open, found });
      continue;
    }
    taken.add(chosen.siteJobId);
    const content = contentOf(open.fields, toCompare(chosen).fields, chosen.fields);
    const adopted = await adoptDoubt(
      siteContext.db,
      open.doubt,
      chosen.siteJobId,
      chosen.url,
      { ...content, isProven: isProvenMade(open, toCompare(chosen), { ...matching, shared: open.shared }) },
      (older) => reuseOf({ sent: open.fields, shown: toCompare(chosen).fields, older }, matching) === 'ours',
    );
    if (adopted === 'recorded') {
      const names = { ...namesOf(open.doubt), siteJobId: chosen.siteJobId, uncertain: content.uncertain };
      siteContext.log.info(names, 'doubt resolved: adopted');
      resolved++;
    }
    crossStep('doubt-resolved');
  }
  for (const { open, found } of undecided) {
    if (signal.aborted) return resolved;
    const left = [...found.matches, ...found.perhaps, ...found.resembling, ...found.unshown].filter(
      ({ siteJobId }) => !taken.has(siteJobId),
    );
    if (left.length > 0 || open.crowded) await askPerson(siteContext, open, left, found.unshown);
    else resolved += await notFound(siteContext, open.doubt, whyUnproven);
    crossStep('doubt-resolved');
  }
  return resolved;
}

/** The candidates of a doubt, by certainty. */
interface Found {
  readonly matches: SiteJob[];
  readonly perhaps: SiteJob[];
  readonly resembling: SiteJob[];
  /** The list shows them, but the site does not find them: it may show them later, or know them by another ID. */
  readonly unshown: SiteJob[];
}

/**
 * Has the site show the jobs, which completes list entries that show too little; `undefined`: that failed, and the doubt remains. A job
 * that the list shows completely is adopted although that fails, but not if the site does not find it under its ID.
 */
async function confirm(
  siteContext: SiteContext,
  open: OpenDoubt,
  candidates: readonly SiteJob[],
  matching: Matching,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const options = { ...matching, shared: open.shared };
  const found: Found = { matches: [], perhaps: [], resembling: [], unshown: [] };
  for (const listed of candidates) {
    let candidate: SiteJob | undefined = listed;
    const fromList = likeness(open, toCompare(listed), options);
    let verdict = fromList;
    const whole = Object.keys(open.fields).every((name) => fieldOf(listed.fields, name) !== undefined);
    if (verdict === 'match' || verdict === 'perhaps' || !whole) {
      try {
        await siteContext.rateLimiter.take(signal);
        const shown = await siteContext.client.show(listed.siteJobId, signal);
        candidate = shown && completed(listed, shown);
        verdict = candidate === undefined ? 'other' : likeness(open, toCompare(candidate), options);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (verdict !== 'match' || !whole) {
          siteContext.log.warn({ ...namesOf(open.doubt), err: error }, 'candidate could not be shown, doubt remains');
          await postpone(siteContext, open, `job ${listed.siteJobId}, which it may have made, could not be shown`, [
            listed,
          ]);
          return undefined;
        }
      }
    }
    if (candidate === undefined) {
      if (fromList !== 'resembles' && mayBeOwn(open, listed, matching)) found.unshown.push(listed);
      continue;
    }
    const isContended = open.contended.has(candidate.siteJobId) || mayBeDeleted(open, candidate);
    if (verdict === 'match' && isContended) verdict = 'perhaps';
    if (verdict === 'match') found.matches.push(candidate);
    if (verdict === 'resembles') found.resembling.push(candidate);
    // Still undecided: it blocks sending again until a person decides.
    if (verdict === 'perhaps') {
      found.perhaps.push(candidate);
      return found;
    }
  }
  return found;
}

/** Whether the list itself says that a job which the site does not find may be that of the doubt; an older one may have expired. */
function mayBeOwn(open: OpenDoubt, listed: SiteJob, { referenceField }: Matching): boolean {
  const { createdAt } = listed;
  if (createdAt !== undefined && (createdAt < open.notBefore || createdAt > open.notAfter)) return false;
  const { reference, title } = cluesOf(toCompare(listed).fields, referenceField);
  return reference !== undefined || title !== undefined;
}

function completed(listed: SiteJob, shown: SiteJob): SiteJob {
  const reveals = listed.revealFields !== undefined || shown.revealFields !== undefined;
  return {
    ...listed,
    ...shown,
    fields: { ...listed.fields, ...shown.fields },
    revealFields: reveals ? () => ({ ...toCompare(listed).fields, ...toCompare(shown).fields }) : undefined,
  };
}

/**
 * A single match is the job. With several matches any will do, but only if at least as many doubts, due or not, have
 * the very same content.
 */
async function choose(
  siteContext: SiteContext,
  matches: readonly SiteJob[],
  open: OpenDoubt,
): Promise<SiteJob | 'ask' | undefined> {
  if (matches.length <= 1) return matches[0];
  const alike = await countDoubtsByContent(siteContext.db, siteContext.site);
  const doubts = alike.get(open.doubt.attempt.accepted.contentHash.toString('hex')) ?? 0;
  return matches.length <= doubts ? matches[0] : 'ask';
}

async function askPerson(
  siteContext: SiteContext,
  open: OpenDoubt,
  matches: readonly SiteJob[],
  unshown: readonly SiteJob[],
): Promise<void> {
  const ids = matches.map((match) => match.siteJobId).join(', ');
  const notFound = matches.filter((match) => unshown.includes(match)).map(({ siteJobId }) => siteJobId);
  const but =
    notFound.length === 0 ? '' : ` (the list shows ${notFound.join(', ')}, but the site finds no job under that ID)`;
  const message =
    matches.length === 0
      ? `more than ${MAX_CANDIDATES} jobs on the site match it, and all that were checked belong to other postings`
      : `jobs on the site that it may have made: ${ids}; say which one it is${but}`;
  await postpone(siteContext, open, message, matches);
}

async function postpone(
  siteContext: SiteContext,
  open: OpenDoubt,
  message: string,
  candidates: readonly SiteJob[],
): Promise<void> {
  const possible = { candidates: candidates.map(({ siteJobId }) => siteJobId), crowded: open.crowded };
  await explainDoubts(siteContext.db, [open.doubt], message, siteContext.policy.doubts.resolveAfterMs, possible);
}

/**
 * No match. After enough list checks the site has surely not made the job, and the desired state may be sent; unless the list may have been
 * read without the rights of the token.
 */
async function notFound(siteContext: SiteContext, doubt: Doubt, whyUnproven: WhyUnproven): Promise<number> {
  const unproven = await whyUnproven(doubt.sentAt);
  if (unproven !== undefined) {
    const message = `the list does not show its job, which proves nothing: ${unproven.message}`;
    const note = siteContext.policy.provesToken
      ? message
      : `${message}. Set account_path, or look for the job on the site`;
    await explainDoubts(siteContext.db, [doubt], note, siteContext.policy.doubts.resolveAfterMs);
    return 0;
  }
  if (doubt.listChecks + 1 < siteContext.policy.doubts.listChecks) {
    await recordListCheck(siteContext.db, [doubt]);
    return 0;
  }
  const refuted = await refuteDoubt(siteContext.db, doubt, siteContext.policy.retry.attempts);
  if (refuted) siteContext.log.info(namesOf(doubt), 'doubt resolved: not made');
  return refuted ? 1 : 0;
}
