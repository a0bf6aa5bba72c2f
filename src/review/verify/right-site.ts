// Finds out whether jobs that seem gone are gone: at a wrong address, or with another user's token, all would seem gone.
import { type Message, messageOf } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import type { SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { areFewAndOld, FEW_JOBS, recentlyAccepted, sampleOfAges } from '../../store/mapping/mapping-sample.ts';
import { trustsGone } from '../../store/site/site-state.ts';
import type { Verifying } from './verifying.ts';

/**
 * | other jobs of ours                     | the right site                           |
 * | -------------------------------------- | ---------------------------------------- |
 * | one is found                           | yes                                      |
 * | none is found, few, made over a day ago | if the list, or the jobs path, is there |
 * | anything else                          | not until a person says so               |
 * @param isListRead whether the list was read to its end, or none was to be read.
 */
export async function isRightSite({ subject, progress }: Verifying, isListRead: boolean): Promise<boolean> {
  const { db, site, ask, client, rateLimiter, signal } = subject;
  if (await trustsGone(db, site)) return true;
  const asked = new Set<SiteJobId>(progress.unproven.map(({ job }) => job.siteJobId));
  const [first] = asked;
  for (const pick of [recentlyAccepted, sampleOfAges]) {
    for (const siteJobId of await pick(db, site, first as SiteJobId)) {
      if (asked.has(siteJobId)) continue;
      asked.add(siteJobId);
      // A site that does not answer proves nothing.
      const shown = await ask(siteJobId).catch(() => undefined);
      signal.throwIfAborted();
      if (shown !== undefined) return true;
    }
  }
  if (!isListRead || !(await areFewAndOld(db, site, FEW_JOBS))) return false;
  await rateLimiter.take(signal);
  return (await client.probe(signal)).found;
}

export const describeUnproven = (site: SiteName, asked: number): Message =>
  messageOf(
    `site ${site} has none of the ${plural(asked, 'job')} of ours that it was asked for: check base_url and the token`,
    [{ words: 'if the site was really emptied, run', action: { kind: 'resume_site', site, because: 'emptied' } }],
  );
