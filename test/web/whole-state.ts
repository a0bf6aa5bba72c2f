// Everything that a request or a form could change, so that tests see that nothing was.
import { createHash } from 'node:crypto';
import type { Stage } from '../review/stage.ts';

const TABLES = [
  'change',
  'mapping',
  'document',
  'record_problem',
  'override',
  'audit',
  'bulk_action',
  'review_rule',
  'group_note',
  'pull',
  'site_state',
  'rekey_posting',
  'rekey_line',
  'adopt_run',
  'adopt_proposal',
  'web_session',
];

/** A digest of their rows. */
export async function digestOf(stage: Stage): Promise<string> {
  const rows = [];
  for (const table of TABLES) rows.push(await stage.app.db.query(`select * from ${table} order by 1, 2`));
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}
