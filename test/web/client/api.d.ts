// The types of the API's client. SHA-256 of the document: 33c35dd8fd8aee1e86dc7afe61c8affe47de483f130823cd101a1ed90920a553
// GET /status 200 400 401 403 429 503: sites array, sites.kind string, sites.site string, sites.state string, sites.pauses array, sites.pauses.id integer, sites.pauses.site string|null, sites.pauses.feed string|null, sites.pauses.since string, sites.pauses.until, sites.pauses.by string, sites.pauses.reason string|null, sites.pauses.pulls boolean, sites.pauses.message string, sites.paused_since, sites.pause_cause string|null, sites.next_probe, sites.probes integer, sites.waits_until, sites.learnt_requests_per_second number|null, sites.token_refused boolean, sites.other_refused_tokens array, sites.other_refused_tokens.since string, sites.other_refused_tokens.noted_by string, sites.unreachable_streak integer, sites.last_message string|null, sites.address string|null, sites.moved_to string|null, sites.moved string|null, sites.orphans integer, sites.references, sites.references_note string|null, sites.workers integer, sites.configurations_differ string|null, sites.failing array, sites.actions array, sites.actions.kind string, feeds array, feeds.kind string, feeds.feed string, feeds.site string, feeds.configured boolean, feeds.served boolean, feeds.retired boolean, feeds.stopped, feeds.stopped.undo integer, feeds.stopped.undone, feeds.stopped.since string, feeds.pauses array, feeds.pauses.id integer, feeds.pauses.site string|null, feeds.pauses.feed string|null, feeds.pauses.since string, feeds.pauses.until, feeds.pauses.by string, feeds.pauses.reason string|null, feeds.pauses.pulls boolean, feeds.pauses.message string, feeds.escalated boolean, feeds.live integer, feeds.ready integer, feeds.sending integer, feeds.in_doubt integer, feeds.held integer, feeds.rejected integer, feeds.failed integer, feeds.unreadable integer, feeds.duplicates integer, feeds.discarded integer, feeds.hold_reason string|null, feeds.held_advice, feeds.held_advice.words? string, feeds.held_advice.action? object, feeds.held_advice.action.kind string, feeds.rekey string|null, feeds.restored string|null, feeds.search string|null, feeds.left string|null, feeds.held_for_seconds, feeds.in_doubt_for_seconds, feeds.schedule string|null, feeds.time_zone string|null, feeds.schedule_processes integer, feeds.next_run, feeds.last_run, feeds.last_complete, feeds.late_seconds, feeds.late string|null, feeds.last_verify, feeds.last_verify.at string, feeds.last_verify.jobs integer, feeds.last_verify.same integer, feeds.last_verify.changed integer, feeds.last_verify.gone integer, feeds.last_verify.foreign integer, feeds.last_verify.untold integer, feeds.last_verify.marked integer, feeds.last_verify.left integer, feeds.last_verify.message? string, feeds.warnings array, feeds.failing array, feeds.actions array, feeds.actions.kind string, feeds.last_pull, feeds.last_pull.pull integer, feeds.last_pull.feed string, feeds.last_pull.undoes, feeds.last_pull.status string, feeds.last_pull.complete boolean, feeds.last_pull.started_at string, feeds.last_pull.finished_at, feeds.last_pull.seen integer, feeds.last_pull.unchanged integer, feeds.last_pull.duplicates integer, feeds.last_pull.unreadable integer, feeds.last_pull.skipped integer, feeds.last_pull.expired integer, feeds.last_pull.gone integer, feeds.last_pull.grace integer, feeds.last_pull.discarded integer, feeds.last_pull.bytes integer, feeds.last_pull.duration_ms, feeds.last_pull.weak string|null, feeds.last_pull.shortfalls array, feeds.last_pull.message string|null, feeds.last_pull.actions array, feeds.last_pull.actions.kind string, check object, check.kind string, check.status string, check.failing array, check.failing.condition string, check.failing.site string|null, check.failing.feed string|null, check.failing.message string, check.failing.detail string|null, check.review array, check.review.condition string, check.review.site string|null, check.review.feed string|null, check.review.message string, check.review.detail string|null, pauses array, pauses.id integer, pauses.site string|null, pauses.feed string|null, pauses.since string, pauses.until, pauses.by string, pauses.reason string|null, pauses.pulls boolean, pauses.message string, workers integer, differences string|null
// GET /feeds 200 400 401 403 429 503: items array, items.kind string, items.feed string, items.site string, items.configured boolean, items.served boolean, items.retired boolean, items.stopped, items.stopped.undo integer, items.stopped.undone, items.stopped.since string, items.pauses array, items.pauses.id integer, items.pauses.site string|null, items.pauses.feed string|null, items.pauses.since string, items.pauses.until, items.pauses.by string, items.pauses.reason string|null, items.pauses.pulls boolean, items.pauses.message string, items.escalated boolean, items.live integer, items.ready integer, items.sending integer, items.in_doubt integer, items.held integer, items.rejected integer, items.failed integer, items.unreadable integer, items.duplicates integer, items.discarded integer, items.hold_reason string|null, items.held_advice, items.held_advice.words? string, items.held_advice.action? object, items.held_advice.action.kind string, items.rekey string|null, items.restored string|null, items.search string|null, items.left string|null, items.held_for_seconds, items.in_doubt_for_seconds, items.schedule string|null, items.time_zone string|null, items.schedule_processes integer, items.next_run, items.last_run, items.last_complete, items.late_seconds, items.late string|null, items.last_verify, items.last_verify.at string, items.last_verify.jobs integer, items.last_verify.same integer, items.last_verify.changed integer, items.last_verify.gone integer, items.last_verify.foreign integer, items.last_verify.untold integer, items.last_verify.marked integer, items.last_verify.left integer, items.last_verify.message? string, items.warnings array, items.failing array, items.actions array, items.actions.kind string, items.last_pull, items.last_pull.pull integer, items.last_pull.feed string, items.last_pull.undoes, items.last_pull.status string, items.last_pull.complete boolean, items.last_pull.started_at string, items.last_pull.finished_at, items.last_pull.seen integer, items.last_pull.unchanged integer, items.last_pull.duplicates integer, items.last_pull.unreadable integer, items.last_pull.skipped integer, items.last_pull.expired integer, items.last_pull.gone integer, items.last_pull.grace integer, items.last_pull.discarded integer, items.last_pull.bytes integer, items.last_pull.duration_ms, items.last_pull.weak string|null, items.last_pull.shortfalls array, items.last_pull.message string|null, items.last_pull.actions array, items.last_pull.actions.kind string, next_cursor string|null
// GET /feeds/{feed} 200 400 401 403 404 429 503: kind string, feed string, site string, configured boolean, served boolean, retired boolean, stopped, stopped.undo integer, stopped.undone, stopped.since string, pauses array, pauses.id integer, pauses.site string|null, pauses.feed string|null, pauses.since string, pauses.until, pauses.by string, pauses.reason string|null, pauses.pulls boolean, pauses.message string, escalated boolean, live integer, ready integer, sending integer, in_doubt integer, held integer, rejected integer, failed integer, unreadable integer, duplicates integer, discarded integer, hold_reason string|null, held_advice, held_advice.words? string, held_advice.action? object, held_advice.action.kind string, rekey string|null, restored string|null, search string|null, left string|null, held_for_seconds, in_doubt_for_seconds, schedule string|null, time_zone string|null, schedule_processes integer, next_run, last_run, last_complete, late_seconds, late string|null, last_verify, last_verify.at string, last_verify.jobs integer, last_verify.same integer, last_verify.changed integer, last_verify.gone integer, last_verify.foreign integer, last_verify.untold integer, last_verify.marked integer, last_verify.left integer, last_verify.message? string, warnings array, failing array, actions array, actions.kind string, last_pull, last_pull.pull integer, last_pull.feed string, last_pull.undoes, last_pull.status string, last_pull.complete boolean, last_pull.started_at string, last_pull.finished_at, last_pull.seen integer, last_pull.unchanged integer, last_pull.duplicates integer, last_pull.unreadable integer, last_pull.skipped integer, last_pull.expired integer, last_pull.gone integer, last_pull.grace integer, last_pull.discarded integer, last_pull.bytes integer, last_pull.duration_ms, last_pull.weak string|null, last_pull.shortfalls array, last_pull.message string|null, last_pull.actions array, last_pull.actions.kind string
// POST /feeds/samples 200 400 401 403 409 413 415 422 429 503: id string, name string, bytes integer, upload boolean, whole boolean
// POST /feeds/recognise 200 400 401 403 409 413 415 422 429 503: feed string, text string, sample, sample.id string, sample.name string, sample.bytes integer, sample.upload boolean, sample.whole boolean, format string|null, description string|null, key array, assumed array, encoding string|null, records integer, filled array, notes array, variables array, second, second.format string, second.postings integer, second.records integer, second.gains array, second.losses array
// POST /feeds/{feed}/try 200 400 401 403 404 409 413 415 422 429 503: feed string, valid boolean, problems array, warnings array, message string|null, on_sample boolean, trial, trial.complete boolean, trial.shortfalls array, trial.weak string|null, trial.partial boolean, trial.records integer, trial.postings integer, trial.sent integer, trial.rejected integer, trial.unreadable integer, trial.skipped integer, trial.repeated integer, trial.conflicting integer, trial.without_detail integer, trial.rejections array, trial.rejections.field string|null, trial.rejections.message string, trial.rejections.count integer, trial.rejections.examples array, trial.rejections.examples.key string|null, trial.rejections.examples.record integer, trial.rejections.examples.value string|null, trial.unreadable_records array, trial.unreadable_records.field string|null, trial.unreadable_records.message string, trial.unreadable_records.count integer, trial.unreadable_records.examples array, trial.unreadable_records.examples.key string|null, trial.unreadable_records.examples.record integer, trial.unreadable_records.examples.value string|null, trial.repeated_keys array, trial.repeated_keys.key string, trial.repeated_keys.same_content boolean, trial.mistakes array, trial.samples array, trial.samples.key string, trial.samples.record array, trial.samples.record.path string, trial.samples.record.value string, trial.samples.fields object, trial.samples.problems array, trial.samples.problems.field string|null, trial.samples.problems.message string, trial.samples.notes array, fields array, fields.field string, fields.required boolean, fields.from string|null, fields.filled integer, fields.refused integer, key array, sampled integer, paths array, paths.path string, paths.records integer, paths.distinct integer, paths.values array, settings, settings.site string, settings.policy string, settings.schedule string|null, settings.time_zone string, settings.pulled string, settings.next_runs array, settings.delete_guard object, settings.delete_guard.percent number, settings.delete_guard.count integer, settings.delete_guard.missing_pulls integer, settings.delete_guard.deletes
// POST /feeds/{feed}/plan 200 400 401 403 404 409 413 415 422 429 503: feed string, planned boolean, message string|null, create integer, update integer, delete integer, unchanged integer, rejected integer, unreadable integer, live integer, grace integer, held string|null, shortfalls array, warnings array, changes array, changes.feed string, changes.key string, changes.operation string, changes.fields object, changes.held? boolean, changes.reason? string
// POST /feeds/{feed}/uploads 200 400 401 403 404 409 413 415 422 429 503: feed string, result string, version integer, records integer, sent integer, rejected integer, complete boolean
// GET /feeds/{feed}/uploads 200 400 401 403 404 429 503: items array, items.version integer, items.at string, items.actor string, items.name string, items.bytes integer, items.present boolean, items.of_backup boolean, next_cursor string|null
// POST /feeds/{feed}/uploads/{version}/restore 200 400 401 403 404 409 413 415 422 429 503: feed string, result string, version integer
// POST /feeds/{feed}/pulls 202 400 401 403 404 409 413 415 422 429 503: pull integer, feed string
// POST /feeds/{feed}/resume 200 400 401 403 404 409 413 415 422 429 503: feed string, resumed boolean, still array
// POST /feeds/{feed}/renew 200 400 401 403 404 409 413 415 422 429 503: feed string, renewed integer
// GET /feeds/{feed}/file 200 400 401 403 404 429 503: feed string, file string, text string, seen string|null, read_only string|null
// POST /feeds/{feed}/file 200 400 401 403 404 409 413 415 422 429 503: feed string, result string, file string, seen string|null, version, new boolean, text string|null, reason string|null, include string|null, warnings array
// POST /feeds/{feed}/file/check 200 400 401 403 404 409 413 415 422 429 503: feed string, right boolean, problems array, problems.file string, problems.line, problems.column, problems.setting string, problems.message string, warnings array
// GET /feeds/{feed}/file/versions 200 400 401 403 404 429 503: items array, items.version integer, items.at string, items.actor string|null, items.present boolean, items.lines integer, next_cursor string|null
// GET /feeds/{feed}/file/versions/{version} 200 400 401 403 404 429 503: version integer, at string, actor string|null, present boolean, lines integer, feed string, text string
// POST /feeds/{feed}/file/versions/{version}/restore 200 400 401 403 404 409 413 415 422 429 503: feed string, result string, file string, seen string|null, version, new boolean, text string|null, reason string|null, include string|null, warnings array
// GET /feeds/{feed}/rekey 200 400 401 403 404 429 503: feed string, suspected boolean, message? string, current? boolean, sure? integer, unsure? integer, new? integer, missing? integer, marks? object, marks.sure string, marks.all string, items array, items.key string|null, items.old_key string|null, items.job_id string|null, items.second_job_id string|null, items.title string|null, items.verdict string, items.reasons array, items.version string, next_cursor string|null
// POST /feeds/{feed}/rekey 200 400 401 403 404 409 413 415 422 429 503: feed string, not_rekey boolean, bound? integer, refused? array, refused.key string, refused.old_key string, refused.message string, left? integer, creates? integer, deletes? integer, held? integer
// GET /feeds/{feed}/adopt 200 400 401 403 404 429 503: feed string, state string, run? integer, asked? string, actor? string, started_at? string, ended_at?, progress? string|null, message? string|null, adopted? integer, refused? integer, refusals? array, refusals.key string, refusals.job_id string, refusals.message string, matched_at?, notes? array, sure? integer, unsure? integer, unmatched? integer, other_jobs? integer, mark? string|null, items array, items.key string, items.title string|null, items.verdict string, items.reasons array, items.version string, items.own_job_id string|null, items.candidates array, items.candidates.job_id string, items.candidates.url string|null, items.candidates.title string|null, items.candidates.score number, items.candidates.reasons array, items.candidates.differences array, items.candidates.differences.field string, items.candidates.differences.job string|null, items.candidates.differences.posting string|null, items.candidates.more_fields integer, items.candidates.owned boolean, next_cursor string|null
// POST /feeds/{feed}/adopt 202 400 401 403 404 409 413 415 422 429 503: feed string, run integer
// GET /feeds/{feed}/found 200 400 401 403 404 429 503: feed string, sure integer, left integer, mark string, items array, items.entry integer, items.key string, items.job_id string, items.message string|null, next_cursor string|null
// POST /feeds/{feed}/found 202 400 401 403 404 409 413 415 422 429 503: bulk integer, action string, actor string, state string, started_at string, touched_at string, total integer, done integer, still_rejected integer, left_alone integer, to_do integer, reasons array, reasons.message string, reasons.count integer, edit, edit.set? object, edit.map? object, edit.map.field string, edit.map.values object, reason string|null, unattended boolean, waits_for string|null, rule
// GET /pulls 200 400 401 403 429 503: items array, items.pull integer, items.feed string, items.undoes, items.status string, items.complete boolean, items.started_at string, items.finished_at, items.seen integer, items.unchanged integer, items.duplicates integer, items.unreadable integer, items.skipped integer, items.expired integer, items.gone integer, items.grace integer, items.discarded integer, items.bytes integer, items.duration_ms, items.weak string|null, items.shortfalls array, items.message string|null, items.actions array, items.actions.kind string, items.created integer, items.updated integer, items.deleted integer, items.requests integer, next_cursor string|null
// GET /pulls/{id} 200 400 401 403 404 429 503: pull integer, feed string, undoes, status string, complete boolean, started_at string, finished_at, seen integer, unchanged integer, duplicates integer, unreadable integer, skipped integer, expired integer, gone integer, grace integer, discarded integer, bytes integer, duration_ms, weak string|null, shortfalls array, message string|null, actions array, actions.kind string, created integer, updated integer, deleted integer, requests integer
// GET /pulls/{pull}/undo 200 400 401 403 404 429 503: pull integer, feed string, started_at string, restored integer, created_again integer, deleted integer, withdrawn integer, left_out integer, creates_wait boolean, held string|null, seen string, lines array, lines.feed string, lines.key string, lines.operation string, lines.fields object, lines.held? boolean, lines.reason? string, lines.key string|null, lines.kind string, lines.reason string, lines.problems array, lines.problems.field? string, lines.problems.value? string, lines.problems.message string, lines.problems.repaired? boolean, lines.problems.choose? boolean, lines.excerpt? string, lines.records? integer, more integer
// POST /pulls/{pull}/undo 202 400 401 403 404 409 413 415 422 429 503: pull integer, undoes integer, feed string, restored integer, created_again integer, deleted integer, withdrawn integer, left_out integer, creates_wait boolean, held string|null
// GET /feeds/{feed}/postings 200 400 401 403 404 429 503: items array, items.kind string, items.state string, items.key string, items.site_job_id string|null, items.site_job_url string|null, items.since string, items.reason string|null, items.problems array, items.problems.field? string, items.problems.value? string, items.problems.message string, items.problems.repaired? boolean, items.problems.choose? boolean, next_cursor string|null
// GET /feeds/{feed}/postings/{key} 200 400 401 403 404 429 503: feed string, key string, state, site_job_id string|null, site_job_url string|null, reasons array, seen string|null, version string|null, not_editable string|null, site_job, site_job.site string, site_job.site_job_id string, site_job.site_job_url string|null, site_job.mapped_at string, site_job.missing_pulls integer, site_job.fields, change, change.id integer, change.state string, change.operation string, change.desired_fields, change.since string, change.attempts integer, change.reason string|null, change.problems array, change.problems.field? string, change.problems.value? string, change.problems.message string, change.problems.repaired? boolean, change.problems.choose? boolean, change.note string|null, change.actions array, change.actions.kind string, waits_for string|null, expired_at, renewed_at, skipped_by_date, skipped_by_date.since, skipped_by_date.until, edits array, edits.field string, edits.source_value string|null, edits.value string, edits_version string, differences array, differences.field string, differences.desired string|null, differences.site string|null, differences.differs boolean, notes array, notes.field? string, notes.value? string, notes.message string, notes.repaired? boolean, notes.choose? boolean, record string|null, detail, detail.requested_at string, detail.excerpt string, requests array, requests.at string, requests.operation string, requests.site_job_id string|null, requests.status, requests.outcome string, failures array, failures.at string, failures.operation string, failures.kind string, failures.problems array, failures.problems.field? string, failures.problems.value? string, failures.problems.message string, failures.problems.repaired? boolean, failures.problems.choose? boolean, failures.request, failures.request.method string, failures.request.url string, failures.request.body? string, failures.response, failures.response.status integer, failures.response.location? string, failures.response.body string, duplicates array, unreadable array, unreadable.id integer, unreadable.since string, unreadable.discarded boolean, unreadable.reason string, acts array, acts.at string, acts.actor string, acts.action string, acts.reason? string, last_pull, last_pull.pull integer, last_pull.feed string, last_pull.undoes, last_pull.status string, last_pull.complete boolean, last_pull.started_at string, last_pull.finished_at, last_pull.seen integer, last_pull.unchanged integer, last_pull.duplicates integer, last_pull.unreadable integer, last_pull.skipped integer, last_pull.expired integer, last_pull.gone integer, last_pull.grace integer, last_pull.discarded integer, last_pull.bytes integer, last_pull.duration_ms, last_pull.weak string|null, last_pull.shortfalls array, last_pull.message string|null, last_pull.actions array, last_pull.actions.kind string
// POST /feeds/{feed}/postings/{key}/sync 202 400 401 403 404 409 413 415 422 429 503: feed string, key string, pull
// POST /feeds/{feed}/postings/{key}/edit 200 400 401 403 404 409 413 415 422 429 503: action string, entry integer, feed string, key string|null, result string, message string, still_rejected? boolean, actions array, actions.kind string, now string|null, detail string|null
// POST /feeds/{feed}/postings/{key}/undo-edit 200 400 401 403 404 409 413 415 422 429 503: feed string, key string, undone array, message string
// POST /feeds/{feed}/postings/{key}/renew 200 400 401 403 404 409 413 415 422 429 503: feed string, key string, message string
// GET /review 200 400 401 403 429 503: items array, items.id integer, items.feed string, items.site string|null, items.key string|null, items.kind string, items.operation, items.since string, items.age_seconds integer, items.escalated boolean, items.reason string, items.discarded? boolean, items.seen string, next_cursor string|null
// GET /review/groups 200 400 401 403 429 503: items array, items.group string, items.kind string, items.field string|null, items.message string, items.count integer, items.first_seen string, items.last_seen string, items.trend string, items.values array, items.values.value string, items.values.count integer, items.value_count integer, items.feeds array, items.feeds.feed string, items.feeds.count integer, items.sites array, items.sites.site string, items.sites.count integer, items.example object, items.example.id integer, items.example.feed string, items.example.key string|null, items.example.value string|null, items.example.reason string, items.notes array, items.notes.note integer, items.notes.group string, items.notes.text string, items.notes.actor string, items.notes.at string, items.rules array, items.rules.rule integer, items.rules.group string, items.rules.kind string, items.rules.field string|null, items.rules.message string, items.rules.feed string|null, items.rules.action string, items.rules.edit, items.rules.edit.set? object, items.rules.edit.map? object, items.rules.edit.map.field string, items.rules.edit.map.values object, items.rules.reason string|null, items.rules.actor string, items.rules.made_at string, items.rules.ended_at, items.rules.ended_by string|null, items.rules.done integer, items.rules.left_alone integer, next_cursor string|null
// GET /review/groups/{group} 200 400 401 403 404 429 503: group string, kind string, field string|null, message string, count integer, first_seen string, last_seen string, trend string, values array, values.value string, values.count integer, value_count integer, feeds array, feeds.feed string, feeds.count integer, sites array, sites.site string, sites.count integer, example object, example.id integer, example.feed string, example.key string|null, example.value string|null, example.reason string, notes array, notes.note integer, notes.group string, notes.text string, notes.actor string, notes.at string, rules array, rules.rule integer, rules.group string, rules.kind string, rules.field string|null, rules.message string, rules.feed string|null, rules.action string, rules.edit, rules.edit.set? object, rules.edit.map? object, rules.edit.map.field string, rules.edit.map.values object, rules.reason string|null, rules.actor string, rules.made_at string, rules.ended_at, rules.ended_by string|null, rules.done integer, rules.left_alone integer, waiting integer, discarded integer, in_question array, offers array, offers.action string, offers.count integer, offers.seen string|null, offers.left_alone array, offers.left_alone.message string, offers.left_alone.count integer, offers.by_feed array, offers.by_feed.feed string, offers.by_feed.count integer, offers.by_feed.seen string|null
// GET /review/selection 200 400 401 403 429 503: count integer, seen string, mark string, answer_first string|null, left_alone integer, reasons array, reasons.message string, reasons.count integer
// POST /review/actions 202 400 401 403 409 413 415 422 429 503: bulk integer, action string, actor string, state string, started_at string, touched_at string, total integer, done integer, still_rejected integer, left_alone integer, to_do integer, reasons array, reasons.message string, reasons.count integer, edit, edit.set? object, edit.map? object, edit.map.field string, edit.map.values object, reason string|null, unattended boolean, waits_for string|null, rule
// GET /review/actions 200 400 401 403 429 503: items array, items.bulk integer, items.action string, items.actor string, items.state string, items.started_at string, items.touched_at string, items.total integer, items.done integer, items.still_rejected integer, items.left_alone integer, items.to_do integer, items.reasons array, items.reasons.message string, items.reasons.count integer, items.edit, items.edit.set? object, items.edit.map? object, items.edit.map.field string, items.edit.map.values object, items.reason string|null, items.unattended boolean, items.waits_for string|null, items.rule, next_cursor string|null
// GET /review/actions/{id} 200 400 401 403 404 429 503: bulk integer, action string, actor string, state string, started_at string, touched_at string, total integer, done integer, still_rejected integer, left_alone integer, to_do integer, reasons array, reasons.message string, reasons.count integer, edit, edit.set? object, edit.map? object, edit.map.field string, edit.map.values object, reason string|null, unattended boolean, waits_for string|null, rule
// POST /review/actions/{id}/stop 200 400 401 403 404 409 413 415 422 429 503: bulk integer, action string, actor string, state string, started_at string, touched_at string, total integer, done integer, still_rejected integer, left_alone integer, to_do integer, reasons array, reasons.message string, reasons.count integer, edit, edit.set? object, edit.map? object, edit.map.field string, edit.map.values object, reason string|null, unattended boolean, waits_for string|null, rule
// POST /review/actions/{id}/continue 200 400 401 403 404 409 413 415 422 429 503: bulk integer, action string, actor string, state string, started_at string, touched_at string, total integer, done integer, still_rejected integer, left_alone integer, to_do integer, reasons array, reasons.message string, reasons.count integer, edit, edit.set? object, edit.map? object, edit.map.field string, edit.map.values object, reason string|null, unattended boolean, waits_for string|null, rule
// GET /review/rules 200 400 401 403 429 503: items array, items.rule integer, items.group string, items.kind string, items.field string|null, items.message string, items.feed string|null, items.action string, items.edit, items.edit.set? object, items.edit.map? object, items.edit.map.field string, items.edit.map.values object, items.reason string|null, items.actor string, items.made_at string, items.ended_at, items.ended_by string|null, items.done integer, items.left_alone integer, next_cursor string|null
// POST /review/rules 200 400 401 403 409 413 415 422 429 503: rule integer, group string, kind string, field string|null, message string, feed string|null, action string, edit, edit.set? object, edit.map? object, edit.map.field string, edit.map.values object, reason string|null, actor string, made_at string, ended_at, ended_by string|null, done integer, left_alone integer
// POST /review/rules/{id}/end 200 400 401 403 404 409 413 415 422 429 503: rule integer, group string, kind string, field string|null, message string, feed string|null, action string, edit, edit.set? object, edit.map? object, edit.map.field string, edit.map.values object, reason string|null, actor string, made_at string, ended_at, ended_by string|null, done integer, left_alone integer
// POST /review/groups/{group}/notes 200 400 401 403 404 409 413 415 422 429 503: note integer, group string, text string, actor string, at string
// POST /review/notes/{id}/remove 200 400 401 403 404 409 413 415 422 429 503: note integer, group string, text string, actor string, at string
// GET /review/{id} 200 400 401 403 404 429 503: id integer, seen string, version string, feed string, site? string, key string|null, kind string, discarded_from? string, discarded? boolean, operation? string, since string, age_seconds integer, escalated? boolean, reason? string|null, problems array, problems.field? string, problems.value? string, problems.message string, problems.repaired? boolean, problems.choose? boolean, note? string|null, attempts? integer, sent_operation?, sent_at?, sent_fields?, desired_fields?, site_job_id? string|null, site_job_url? string|null, site_job_since?, site_fields?, edits? array, edits.field string, edits.source_value string|null, edits.value string, record? string|null, failures? array, failures.at string, failures.operation string, failures.kind string, failures.problems array, failures.problems.field? string, failures.problems.value? string, failures.problems.message string, failures.problems.repaired? boolean, failures.problems.choose? boolean, failures.request, failures.request.method string, failures.request.url string, failures.request.body? string, failures.response, failures.response.status integer, failures.response.location? string, failures.response.body string, excerpt? string, record_number?, first_pull? integer, records? integer, actions array, actions.kind string
// GET /review/{id}/candidates 200 400 401 403 404 429 503: entry integer, version string, feed string, key string, site string, sent_at string, sent_fields object, known_jobs array, candidates array, candidates.site_job_id string, candidates.answer string, candidates.message string|null, candidates.url string|null, candidates.created_at, candidates.likeness, candidates.owned boolean|null, candidates.fields, candidates.differing
// POST /review/{id}/retry 200 400 401 403 404 409 413 415 422 429 503: action string, entry integer, feed string, key string|null, result string, message string, still_rejected? boolean, actions array, actions.kind string, now string|null, detail string|null
// POST /review/{id}/approve 200 400 401 403 404 409 413 415 422 429 503: action string, entry integer, feed string, key string|null, result string, message string, still_rejected? boolean, actions array, actions.kind string, now string|null, detail string|null
// POST /review/{id}/discard 200 400 401 403 404 409 413 415 422 429 503: action string, entry integer, feed string, key string|null, result string, message string, still_rejected? boolean, actions array, actions.kind string, now string|null, detail string|null
// POST /review/{id}/reopen 200 400 401 403 404 409 413 415 422 429 503: action string, entry integer, feed string, key string|null, result string, message string, still_rejected? boolean, actions array, actions.kind string, now string|null, detail string|null
// POST /review/{id}/edit 200 400 401 403 404 409 413 415 422 429 503: action string, entry integer, feed string, key string|null, result string, message string, still_rejected? boolean, actions array, actions.kind string, now string|null, detail string|null
// POST /review/{id}/settle 200 400 401 403 404 409 413 415 422 429 503: action string, entry integer, feed string, key string|null, result string, message string, still_rejected? boolean, actions array, actions.kind string, now string|null, detail string|null
// GET /sites 200 400 401 403 429 503: items array, items.kind string, items.site string, items.state string, items.pauses array, items.pauses.id integer, items.pauses.site string|null, items.pauses.feed string|null, items.pauses.since string, items.pauses.until, items.pauses.by string, items.pauses.reason string|null, items.pauses.pulls boolean, items.pauses.message string, items.paused_since, items.pause_cause string|null, items.next_probe, items.probes integer, items.waits_until, items.learnt_requests_per_second number|null, items.token_refused boolean, items.other_refused_tokens array, items.other_refused_tokens.since string, items.other_refused_tokens.noted_by string, items.unreachable_streak integer, items.last_message string|null, items.address string|null, items.moved_to string|null, items.moved string|null, items.orphans integer, items.references, items.references_note string|null, items.workers integer, items.configurations_differ string|null, items.failing array, items.actions array, items.actions.kind string, next_cursor string|null
// GET /queues 200 400 401 403 429 503: queue string, workers integer, sites, sites.site string, sites.waiting integer, sites.active integer, backlog array, backlog.feed string, backlog.site string, backlog.state string, backlog.changes integer, backlog.oldest_age_seconds integer
// POST /sites/{site}/resume 200 400 401 403 404 409 413 415 422 429 503: site string, was_paused boolean, token_proven boolean
// POST /pause 200 400 401 403 409 413 415 422 429 503: pause object, pause.id integer, pause.site string|null, pause.feed string|null, pause.since string, pause.until, pause.by string, pause.reason string|null, pause.pulls boolean, pause.message string, changed boolean, in_flight integer
// POST /resume 200 400 401 403 409 413 415 422 429 503: ended, ended.id integer, ended.site string|null, ended.feed string|null, ended.since string, ended.until, ended.by string, ended.reason string|null, ended.pulls boolean, ended.message string, still array
// GET /changes 200 400 401 403 429 503: kept_since string, items array, items.change integer, items.at string, items.feed string, items.key string, items.title string|null, items.operation string, items.why string, items.cause string, items.pull, items.undoes, items.actor string|null, items.fields array, items.site_job_id string|null, items.site_job_url string|null, next_cursor string|null
// GET /activity/actions 200 400 401 403 429 503: items array, items.at string, items.kind string, items.actor string|null, items.action string, items.count integer, items.feed string|null, items.key string|null, items.edits array, items.edits.field string, items.edits.before string|null, items.edits.before_known boolean, items.edits.after string|null, items.detail object, items.activity, items.bulk, items.pull, items.place string, next_cursor string|null
// GET /reload 200 400 401 403 429 503: processes array, processes.command string, processes.host string, processes.pid integer, processes.at, processes.result string, processes.cause string|null, processes.added array, processes.changed array, processes.removed array, processes.sites array, processes.others array, processes.restart array, processes.problems array, waiting array
// POST /reload 200 400 401 403 409 413 415 422 429 503: processes array, processes.command string, processes.host string, processes.pid integer, processes.at, processes.result string, processes.cause string|null, processes.added array, processes.changed array, processes.removed array, processes.sites array, processes.others array, processes.restart array, processes.problems array, waiting array
// GET /activity 200 400 401 403 429 503: items array, items.activity integer, items.at string, items.actor string, items.action string, items.feed string|null, items.key string|null, items.edits array, items.edits.field string, items.edits.before string|null, items.edits.before_known boolean, items.edits.after string|null, items.detail object, next_cursor string|null
// biome-ignore-all assist: generated
// biome-ignore-all format: generated
// biome-ignore-all lint: generated
/**
 * This file was auto-generated by openapi-typescript.
 * Do not make direct changes to the file.
 */

