// Jobs on the sandbox site that a search finds for creates: three whose posting is certain, and two that a person decides.
import { expect } from 'vitest';
import type { EditingProxy } from './editing-proxy.ts';
import { makeJob } from './hand-made-jobs.ts';
import { feedXml, postings } from './indeed-feed.ts';
import { type Mirror, openMirror } from './mirror.ts';
import { patientSite } from './patient-site.ts';

const NUMBERS = ['p1', 'p2', 'p3', 'p4', 'p4', 'P-5'];

/**
 * Five postings in doubt, of which `p1`, `p2` and `p3` are certain. Returns the job IDs by number; of `p4`, the last one.
 * @param proxy stands in front of the site, which then may answer late
 */
export async function openFoundJobs(proxy?: EditingProxy): Promise<{
  readonly mirror: Mirror;
  readonly jobs: ReadonlyMap<string, string>;
}> {
  const site = { ...(proxy === undefined ? {} : { base_url: proxy.url }), ...patientSite(120) };
  const mirror = await openMirror({ searched: true, site });
  if (proxy !== undefined) proxy.target = mirror.sandbox.url;
  const jobs = new Map<string, string>();
  for (const number of NUMBERS)
    jobs.set(number, await makeJob(mirror, { title: 'Made earlier', number, 'location-state': 'Ohio' }));
  await mirror.writeFeed(feedXml(postings(5)));
  expect(await mirror.sync()).toMatchObject({ in_doubt: 5, created: 0 });
  await mirror.stopEngine();
  mirror.sandbox.requests.clear();
  return { mirror, jobs };
}
