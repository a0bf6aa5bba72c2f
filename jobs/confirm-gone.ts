// Checks a site that says "no such job" before its word is taken: a wrong address would say so of every job.
import type { SiteJobId } from '../src/posting/identifiers.ts';
import type { Outcome, SiteJob } from '../src/site/exchange.ts';
import type { Attempt } from '../src/store/attempt.ts';
import { otherJobIds } from '../src/store/mapping-sample.ts';
import { trustsGone } from '../src/store/site-state.ts';
import type { SiteDesk } from './site-desk.ts';

/** Other jobs that are asked for: one that is there proves that the site is still the same. */
const SAMPLE = 3;
/** How long a proof stands. */
const PROVEN_MS = 60_000;

const provenUntil = new WeakMap<SiteDesk, number>();

/**
 * Gives the outcome as it is; `unknown` where the site shows the job all the same; or `misconfigured` where none of the other jobs that we made is there either: taken at
 * its word, the site would lose all its mappings, and get everything twice once its address is right again.
 */
export async function confirmGone(
  outcome: Outcome,
  attempt: Attempt,
  desk: SiteDesk,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outcome.kind !== 'gone' || attempt.request.kind === 'create') return outcome;
  const { siteJobId: claimed } = attempt.request;
  try {
    // Taken for gone, a job that is there would be made a second time, or never be deleted (law 1).
    if ((await look(desk, claimed, signal)) !== undefined) {
      return { kind: 'unknown', message: `the site says that job ${claimed} is gone, and shows it` };
    }
  } catch (error) {
    return { kind: 'unknown', message: `the job seems gone, but the site could not be asked for it: ${error}` };
  }
  if ((provenUntil.get(desk) ?? 0) > performance.now()) return outcome;
  const others = await otherJobIds(desk.db, desk.site, claimed, SAMPLE);
  if (others.length === 0 || (await trustsGone(desk.db, desk.site))) return outcome;
  for (const siteJobId of others) {
    try {
      if ((await look(desk, siteJobId, signal)) === undefined) continue;
    } catch (error) {
      return { kind: 'unknown', message: `the job seems gone, but the site could not be asked for others: ${error}` };
    }
    provenUntil.set(desk, performance.now() + PROVEN_MS);
    return outcome;
  }
  return {
    kind: 'misconfigured',
    message:
      `neither job ${claimed} nor any of ${others.length} others that were made there is on the site: ` +
      `check base_url; if the site was really emptied, say so with: jobmirror resume ${desk.site} --emptied`,
  };
}

/** The attempt is under way and must not wait: the turn is paid for by what is sent next. */
function look(desk: SiteDesk, id: SiteJobId, signal: AbortSignal): Promise<SiteJob | undefined> {
  desk.turns.spend();
  return desk.client.show(id, signal);
}
