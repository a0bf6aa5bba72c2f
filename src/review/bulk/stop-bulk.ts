// Stops an action on many review entries, or lets it go on.

import { auditAction } from '../../store/access/audit.ts';
import type { Database } from '../../store/postgres/database.ts';
import { setBulkState } from '../../store/review/bulk-actions.ts';

/** After its present batch; what it did stays. Returns false if it is done or unknown. */
export const stopBulk = (db: Database, id: number, actor: string): Promise<boolean> => set(db, id, actor, 'stop');

/** Somebody has to carry it out. Returns false if it is done or unknown. */
export const continueBulk = (db: Database, id: number, actor: string): Promise<boolean> =>
  set(db, id, actor, 'continue');

const STATES = { stop: 'stopped', continue: 'open' } as const;

const set = (db: Database, id: number, actor: string, to: keyof typeof STATES): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await setBulkState(tx, id, STATES[to]))) return false;
    await auditAction(tx, { actor, action: `${to} bulk`, detail: { bulk: id } });
    return true;
  });
