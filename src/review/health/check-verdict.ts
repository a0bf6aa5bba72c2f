// Checks a person's decision about a create in doubt: whether it is possible for what the site shows now. Changes nothing.
import { comparePosting } from '../../plan/match/compare-job.ts';
import type { AdoptRules } from '../../plan/match/job-features.ts';
import { contentOf, type TakingRules } from '../../plan/match/taken-content.ts';
import { reuseOf } from '../../plan/match/whose-job.ts';
import { updatesJobs } from '../../plan/policy.ts';
import { fieldOf } from '../../plan/same-meaning.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { type SiteClient, type SiteJob, withRevealedFields } from '../../site/exchange.ts';
import { describeIdInstead, idInPlaceOfSlug } from '../../site/facts.ts';
import { findEntries } from '../../store/change/act-in-review.ts';
import { otherOwnerOf } from '../../store/change/candidate-owners.ts';
import type { Doubt } from '../../store/change/doubt.ts';
import { findChange } from '../../store/change/open-change.ts';
import { type DoubtVerdict, doubtOf } from '../../store/change/resolve-doubt.ts';
import { readFeedState } from '../../store/feed/feed-state.ts';
import type { Database } from '../../store/postgres/database.ts';
import { fieldsSentFor } from '../../store/site/recent-requests.ts';
import { type DoubtJudge, type JudgedSite, judgeOf } from '../compare-doubt.ts';
import { STATE_WORDS } from '../entry-facts.ts';
import { CHANGED_SINCE_SHOWN, isUnseen, type Seen, tokenOfChange } from '../seen.ts';
import type { PolicyOf } from './configured-policy.ts';

/** The person's decision: the site made this job, or none. */
export type PersonsVerdict =
  | {
      readonly kind: 'exists';
      readonly siteJobId: SiteJobId;
      /** Adopt the job even if it looks like another one. */
      readonly anyway: boolean;
      /**
       * Adopt it only if the site shows exactly the posting's reference, or all of its content; for adopting many at once.
       */
      readonly exactly?: 'reference' | 'content';
    }
  | { readonly kind: 'missing' };

export interface CheckedSite extends JudgedSite {
  readonly client: Pick<SiteClient, 'show'>;
  /** How long a create may take to arrive and become visible; only for the decision that there is no job. */
  readonly resolveAfterMs?: number;
}

export interface CheckOptions {
  /** The entry's site, for checking the job; `undefined`: it is no longer configured. */
  readonly site: CheckedSite | undefined;
  /** What the entry's feed may do to the job, if one is named. Default: the policy of the feed's last pull. */
  readonly policyOf?: PolicyOf;
  /** Resolve the entry only as the person saw it. */
  readonly seen?: Seen | undefined;
}

/** Nothing was changed. */
export interface VerdictRefused {
  readonly kind: 'refused';
  readonly message: string;
  /** The entry is no longer the version that the person saw. */
  readonly stale?: true;
  /** A person may insist: `anyway`. */
  readonly mayInsist?: true;
  /** The site gave no clear answer, so it may be possible later. */
  readonly noClearAnswer?: unknown;
  /** The site says that it has no such job. */
  readonly absent?: true;
}

export type CheckedVerdict =
  | {
      readonly kind: 'possible';
      readonly doubt: Doubt;
      readonly verdict: DoubtVerdict;
      /** The named job, as the site shows it. */
      readonly shown: SiteJob | undefined;
      /** What could not be checked. */
      readonly warning: string | undefined;
    }
  | VerdictRefused;

/** For an entry that outlives the configuration of its site. */
const DEFAULT_RESOLVE_AFTER_MS = 60_000;

