// The migrations that `0100_schema.sql` replaces, and a database as they left it.
import { FORMER_TABLE } from '../../src/store/postgres/migrate.ts';
import { runSql } from './sql.ts';

export const FORMER_MIGRATIONS: readonly string[] = `
  0001_schema
  0002_messages
  0003_source_version
  0004_skipped
  0005_record_number
  0006_feed_warnings
  0007_detail
  0008_detail_record
  0009_hold_reason
  0010_unlisted_detail
  0011_failed_detail
  0012_counted_states
  0013_review_entry
  0014_alerts
  0015_bulk_action
  0016_posting_events
  0017_unplanned_detail
  0018_web
  0020_undo
  0022_rekey
  0024_group_notes_and_rules
  0026_entry_by_key
  0028_pages_of_pulls
  0029_pages_of_activity
  0032_restored
  0036_feed_verify
  0038_posting_expiry
  0040_adopt_run
  0042_jobs_by_title
  0043_kept_record
  0045_review_counts
  0046_mapping_counts
  0047_review_words
  0048_jobs_by_words
  0050_bulk_doubts
  0053_ended_content
  0056_adopt_decisions
  0057_expiry_by_age
  0058_rekey_groups
  0059_counted_changes
  0062_rekey_lines
  0063_rekey_triggers
  0065_adopt_found
  0066_edited_since
  0067_entry_part
  0068_create_only_fields
  0069_unscheduled
  0070_titled_jobs
  0071_former_pause
  0072_feed_policy
  0073_found_features
  0074_reference_kept
  0075_shown_forms
  0076_set_up_suspects
  0077_accepted_token
  0078_rekey_question
  0079_membership_rule
  0080_weak_proof
  0083_shown_jobs
  0084_expired_bare
  0085_deleted_job
  0086_recovered
  0090_dated_record
  0091_entry_circumstances`
  .trim()
  .split(/\s+/)
  .map((name) => `${name}.sql`);

/** Gives a migrated database back what only the former schema had. */
export async function makeFormer(url: string): Promise<void> {
  await runSql(url, FORMER_TABLE);
  await runSql(
    url,
    `create function entry_part(discarded boolean, group_id text, kind text, feed text, site text) returns bigint
     language sql immutable parallel safe as 'select 0::bigint'`,
  );
  await runSql(url, 'delete from migration');
  for (const name of FORMER_MIGRATIONS) await runSql(url, `insert into migration (name) values ('${name}')`);
}
