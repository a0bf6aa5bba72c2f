// Gets an installation into the middle of its work, where a fault does most harm.
import { feedXml, type TestPosting } from '../support/indeed-feed.ts';
import type { Installation } from './installation.ts';

/** Requests that have been answered when the middle is reached. */
const ANSWERED = 12;

/** Writes the feed, begins to mirror it, slowly, by `begin`, and resolves in the middle with what that gave. */
export async function inTheMiddle<Begun>(
  installation: Installation,
  postings: readonly TestPosting[],
  begin: () => Begun,
): Promise<{ readonly begun: Begun }> {
  await installation.sandbox.setFaults([{ name: 'latency', ms: 100 }]);
  await installation.writeFeed(feedXml(postings));
  let left = ANSWERED;
  const reached = installation.sandbox.requests.next(() => --left === 0);
  const begun = begin();
  await reached;
  return { begun };
}
