// What becomes of the open changes of postings with unreadable records.
import { expect, it } from 'vitest';
import { feedName, type PostingKey, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { protectUnreadable } from '../../src/store/change/merge/protect-unreadable.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { PullTransaction } from '../../src/store/pull/pull-transaction.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('file', { max: 2 }, (opened) => {
  db = opened;
});

interface OpenChange {
  readonly desired: 'present' | 'absent';
  readonly attempt: 'create' | 'update' | 'delete' | undefined;
  readonly uncertain: boolean;
  readonly contentKnown: boolean;
}
type Becomes = 'kept' | 'dropped' | 'as_sent' | 'restored' | 'held';

const KNOWN = { uncertain: false, contentKnown: true } as const;
const ADOPTED = { uncertain: false, contentKnown: false } as const;
const absent = { desired: 'absent', attempt: undefined } as const;
const present = { desired: 'present', attempt: undefined } as const;

const protectedCases: readonly (readonly [OpenChange, Becomes])[] = [
  [{ ...present, ...KNOWN }, 'kept'],
  [{ ...present, ...ADOPTED }, 'kept'],
  [{ ...present, ...KNOWN, uncertain: true }, 'kept'],
  [{ ...present, ...KNOWN, attempt: 'create' }, 'kept'],
  [{ ...present, ...KNOWN, attempt: 'update' }, 'kept'],
  [{ ...present, ...KNOWN, attempt: 'delete' }, 'kept'],
  [{ ...absent, ...KNOWN, attempt: 'create' }, 'as_sent'],
  [{ ...absent, ...ADOPTED, attempt: 'create' }, 'as_sent'],
  [{ ...absent, ...KNOWN, attempt: 'update' }, 'as_sent'],
  [{ ...absent, ...ADOPTED, attempt: 'update' }, 'as_sent'],
  [{ ...absent, ...KNOWN, attempt: 'update', uncertain: true }, 'as_sent'],
  [{ ...absent, ...KNOWN }, 'dropped'],
  [{ ...absent, ...ADOPTED }, 'dropped'],
  [{ ...absent, ...KNOWN, uncertain: true }, 'restored'],
  [{ ...absent, ...ADOPTED, uncertain: true }, 'held'],
  [{ ...absent, ...KNOWN, attempt: 'delete' }, 'restored'],
  [{ ...absent, ...ADOPTED, attempt: 'delete' }, 'held'],
  [{ ...absent, ...KNOWN, attempt: 'delete', uncertain: true }, 'restored'],
  [{ ...absent, ...ADOPTED, attempt: 'delete', uncertain: true }, 'held'],
];

const OPERATION = { present: 'update', absent: 'delete' } as const;
const ACCEPTED = { title: 'Accepted' };
const SENT = { title: 'Sent' };
const DESIRED = { title: 'Desired' };

/** Writes the open change of a posting, and what the database knows of its job. */
async function write(key: PostingKey, { desired, attempt, uncertain, contentKnown }: OpenChange): Promise<void> {
  // What an ended attempt sent stays in the row until the next one.
  const hasSent = desired === 'absent' && attempt !== 'delete';
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, target_state, missing_pulls, gone,
       attempt_token, attempt_operation, sent_fields, sent_record_hash, sent_content_hash, sent_revision)
     values ('acme', $12, 'board', $1, $2, $3, $4, 'ready', $8, $9, $5, $6, $7, $10, $10, $11)`,
    [
      desired,
      OPERATION[desired],
      desired === 'present' ? DESIRED : null,
      attempt === undefined ? 'ready' : 'sending',
      attempt === undefined ? null : crypto.randomUUID(),
      attempt ?? null,
      hasSent ? SENT : null,
      desired === 'present' ? 1 : 0,
      desired === 'present',
      hasSent ? Buffer.alloc(16, 1) : null,
      hasSent ? 1 : null,
      key,
    ],
  );
  if (attempt !== 'create') {
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', $1, 'board', 'job-' || $1, '', '')`,
      [key],
    );
  }
  if (contentKnown && attempt !== 'create') {
    await db.query(`insert into document (feed, key, fields) values ('acme', $1, $2)`, [key, ACCEPTED]);
  }
  if (uncertain) {
    await db.query(
      `insert into uncertain_write (feed, key, revision, fields, until) values ('acme', $1, 1, '{title}', now() + interval '1 hour')`,
      [key],
    );
  }
}

/** The open changes after a pull that saw unreadable records of these postings, and no other ones. */
async function protect(keys: readonly PostingKey[]): Promise<ReadonlyMap<string, object>> {
  const pullTx = await PullTransaction.open(db, { pull: 1, feed: feedName('acme'), site: siteName('board') });
  try {
    await pullTx.loadIndex();
    await pullTx.addUnreadableKeys(keys);
    await protectUnreadable(pullTx, () => false);
    const rows = await pullTx.session.query<{ key: string }>(
      `select key, desired, operation, fields, state, target_state, gone, unseen, missing_pulls, sent_revision is not null as superseded
       from change`,
    );
    return new Map(rows.map(({ key, ...row }) => [key, row]));
  } finally {
    await pullTx.abandon();
  }
}

/** What is then in the table. */
function expected({ attempt }: OpenChange, becomes: Becomes): object | undefined {
  const isOpen = attempt !== undefined;
  const state = isOpen ? 'sending' : 'ready';
  const seen = { state, target_state: 'ready', gone: false, unseen: true, missing_pulls: 0 };
  switch (becomes) {
    case 'kept':
      return { ...seen, desired: 'present', operation: 'update', fields: DESIRED, superseded: false };
    case 'dropped':
      return undefined;
    case 'as_sent':
      return { ...seen, desired: 'present', operation: attempt, fields: SENT, superseded: false };
    case 'restored':
      return { ...seen, desired: 'present', operation: 'update', fields: ACCEPTED, superseded: isOpen };
    case 'held':
      return {
        ...{ desired: 'absent', operation: 'delete', fields: null, state: isOpen ? 'sending' : 'held' },
        ...{ target_state: 'held', gone: false, unseen: false, missing_pulls: 0, superseded: isOpen },
      };
    default:
      throw new Error(becomes satisfies never);
  }
}

it('become what the table of the function says, in every case', async () => {
  const cases = protectedCases.map(([change, becomes], at) => ({ key: postingKey(`k${at}`), change, becomes }));
  for (const { key, change } of cases) await write(key, change);
  const after = await protect(cases.map(({ key }) => key));
  for (const { key, change, becomes } of cases) {
    expect({ change, becomes, row: after.get(key) }).toEqual({ change, becomes, row: expected(change, becomes) });
  }
});