export interface paths {
    "/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["showActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/feeds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listFeeds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/feeds/{feed}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["showFeed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/feeds/{feed}/postings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPostings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/feeds/{feed}/postings/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["showPosting"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pulls/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["showPull"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listReview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/review/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listReviewActions"];
        put?: never;
        post: operations["actOnReview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/review/actions/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["stopReviewAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/review/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listReviewGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/review/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["showEntry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/review/{id}/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["editEntry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSites"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            errors?: ({
                where: string;
                message: string;
            } & {
                [key: string]: unknown;
            })[];
        } & {
            [key: string]: unknown;
        };
        Shared8: {
            undo: number;
            undone: number | null;
            since: string;
        };
        Shared9: {
            id: number;
            site: string | null;
            feed: string | null;
            since: string;
            until: string | null;
            by: string;
            reason: string | null;
            pulls: boolean;
            message: string;
        };
        Shared11: {
            kind: string;
        } & {
            [key: string]: unknown;
        };
        Shared10: {
            words?: string;
            action?: components["schemas"]["Shared11"];
        };
        Shared12: {
            at: string;
            jobs: number;
            same: number;
            changed: number;
            gone: number;
            foreign: number;
            untold: number;
            marked: number;
            left: number;
            message?: string;
        };
        Shared13: {
            pull: number;
            feed: string;
            undoes: number | null;
            /** @enum {string} */
            status: "running" | "mirrored" | "not_modified" | "incomplete" | "failed" | "pending" | "review";
            complete: boolean;
            started_at: string;
            finished_at: string | null;
            seen: number;
            unchanged: number;
            duplicates: number;
            unreadable: number;
            skipped: number;
            expired: number;
            gone: number;
            grace: number;
            discarded: number;
            bytes: number;
            duration_ms: number | null;
            weak: string | null;
            shortfalls: string[];
            message: string | null;
            actions: components["schemas"]["Shared11"][];
        };
        Shared7: {
            /** @constant */
            kind: "feed";
            feed: string;
            site: string;
            configured: boolean;
            served: boolean;
            retired: boolean;
            stopped: components["schemas"]["Shared8"] | null;
            pauses: components["schemas"]["Shared9"][];
            escalated: boolean;
            live: number;
            ready: number;
            sending: number;
            in_doubt: number;
            held: number;
            rejected: number;
            failed: number;
            unreadable: number;
            duplicates: number;
            discarded: number;
            hold_reason: string | null;
            held_advice: components["schemas"]["Shared10"] | null;
            rekey: string | null;
            restored: string | null;
            search: string | null;
            left: string | null;
            held_for_seconds: number | null;
            in_doubt_for_seconds: number | null;
            schedule: string | null;
            time_zone: string | null;
            schedule_processes: number;
            next_run: string | null;
            last_run: string | null;
            last_complete: string | null;
            late_seconds: number | null;
            late: string | null;
            last_verify: components["schemas"]["Shared12"] | null;
            warnings: string[];
            failing: string[];
            actions: components["schemas"]["Shared11"][];
            last_pull: components["schemas"]["Shared13"] | null;
        };
        Shared18: {
            field?: string;
            value?: string;
            message: string;
            /** @constant */
            repaired?: true;
            /** @constant */
            choose?: true;
        };
        Shared24: {
            field: string;
            source_value: string | null;
            value: string;
        };
        Shared29: {
            method: string;
            url: string;
            body?: string;
        };
        Shared30: {
            status: number;
            location?: string;
            body: string;
        };
        Shared28: {
            at: string;
            operation: string;
            kind: string;
            problems: components["schemas"]["Shared18"][];
            request: components["schemas"]["Shared29"] | null;
            response: components["schemas"]["Shared30"] | null;
        };
        Shared40: {
            feed?: string;
            site?: string;
            group?: string;
            q?: string;
            older_than?: string;
            newer_than?: string;
            kinds?: ("in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held")[];
            ids?: number[];
        };
        Shared51: {
            message: string;
            count: number;
        };
        Shared53: {
            field: string;
            values: {
                [key: string]: string;
            };
        };
        Shared52: {
            set?: {
                [key: string]: string;
            };
            map?: components["schemas"]["Shared53"];
        };
        Shared50: {
            bulk: number;
            /** @enum {string} */
            action: "edit" | "retry" | "approve" | "discard" | "reopen" | "missing" | "check" | "adopt";
            actor: string;
            /** @enum {string} */
            state: "open" | "stopped" | "done";
            started_at: string;
            touched_at: string;
            total: number;
            done: number;
            still_rejected: number;
            left_alone: number;
            to_do: number;
            reasons: components["schemas"]["Shared51"][];
            edit: components["schemas"]["Shared52"] | null;
            reason: string | null;
            unattended: boolean;
            waits_for: string | null;
            rule: number | null;
        };
    };
    responses: {
        Shared4: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    showActivity: {
        parameters: {
            query?: {
                feed?: string;
                actor?: string;
                of?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            activity: number;
                            at: string;
                            actor: string;
                            action: string;
                            feed: string | null;
                            key: string | null;
                            edits: {
                                field: string;
                                before: string | null;
                                before_known: boolean;
                                after: string | null;
                            }[];
                            detail: {
                                [key: string]: unknown;
                            };
                        }[];
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    listFeeds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Shared7"][];
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    showFeed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                feed: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shared7"];
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            404: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    listPostings: {
        parameters: {
            query?: {
                state?: string;
                q?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                feed: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @constant */
                            kind: "posting";
                            /** @enum {string} */
                            state: "rejected" | "failed" | "in_doubt" | "discarded" | "held" | "kept" | "failed_delete" | "pending_delete" | "grace" | "pending" | "expired" | "live";
                            key: string;
                            site_job_id: string | null;
                            site_job_url: string | null;
                            since: string;
                            reason: string | null;
                            problems: components["schemas"]["Shared18"][];
                        }[];
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            404: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    showPosting: {
        parameters: {
            query?: {
                like?: "true" | "false";
            };
            header?: never;
            path: {
                feed: string;
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        feed: string;
                        key: string;
                        state: ("rejected" | "failed" | "in_doubt" | "discarded" | "held" | "kept" | "failed_delete" | "pending_delete" | "grace" | "pending" | "expired" | "live") | null;
                        site_job_id: string | null;
                        site_job_url: string | null;
                        reasons: string[];
                        seen: string | null;
                        version: string | null;
                        not_editable: string | null;
                        site_job: {
                            site: string;
                            site_job_id: string;
                            site_job_url: string | null;
                            mapped_at: string;
                            missing_pulls: number;
                            fields: {
                                [key: string]: string;
                            } | null;
                        } | null;
                        change: {
                            id: number;
                            /** @enum {string} */
                            state: "ready" | "sending" | "in_doubt" | "held" | "rejected" | "failed" | "discarded";
                            /** @enum {string} */
                            operation: "create" | "update" | "delete";
                            desired_fields: {
                                [key: string]: string;
                            } | null;
                            since: string;
                            attempts: number;
                            reason: string | null;
                            problems: components["schemas"]["Shared18"][];
                            note: string | null;
                            actions: components["schemas"]["Shared11"][];
                        } | null;
                        waits_for: string | null;
                        expired_at: string | null;
                        renewed_at: string | null;
                        skipped_by_date: {
                            since: string | null;
                            until: string | null;
                        } | null;
                        edits: components["schemas"]["Shared24"][];
                        edits_version: string;
                        differences: {
                            field: string;
                            desired: string | null;
                            site: string | null;
                            differs: boolean;
                        }[];
                        notes: components["schemas"]["Shared18"][];
                        record: string | null;
                        detail: {
                            requested_at: string;
                            excerpt: string;
                        } | null;
                        requests: {
                            at: string;
                            operation: string;
                            site_job_id: string | null;
                            status: number | null;
                            outcome: string;
                        }[];
                        failures: components["schemas"]["Shared28"][];
                        duplicates: number[];
                        unreadable: {
                            id: number;
                            since: string;
                            discarded: boolean;
                            reason: string;
                        }[];
                        acts: {
                            at: string;
                            actor: string;
                            action: string;
                            reason?: string;
                        }[];
                        last_pull: components["schemas"]["Shared13"] | null;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            404: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    showPull: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pull: number;
                        feed: string;
                        undoes: number | null;
                        /** @enum {string} */
                        status: "running" | "mirrored" | "not_modified" | "incomplete" | "failed" | "pending" | "review";
                        complete: boolean;
                        started_at: string;
                        finished_at: string | null;
                        seen: number;
                        unchanged: number;
                        duplicates: number;
                        unreadable: number;
                        skipped: number;
                        expired: number;
                        gone: number;
                        grace: number;
                        discarded: number;
                        bytes: number;
                        duration_ms: number | null;
                        weak: string | null;
                        shortfalls: string[];
                        message: string | null;
                        actions: components["schemas"]["Shared11"][];
                        created: number;
                        updated: number;
                        deleted: number;
                        requests: number;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            404: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    listReview: {
        parameters: {
            query?: {
                feed?: string;
                site?: string;
                group?: string;
                q?: string;
                older_than?: string;
                newer_than?: string;
                kind?: string;
                discarded?: "true" | "false";
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            id: number;
                            feed: string;
                            site: string | null;
                            key: string | null;
                            /** @enum {string} */
                            kind: "in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held";
                            operation: ("create" | "update" | "delete") | null;
                            since: string;
                            age_seconds: number;
                            escalated: boolean;
                            reason: string;
                            /** @constant */
                            discarded?: true;
                            seen: string;
                        }[];
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    listReviewActions: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Shared50"][];
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    actOnReview: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    action: "edit";
                    filter: components["schemas"]["Shared40"];
                    expected?: number;
                    seen?: string | string[];
                    mark?: string;
                    edit: {
                        set?: {
                            [key: string]: string;
                        };
                        map?: {
                            field: string;
                            values: {
                                [key: string]: string;
                            };
                        };
                    };
                    anyway?: boolean;
                    all_feeds?: boolean;
                    also_new?: boolean;
                } | {
                    /** @constant */
                    action: "retry";
                    filter: components["schemas"]["Shared40"];
                    expected?: number;
                    seen?: string | string[];
                    mark?: string;
                    also_new?: boolean;
                } | {
                    /** @constant */
                    action: "approve";
                    filter: components["schemas"]["Shared40"];
                    expected?: number;
                    seen?: string | string[];
                    mark?: string;
                } | {
                    /** @constant */
                    action: "discard";
                    filter: components["schemas"]["Shared40"];
                    expected?: number;
                    seen?: string | string[];
                    mark?: string;
                    reason?: string;
                    also_new?: boolean;
                } | {
                    /** @constant */
                    action: "reopen";
                    filter: components["schemas"]["Shared40"];
                    expected?: number;
                    seen?: string | string[];
                    mark?: string;
                } | {
                    /** @constant */
                    action: "missing";
                    filter: components["schemas"]["Shared40"];
                    expected?: number;
                    seen?: string | string[];
                    mark?: string;
                } | {
                    /** @constant */
                    action: "check";
                    filter: components["schemas"]["Shared40"];
                    expected?: number;
                    seen?: string | string[];
                    mark?: string;
                };
            };
        };
        responses: {
            202: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shared50"];
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            409: components["responses"]["Shared4"];
            413: components["responses"]["Shared4"];
            415: components["responses"]["Shared4"];
            422: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    stopReviewAction: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shared50"];
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            404: components["responses"]["Shared4"];
            409: components["responses"]["Shared4"];
            413: components["responses"]["Shared4"];
            415: components["responses"]["Shared4"];
            422: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    listReviewGroups: {
        parameters: {
            query?: {
                feed?: string;
                site?: string;
                group?: string;
                q?: string;
                older_than?: string;
                newer_than?: string;
                kind?: string;
                discarded?: "true" | "false";
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            group: string;
                            /** @enum {string} */
                            kind: "in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held";
                            field: string | null;
                            message: string;
                            count: number;
                            first_seen: string;
                            last_seen: string;
                            /** @enum {string} */
                            trend: "new" | "growing" | "shrinking" | "steady" | "back";
                            values: {
                                value: string;
                                count: number;
                            }[];
                            value_count: number;
                            feeds: {
                                feed: string;
                                count: number;
                            }[];
                            sites: {
                                site: string;
                                count: number;
                            }[];
                            example: {
                                id: number;
                                feed: string;
                                key: string | null;
                                value: string | null;
                                reason: string;
                            };
                            notes: {
                                note: number;
                                group: string;
                                text: string;
                                actor: string;
                                at: string;
                            }[];
                            rules: {
                                rule: number;
                                group: string;
                                /** @enum {string} */
                                kind: "in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held";
                                field: string | null;
                                message: string;
                                feed: string | null;
                                /** @enum {string} */
                                action: "edit" | "retry" | "discard";
                                edit: components["schemas"]["Shared52"] | null;
                                reason: string | null;
                                actor: string;
                                made_at: string;
                                ended_at: string | null;
                                ended_by: string | null;
                                done: number;
                                left_alone: number;
                            }[];
                        }[];
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    showEntry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: number;
                        seen: string;
                        version: string;
                        feed: string;
                        site?: string;
                        key: string | null;
                        /** @enum {string} */
                        kind: "in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held" | "ready" | "sending" | "discarded";
                        /** @enum {string} */
                        discarded_from?: "rejected" | "failed" | "held";
                        discarded?: boolean;
                        /** @enum {string} */
                        operation?: "create" | "update" | "delete";
                        since: string;
                        age_seconds: number;
                        escalated?: boolean;
                        reason?: string | null;
                        problems: components["schemas"]["Shared18"][];
                        note?: string | null;
                        attempts?: number;
                        sent_operation?: ("create" | "update" | "delete") | null;
                        sent_at?: string | null;
                        sent_fields?: {
                            [key: string]: string;
                        } | null;
                        desired_fields?: {
                            [key: string]: string;
                        } | null;
                        site_job_id?: string | null;
                        site_job_url?: string | null;
                        site_job_since?: string | null;
                        site_fields?: {
                            [key: string]: string;
                        } | null;
                        edits?: components["schemas"]["Shared24"][];
                        record?: string | null;
                        failures?: components["schemas"]["Shared28"][];
                        excerpt?: string;
                        record_number?: number | null;
                        first_pull?: number;
                        records?: number;
                        actions: components["schemas"]["Shared11"][];
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            404: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    editEntry: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    fields: {
                        [key: string]: string;
                    };
                    anyway?: boolean;
                    seen?: string;
                    version?: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        action: string;
                        entry: number;
                        feed: string;
                        key: string | null;
                        /** @enum {string} */
                        result: "done" | "not_applicable";
                        message: string;
                        /** @constant */
                        still_rejected?: true;
                        actions: components["schemas"]["Shared11"][];
                        now: string | null;
                        detail: string | null;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            404: components["responses"]["Shared4"];
            409: components["responses"]["Shared4"];
            413: components["responses"]["Shared4"];
            415: components["responses"]["Shared4"];
            422: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
    listSites: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @constant */
                            kind: "site";
                            site: string;
                            /** @enum {string} */
                            state: "sending" | "paused" | "stopped" | "out_of_reach" | "waiting";
                            pauses: components["schemas"]["Shared9"][];
                            paused_since: string | null;
                            pause_cause: string | null;
                            next_probe: string | null;
                            probes: number;
                            waits_until: string | null;
                            learnt_requests_per_second: number | null;
                            token_refused: boolean;
                            other_refused_tokens: {
                                since: string;
                                noted_by: string;
                            }[];
                            unreachable_streak: number;
                            last_message: string | null;
                            address: string | null;
                            moved_to: string | null;
                            moved: string | null;
                            orphans: number;
                            references: ("unknown" | "shown" | "missing" | "some") | null;
                            references_note: string | null;
                            workers: number;
                            configurations_differ: string | null;
                            failing: string[];
                            actions: components["schemas"]["Shared11"][];
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared4"];
            403: components["responses"]["Shared4"];
            429: components["responses"]["Shared4"];
            503: components["responses"]["Shared4"];
        };
    };
}
