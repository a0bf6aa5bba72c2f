// Resumes sending to a paused site, as a person decides.
import type { SiteName } from '../../posting/identifiers.ts';
import { auditAction } from '../../store/access/audit.ts';
import type { Database, Queryable } from '../../store/postgres/database.ts';
import { setAddress } from '../../store/site/known-address.ts';
import { lockSiteState, readSiteState, resumeSite, stateAt, trustGone } from '../../store/site/site-state.ts';

export interface ResumeOptions {
  readonly actor: string;
  /** The site was really emptied: it is believed for a day when it says that jobs are gone. */
  readonly emptied: boolean;
  /** It is the same site, with the same jobs, at this address. */
  readonly movedTo?: string | undefined;
  /** Resume only the pause that the person saw: another cause may need something else. */
  readonly seen?: SeenPause | undefined;
}

/** A pause as a process with this address and token sees it. */
export interface SeenPause {
  /** When it began, as it was shown; `undefined`: the site was not paused. */
  readonly since: string | undefined;
  readonly address: string;
  /** Digest of the token: see `tokenDigest`. */
  readonly token: string | undefined;
}

export type Resumed =
  | { readonly kind: 'resumed'; readonly wasPaused: boolean }
  /** Nothing was changed: it is not paused any more, or was paused again. */
  | { readonly kind: 'refused'; readonly message: string };

export async function resumePausedSite(
  db: Database,
  site: SiteName,
  { actor, emptied, movedTo, seen }: ResumeOptions,
): Promise<Resumed> {
  return db.transaction(async (tx) => {
    const other = seen === undefined ? undefined : await whyOther(tx, site, seen);
    if (other !== undefined) return { kind: 'refused', message: other };
    const paused = await resumeSite(tx, site);
    if (emptied) await trustGone(tx, site);
    if (movedTo !== undefined) await setAddress(tx, site, movedTo);
    const detail = { site, paused, emptied, ...(movedTo === undefined ? {} : { moved_to: movedTo }) };
    await auditAction(tx, { actor, action: 'resume', detail });
    return { kind: 'resumed', wasPaused: paused };
  });
}

async function whyOther(
  tx: Queryable,
  site: SiteName,
  { since, address, token }: SeenPause,
): Promise<string | undefined> {
  await lockSiteState(tx, site);
  const now = stateAt(address, await readSiteState(tx, site, token)).pausedSince?.toISOString();
  if (now === since) return undefined;
  const state = now === undefined ? 'is not paused any more' : `was paused again at ${now}`;
  return `site ${site} ${state}; nothing was changed`;
}
