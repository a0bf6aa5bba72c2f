// The types of the API's client. SHA-256 of the document: a80bbf463df6d887a0c3551e70ba3c2aaa65a8994ab79f5908c1cffc15e4bbdc
// GET /status 200 400 401 403 429 503: sites array, sites.kind string, sites.site string, sites.state string, sites.pauses array, sites.pauses.id integer, sites.pauses.site string|null, sites.pauses.feed string|null, sites.pauses.since string, sites.pauses.until, sites.pauses.by string, sites.pauses.reason string|null, sites.pauses.pulls boolean, sites.pauses.message string, sites.paused_since, sites.pause_cause string|null, sites.next_probe, sites.probes integer, sites.waits_until, sites.learnt_requests_per_second number|null, sites.token_refused boolean, sites.other_refused_tokens array, sites.other_refused_tokens.since string, sites.other_refused_tokens.noted_by string, sites.unreachable_streak integer, sites.last_message string|null, sites.address string|null, sites.moved_to string|null, sites.moved string|null, sites.orphans integer, sites.references, sites.references_note string|null, sites.workers integer, sites.configurations_differ string|null, sites.failing array, sites.actions array, sites.actions.kind string, feeds array, feeds.kind string, feeds.feed string, feeds.site string, feeds.configured boolean, feeds.served boolean, feeds.retired boolean, feeds.stopped, feeds.stopped.undo integer, feeds.stopped.undone, feeds.stopped.since string, feeds.pauses array, feeds.pauses.id integer, feeds.pauses.site string|null, feeds.pauses.feed string|null, feeds.pauses.since string, feeds.pauses.until, feeds.pauses.by string, feeds.pauses.reason string|null, feeds.pauses.pulls boolean, feeds.pauses.message string, feeds.escalated boolean, feeds.live integer, feeds.ready integer, feeds.sending integer, feeds.in_doubt integer, feeds.held integer, feeds.rejected integer, feeds.failed integer, feeds.unreadable integer, feeds.duplicates integer, feeds.discarded integer, feeds.hold_reason string|null, feeds.held_advice, feeds.held_advice.words? string, feeds.held_advice.action? object, feeds.held_advice.action.kind string, feeds.rekey string|null, feeds.restored string|null, feeds.search string|null, feeds.left string|null, feeds.held_for_seconds, feeds.in_doubt_for_seconds, feeds.schedule string|null, feeds.time_zone string|null, feeds.next_run, feeds.last_run, feeds.last_complete, feeds.late_seconds, feeds.late string|null, feeds.last_verify, feeds.last_verify.at string, feeds.last_verify.jobs integer, feeds.last_verify.same integer, feeds.last_verify.changed integer, feeds.last_verify.gone integer, feeds.last_verify.foreign integer, feeds.last_verify.untold integer, feeds.last_verify.marked integer, feeds.last_verify.left integer, feeds.last_verify.message? string, feeds.warnings array, feeds.failing array, feeds.actions array, feeds.actions.kind string, feeds.last_pull, feeds.last_pull.pull integer, feeds.last_pull.feed string, feeds.last_pull.undoes, feeds.last_pull.status string, feeds.last_pull.complete boolean, feeds.last_pull.started_at string, feeds.last_pull.finished_at, feeds.last_pull.seen integer, feeds.last_pull.unchanged integer, feeds.last_pull.duplicates integer, feeds.last_pull.unreadable integer, feeds.last_pull.skipped integer, feeds.last_pull.expired integer, feeds.last_pull.gone integer, feeds.last_pull.grace integer, feeds.last_pull.discarded integer, feeds.last_pull.bytes integer, feeds.last_pull.duration_ms, feeds.last_pull.weak string|null, feeds.last_pull.shortfalls array, feeds.last_pull.message string|null, feeds.last_pull.actions array, feeds.last_pull.actions.kind string, check object, check.kind string, check.status string, check.failing array, check.failing.condition string, check.failing.site string|null, check.failing.feed string|null, check.failing.message string, check.failing.detail string|null, check.review array, check.review.condition string, check.review.site string|null, check.review.feed string|null, check.review.message string, check.review.detail string|null, pauses array, pauses.id integer, pauses.site string|null, pauses.feed string|null, pauses.since string, pauses.until, pauses.by string, pauses.reason string|null, pauses.pulls boolean, pauses.message string, workers integer, differences string|null
// GET /feeds 200 400 401 403 429 503: items array, items.kind string, items.feed string, items.site string, items.configured boolean, items.served boolean, items.retired boolean, items.stopped, items.stopped.undo integer, items.stopped.undone, items.stopped.since string, items.pauses array, items.pauses.id integer, items.pauses.site string|null, items.pauses.feed string|null, items.pauses.since string, items.pauses.until, items.pauses.by string, items.pauses.reason string|null, items.pauses.pulls boolean, items.pauses.message string, items.escalated boolean, items.live integer, items.ready integer, items.sending integer, items.in_doubt integer, items.held integer, items.rejected integer, items.failed integer, items.unreadable integer, items.duplicates integer, items.discarded integer, items.hold_reason string|null, items.held_advice, items.held_advice.words? string, items.held_advice.action? object, items.held_advice.action.kind string, items.rekey string|null, items.restored string|null, items.search string|null, items.left string|null, items.held_for_seconds, items.in_doubt_for_seconds, items.schedule string|null, items.time_zone string|null, items.next_run, items.last_run, items.last_complete, items.late_seconds, items.late string|null, items.last_verify, items.last_verify.at string, items.last_verify.jobs integer, items.last_verify.same integer, items.last_verify.changed integer, items.last_verify.gone integer, items.last_verify.foreign integer, items.last_verify.untold integer, items.last_verify.marked integer, items.last_verify.left integer, items.last_verify.message? string, items.warnings array, items.failing array, items.actions array, items.actions.kind string, items.last_pull, items.last_pull.pull integer, items.last_pull.feed string, items.last_pull.undoes, items.last_pull.status string, items.last_pull.complete boolean, items.last_pull.started_at string, items.last_pull.finished_at, items.last_pull.seen integer, items.last_pull.unchanged integer, items.last_pull.duplicates integer, items.last_pull.unreadable integer, items.last_pull.skipped integer, items.last_pull.expired integer, items.last_pull.gone integer, items.last_pull.grace integer, items.last_pull.discarded integer, items.last_pull.bytes integer, items.last_pull.duration_ms, items.last_pull.weak string|null, items.last_pull.shortfalls array, items.last_pull.message string|null, items.last_pull.actions array, items.last_pull.actions.kind string, next_cursor string|null
// GET /feeds/{feed} 200 400 401 403 404 429 503: kind string, feed string, site string, configured boolean, served boolean, retired boolean, stopped, stopped.undo integer, stopped.undone, stopped.since string, pauses array, pauses.id integer, pauses.site string|null, pauses.feed string|null, pauses.since string, pauses.until, pauses.by string, pauses.reason string|null, pauses.pulls boolean, pauses.message string, escalated boolean, live integer, ready integer, sending integer, in_doubt integer, held integer, rejected integer, failed integer, unreadable integer, duplicates integer, discarded integer, hold_reason string|null, held_advice, held_advice.words? string, held_advice.action? object, held_advice.action.kind string, rekey string|null, restored string|null, search string|null, left string|null, held_for_seconds, in_doubt_for_seconds, schedule string|null, time_zone string|null, next_run, last_run, last_complete, late_seconds, late string|null, last_verify, last_verify.at string, last_verify.jobs integer, last_verify.same integer, last_verify.changed integer, last_verify.gone integer, last_verify.foreign integer, last_verify.untold integer, last_verify.marked integer, last_verify.left integer, last_verify.message? string, warnings array, failing array, actions array, actions.kind string, last_pull, last_pull.pull integer, last_pull.feed string, last_pull.undoes, last_pull.status string, last_pull.complete boolean, last_pull.started_at string, last_pull.finished_at, last_pull.seen integer, last_pull.unchanged integer, last_pull.duplicates integer, last_pull.unreadable integer, last_pull.skipped integer, last_pull.expired integer, last_pull.gone integer, last_pull.grace integer, last_pull.discarded integer, last_pull.bytes integer, last_pull.duration_ms, last_pull.weak string|null, last_pull.shortfalls array, last_pull.message string|null, last_pull.actions array, last_pull.actions.kind string
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
// GET /feeds/{feed}/postings/{key} 200 400 401 403 404 429 503: feed string, key string, state, site_job_id string|null, site_job_url string|null, reasons array, seen string|null, version string|null, not_editable string|null, site_job, site_job.site string, site_job.site_job_id string, site_job.site_job_url string|null, site_job.mapped_at string, site_job.missing_pulls integer, site_job.fields, change, change.id integer, change.state string, change.operation string, change.desired_fields, change.since string, change.attempts integer, change.reason string|null, change.problems array, change.problems.field? string, change.problems.value? string, change.problems.message string, change.problems.repaired? boolean, change.problems.choose? boolean, change.note string|null, change.actions array, change.actions.kind string, expired_at, renewed_at, skipped_by_date, skipped_by_date.since, skipped_by_date.until, edits array, edits.field string, edits.source_value string|null, edits.value string, edits_version string, differences array, differences.field string, differences.desired string|null, differences.site string|null, differences.differs boolean, notes array, notes.field? string, notes.value? string, notes.message string, notes.repaired? boolean, notes.choose? boolean, record string|null, detail, detail.requested_at string, detail.excerpt string, requests array, requests.at string, requests.operation string, requests.site_job_id string|null, requests.status, requests.outcome string, failures array, failures.at string, failures.operation string, failures.kind string, failures.problems array, failures.problems.field? string, failures.problems.value? string, failures.problems.message string, failures.problems.repaired? boolean, failures.problems.choose? boolean, failures.request, failures.request.method string, failures.request.url string, failures.request.body? string, failures.response, failures.response.status integer, failures.response.location? string, failures.response.body string, duplicates array, unreadable array, unreadable.id integer, unreadable.since string, unreadable.discarded boolean, unreadable.reason string, acts array, acts.at string, acts.actor string, acts.action string, acts.reason? string, last_pull, last_pull.pull integer, last_pull.feed string, last_pull.undoes, last_pull.status string, last_pull.complete boolean, last_pull.started_at string, last_pull.finished_at, last_pull.seen integer, last_pull.unchanged integer, last_pull.duplicates integer, last_pull.unreadable integer, last_pull.skipped integer, last_pull.expired integer, last_pull.gone integer, last_pull.grace integer, last_pull.discarded integer, last_pull.bytes integer, last_pull.duration_ms, last_pull.weak string|null, last_pull.shortfalls array, last_pull.message string|null, last_pull.actions array, last_pull.actions.kind string
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
        /**
         * Who did what, when, and what was before and after: the newest first
         * @description Needs the scope `read`.
         */
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
        /**
         * All feeds with their status
         * @description Needs the scope `read`.
         */
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
        /**
         * The status of one feed
         * @description Needs the scope `read`.
         */
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
        /**
         * The postings of a feed in the order of their keys, with what became of each
         * @description Needs the scope `read`.
         */
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
        /**
         * Everything about one posting: its state, its job on the site, and why
         * @description Needs the scope `read`.
         */
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
        /**
         * One pull with its counts so far
         * @description Needs the scope `read`.
         */
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
        /**
         * What needs a person: doubts first, held deletes last, within a kind the oldest first
         * @description Needs the scope `read`.
         */
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
        /**
         * Decisions for many entries with their progress, the newest first
         * @description Needs the scope `read`.
         */
        get: operations["listReviewActions"];
        put?: never;
        /**
         * One decision for many entries, in batches
         * @description Needs the scope `review`.
         */
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
        /**
         * End it after its present batch; what it did stays
         * @description Needs the scope `review`.
         */
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
        /**
         * What needs a person, grouped by kind, field and message: the largest group first
         * @description Needs the scope `read`.
         */
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
        /**
         * One entry with its details, and what can be done about it
         * @description Needs the scope `read`.
         */
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
        /**
         * Set fields of a rejected or failed posting, until the source changes them, and send it
         * @description Needs the scope `review`.
         */
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
        /**
         * All sites: whether they are sent to, and why not
         * @description Needs the scope `read`.
         */
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
        /** Problem */
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
        Shared12: {
            undo: number;
            undone: number | null;
            /** Format: date-time */
            since: string;
        };
        /** Pause */
        Shared13: {
            /** @description Its number. */
            id: number;
            /** @description The site that is paused. */
            site: string | null;
            /** @description The feed that is paused; neither: everything. */
            feed: string | null;
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
            /** @description When it ends by itself; `null`: once a person ends it. */
            until: string | null;
            /** @description Who began it. */
            by: string;
            /** @description Why. */
            reason: string | null;
            /** @description The source is not read either. */
            pulls: boolean;
            /** @description All of that in words, and how it is ended. */
            message: string;
        };
        /** @description Something that can be done about it. */
        Shared15: {
            kind: string;
        } & {
            [key: string]: unknown;
        };
        Shared14: {
            words?: string;
            action?: components["schemas"]["Shared15"];
        };
        Shared16: {
            /** Format: date-time */
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
        /** Pull */
        Shared17: {
            /** @description Its number. */
            pull: number;
            /** @description Name of the feed. */
            feed: string;
            /** @description The pull that this one undid; `null`: it read the feed. */
            undoes: number | null;
            /** @enum {string} */
            status: "running" | "mirrored" | "not_modified" | "incomplete" | "failed" | "pending" | "review";
            /** @description The feed is proven complete; only then can postings count as gone. */
            complete: boolean;
            /** Format: date-time */
            started_at: string;
            finished_at: string | null;
            /** @description Records in the feed. */
            seen: number;
            /** @description Postings that the site already has in this form. */
            unchanged: number;
            /** @description Further records with the same key. */
            duplicates: number;
            /** @description Records that cannot be read or have no key. */
            unreadable: number;
            /** @description Records that are no postings by a rule of the feed, and those counted as expired. */
            skipped: number;
            /** @description The skipped records of postings whose jobs have been on the site for as many days as allowed. */
            expired: number;
            /** @description Live jobs whose posting is no longer in the feed. */
            gone: number;
            /** @description Of the gone: not missing for long enough. */
            grace: number;
            /** @description Entries that a person discarded, so the site differs from the feed. */
            discarded: number;
            /** @description Bytes read from the source, decompressed. */
            bytes: number;
            /** @description Total time, in milliseconds. */
            duration_ms: number | null;
            /** @description Why the completeness of the feed is proven only weakly; `null`: it is not. */
            weak: string | null;
            /** @description Why the feed is not proven complete. */
            shortfalls: string[];
            /** @description What a person should know. */
            message: string | null;
            /** @description What can be done about it. */
            actions: components["schemas"]["Shared15"][];
        };
        /** Feed */
        Shared11: {
            /** @constant */
            kind: "feed";
            /** @description Name of the feed. */
            feed: string;
            /** @description Name of its site. */
            site: string;
            /** @description The configuration has the feed. */
            configured: boolean;
            /** @description A running process has it in its configuration. */
            served: boolean;
            /** @description A person took it out of service. */
            retired: boolean;
            /** @description Since when, and by the undo of which pull, it is not pulled. */
            stopped: components["schemas"]["Shared12"] | null;
            /** @description What people have paused, so that it is not sent: everything, its site or the feed. */
            pauses: components["schemas"]["Shared13"][];
            /** @description Held changes or creates in doubt have waited for too long. */
            escalated: boolean;
            /** @description Jobs on the site. */
            live: number;
            /** @description Changes that may be sent now or later. */
            ready: number;
            /** @description Changes in flight. */
            sending: number;
            /** @description Creates of unknown outcome. */
            in_doubt: number;
            /** @description Changes that wait for approval. */
            held: number;
            /** @description Postings that were rejected. */
            rejected: number;
            /** @description Changes that were given up. */
            failed: number;
            /** @description Entries of unreadable records. */
            unreadable: number;
            /** @description Entries of repeated keys. */
            duplicates: number;
            /** @description Entries that a person has discarded, so the site differs from the feed. */
            discarded: number;
            /** @description Why deletes are held. */
            hold_reason: string | null;
            /** @description What to do about the held deletes. */
            held_advice: components["schemas"]["Shared14"] | null;
            /** @description Why creates and deletes wait if the keys seem to have changed. */
            rekey: string | null;
            /** @description What to know of jobs made since the backup from which the database was restored. */
            restored: string | null;
            /** @description How the search of the site for jobs of the feed stands; nothing is created before it ends. */
            search: string | null;
            /** @description What becomes of its jobs and changes, as no configuration has the feed. */
            left: string | null;
            /** @description For how long the oldest held change has waited. */
            held_for_seconds: number | null;
            /** @description For how long the oldest create has been in doubt. */
            in_doubt_for_seconds: number | null;
            /** @description The schedule, as running processes have it. */
            schedule: string | null;
            /** @description Its time zone. */
            time_zone: string | null;
            /** @description When it is pulled next. */
            next_run: string | null;
            /** @description When it was last pulled. */
            last_run: string | null;
            /** @description When the last complete pull ended. */
            last_complete: string | null;
            /** @description How late its run is. */
            late_seconds: number | null;
            /** @description Why its run does not begin, if that is too late. */
            late: string | null;
            /** @description What the last run of `verify` found. */
            last_verify: components["schemas"]["Shared16"] | null;
            /** @description Likely mistakes of the mapping. */
            warnings: string[];
            /** @description What fails. */
            failing: string[];
            /** @description What can be done about it. */
            actions: components["schemas"]["Shared15"][];
            /** @description The last pull, as `pulls` prints it, without `created`, `updated`, `deleted` and `requests`. */
            last_pull: components["schemas"]["Shared17"] | null;
        };
        Shared23: {
            field?: string;
            value?: string;
            message: string;
            /** @constant */
            repaired?: true;
            /** @constant */
            choose?: true;
        };
        Shared29: {
            field: string;
            source_value: string | null;
            value: string;
        };
        Shared34: {
            method: string;
            url: string;
            body?: string;
        };
        Shared35: {
            status: number;
            location?: string;
            body: string;
        };
        /** @description What is acted on. Only entries that are as they were when the action started. */
        Shared45: {
            /** @description Only of this feed. */
            feed?: string;
            /** @description Only of this site. */
            site?: string;
            /** @description The entries of one group. */
            group?: string;
            /** @description Beginnings of words of a key, title, value or message, in any case: all of them must be there. */
            q?: string;
            /** @description They have waited for at least so long: `30min`, `12h`, `3d`. */
            older_than?: string;
            /** @description They have waited for less. */
            newer_than?: string;
            kinds?: ("in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held")[];
            /** @description Only entries with these numbers. */
            ids?: number[];
        };
        Shared56: {
            message: string;
            count: number;
        };
        Shared58: {
            field: string;
            values: {
                [key: string]: string;
            };
        };
        Shared57: {
            set?: {
                [key: string]: string;
            };
            map?: components["schemas"]["Shared58"];
        };
        /** BulkAction */
        Shared55: {
            /** @description Its number. */
            bulk: number;
            /**
             * @description What it does to each entry.
             * @enum {string}
             */
            action: "edit" | "retry" | "approve" | "discard" | "reopen" | "missing" | "check" | "adopt";
            /** @description Who started it. */
            actor: string;
            /** @enum {string} */
            state: "open" | "stopped" | "done";
            /** Format: date-time */
            started_at: string;
            /**
             * Format: date-time
             * @description When it last made progress.
             */
            touched_at: string;
            /** @description How many entries were selected. */
            total: number;
            /** @description How many are done. */
            done: number;
            /** @description Of the done: how many are rejected again. */
            still_rejected: number;
            /** @description How many were left as they are. */
            left_alone: number;
            /** @description How many are left to do. */
            to_do: number;
            /** @description Why entries were left alone. */
            reasons: components["schemas"]["Shared56"][];
            /** @description What an edit sets. */
            edit: components["schemas"]["Shared57"] | null;
            /** @description The reason that was given for the audit. */
            reason: string | null;
            /** @description Whether `start` carries it out; `false`: a command does, as long as it runs. */
            unattended: boolean;
            /** @description Why it is making no progress, such as a paused site; `null`: it is not waiting. */
            waits_for: string | null;
            /** @description The rule that selected the entries; `null`: a person did. */
            rule: number | null;
        };
    };
    responses: {
        /** @description Bad Request */
        Shared4: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Unauthorized */
        Shared5: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Forbidden */
        Shared6: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too Many Requests */
        Shared7: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Service Unavailable */
        Shared8: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not Found */
        Shared19: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Conflict */
        Shared59: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Content Too Large */
        Shared60: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Unsupported Media Type */
        Shared61: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Unprocessable Content */
        Shared62: {
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
                /** @description Only what this user or token did, as answers name it. */
                actor?: string;
                /** @description Only what the action did that has this number as its `activity`. */
                of?: string;
                /** @description The `next_cursor` of the answer before. */
                cursor?: string;
                /** @description How many at most, from 1 to 200; 50 by default. */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description Its number: a later one is larger. */
                            activity: number;
                            /** Format: date-time */
                            at: string;
                            /** @description A user, a token, or who ran a command; `jobmirror`: nobody. */
                            actor: string;
                            action: string;
                            feed: string | null;
                            key: string | null;
                            /** @description Fields that were edited, or whose edits were undone; the first 500 characters of each value. */
                            edits: {
                                field: string;
                                /** @description `null`: there was none, or it is not known. */
                                before: string | null;
                                /** @description `false`: an earlier version of jobmirror did not record it. */
                                before_known: boolean;
                                after: string | null;
                            }[];
                            /** @description What else is recorded, such as a reason. */
                            detail: {
                                [key: string]: unknown;
                            };
                        }[];
                        /** @description `null`: nothing follows. */
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
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
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Shared11"][];
                        /** @description `null`: nothing follows. */
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
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
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shared11"];
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            404: components["responses"]["Shared19"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
        };
    };
    listPostings: {
        parameters: {
            query?: {
                /** @description One or more of rejected, failed, in_doubt, discarded, held, kept, failed_delete, pending_delete, grace, pending, expired, live. Several are separated by commas. */
                state?: string;
                /** @description The posting with this key or whose site job has this ID. If there is none, at most 200 whose title has words that begin with these. */
                q?: string;
                /** @description The `next_cursor` of the answer before. */
                cursor?: string;
                /** @description How many at most, from 1 to 200; 50 by default. */
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
            /** @description Done. */
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
                            /** @description Its job on the site. */
                            site_job_id: string | null;
                            /** @description Address of the job. */
                            site_job_url: string | null;
                            /**
                             * Format: date-time
                             * @description Since when it is in this state.
                             */
                            since: string;
                            /** @description Why, in the site's words where the site decided. */
                            reason: string | null;
                            /** @description Every problem of the posting. */
                            problems: components["schemas"]["Shared23"][];
                        }[];
                        /** @description `null`: nothing follows. */
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            404: components["responses"]["Shared19"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
        };
    };
    showPosting: {
        parameters: {
            query?: {
                /** @description The key may also be a part of the key or of the title, if exactly one posting of the feed has it; if several have, the problem has these `postings`. */
                like?: "true" | "false";
            };
            header?: never;
            path: {
                feed: string;
                /** @description Percent-encoded: `A%2F1` for `A/1`. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Name of the feed. */
                        feed: string;
                        /** @description Key of the posting. */
                        key: string;
                        /** @description What became of it; `null`: only its records are known, and they can not be used, or nothing is. */
                        state: ("rejected" | "failed" | "in_doubt" | "discarded" | "held" | "kept" | "failed_delete" | "pending_delete" | "grace" | "pending" | "expired" | "live") | null;
                        /** @description Its job on the site. */
                        site_job_id: string | null;
                        /** @description The address of the job. */
                        site_job_url: string | null;
                        /** @description Why it is not on the site as the feed has it. */
                        reasons: string[];
                        /** @description Of what is recorded: send it along with an edit. */
                        seen: string | null;
                        /** @description The same as `seen`. */
                        version: string | null;
                        /** @description Why its fields cannot be edited; `null`: they can. */
                        not_editable: string | null;
                        /** @description Its job: `{"site","site_job_id","site_job_url","mapped_at","missing_pulls","fields"}`. */
                        site_job: {
                            site: string;
                            site_job_id: string;
                            site_job_url: string | null;
                            /** Format: date-time */
                            mapped_at: string;
                            missing_pulls: number;
                            fields: {
                                [key: string]: string;
                            } | null;
                        } | null;
                        /** @description What waits to be sent or for a person, with `state`, `reason`, `problems` and `actions`. */
                        change: {
                            id: number;
                            /** @enum {string} */
                            state: "ready" | "sending" | "in_doubt" | "held" | "rejected" | "failed" | "discarded";
                            /** @enum {string} */
                            operation: "create" | "update" | "delete";
                            desired_fields: {
                                [key: string]: string;
                            } | null;
                            /** Format: date-time */
                            since: string;
                            attempts: number;
                            reason: string | null;
                            problems: components["schemas"]["Shared23"][];
                            note: string | null;
                            actions: components["schemas"]["Shared15"][];
                        } | null;
                        /** @description When its job ended because of `expire_after_days`. */
                        expired_at: string | null;
                        /** @description When its days began anew. */
                        renewed_at: string | null;
                        /** @description Since and until when a date skips its record. */
                        skipped_by_date: {
                            since: string | null;
                            until: string | null;
                        } | null;
                        /** @description Edits by reviewers: `[{"field","source_value","value"}]`. */
                        edits: components["schemas"]["Shared29"][];
                        /** @description Of these edits. */
                        edits_version: string;
                        /** @description The fields in which the wanted and the accepted content differ. */
                        differences: {
                            field: string;
                            /** @description `null`: the posting has no such field. */
                            desired: string | null;
                            /** @description What the site last accepted. */
                            site: string | null;
                            differs: boolean;
                        }[];
                        /** @description What was altered in its fields while they were read. */
                        notes: components["schemas"]["Shared23"][];
                        /** @description The beginning of the record, as the feed has it, that the open change was read from; `null`: not kept. */
                        record: string | null;
                        /** @description The detail that was requested for it: `{"requested_at","excerpt"}`. */
                        detail: {
                            /** Format: date-time */
                            requested_at: string;
                            excerpt: string;
                        } | null;
                        /** @description Requests about it, in brief. */
                        requests: {
                            /** Format: date-time */
                            at: string;
                            operation: string;
                            site_job_id: string | null;
                            status: number | null;
                            outcome: string;
                        }[];
                        /** @description Failed attempts with request and response. */
                        failures: {
                            /** Format: date-time */
                            at: string;
                            operation: string;
                            kind: string;
                            problems: components["schemas"]["Shared23"][];
                            request: components["schemas"]["Shared34"] | null;
                            response: components["schemas"]["Shared35"] | null;
                        }[];
                        /** @description Numbers of the entries of repeated keys. */
                        duplicates: number[];
                        /** @description Unreadable records with its key. */
                        unreadable: {
                            id: number;
                            /** Format: date-time */
                            since: string;
                            discarded: boolean;
                            reason: string;
                        }[];
                        /** @description What people did. */
                        acts: {
                            /** Format: date-time */
                            at: string;
                            actor: string;
                            action: string;
                            reason?: string;
                        }[];
                        /** @description The last pull of its feed, as `pulls` prints it, without `created`, `updated`, `deleted` and `requests`. */
                        last_pull: components["schemas"]["Shared17"] | null;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            404: components["responses"]["Shared19"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
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
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Its number. */
                        pull: number;
                        /** @description Name of the feed. */
                        feed: string;
                        /** @description The pull that this one undid; `null`: it read the feed. */
                        undoes: number | null;
                        /** @enum {string} */
                        status: "running" | "mirrored" | "not_modified" | "incomplete" | "failed" | "pending" | "review";
                        /** @description The feed is proven complete; only then can postings count as gone. */
                        complete: boolean;
                        /** Format: date-time */
                        started_at: string;
                        finished_at: string | null;
                        /** @description Records in the feed. */
                        seen: number;
                        /** @description Postings that the site already has in this form. */
                        unchanged: number;
                        /** @description Further records with the same key. */
                        duplicates: number;
                        /** @description Records that cannot be read or have no key. */
                        unreadable: number;
                        /** @description Records that are no postings by a rule of the feed, and those counted as expired. */
                        skipped: number;
                        /** @description The skipped records of postings whose jobs have been on the site for as many days as allowed. */
                        expired: number;
                        /** @description Live jobs whose posting is no longer in the feed. */
                        gone: number;
                        /** @description Of the gone: not missing for long enough. */
                        grace: number;
                        /** @description Entries that a person discarded, so the site differs from the feed. */
                        discarded: number;
                        /** @description Bytes read from the source, decompressed. */
                        bytes: number;
                        /** @description Total time, in milliseconds. */
                        duration_ms: number | null;
                        /** @description Why the completeness of the feed is proven only weakly; `null`: it is not. */
                        weak: string | null;
                        /** @description Why the feed is not proven complete. */
                        shortfalls: string[];
                        /** @description What a person should know. */
                        message: string | null;
                        /** @description What can be done about it. */
                        actions: components["schemas"]["Shared15"][];
                        /** @description New postings, created on the site. */
                        created: number;
                        /** @description Changed postings, updated on the site. */
                        updated: number;
                        /** @description Of the gone: deleted. */
                        deleted: number;
                        /** @description Requests to the site. */
                        requests: number;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            404: components["responses"]["Shared19"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
        };
    };
    listReview: {
        parameters: {
            query?: {
                /** @description Only of this feed. */
                feed?: string;
                /** @description Only of this site. */
                site?: string;
                /** @description The entries of one group. */
                group?: string;
                /** @description Beginnings of words of a key, title, value or message, in any case: all of them must be there. */
                q?: string;
                /** @description They have waited for at least so long: `30min`, `12h`, `3d`. */
                older_than?: string;
                /** @description They have waited for less. */
                newer_than?: string;
                /** @description One or more of in_doubt, failed, rejected, unreadable, duplicate, held. Several are separated by commas. */
                kind?: string;
                /** @description `true`: discarded entries instead of waiting ones. */
                discarded?: "true" | "false";
                /** @description The `next_cursor` of the answer before. */
                cursor?: string;
                /** @description How many at most, from 1 to 200; 50 by default. */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description Its number. */
                            id: number;
                            /** @description Name of the feed. */
                            feed: string;
                            /** @description Name of the site, or `null`. */
                            site: string | null;
                            /** @description Key of the posting, or `null`. */
                            key: string | null;
                            /** @enum {string} */
                            kind: "in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held";
                            /** @description `null` for records. */
                            operation: ("create" | "update" | "delete") | null;
                            /**
                             * Format: date-time
                             * @description Since when it waits.
                             */
                            since: string;
                            /** @description For how long. */
                            age_seconds: number;
                            /** @description It has waited for too long. */
                            escalated: boolean;
                            /** @description Why, in one sentence. */
                            reason: string;
                            /**
                             * @description Of a discarded entry; absent otherwise.
                             * @constant
                             */
                            discarded?: true;
                            /** @description Send it along with a decision: once anything of it has changed, nothing is done. */
                            seen: string;
                        }[];
                        /** @description `null`: nothing follows. */
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
        };
    };
    listReviewActions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the answer before. */
                cursor?: string;
                /** @description How many at most, from 1 to 200; 50 by default. */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Shared55"][];
                        /** @description `null`: nothing follows. */
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
        };
    };
    actOnReview: {
        parameters: {
            query?: never;
            header?: {
                /** @description A text that names this request: repeated within a day, it gets the same answer and does nothing again. */
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
                    filter: components["schemas"]["Shared45"];
                    /** @description How many entries you saw of the kinds that the action is for, the `count` of `GET /review/selection`: if it is another number now, nothing is done. With `ids`, how many these are. */
                    expected?: number;
                    /** @description The `seen` of `GET /review/selection` or of a group, or of each entry of `ids`: with anything else, nothing is done. */
                    seen?: string | string[];
                    /** @description A former name of `seen`. */
                    mark?: string;
                    edit: {
                        set?: {
                            [key: string]: string;
                        };
                        map?: {
                            field: string;
                            /** @description From the value that an entry has to its new one. */
                            values: {
                                [key: string]: string;
                            };
                        };
                    };
                    /** @description Edit also if some of the entries would still be rejected; otherwise nothing is done then, and the problem has a `preview`. */
                    anyway?: boolean;
                    /** @description Edit the entries of all feeds; otherwise nothing is done if the filter selects entries of several, and the problem has their `feeds`. */
                    all_feeds?: boolean;
                    /** @description Also make a rule for new entries of the group, or of the group and the feed, that the filter names. */
                    also_new?: boolean;
                } | {
                    /** @constant */
                    action: "retry";
                    filter: components["schemas"]["Shared45"];
                    /** @description How many entries you saw of the kinds that the action is for, the `count` of `GET /review/selection`: if it is another number now, nothing is done. With `ids`, how many these are. */
                    expected?: number;
                    /** @description The `seen` of `GET /review/selection` or of a group, or of each entry of `ids`: with anything else, nothing is done. */
                    seen?: string | string[];
                    /** @description A former name of `seen`. */
                    mark?: string;
                    /** @description Also make a rule for new entries of the group, or of the group and the feed, that the filter names. */
                    also_new?: boolean;
                } | {
                    /** @constant */
                    action: "approve";
                    filter: components["schemas"]["Shared45"];
                    /** @description How many entries you saw of the kinds that the action is for, the `count` of `GET /review/selection`: if it is another number now, nothing is done. With `ids`, how many these are. */
                    expected?: number;
                    /** @description The `seen` of `GET /review/selection` or of a group, or of each entry of `ids`: with anything else, nothing is done. */
                    seen?: string | string[];
                    /** @description A former name of `seen`. */
                    mark?: string;
                } | {
                    /** @constant */
                    action: "discard";
                    filter: components["schemas"]["Shared45"];
                    /** @description How many entries you saw of the kinds that the action is for, the `count` of `GET /review/selection`: if it is another number now, nothing is done. With `ids`, how many these are. */
                    expected?: number;
                    /** @description The `seen` of `GET /review/selection` or of a group, or of each entry of `ids`: with anything else, nothing is done. */
                    seen?: string | string[];
                    /** @description A former name of `seen`. */
                    mark?: string;
                    reason?: string;
                    /** @description Also make a rule for new entries of the group, or of the group and the feed, that the filter names. */
                    also_new?: boolean;
                } | {
                    /** @constant */
                    action: "reopen";
                    filter: components["schemas"]["Shared45"];
                    /** @description How many entries you saw of the kinds that the action is for, the `count` of `GET /review/selection`: if it is another number now, nothing is done. With `ids`, how many these are. */
                    expected?: number;
                    /** @description The `seen` of `GET /review/selection` or of a group, or of each entry of `ids`: with anything else, nothing is done. */
                    seen?: string | string[];
                    /** @description A former name of `seen`. */
                    mark?: string;
                } | {
                    /**
                     * @description The site has made the job of none of these creates in doubt: they are sent again. Those that a job on the site may belong to, or that its list still decides, are left alone.
                     * @constant
                     */
                    action: "missing";
                    filter: components["schemas"]["Shared45"];
                    /** @description How many entries you saw of the kinds that the action is for, the `count` of `GET /review/selection`: if it is another number now, nothing is done. With `ids`, how many these are. */
                    expected?: number;
                    /** @description The `seen` of `GET /review/selection` or of a group, or of each entry of `ids`: with anything else, nothing is done. */
                    seen?: string | string[];
                    /** @description A former name of `seen`. */
                    mark?: string;
                } | {
                    /**
                     * @description The list of the site is read again for these creates in doubt.
                     * @constant
                     */
                    action: "check";
                    filter: components["schemas"]["Shared45"];
                    /** @description How many entries you saw of the kinds that the action is for, the `count` of `GET /review/selection`: if it is another number now, nothing is done. With `ids`, how many these are. */
                    expected?: number;
                    /** @description The `seen` of `GET /review/selection` or of a group, or of each entry of `ids`: with anything else, nothing is done. */
                    seen?: string | string[];
                    /** @description A former name of `seen`. */
                    mark?: string;
                };
            };
        };
        responses: {
            /** @description Started. */
            202: {
                headers: {
                    /** @description Where to ask what became of it. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shared55"];
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            409: components["responses"]["Shared59"];
            413: components["responses"]["Shared60"];
            415: components["responses"]["Shared61"];
            422: components["responses"]["Shared62"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
        };
    };
    stopReviewAction: {
        parameters: {
            query?: never;
            header?: {
                /** @description A text that names this request: repeated within a day, it gets the same answer and does nothing again. */
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
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shared55"];
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            404: components["responses"]["Shared19"];
            409: components["responses"]["Shared59"];
            413: components["responses"]["Shared60"];
            415: components["responses"]["Shared61"];
            422: components["responses"]["Shared62"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
        };
    };
    listReviewGroups: {
        parameters: {
            query?: {
                /** @description Only of this feed. */
                feed?: string;
                /** @description Only of this site. */
                site?: string;
                /** @description The entries of one group. */
                group?: string;
                /** @description Beginnings of words of a key, title, value or message, in any case: all of them must be there. */
                q?: string;
                /** @description They have waited for at least so long: `30min`, `12h`, `3d`. */
                older_than?: string;
                /** @description They have waited for less. */
                newer_than?: string;
                /** @description One or more of in_doubt, failed, rejected, unreadable, duplicate, held. Several are separated by commas. */
                kind?: string;
                /** @description `true`: discarded entries instead of waiting ones. */
                discarded?: "true" | "false";
                /** @description The `next_cursor` of the answer before. */
                cursor?: string;
                /** @description How many at most, from 1 to 200; 50 by default. */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description Its ID, which never changes. */
                            group: string;
                            /**
                             * @description Kind of its entries. Held deletes of different feeds are different groups.
                             * @enum {string}
                             */
                            kind: "in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held";
                            /** @description Field that the message is about, or `null`. */
                            field: string | null;
                            /** @description Message of its entries; `…` stands for what differs. */
                            message: string;
                            /** @description How many selected entries it has. */
                            count: number;
                            /**
                             * Format: date-time
                             * @description When it appeared.
                             */
                            first_seen: string;
                            /**
                             * Format: date-time
                             * @description Since when its newest entry waits.
                             */
                            last_seen: string;
                            /**
                             * @description Its size against that of a day ago; `back`: it had no entries for a while.
                             * @enum {string}
                             */
                            trend: "new" | "growing" | "shrinking" | "steady" | "back";
                            /** @description The most frequent values. */
                            values: {
                                value: string;
                                count: number;
                            }[];
                            /** @description How many different values there are. */
                            value_count: number;
                            /** @description Feeds of its entries. */
                            feeds: {
                                feed: string;
                                count: number;
                            }[];
                            /** @description Sites of its entries. */
                            sites: {
                                site: string;
                                count: number;
                            }[];
                            /** @description Its oldest entry. */
                            example: {
                                id: number;
                                feed: string;
                                key: string | null;
                                value: string | null;
                                reason: string;
                            };
                            /** @description Notes of reviewers. */
                            notes: {
                                note: number;
                                group: string;
                                text: string;
                                actor: string;
                                /** Format: date-time */
                                at: string;
                            }[];
                            /** @description Rules in force for its new entries. */
                            rules: {
                                rule: number;
                                group: string;
                                /** @enum {string} */
                                kind: "in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held";
                                field: string | null;
                                message: string;
                                /** @description `null`: new entries of all feeds. */
                                feed: string | null;
                                /** @enum {string} */
                                action: "edit" | "retry" | "discard";
                                edit: components["schemas"]["Shared57"] | null;
                                reason: string | null;
                                actor: string;
                                /** Format: date-time */
                                made_at: string;
                                ended_at: string | null;
                                ended_by: string | null;
                                done: number;
                                left_alone: number;
                            }[];
                        }[];
                        /** @description `null`: nothing follows. */
                        next_cursor: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
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
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Its number. */
                        id: number;
                        /** @description Send it along with a decision: once anything of it has changed, nothing is done. */
                        seen: string;
                        /** @description The same as `seen`. */
                        version: string;
                        /** @description Name of the feed. */
                        feed: string;
                        /** @description Name of the site, of a change. */
                        site?: string;
                        /** @description Key of the posting, or `null`. */
                        key: string | null;
                        /** @enum {string} */
                        kind: "in_doubt" | "failed" | "rejected" | "unreadable" | "duplicate" | "held" | "ready" | "sending" | "discarded";
                        /**
                         * @description Its former kind, if it was discarded.
                         * @enum {string}
                         */
                        discarded_from?: "rejected" | "failed" | "held";
                        /** @description A person has discarded it, of a record. */
                        discarded?: boolean;
                        /**
                         * @description What is to be sent, of a change.
                         * @enum {string}
                         */
                        operation?: "create" | "update" | "delete";
                        /**
                         * Format: date-time
                         * @description Since when it waits.
                         */
                        since: string;
                        /** @description For how long. */
                        age_seconds: number;
                        /** @description It has waited for too long, of a change. */
                        escalated?: boolean;
                        /** @description Why, or `null`. */
                        reason?: string | null;
                        /** @description Every problem. */
                        problems: components["schemas"]["Shared23"][];
                        /** @description What else is known of the reason, or `null`. */
                        note?: string | null;
                        /** @description How often it was sent. */
                        attempts?: number;
                        /** @description What was sent last, or `null`. */
                        sent_operation?: ("create" | "update" | "delete") | null;
                        /** @description When it was sent last, or `null`. */
                        sent_at?: string | null;
                        /** @description The fields that were sent, or `null`. */
                        sent_fields?: {
                            [key: string]: string;
                        } | null;
                        /** @description The fields that the site should have, or `null`. */
                        desired_fields?: {
                            [key: string]: string;
                        } | null;
                        /** @description The job of the posting, or `null`. */
                        site_job_id?: string | null;
                        /** @description Address of the job, or `null`. */
                        site_job_url?: string | null;
                        /** @description Since when the posting has this job, or `null`. */
                        site_job_since?: string | null;
                        /** @description The fields that the site last accepted, or `null`. */
                        site_fields?: {
                            [key: string]: string;
                        } | null;
                        /** @description Edits by reviewers. */
                        edits?: components["schemas"]["Shared29"][];
                        /** @description The beginning of the record, as the feed has it, that the open change was read from; `null`: not kept. */
                        record?: string | null;
                        /** @description Failed attempts with request and response. */
                        failures?: {
                            /** Format: date-time */
                            at: string;
                            operation: string;
                            kind: string;
                            /** @description Every problem. */
                            problems: components["schemas"]["Shared23"][];
                            request: components["schemas"]["Shared34"] | null;
                            response: components["schemas"]["Shared35"] | null;
                        }[];
                        /** @description Its beginning, of a record. */
                        excerpt?: string;
                        /** @description Its number in the feed, or `null`, of a record. */
                        record_number?: number | null;
                        /** @description The pull that first saw it, of a record. */
                        first_pull?: number;
                        /** @description How many there are like it, of a record. */
                        records?: number;
                        /** @description What can be done about it. */
                        actions: components["schemas"]["Shared15"][];
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            404: components["responses"]["Shared19"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
        };
    };
    editEntry: {
        parameters: {
            query?: never;
            header?: {
                /** @description A text that names this request: repeated within a day, it gets the same answer and does nothing again. */
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
                    /** @description An empty text removes the field. */
                    fields: {
                        [key: string]: string;
                    };
                    /** @description Set the fields even if rules of the site would still be broken; otherwise nothing is done then. */
                    anyway?: boolean;
                    /** @description The `seen` of what was shown: once anything of it has changed, nothing is done. */
                    seen?: string;
                    /** @description A former name of `seen`. */
                    version?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What was to be done. */
                        action: string;
                        /** @description Number of the entry. */
                        entry: number;
                        /** @description Name of the feed. */
                        feed: string;
                        /** @description Key of the posting, or `null`. */
                        key: string | null;
                        /**
                         * @description `done`, or why not.
                         * @enum {string}
                         */
                        result: "done" | "not_applicable";
                        /** @description The same in words. */
                        message: string;
                        /**
                         * @description It was edited, and still breaks rules of the site; absent otherwise.
                         * @constant
                         */
                        still_rejected?: true;
                        /** @description What can be done next. */
                        actions: components["schemas"]["Shared15"][];
                        /** @description What became of it since, as it was sent; `null`: that was not awaited. */
                        now: string | null;
                        /** @description The same in words, or `null`. */
                        detail: string | null;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            404: components["responses"]["Shared19"];
            409: components["responses"]["Shared59"];
            413: components["responses"]["Shared60"];
            415: components["responses"]["Shared61"];
            422: components["responses"]["Shared62"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
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
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @constant */
                            kind: "site";
                            /** @description Name of the site. */
                            site: string;
                            /**
                             * @description `paused`: until the site answers a probe or a person resumes it; `stopped`: only a person has paused it; `waiting`: it asks for that; `out_of_reach` ends by itself, too.
                             * @enum {string}
                             */
                            state: "sending" | "paused" | "stopped" | "out_of_reach" | "waiting";
                            /** @description What people have paused: this site or everything. */
                            pauses: components["schemas"]["Shared13"][];
                            /** @description Since when it is paused. */
                            paused_since: string | null;
                            /** @description Why it is paused. */
                            pause_cause: string | null;
                            /** @description When a request tries whether the pause is over. */
                            next_probe: string | null;
                            /** @description How many have tried it so far. */
                            probes: number;
                            /** @description Until when nothing is sent: the site asks to wait, or was out of reach. */
                            waits_until: string | null;
                            /** @description The rate that the site accepts, if it is lower than the configured one. */
                            learnt_requests_per_second: number | null;
                            /** @description The site refuses the token of this configuration. */
                            token_refused: boolean;
                            /** @description Tokens of other processes that it refuses, as `noted_by` has noticed. */
                            other_refused_tokens: {
                                /** Format: date-time */
                                since: string;
                                noted_by: string;
                            }[];
                            /** @description How many times in a row it has not answered. */
                            unreachable_streak: number;
                            /** @description What its last failure said. */
                            last_message: string | null;
                            /** @description The address where its jobs were made. */
                            address: string | null;
                            /** @description The configured address, if that is another one. */
                            moved_to: string | null;
                            /** @description Why nothing is sent then, and what to do. */
                            moved: string | null;
                            /** @description Jobs of ours that no posting has, still to be deleted. */
                            orphans: number;
                            /** @description Whether its jobs show `reference_field`; `null`: none is configured. */
                            references: ("unknown" | "shown" | "missing" | "some") | null;
                            /** @description What to know of that. */
                            references_note: string | null;
                            /** @description Processes that send. */
                            workers: number;
                            /** @description How the configurations of running processes differ. */
                            configurations_differ: string | null;
                            /** @description What fails. */
                            failing: string[];
                            /** @description What can be done about it. */
                            actions: components["schemas"]["Shared15"][];
                        }[];
                        /** @description `null`: nothing follows. */
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["Shared4"];
            401: components["responses"]["Shared5"];
            403: components["responses"]["Shared6"];
            429: components["responses"]["Shared7"];
            503: components["responses"]["Shared8"];
        };
    };
}
