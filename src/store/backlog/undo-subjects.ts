// Reads the postings that a pull changed or wants to change, with what the site had of each before and has now.
import pg from 'pg';
import { contentBefore, type FormerValues, type UndoneSubject } from '../../plan/undo-posting.ts';
import { contentHash } from '../../posting/hash.ts';
import { type FeedName, type PostingKey, postingKey } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { inBatches } from '../postgres/cursor.ts';
import type { Session } from '../postgres/database.ts';

export interface UndoPosting extends UndoneSubject {
  readonly key: PostingKey;
}

/** Documents are a few kilobytes each. */
const BATCH = 500;

/**
 * Streams them in the order of their keys. Changed since: a later pull has sent something for the posting, a person has edited it
 * after the pull, or another one's change is open; or a job was mapped in place of one that the pull deleted.
 */
export async function* undoSubjects(session: Session, feed: FeedName, pull: number): AsyncGenerator<UndoPosting[]> {
  const ofFeed = `feed = ${pg.escapeLiteral(feed)}`;
  const select = `with touched as (
      select key from former_document where ${ofFeed} and pull = ${pull} and not edited
      union select key from mapping where ${ofFeed} and created_by = ${pull}
      union select key from change where ${ofFeed} and pull = ${pull})
    select t.key, m.key is not null as mapped, m.content_hash, m.created_by, m.adopted, d.fields as document, f.requests,
      u.key is not null as uncertain, c.attempt_token is not null as attempting,
      l.key is not null or coalesce(m.created_by > ${pull}, false) or coalesce(c.pull <> ${pull}, c.key is not null) as changed
    from touched t
    left join mapping m on m.${ofFeed} and m.key = t.key
    left join document d on d.${ofFeed} and d.key = t.key
    left join change c on c.${ofFeed} and c.key = t.key
    left join uncertain_write u on u.${ofFeed} and u.key = t.key and (u.fields is not null or u.until > now())
    left join (select key, json_agg(json_build_object('fields', fields, 'whole', whole) order by id desc) as requests
      from former_document where ${ofFeed} and pull = ${pull} and not edited group by key) f on f.key = t.key
    left join (select distinct key from former_document where ${ofFeed} and (pull > ${pull} or pull = ${pull} and edited)) l on l.key = t.key
    order by t.key`;
  for await (const rows of inBatches(session, 'undo_subject', select, BATCH)) {
    yield rows.map((row) => subjectOf(row, pull));
  }
}

// biome-ignore lint/suspicious/noExplicitAny: columns are named in the cursor's query.
function subjectOf(row: any, pull: number): UndoPosting {
  const requests = ((row.requests ?? []) as { fields: FormerValues['fields'] | null; whole: boolean }[]).map(
    ({ fields, whole }): FormerValues => ({ fields: fields ?? undefined, whole }),
  );
  const isOfPull = row.created_by === pull;
  const isOwnCreate = isOfPull && !row.adopted;
  const [newest] = requests;
  const isReplaced = newest?.whole === true && row.mapped && !isOwnCreate;
  return {
    key: postingKey(row.key),
    before: beforeOf(requests, row.mapped, isOwnCreate, (row.document ?? undefined) as Fields | undefined),
    actual: row.mapped ? { contentHash: row.content_hash as Buffer, uncertain: row.uncertain } : undefined,
    accepted: requests.length > 0 || isOfPull,
    foundInDoubt: isOfPull && row.adopted && requests.length === 0,
    attempting: row.attempting,
    changedSince: row.changed || isReplaced,
  };
}

function beforeOf(
  requests: readonly FormerValues[],
  mapped: boolean,
  isOwnCreate: boolean,
  document: Fields | undefined,
): UndoneSubject['before'] {
  if (requests.length === 0 && (isOwnCreate || !mapped)) return { kind: 'absent' };
  const fields = contentBefore(requests, document);
  return fields === undefined ? { kind: 'unknown' } : { kind: 'present', fields, contentHash: contentHash(fields) };
}
