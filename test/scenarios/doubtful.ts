// Creates in doubt at a site whose list cannot be read at first.
import { openStage, type Stage } from '../review/stage.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { postings } from '../support/indeed-feed.ts';
import type { Mirror, MirrorOptions } from '../support/mirror.ts';

/** The shortest wait that this timeout allows. */
const SHORT = {
  limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 1.5 }',
  doubts: '{ resolve_after_seconds: 1.6 }',
};

/**
 * Pulls `count` postings whose creates are in doubt. The site cannot be listed, and has their jobs or not.
 * Nothing waits for an answer of the site here: on a busy machine a request with a short timeout may never arrive.
 */
export async function openDoubtful(count: number, made: boolean, feed: MirrorOptions['feed'] = {}): Promise<Stage> {
  const stage = await openStage({ feed, site: { ...SHORT, canary: '{ requests: 0 }' } });
  const list = postings(count);
  await stage.pull(list);
  for (const posting of list) {
    await stage.fail(posting.key, 'in_doubt');
    if (made) await makeJob(stage.mirror, jobOf(posting));
  }
  await stage.mirror.sandbox.setFaults([{ name: '502', on: ['list'] }]);
  return stage;
}

/** From now on the site can be listed; the next process checks the doubts at once. */
export async function letAnswer(mirror: Mirror): Promise<void> {
  await mirror.stopEngine();
  await mirror.sandbox.setFaults([]);
}
