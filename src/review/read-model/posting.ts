// Everything recorded about one posting, as scripts see it.
import type { Config } from '../../config/config.ts';
import { createOnlyOf } from '../../plan/create-only-fields.ts';
import { messageOfReason } from '../../plan/desired-change.ts';
import { tell, type WriteAction } from '../../plan/message.ts';
import type { OpenChangeRow } from '../../store/change/open-change.ts';
import type { LiveJob, PostingStory } from '../../store/review/posting-history.ts';

import { versionOfPosting } from '../entry-version.ts';
import { editableIn } from '../plan-edit.ts';
import { actionsOfChange } from '../possible-actions.ts';

import { editsVersion } from '../undo-edit.ts';
import { fieldDifferences } from './field-differences.ts';
import { pullJson } from './pull.ts';

export function postingJson(posting: PostingStory, write: WriteAction, config: Config) {
  const { live, change, lastPull, ...story } = posting;
  const editable = editableIn(config, posting);
  const createOnly = createOnlyOf(config.feeds.get(story.feed)?.mapping ?? {});
  return {
    feed: story.feed,
    key: story.key,
    version: versionOfPosting(posting) ?? null,
    not_editable: editable.kind === 'editable' ? null : tell(editable.message, write),
    site_job: live === undefined ? null : siteJobJson(live),
    change: change === undefined ? null : changeJson(change, write),
    expired_at: story.expiry?.expiredAt ?? null,
    renewed_at: story.expiry?.renewedAt ?? null,
    skipped_by_date:
      story.skipped === undefined ? null : { since: story.skipped.since ?? null, until: story.skipped.until ?? null },
    edits: story.edits.map(({ field, sourceValue, value }) => ({ field, source_value: sourceValue, value })),
    edits_version: editsVersion(story.edits),
    differences: fieldDifferences(change?.fields, live?.fields, createOnly).filter(({ differs }) => differs),
    notes: story.notes,
    record: story.record ?? null,
    detail: story.detail === undefined ? null : detailJson(story.detail),
    requests: story.requests.map(({ siteJobId, ...request }) => ({ ...request, site_job_id: siteJobId })),
    failures: story.failures,
    duplicates: story.duplicates.map((row) => row.id),
    unreadable: story.unreadable,
    acts: story.acts,
    last_pull: lastPull === undefined ? null : pullJson(lastPull, write),
  };
}

const SHOWN_BYTES = 2_048;

const detailJson = ({ requestedAt, document }: NonNullable<PostingStory['detail']>) => ({
  requested_at: requestedAt,
  excerpt: document.toString('utf8', 0, SHOWN_BYTES),
});

const siteJobJson = (live: LiveJob) => ({
  site: live.site,
  site_job_id: live.siteJobId,
  site_job_url: live.url ?? null,
  mapped_at: live.since,
  missing_pulls: live.missingPulls,
  fields: live.fields ?? null,
});

const changeJson = (change: OpenChangeRow, write: WriteAction) => ({
  id: change.id,
  state: change.state,
  operation: change.operation,
  desired_fields: change.fields ?? null,
  since: change.since,
  attempts: change.attempts,
  reason: change.reason === undefined ? null : tell(messageOfReason(change.reason), write),
  problems: change.reason?.problems ?? [],
  note: change.reason?.note ?? null,
  actions: actionsOfChange(change),
});
