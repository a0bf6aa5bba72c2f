// Double-checks a site that refuses a request: one that says "not authorised" may say so of one job only, and one that
// does not say what is wrong with a posting may refuse all of them.
import { type Message, messageOf } from '../plan/message.ts';
import { plural } from '../plan/plural.ts';
import { judgeSuspicion, MAX_REFUSED_ALIKE } from '../plan/set-up-suspicion.ts';
import type { Outcome } from '../site/exchange.ts';
import { formOfRefusal, type SetUpFault } from '../site/set-up-fault.ts';
import { readSetUpSuspects } from '../store/backlog/set-up-suspects.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { wasRefusedAlone } from '../store/site/recent-requests.ts';
import { problemsInOneSentence } from './outcome-policy.ts';
import type { SiteContext } from './site-context.ts';

const MOST_SHOWN = 200;
const UNKNOWN_FAULT: SetUpFault = { isCertain: false };

/**
 * Returns the outcome unchanged; or `set_up`, if it is not known yet whether the site refuses this posting or every one, or if it refuses
 * every one. If nothing can be read, the posting is sent again too.
 */
export async function confirmRejected(outcome: Outcome, attempt: Attempt, siteContext: SiteContext): Promise<Outcome> {
  if (outcome.kind !== 'rejected' || attempt.request.kind === 'delete' || !mayBeOfAll(outcome)) return outcome;
  if (siteContext.policy.canary.requests === 0) return outcome;
  const { problems, setUp = UNKNOWN_FAULT } = outcome;
  const suspects = await readSetUpSuspects(siteContext.db, siteContext.site, attempt, MAX_REFUSED_ALIKE).catch(
    () => undefined,
  );
  if (suspects === undefined) return { kind: 'set_up', problems };
  const message = problemsInOneSentence(problems);
  const form = formOfRefusal(message);
  const refused = suspects.others.length + 1;
  const verdict = judgeSuspicion({
    ...suspects,
    isCertain: setUp.isCertain,
    isKnown: setUp.looksLike !== undefined,
    othersDiffer: suspects.others.some((other) => formOfRefusal(other) !== form),
    refused,
  });
  if (verdict === 'job') return { kind: 'rejected', problems };
  return verdict === 'wait'
    ? { kind: 'set_up', problems }
    : { kind: 'set_up', problems, pause: causeOf(setUp, message, refused) };
}

/** The words say nothing about the job, or look like a fault of the set-up. */
const mayBeOfAll = ({ problems, perhapsDone, setUp }: Extract<Outcome, { kind: 'rejected' }>): boolean =>
  perhapsDone !== true &&
  (setUp !== undefined || problems.every(({ field, value }) => field === undefined && value === undefined));

function causeOf({ looksLike }: SetUpFault, message: string, refused: number): Message {
  const shown = message.length > MOST_SHOWN ? `${message.slice(0, MOST_SHOWN)}…` : message;
  const all = refused === 1 ? 'the only posting' : `the first ${plural(refused, 'posting')} alike`;
  const said = `it refused ${all}: ${JSON.stringify(shown)}`;
  if (looksLike === undefined)
    return messageOf(`${said}, which says nothing about any one of them`, [
      { words: 'Correct what it expects of every request, in the settings of the site and the feed or on the site' },
    ]);
  return typeof looksLike === 'string'
    ? `${looksLike}; ${said}`
    : messageOf(`${looksLike.text}; ${said}`, looksLike.next);
}

/**
 * Returns the outcome unchanged; or `forbidden` if the site has answered 401 for the posting before and has accepted other changes since.
 * A create that a list has shown as not made stays in doubt: the list may have been read without the rights of the token.
 * Otherwise each such posting would pause its site again whenever it is resumed.
 */
export async function confirmRefused(outcome: Outcome, attempt: Attempt, { db, site }: SiteContext): Promise<Outcome> {
  if (outcome.kind !== 'unauthorized' || attempt.wasDoubted === true) return outcome;
  const isAlone = await wasRefusedAlone(db, site, attempt).catch(() => false);
  if (!isAlone) return outcome;
  const message =
    'The site answered 401 again, and has accepted other changes since the first time: it refuses this one, not the token';
  return { kind: 'forbidden', problems: [{ message }] };
}
