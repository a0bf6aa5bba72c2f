// Brings an installation into the middle of a run, where a fault does most harm.
import { feedXml, type TestPosting } from '../support/indeed-feed.ts';
import type { Installation } from './installation.ts';

/** Number of answered requests that counts as the middle. */
const ANSWERED = 12;

/** Writes the feed, lets `begin` mirror it slowly, and resolves in the middle with the result of `begin`. */
export async function inTheMiddle<Begun>(
  installation: Installation,
  postings: readonly TestPosting[],
  begin: () => Begun,
): Promise<{ readonly begun: Begun }> {
  await installation.sandbox.setFaults([{ name: 'latency', ms: 200 }]);
  await installation.writeFeed(feedXml(postings));
  let left = ANSWERED;
  const reached = installation.sandbox.requests.next(() => --left === 0);
  const begun = begin();
  await reached;
  return { begun };
}
