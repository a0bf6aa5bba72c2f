// Pauses a site before anything is sent to an address other than the one where its jobs were made.
import { type Message, messageOf, tell } from '../plan/message.ts';
import type { SiteName } from '../posting/identifiers.ts';
import type { Database } from '../store/postgres/database.ts';
import { searchAnew } from '../store/site/ahead-signs.ts';
import { forgetRewrites } from '../store/site/kept-values.ts';
import {
  claimAddress,
  findMove,
  pauseMovedSite,
  returnToFormerPause,
  type SiteMove,
  setAddress,
} from '../store/site/known-address.ts';
import { endPause, readSiteState } from '../store/site/site-state.ts';
import type { SiteContext } from './site-context.ts';

/**
 * Pauses a site whose address differs from that of its jobs, until a person confirms that it is the same site: at the
 * new address those job IDs may be anybody's (law 4). Resumes the site if base_url was set back, unless a person has to decide about an earlier pause.
 */
export async function confirmAddress(siteContext: SiteContext): Promise<void> {
  const { db, site, address, log, writeAction } = siteContext;
  const taken = await takeAddress(db, site, address);
  switch (taken.kind) {
    case 'known': {
      const state = await readSiteState(db, site);
      if (state.movedTo !== undefined) await resumeAtAddress(siteContext);
      return;
    }
    case 'new':
      return;
    case 'moved': {
      const cause = describeMove(site, taken.move);
      await pauseMovedSite(db, site, address, cause);
      log.error({ site, cause: tell(cause, writeAction) }, 'site paused');
      return;
    }
    default:
      return taken satisfies never;
  }
}

/**
 * Resumes a site that was paused because of another address than this process has, which is that of the site's jobs: another process has,
 * or had, the other one, and sends nothing there. Returns whether it is resumed.
 */
export async function resumeAtAddress({ db, site, address, log }: SiteContext): Promise<boolean> {
  if (await returnToFormerPause(db, site)) {
    log.warn({ site, address }, 'base_url was set back: the site stays paused for the reason that it had before');
    return false;
  }
  await endPause(db, site);
  log.info({ site, address }, 'site resumed: base_url was set back');
  return true;
}

export type TakenAddress =
  | { readonly kind: 'known' | 'new' }
  /** The site has jobs at another address; nothing was recorded. */
  | { readonly kind: 'moved'; readonly move: SiteMove };

/**
 * Records the address before the database knows jobs there. What was learnt of the site at an address without jobs, such as that
 * it has no jobs of a feed, does not apply at a new one.
 */
export const takeAddress = (db: Database, site: SiteName, address: string): Promise<TakenAddress> =>
  db.transaction(async (tx) => {
    // Locks the site's row: see `confirmSiteAt`.
    const known = await claimAddress(tx, site, address);
    if (known === address) return { kind: 'known' };
    const move = await findMove(tx, site, address);
    if (move !== undefined) return { kind: 'moved', move };
    await forgetRewrites(tx, site);
    await searchAnew(tx, site);
    await setAddress(tx, site, address);
    return { kind: 'new' };
  });

/** Describes the move and the ways to continue. */
export function describeMove(site: SiteName, { from, to, jobs, inDoubt }: SiteMove): Message {
  const doubts = inDoubt === 0 ? '' : `, and ${inDoubt} more whose outcome is unknown`;
  const [lead, setting] =
    to.endsWith('.xml') || from.endsWith('.xml')
      ? ['base_url and resource.path lead', 'base_url and resource.path']
      : ['base_url leads', 'base_url'];
  return messageOf(`${lead} to ${to}, but the jobs of the site (${jobs}${doubts}) were made at ${from}`, [
    {
      words: 'If it is the same site at a new address',
      action: { kind: 'resume_site', site, because: 'moved' },
    },
    { words: `If it is another site, set ${setting} back and give the other site a name of its own` },
  ]);
}