export async function checkVerdict(
  db: Database,
  entry: number,
  verdict: PersonsVerdict,
  options: CheckOptions,
): Promise<CheckedVerdict> {
  const doubt = await doubtOf(db, entry);
  // Compared after reading: what is still as it was seen is this doubt.
  const now = await findChange(db, entry);
  if (now !== undefined && isUnseen(options.seen, tokenOfChange(now)))
    return { ...refused(CHANGED_SINCE_SHOWN), stale: true };
  if (doubt === undefined) return refuseOther(db, entry);
  const tooEarly = verdict.kind === 'missing' ? whyTooEarly(doubt, options.site) : undefined;
  if (tooEarly !== undefined) return refused(tooEarly);
  const { feed } = doubt.attempt;
  const policy = options.policyOf?.(feed) ?? (await readFeedState(db, feed))?.policy;
  const staysAsItIs = !updatesJobs(policy);
  const { rules, judge } = await judgeOf(db, doubt, options.site ?? { referenceField: undefined });
  const siteAnswer =
    verdict.kind === 'exists'
      ? await readSiteJob(db, doubt, verdict.siteJobId, { ...options, staysAsItIs }, judge)
      : NOTHING_TO_READ;
  if (siteAnswer.kind === 'absent') return { ...refused(siteAnswer.message), absent: true };
  if (siteAnswer.kind === 'owned') return refused(siteAnswer.message);
  if (siteAnswer.kind === 'other' && verdict.kind === 'exists' && !verdict.anyway) {
    return { ...refused(siteAnswer.message), mayInsist: true };
  }
  if (verdict.kind === 'exists' && verdict.exactly !== undefined) {
    if (siteAnswer.kind === 'unchecked') {
      const { cause, message } = siteAnswer;
      return { ...refused(cause instanceof Error ? cause.message : message), noClearAnswer: cause };
    }
    const doubtful =
      verdict.exactly === 'reference'
        ? whyNotExactly(doubt, siteAnswer, options.site?.referenceField)
        : whyNotAlike(doubt, siteAnswer, rules);
    if (doubtful !== undefined) return refused(doubtful);
  }
  return {
    kind: 'possible',
    doubt,
    verdict: within(doubt, verdict, siteAnswer, staysAsItIs, {
      ...rules,
      formerly: await fieldsSentFor(db, doubt.attempt),
    }),
    shown: 'shown' in siteAnswer ? siteAnswer.shown : undefined,
    warning: siteAnswer.kind === 'unchecked' ? siteAnswer.message : undefined,
  };
}

export const MAY_STILL_ARRIVE = 'its request may still arrive: decide it later';

/** A request that seems to have been sent further in the future was sent while the clock of the database was ahead. */
const FALSE_CLOCK_MS = 2 * 3_600_000;

/** Whether the request of a create in doubt may still arrive. @param sinceMs its age */
export const mayStillArrive = (sinceMs: number, resolveAfterMs: number): boolean =>
  sinceMs < resolveAfterMs && sinceMs > -FALSE_CLOCK_MS;

/** A slow site may make the job after a person has looked for it: sent again, the posting would get a second one. */
function whyTooEarly({ found, sinceMs }: Doubt, site: CheckedSite | undefined): string | undefined {
  const resolveAfterMs = site?.resolveAfterMs ?? DEFAULT_RESOLVE_AFTER_MS;
  // Nothing was sent for a job that a search has found.
  if (found || !mayStillArrive(sinceMs, resolveAfterMs)) return undefined;
  return `${MAY_STILL_ARRIVE}, in ${Math.ceil((resolveAfterMs - sinceMs) / 1000)} s (doubts.resolve_after_seconds)`;
}

/** What the site shows under the given ID. */
type SiteAnswer =
  | { readonly kind: 'fits'; readonly shown: SiteJob | undefined }
  | { readonly kind: 'other'; readonly shown: SiteJob; readonly message: string }
  /** The job shows the reference of another posting of ours, or what another open create has sent. */
  | { readonly kind: 'owned'; readonly message: string }
  | { readonly kind: 'absent'; readonly message: string }
  | { readonly kind: 'unchecked'; readonly message: string; readonly cause?: unknown };

const NOTHING_TO_READ: SiteAnswer = { kind: 'fits', shown: undefined };

const SET_AGAIN = 'so an update sets all its fields again';
const LEFT_AS_IT_IS = "and stays as it is, as the feed's policy is create_only";

