// The index in which a pull looks up records: every record hash in the database, with its mark.
import { beforeAll, expect, it } from 'vitest';
import { RecordMark } from '../../src/compact/record-index.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { loadRecordIndex } from '../../src/store/pull/record-hashes.ts';
import { databaseFor } from '../support/database.ts';

/** More than fit into one chunk of COPY's stream. */
const POSTINGS = 3_000;
const { mapped, superseding, open } = RecordMark;

let db: Database;
databaseFor('file', { max: 2 }, (opened) => {
  db = opened;
});
beforeAll(async () => {
  // Of every ten postings, one was missing recently, one has a change, and one has a change that replaced the one in flight;
  // half of the latter have gone missing since.
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash, missing_pulls)
     select f, n, 'board', f || n, decode(md5(f || ' mapped ' || n), 'hex'), '\\x00', (n % 10 = 0)::int
     from generate_series(1, ${POSTINGS}) n, unnest(array['acme', 'globex']) f`,
  );
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, record_hash, attempt_token, sent_record_hash, gone)
     select 'acme', n, 'board', 'present', 'update', '{}', case n % 10 when 1 then 'ready' else 'sending' end,
       decode(md5('acme open ' || n), 'hex'), case n % 10 when 1 then null else gen_random_uuid() end,
       case n % 10 when 1 then null else decode(md5('acme sent ' || n), 'hex') end, n % 20 = 2
     from generate_series(1, ${POSTINGS}) n where n % 10 in (1, 2)`,
  );
});

it('holds every record of the feed, whichever query loaded it', async () => {
  const session = await db.session();
  const index = await loadRecordIndex(session, feedName('acme'));
  await session.end();
  expect(index.size).toBe(POSTINGS + POSTINGS / 5 + POSTINGS / 10);
  const found = async (what: string) => {
    const rows = await db.query<{ n: number; hash: Buffer }>(
      `select n, decode(md5('acme ${what} ' || n), 'hex') as hash from generate_series(1, ${POSTINGS}) n order by n`,
    );
    return rows.map(({ n, hash }) => {
      const slot = index.find(hash);
      return { n, mark: slot < 0 ? undefined : index.mark(slot) };
    });
  };
  const all = Array.from({ length: POSTINGS }, (_, at) => at + 1);
  expect(await found('mapped')).toEqual(all.map((n) => ({ n, mark: n % 10 <= 2 ? superseding : mapped })));
  expect(await found('open')).toEqual(
    all.map((n) => ({ n, mark: [1, 2].includes(n % 10) ? (n % 20 === 2 ? superseding : open) : undefined })),
  );
  expect(await found('sent')).toEqual(all.map((n) => ({ n, mark: n % 10 === 2 ? superseding : undefined })));
});
