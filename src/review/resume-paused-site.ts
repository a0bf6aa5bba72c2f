// Resumes sending to a paused site, as a person decides.
import type { SiteName } from '../posting/identifiers.ts';
import type { Database } from '../store/postgres/database.ts';
import { auditAction } from '../store/review/audit.ts';
import { setAddress } from '../store/site/known-address.ts';
import { resumeSite, trustGone } from '../store/site/site-state.ts';

export interface ResumeOptions {
  readonly actor: string;
  /** The site was really emptied: it is believed for a day when it says that jobs are gone. */
  readonly emptied: boolean;
  /** It is the same site, with the same jobs, at this address. */
  readonly movedTo?: string | undefined;
}

/** Returns whether it was paused. */
export async function resumePausedSite(
  db: Database,
  site: SiteName,
  { actor, emptied, movedTo }: ResumeOptions,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const paused = await resumeSite(tx, site);
    if (emptied) await trustGone(tx, site);
    if (movedTo !== undefined) await setAddress(tx, site, movedTo);
    const detail = { site, paused, emptied, ...(movedTo === undefined ? {} : { moved_to: movedTo }) };
    await auditAction(tx, { actor, action: 'resume', detail });
    return paused;
  });
}