async function readSiteJob(
  db: Database,
  doubt: Doubt,
  id: SiteJobId,
  { site, staysAsItIs }: Pick<CheckOptions, 'site'> & { readonly staysAsItIs: boolean },
  judge: DoubtJudge['judge'],
): Promise<SiteAnswer> {
  const effect = staysAsItIs ? LEFT_AS_IT_IS : SET_AGAIN;
  if (site === undefined) {
    return {
      kind: 'unchecked',
      message: `job ${id} was not checked: site ${doubt.attempt.site} is not configured, ${effect}`,
    };
  }
  let shown: SiteJob | undefined;
  let instead: SiteJobId | undefined;
  try {
    shown = await site.client.show(id);
    instead = shown && (await idInPlaceOfSlug(id, shown, (other) => site.client.show(other)));
  } catch (error) {
    return {
      kind: 'unchecked',
      message: `job ${id} could not be checked: ${(error as Error).message}; ${effect}`,
      cause: error,
    };
  }
  if (shown === undefined) return { kind: 'absent', message: `site ${doubt.attempt.site} has no job ${id}` };
  if (instead !== undefined) return { kind: 'absent', message: describeIdInstead(id, instead) };
  const sent = { ...doubt.attempt, fields: doubt.attempt.accepted.fields };
  const owner = await otherOwnerOf(db, sent, withRevealedFields(shown).fields, site.referenceField);
  if (owner !== undefined) return { kind: 'owned', message: `job ${id} shows the reference of ${owner}` };
  const { likeness, equalTo, differing } = await judge(shown);
  if (equalTo !== undefined) {
    const { feed, key, entry } = equalTo;
    const names = [...differing].join(', ');
    const but = names === '' ? 'shows less of this one' : `differs from this one in ${names}`;
    const message = `job ${id} shows exactly what was sent for posting ${key} of feed ${feed}, and ${but}: settle entry ${entry} first`;
    return { kind: 'owned', message };
  }
  if (likeness !== 'other') return { kind: 'fits', shown };
  const title = shown.fields.title === undefined ? '' : `, "${shown.fields.title.slice(0, 100)}",`;
  return { kind: 'other', shown, message: `job ${id}${title} seems to be another job, not the one that was sent` };
}

function within(
  doubt: Doubt,
  verdict: PersonsVerdict,
  siteAnswer: SiteAnswer,
  staysAsItIs: boolean,
  rules: AdoptRules & TakingRules,
): DoubtVerdict {
  if (verdict.kind === 'missing') return verdict;
  const shown = 'shown' in siteAnswer ? siteAnswer.shown : undefined;
  const sent = doubt.attempt.accepted.fields;
  const content = contentOf(sent, shown && { ...withRevealedFields(shown), kept: shown.fields }, rules);
  const isOthers = (older: Fields | undefined): boolean => {
    if (shown === undefined) return false;
    const reuse = reuseOf({ sent, shown: withRevealedFields(shown).fields, older }, rules);
    // What is unclear, the person decides; adopting many at once needs certainty.
    return reuse === 'sure' || (reuse === 'unsure' && verdict.exactly === undefined);
  };
  return {
    kind: 'exists',
    siteJobId: verdict.siteJobId,
    url: shown?.url,
    content,
    staysAsItIs,
    fits: shown !== undefined && siteAnswer.kind === 'fits',
    isOthers,
  };
}

function whyNotExactly(doubt: Doubt, siteAnswer: SiteAnswer, referenceField: string | undefined): string | undefined {
  if (siteAnswer.kind !== 'fits') return 'message' in siteAnswer ? siteAnswer.message : undefined;
  const [own, says] = [
    doubt.attempt.accepted.fields,
    siteAnswer.shown === undefined ? {} : withRevealedFields(siteAnswer.shown).fields,
  ].map((fields) => (referenceField === undefined ? undefined : fieldOf(fields, referenceField)?.trim()));
  return own && own === says ? undefined : "the site no longer shows exactly the posting's reference";
}

function whyNotAlike({ attempt }: Doubt, siteAnswer: SiteAnswer, rules: AdoptRules): string | undefined {
  if (siteAnswer.kind !== 'fits' || siteAnswer.shown === undefined)
    return 'message' in siteAnswer ? siteAnswer.message : undefined;
  const posting = { key: attempt.key, fields: attempt.accepted.fields };
  const { sharesContent, reasons } = comparePosting(posting, siteAnswer.shown, rules);
  return sharesContent ? undefined : `the job no longer shows the posting's content: ${reasons.join(', ')}`;
}

async function refuseOther(db: Database, entry: number): Promise<VerdictRefused> {
  const [found] = await findEntries(db, [entry]);
  if (found === undefined) return refused(`there is no open review entry ${entry}`);
  return refused(`it is not in doubt, but ${STATE_WORDS[found.state]}`);
}

const refused = (message: string) => ({ kind: 'refused', message }) as const;
