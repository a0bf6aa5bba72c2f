// Tells whether sites keep the reference that creates send: from what is known, and, online, from jobs of ours that they show.
import { evidenceOf } from '../apply/watch-site.ts';
import type { Config, SiteConfig } from '../config/config.ts';
import { type Message, reword } from '../plan/message.ts';
import { openProvenClient } from '../runtime/open-site-client.ts';
import { addressOf } from '../site/base-address.ts';
import { jobsWithReference } from '../store/mapping/visible-jobs.ts';
import type { Database } from '../store/postgres/database.ts';
import { describeReference, noteReference, referenceState, type SiteReference } from '../store/site/kept-values.ts';

/** So many jobs are asked for. */
const MOST_ASKED = 3;

/** @returns warnings */
export async function checkReferences({ sites }: Config, db: Database, online: boolean): Promise<Message[]> {
  const warnings: Message[] = [];
  for (const site of sites.values()) {
    const { name, options } = site;
    if (options.referenceField === undefined) continue;
    const reference = { site: name, address: addressOf(options), field: options.referenceField };
    if (online) await lookAtJobs(db, site, reference);
    const message = describeReference(reference.field, await referenceState(db, reference));
    if (message !== undefined) warnings.push(reword(message, (text) => `site ${name}: ${text}`));
  }
  return warnings;
}

/** What a site that cannot be asked keeps is not known. */
async function lookAtJobs(db: Database, site: SiteConfig, reference: SiteReference): Promise<void> {
  const jobs = await jobsWithReference(db, site.name, reference.field, MOST_ASKED);
  if (jobs.length === 0) return;
  const client = await openProvenClient(db, site);
  try {
    // Everybody may see less of a job than the user of the token.
    const token = await client.checkToken('list');
    const isUser = token.kind === 'accepted' || token.kind === 'needed';
    for (const { siteJobId, fields } of jobs) {
      const shown = await client.show(siteJobId).catch(() => undefined);
      const evidence = shown === undefined ? undefined : evidenceOf(fields, shown, reference.field);
      if (evidence?.kind === 'shown' || (evidence !== undefined && isUser))
        await noteReference(db, reference, evidence);
    }
  } finally {
    await client.close();
  }
}
