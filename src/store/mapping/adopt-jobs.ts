// Maps postings to jobs that exist on the site, with what the site shows of them. A posting is adopted wholly or not at all.

import type { ShownForms } from '../../plan/compare-shown.ts';
import { type FeedPolicy, updatesJobs } from '../../plan/policy.ts';
import { contentHash } from '../../posting/hash.ts';
import {
  type FeedName,
  type PostingKey,
  postingKey,
  type SiteJobId,
  type SiteName,
} from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { auditAction } from '../access/audit.ts';
import { adoptImported, LOCK_IMPORTED, refusedJobs } from '../change/imported-jobs.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import { RowCopier, temporaryTable } from '../postgres/copy-rows.ts';
import { type Queryable, type Session, transactionOn } from '../postgres/database.ts';
import { unreadHashSql } from '../pull/record-hashes.ts';
import { confirmSiteAt } from '../site/known-address.ts';

export interface Adoption {
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly url: string | undefined;
  /**
   * Those fields of the posting that the job shows: as it shows them, or as the posting has them if that means the same. The next
   * update sends whatever differs.
   */
  readonly shown: Fields;
  readonly forms?: ShownForms;
}

export interface RefusedAdoption {
  readonly key: PostingKey;
  readonly message: string;
}

export interface AdoptionSubject {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Where the jobs were read: if the site has moved since then, all are refused. */
  readonly address: string;
  readonly actor: string;
  /** When the jobs were read: one that was deleted since then is refused. */
  readonly since: Date;
  /** If it changes no job, nothing is sent for the postings. */
  readonly policy: FeedPolicy | undefined;
  /** What the audit should say of the postings. */
  readonly detail?: object;
}

const ADOPTED_COLUMNS = {
  line: 'integer',
  feed: 'text',
  site: 'text',
  key: 'text',
  site_job_id: 'text',
  site_job_url: 'text',
  shown: 'json',
  forms: 'bytea',
  content_hash: 'bytea',
} as const;

/**
 * Adopts in one transaction. The caller holds the feed's pull lock, so that no pull adds changes for these postings meanwhile.
 * Returns those that cannot be adopted any more, with the reason; nothing is written for them.
 */
export async function adoptJobs(
  session: Session,
  { feed, site, address, actor, since, policy, detail }: AdoptionSubject,
  adoptions: readonly Adoption[],
): Promise<RefusedAdoption[]> {
  return transactionOn(session, async () => {
    await lockOutcomesShared(session, [feed]);
    await session.query(`${temporaryTable('imported', ADOPTED_COLUMNS)} on commit drop`);
    const copier = new RowCopier(session, 'imported', ADOPTED_COLUMNS);
    await copier.copy(
      adoptions.map(({ key, siteJobId, url, shown, forms }, line) => [
        line,
        feed,
        site,
        key,
        siteJobId,
        url ?? null,
        shown,
        forms ?? null,
        contentHash(shown),
      ]),
    );
    await session.query(LOCK_IMPORTED);
    if (!(await confirmSiteAt(session, site, address))) {
      return adoptions.map(({ key }) => ({ key, message: `the jobs of site ${site} are no longer at ${address}` }));
    }
    const refused = [...(await removeRefused(session, since)), ...(await insertMappings(session))];
    await writeAdopted(session, feed, policy);
    const added = adoptions.length - refused.length;
    if (added > 0) {
      const [only] = adoptions;
      const one = adoptions.length === 1 && only !== undefined ? { key: only.key } : {};
      const job = only !== undefined && adoptions.length === 1 ? { siteJobId: only.siteJobId } : { added };
      await auditAction(session, { actor, action: 'adopt jobs', feed, ...one, detail: { ...job, ...detail } });
    }
    return refused;
  });
}

async function removeRefused(session: Queryable, since: Date): Promise<RefusedAdoption[]> {
  const rows = await session.query<{ key: string; message: string }>(
    `with refused as (
       select key, message from (${refusedJobs('imported', false)}) r
     union all
       select i.key, 'job ' || i.site_job_id || ' has been deleted meanwhile'
       from imported i where i.site_job_id in (select q.site_job_id from request q
         where q.at >= $1 and q.operation = 'delete' and q.site_job_id is not null)),
     removed as (delete from imported where key in (select key from refused))
     select key, min(message) as message from refused group by key order by key`,
    [since],
  );
  return rows.map(({ key, message }) => ({ key: postingKey(key), message }));
}

/**
 * The record hash matches nothing, so that the next pull compares the posting with what the site shows. Returns those that another process was faster with.
 */
async function insertMappings(session: Queryable): Promise<RefusedAdoption[]> {
  const rows = await session.query<{ key: string }>(
    `with added as (
       insert into mapping (feed, key, site, site_job_id, site_job_url, record_hash, content_hash, adopted)
       select feed, key, site, site_job_id, site_job_url, ${unreadHashSql('imported')},
         content_hash, true
       from imported order by site_job_id on conflict do nothing returning feed, key)
     delete from imported i where not exists (select from added a where a.feed = i.feed and a.key = i.key) returning i.key`,
  );
  const message = 'the posting or its job has just been mapped by another process';
  return rows.map(({ key }) => ({ key: postingKey(key), message }));
}

async function writeAdopted(session: Queryable, feed: FeedName, policy: FeedPolicy | undefined): Promise<void> {
  await session.query(
    `insert into document (feed, key, fields, shown) select feed, key, shown, forms from imported
     on conflict (feed, key) do update set fields = excluded.fields, shown = excluded.shown`,
  );
  await adoptImported(session, updatesJobs(policy) ? [] : [feed]);
  await session.query(
    `delete from site_reference r using imported i where r.site = i.site and r.site_job_id = i.site_job_id`,
  );
}
