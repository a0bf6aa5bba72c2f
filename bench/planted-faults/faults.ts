// The planted faults: small changes to code that upholds the laws, each of which a test must catch.

/** One fault: `put` replaces every `find` in `file`; then one of `tests` must fail. */
export interface PlantedFault {
  readonly file: string;
  readonly find: string;
  readonly put: string;
  readonly tests: readonly string[];
  /** Only the tests whose names match. */
  readonly named?: string;
}

const guard = 'test/plan/delete-guard.test.ts';
const mirror = 'test/scenarios/mirror.test.ts';
const outcome = 'test/site/outcome.test.ts';
const policy = 'test/apply/outcome-policy.test.ts';
const next = 'test/plan/next-request.test.ts';
const likeness = 'test/plan/match/likeness.test.ts';
const uncertainWrites = 'test/laws/uncertain-writes.test.ts';
const doubts = 'test/laws/doubts.test.ts';
const unreadable = 'test/pull/unreadable-postings.test.ts';
const recovery = 'test/feed/recover-key.test.ts';
const skipped = 'test/scenarios/skip.test.ts';
const places = 'test/laws/places.test.ts';
const moved = 'test/scenarios/moved-site.test.ts';

export const plantedFaults: readonly PlantedFault[] = [
  // The delete guard.
  { file: 'src/plan/delete-guard.ts', find: 'if (load.emptied)', put: 'if (false)', tests: [guard] },
  {
    file: 'src/plan/delete-guard.ts',
    find: 'total <= guard.count || share',
    put: 'total <= guard.count && share',
    tests: [guard],
  },
  { file: 'src/plan/delete-guard.ts', find: 'share <= guard.percent', put: 'share < guard.percent', tests: [guard] },
  {
    file: 'src/plan/delete-guard.ts',
    find: 'const total = load.added + load.recent',
    put: 'const total = load.added',
    tests: [guard],
  },
  {
    file: 'src/plan/delete-guard.ts',
    find: 'const base = load.live + load.done',
    put: 'const base = load.live',
    tests: [guard],
  },
  {
    file: 'src/store/change/merge/mark-missing.ts',
    find: "reason === undefined ? 'ready' : 'held'",
    put: "'ready'",
    tests: [mirror],
    named: 'deletes',
  },
  {
    file: 'src/store/change/merge/mark-missing.ts',
    find: 'missing_pulls < $1',
    put: 'missing_pulls <= $1',
    tests: [mirror],
    named: 'deletes',
  },
  // Completeness.
  {
    file: 'src/pull/merge-pull.ts',
    find: 'const complete = shortfalls.length === 0',
    put: 'const complete = true',
    tests: [mirror],
    named: 'deletes',
  },
  // Unreadable records.
  {
    file: 'src/store/change/merge/protect-unreadable.ts',
    find: "'delete from missing x using protected p where x.key = p.key'",
    put: "'select 1'",
    tests: [unreadable],
  },
  {
    file: 'src/store/change/merge/protect-unreadable.ts',
    find: "and c.desired = 'absent' and c.attempt_token is null\n",
    put: 'and false\n',
    tests: [unreadable],
  },
  {
    file: 'src/store/change/merge/protect-unreadable.ts',
    find: 'is null\n       and not ${UNCERTAIN',
    put: 'is null -- ${UNCERTAIN',
    tests: [unreadable],
  },
  {
    file: 'src/store/change/merge/protect-unreadable.ts',
    find: 'and m.feed = c.feed and m.key = c.key`,',
    put: 'and m.feed = c.feed and false`,',
    tests: [unreadable],
  },
  {
    file: 'src/plan/delete-guard.ts',
    find: 'withoutKey === 0 ? [] : [unreadableHold(withoutKey, rekeyed)]',
    put: 'withoutKey >= 0 ? [] : [unreadableHold(withoutKey, rekeyed)]',
    tests: [unreadable],
  },
  { file: 'src/feed/format/xml/recover-key.ts', find: '!(certain || inStartTag)', put: 'false', tests: [recovery] },
  {
    file: 'src/feed/decode/charset.ts',
    find: 'Buffer.of(0xff)',
    put: "Buffer.from('?')",
    tests: ['test/feed/charset.test.ts'],
  },
  {
    file: 'src/pull/merge-pull.ts',
    find: '...unreadableShortfall(unreadable), ',
    put: '',
    tests: [mirror],
    named: 'keys',
  },
  {
    file: 'src/feed/read-documents.ts',
    find: 'for (const reason of end.shortfalls) this.#note({ document, reason });',
    put: '',
    tests: ['test/feed/cut-feeds.test.ts'],
  },
  {
    file: 'src/feed/read-documents.ts',
    find: 'if (reason !== broken) reading.ends.breakOff(reason.message);',
    put: '',
    tests: ['test/feed/documents.test.ts'],
  },
  {
    file: 'src/feed/source/several-source.ts',
    find: 'if (broken !== undefined) throw broken;',
    put: '',
    tests: ['test/feed/documents.test.ts'],
  },
  {
    file: 'src/feed/batch/start-splitting.ts',
    find: 'this.#here.bytes.clear();',
    put: '',
    tests: ['test/feed/documents.test.ts'],
  },
  {
    file: 'src/feed/source/pages/open-pages.ts',
    find: 'if (records > 0 && before !== undefined) {',
    put: 'if (false) {',
    tests: ['test/feed/pages.test.ts'],
  },
  {
    file: 'src/feed/source/pages/open-pages.ts',
    find: 'if (stated === before) return undefined;',
    put: 'return undefined;',
    tests: ['test/feed/pages.test.ts'],
  },
  {
    file: 'src/feed/source/pages/next-address.ts',
    find: 'if (url.origin === start.origin) return url;',
    put: 'return url;',
    tests: ['test/feed/pages.test.ts'],
  },
  {
    file: 'src/pull/pull-ledger.ts',
    find: 'if (example === undefined) return undefined;',
    put: 'return undefined;',
    tests: ['test/pull/repeated-keys.test.ts', 'test/scenarios/paged-feed.test.ts'],
  },
  {
    file: 'src/feed/source/several-source.ts',
    find: 'if (failures.length > 0) throw',
    put: 'if (false) throw',
    tests: ['test/feed/several-sources.test.ts'],
  },
  {
    file: 'src/feed/source/folder/file-source.ts',
    find: 'if (change === undefined) return;',
    put: 'return;',
    tests: ['test/feed/several-sources.test.ts', 'test/feed/s3.test.ts'],
  },
  {
    file: 'src/feed/source/folder/open-sftp.ts',
    find: 'if (login.hostKeys.includes(fingerprint)) return true;',
    put: 'return true;',
    tests: ['test/feed/sftp.test.ts'],
  },
  {
    file: 'src/feed/decode/read-zip.ts',
    find: 'if (checksum !== entry.crc32) throw',
    put: 'if (false) throw',
    tests: ['test/feed/zip.test.ts'],
  },
  {
    file: 'src/feed/source/http/response.ts',
    find: 'if (exchange.failure !== undefined) throw exchange.failure;',
    put: '',
    tests: ['test/feed/cut-feeds.test.ts', 'test/feed/http-source.test.ts'],
  },
  {
    file: 'src/feed/decode/gunzip.ts',
    find: ', ...ONE_BY_ONE',
    put: '',
    tests: ['test/feed/gunzip.test.ts'],
  },
  {
    file: 'src/feed/decode/gunzip.ts',
    find: "? new FeedReadingError('the gzip data ends in the middle')",
    put: "? new Error('the gzip data ends in the middle')",
    tests: ['test/feed/cut-feeds.test.ts'],
  },
  {
    file: 'src/feed/format/xml/xml-outline.ts',
    find: 'if (outermost !== undefined) this.note(',
    put: 'if (false) this.note(',
    tests: ['test/feed/cut-feeds.test.ts', 'test/feed/xml-splitter.test.ts'],
  },
  {
    file: 'src/feed/batch/start-splitting.ts',
    find: 'here.splitting.hold(chunk);',
    put: 'await here.splitting.push(chunk);',
    tests: ['test/feed/splitting.test.ts'],
  },
  {
    file: 'src/feed/batch/start-splitting.ts',
    find: 'while (this.#end === undefined) await this.#take();',
    put: 'if (this.#end === undefined) await this.#take();',
    tests: ['test/feed/splitting.test.ts'],
  },
  {
    file: 'src/pull/unusable-records.ts',
    find: '[written, filled, planned]',
    put: '[filled, written, planned]',
    tests: ['test/jobs/pull-feed.test.ts'],
  },
  {
    file: 'src/store/pull/pull-transaction.ts',
    find: 'async abandon(): Promise<void> {',
    put: "async abandon(): Promise<void> {\n    await this.session.query('rollback').catch(() => undefined);",
    tests: ['test/store/pull-transaction.test.ts'],
  },
  // Accounting, and the limits of an older pull.
  {
    file: 'src/plan/accounting.ts',
    find: 'if (sum === total) return',
    put: 'if (sum >= total) return',
    tests: ['test/plan/accounting.test.ts'],
  },
  {
    file: 'src/store/change/merge/mark-missing.ts',
    find: '.rows} r where r.key = c.key)',
    put: '.rows} r where false)',
    tests: ['test/laws/pending-same.test.ts'],
  },
  {
    file: 'src/store/pull/pull-transaction.ts',
    find: 'known?.any === false',
    put: 'true',
    tests: [mirror],
  },
  {
    file: 'src/store/change/merge/mark-missing.ts',
    find: 'if (nothingKnown) return;\n  const select',
    put: 'return;\n  const select',
    tests: ['test/scenarios/reports.test.ts'],
  },
  // A record hash belongs to one key and one way of reading records.
  {
    file: 'src/posting/hash.ts',
    find: '  xorHash(own, 0, interpretation);\n',
    put: '',
    tests: ['test/posting/hash.test.ts', 'test/pull/pull-ledger.test.ts'],
  },
  {
    file: 'src/posting/fingerprint.ts',
    find: 'const parts = [fingerprint, format',
    put: "const parts = ['', format",
    tests: ['test/laws/changed-key.test.ts'],
  },
  // The version of a source belongs to the request and to the address that sent it.
  {
    file: 'src/feed/source/http/request-resource.ts',
    find: 'asked?.address === addressDigest(url)',
    put: 'true',
    tests: ['test/feed/http-source.test.ts'],
  },
  {
    file: 'src/feed/source/request-digest.ts',
    find: '? bound.slice(request.length + 1) : undefined',
    put: "? bound.slice(request.length + 1) : bound?.slice(bound.indexOf(' ') + 1)",
    tests: ['test/feed/http-source.test.ts', 'test/scenarios/changed-source.test.ts'],
  },
  // Skipped records.
  {
    file: 'src/pull/pull-ledger.ts',
    find: '(this.skipped > 0 && this.expired === 0 && this.skipped + this.unreadable === this.seen)',
    put: 'false',
    tests: [skipped],
  },
  {
    file: 'src/posting/reader.ts',
    find: "compileConditions(skip, 'nothing holds')",
    put: "compileConditions(skip, 'a denial holds')",
    tests: ['test/config/mapping-examples.test.ts'],
  },
  // Conditions on dates.
  {
    file: 'jobs/pull-feed.ts',
    find: '(await anyDateDue(db, setup));',
    put: 'false;',
    tests: ['test/scenarios/date-conditions.test.ts'],
  },
  {
    file: 'jobs/pull-feed.ts',
    find: 'if (isDue || samplesKnown',
    put: 'if (samplesKnown',
    tests: ['test/scenarios/date-conditions.test.ts'],
  },
  {
    file: 'src/pull/pull-ledger.ts',
    find: 'if (this.#isDated && this.#seeSkippedByDate(hashes, at, ordinal)) return undefined;',
    put: '',
    tests: ['test/scenarios/date-conditions.test.ts'],
  },
  {
    file: 'src/pull/merge-pull.ts',
    find: 'if (whole) await recordPlanner.forgetUnseen();',
    put: '',
    tests: ['test/scenarios/date-conditions.test.ts'],
  },
  {
    file: 'src/posting/conditions.ts',
    find: '    narrow(ofNone, failed);',
    put: '',
    tests: ['test/posting/date-conditions.test.ts'],
  },
  {
    file: 'src/pull/record-planner.ts',
    find: 'await this.#pullTx.removeSkipped(this.ledger.unseenSkipped());',
    put: '',
    tests: [skipped],
  },
  {
    file: 'src/store/pull/pull-commit.ts',
    find: 'l.unreadable - l.skipped - $2',
    put: 'l.unreadable - $2',
    tests: [skipped],
  },
  // Postings of several places.
  {
    file: 'src/pull/pull-slots.ts',
    find: 'place === places - 1 && !isUnclear',
    put: 'place === places - 1',
    tests: [places],
    named: 'its places can not be read',
  },
  {
    file: 'src/store/change/merge/protect-unreadable.ts',
    find: "subject.hasPlaces ? UNREADABLE_PLACES : 'unreadable_key'",
    put: "'unreadable_key'",
    tests: [places],
    named: 'the record can not be read',
  },
  {
    file: 'src/pull/merge-pull.ts',
    find: 'source.encoding ?? null, ...ofPlaces',
    put: 'source.encoding ?? null',
    tests: [places],
    named: 'any of the former postings',
  },
  {
    file: 'src/pull/pull-ledger.ts',
    find: 'slots === undefined || !slots.every(isKnown)',
    put: 'slots === undefined',
    tests: [places],
    named: 'only after enough pulls',
  },
  // Texts that a step refused.
  {
    file: 'src/review/plan-edit.ts',
    find: "reason?.kind === 'rules' ? reason.problems : []",
    put: '[]',
    tests: ['test/scenarios/mapping.test.ts'],
  },
  {
    file: 'src/pull/read-record.ts',
    find: "read.kind === 'invalid' ? read.problems : []",
    put: '[]',
    tests: ['test/scenarios/mapping.test.ts'],
  },
  // Details: what failed is not sent, what is known is not requested again, and what was not requested is not complete.
  {
    file: 'src/pull/detailed-list.ts',
    find: "read: { kind: 'unreadable', problems, key }",
    put: "read: { kind: 'unreadable', problems, key: undefined }",
    tests: ['test/scenarios/details.test.ts'],
  },
  {
    file: 'src/pull/detail-reader.ts',
    find: 'if (stored !== undefined && !stored.isDue) return stored.outcome;',
    put: '',
    tests: ['test/scenarios/details.test.ts'],
  },
  {
    file: 'src/pull/detail-reader.ts',
    find: 'if (this.#postponed === 0) return [];',
    put: 'if (this.#postponed >= 0) return [];',
    tests: ['test/scenarios/details.test.ts'],
  },
  {
    file: 'src/feed/detail-record.ts',
    find: 'if (own === its && own !== undefined) continue;',
    put: 'continue;',
    tests: ['test/scenarios/details.test.ts'],
  },
  // Postings read in advance.
  {
    file: 'src/pull/record-planner.ts',
    find: 'const isSimple = this.#edits.none && isSynchronous',
    put: 'const isSimple = isSynchronous',
    tests: ['test/jobs/pull-feed.test.ts'],
  },
  {
    file: 'src/pull/unusable-records.ts',
    find: 'this.#keep(packedPosting, 0, packedPosting.length, NOTHING)',
    put: 'packedPosting',
    tests: ['test/pull/waiting-records.test.ts'],
  },
  // The same row under another header is another record; a table that may have been cut, or hides rows, is not complete.
  {
    file: 'src/feed/batch/record-batch.ts',
    find: 'if (prefixHash !== undefined) xorHash(hashes, this.hashAt(this.#hashed), prefixHash);',
    put: '',
    tests: ['test/feed/record-batch.test.ts'],
  },
  {
    file: 'src/feed/format/csv-format.ts',
    find: '} else if (!isEndProven) {',
    put: '} else if (false) {',
    tests: ['test/feed/csv-splitter.test.ts'],
  },
  {
    file: 'src/feed/format/csv-format.ts',
    find: 'this.#shortfalls.note(why);',
    put: '',
    tests: ['test/feed/csv-splitter.test.ts'],
  },
  {
    file: 'src/feed/batch/record-batch.ts',
    find: 'facts.setUint32(at + POSTING_END_AT, 0, true);',
    put: '',
    tests: ['test/feed/record-batch.test.ts'],
  },
  {
    file: 'src/feed/batch/record-batch.ts',
    find: "return notes.length === 0 ? '' :",
    put: "return true ? '' :",
    tests: ['test/feed/packed-posting.test.ts', 'test/jobs/pull-feed.test.ts'],
  },
  // What is stored.
  {
    file: 'src/compact/clean-texts.ts',
    find: `if (json.includes('\\t'))`,
    put: 'if (false)',
    tests: ['test/compact/clean-texts.test.ts'],
  },
  {
    file: 'src/compact/clean-texts.ts',
    find: "      this.#joined = '';",
    put: '',
    tests: ['test/compact/clean-texts.test.ts'],
  },
  {
    file: 'src/store/feed/feed-state.ts',
    find: 'current < pull) return;',
    put: 'true) return;',
    tests: ['test/laws/overtaken.test.ts'],
  },
  {
    file: 'src/plan/plan-posting.ts',
    find: "open.invalid === (result.kind === 'invalid')",
    put: 'true',
    tests: ['test/plan/plan-posting.test.ts'],
  },
  // The outcome table.
  {
    file: 'src/site/outcome.ts',
    find: 'is(facts, 408, 425, 502, 503, 504) && unknown',
    put: 'is(facts, 408, 425, 503, 504) && unknown',
    tests: [outcome],
  },
  {
    file: 'src/site/outcome.ts',
    find: '!facts.sent && {',
    put: 'false && {',
    tests: [outcome],
  },
  {
    file: 'src/site/outcome.ts',
    find: "is(facts, 0) && { kind: 'unknown'",
    put: "is(facts, 0) && { kind: 'unreachable'",
    tests: [outcome],
  },
  {
    file: 'src/site/outcome.ts',
    find: 'failure(facts) && !facts.problems.some(isAboutJob) && unknown(facts)',
    put: 'failure(facts) && facts.problems.length === 0 && unknown(facts)',
    tests: [outcome],
  },
  {
    file: 'src/site/outcome.ts',
    find: '(facts.problems.length > 0 || facts.failureIndicators().length > 0) &&',
    put: 'false &&',
    tests: [outcome],
  },
  {
    file: 'src/site/outcome.ts',
    find: 'success(facts) && !facts.isHtml ? facts.failureIndicators() : []',
    put: '[]',
    tests: [outcome],
  },
  { file: 'src/site/outcome.ts', find: 'facts.isInDoubt() && {', put: 'false && {', tests: [outcome] },
  {
    file: 'src/apply/record-outcome.ts',
    find: 'outcome.perhapsDone ? { mayLandMs: 0 } : {}',
    put: '{}',
    tests: [policy],
  },
  {
    file: 'src/site/outcome.ts',
    find: '(is(facts, 429) || (is(facts, 503) && facts.retryAfterMs !== undefined && !facts.isFailedFetch())) && {',
    put: '(is(facts, 429) || is(facts, 503)) && {',
    tests: [outcome],
  },
  {
    file: 'src/site/outcome.ts',
    find: "is(facts, 404, 410) && { kind: 'gone' }",
    put: "is(facts, 404) && { kind: 'gone' }",
    tests: [outcome],
  },
  // The life cycle of a change.
  {
    file: 'src/apply/record-outcome.ts',
    find: "if (operation === 'create') return inDoubt(outcome.message, { taken: outcome.taken, made: outcome.perhapsMade });",
    put: '',
    tests: [policy],
  },
  {
    file: 'src/apply/record-outcome.ts',
    find: 'attempt.number >= policy.retry.attempts',
    put: 'attempt.number > policy.retry.attempts',
    tests: [policy],
  },
  {
    file: 'src/apply/record-outcome.ts',
    find: "if (operation === 'create') return inDoubt('the site accepted the create but named no job ID');",
    put: '',
    tests: [policy],
  },
  {
    file: 'src/plan/next-request.ts',
    find: 'actual.uncertain === undefined && actual',
    put: 'actual',
    tests: [next],
  },
  {
    file: 'src/plan/next-request.ts',
    find: "(doubtful.has(name) || from[name] !== '')",
    put: "from[name] !== ''",
    tests: [next],
  },
  {
    file: 'src/store/change/claim.ts',
    find: "coalesce(c.desired = 'present' and u.revision <> c.revision and u.until > now(), false)",
    put: 'false',
    tests: [uncertainWrites],
    named: 'lands late',
  },
  {
    file: 'src/store/change/record-outcomes.ts',
    find: '    recordUncertainWrites(tx, kept),\n',
    put: '',
    tests: [uncertainWrites],
  },
  {
    file: 'src/apply/confirm-gone.ts',
    find: 'if (shown !== undefined && !statesDeletion(shown, attempt.before, attempt.accepted?.fields)) {\n      const foreign',
    put: 'if (false) {\n      const foreign',
    tests: [uncertainWrites],
    named: 'live job',
  },
  // The address of a site, and the deadline of a request.
  {
    file: 'src/store/change/claim.ts',
    find: 'coalesce(s.address <> here.address, false)',
    put: 'false',
    tests: [moved],
  },
  {
    file: 'src/apply/maintain-backlog.ts',
    find: 'if (isElsewhere(siteContext, state)) return',
    put: 'if (false) return',
    tests: [moved],
  },
  { file: 'src/runtime/engine.ts', find: 'await confirmAddress(siteContext);', put: '', tests: [moved] },
  {
    file: 'src/apply/resolve-doubts.ts',
    find: 'if (await isSiteElsewhere(db, site, siteContext.address)) return 0;',
    put: '',
    tests: [moved],
  },
  {
    file: 'src/store/change/site-search.ts',
    find: 'if (!(await confirmSiteAt(tx, site, address))) return undefined;',
    put: '',
    tests: [moved],
  },
  { file: 'src/store/site/orphan-site-jobs.ts', find: 's.address <> $4', put: 'false', tests: [moved] },
  {
    file: 'src/store/mapping/adopt-jobs.ts',
    find: 'if (!(await confirmSiteAt(session, site, address))) {',
    put: 'if (false) {',
    tests: [moved],
  },
  {
    file: 'src/store/mapping/mapping-import.ts',
    find: 'address !== undefined && !(await',
    put: 'false && !(await',
    tests: [moved],
  },
  {
    file: 'src/site/http/trouble.ts',
    find: 'performance.now() > steady || ',
    put: '',
    tests: ['test/site/faults.test.ts'],
  },
  // The create protocol and doubts.
  {
    file: 'src/plan/after-attempt.ts',
    find: "if (operation === 'create') return",
    put: "if (operation === 'create' && attempts < 0) return",
    tests: ['test/laws/crash.test.ts'],
    named: "'intent-committed' of a delete, then",
  },
  {
    file: 'src/store/change/complete.ts',
    find: 'and c.attempt_token = a.token and c.revision = a.revision',
    put: 'and c.attempt_token = a.token',
    tests: [doubts],
    named: 'a newer change',
  },
  {
    file: 'src/store/change/doubt.ts',
    find: 'coalesce(c.sent_revision, c.revision) as revision',
    put: 'c.revision as revision',
    tests: [doubts],
    named: 'a newer change',
  },
  {
    file: 'src/plan/after-attempt.ts',
    find: '!superseded && attempts >= mostTries',
    put: '!superseded && attempts > mostTries',
    tests: [doubts],
    named: 'never makes',
  },
  {
    file: 'src/plan/match/compare-job.ts',
    find: 'if (timely === false || (isReferenceShared && !isAllTheSame(parts)))',
    put: 'if (isReferenceShared && !isAllTheSame(parts))',
    tests: [likeness],
  },
  {
    file: 'src/plan/match/compare-job.ts',
    find: 'if (timely === false || (isReferenceShared && !isAllTheSame(parts)))',
    put: 'if (timely === false)',
    tests: [likeness],
  },
  {
    file: 'src/plan/match/compare-job.ts',
    find: "return title !== 'other' && place !== 'other' ? 'resembles' : 'other';",
    put: "return 'other';",
    tests: [likeness],
  },
  {
    file: 'src/plan/match/compare-job.ts',
    find: "if (timely === true && title === 'same' && isAllTheSame(parts)) return 'match';",
    put: "if (title === 'same' && isAllTheSame(parts)) return 'match';",
    tests: [likeness],
  },
  {
    file: 'src/apply/candidate-search.ts',
    find: "if (reuse === 'unmatched') return false;",
    put: '',
    tests: ['test/apply/doubts/resolve-doubts.test.ts'],
    named: 'another posting gets',
  },
  {
    file: 'src/apply/resolve-doubts.ts',
    find: '!taken.has(candidate.siteJobId)',
    put: 'true',
    tests: ['test/apply/doubts/resolve-doubts.test.ts'],
    named: 'identical content',
  },
  {
    file: 'src/flow/retry.ts',
    find: '!worthAgain(error)',
    put: 'true',
    tests: ['test/laws/own-faults.test.ts'],
    named: 'stopped immediately',
  },
  {
    file: 'src/store/locks/feed-locks.ts',
    find: 'if (!row.free) await endWorkConnections',
    put: 'if (row.free) await endWorkConnections',
    tests: ['test/laws/stopped.test.ts'],
    named: 'gives way',
  },
  {
    file: 'src/store/change/complete.ts',
    find: 'coalesce(a.fields, c.sent_fields, c.fields)',
    put: 'coalesce(a.fields, c.fields, c.sent_fields)',
    tests: [doubts],
    named: 'a newer change waits',
  },
  // Statements that record outcomes, sent together.
  {
    file: 'src/store/postgres/database.ts',
    find: 'if (over) throw',
    put: 'if (false) throw',
    tests: ['test/store/database.test.ts'],
    named: 'after a rollback are refused',
  },
  {
    file: 'src/store/postgres/database.ts',
    find: 'isAfterFailure(error) ? (first ?? error) : error',
    put: 'error',
    tests: ['test/store/database.test.ts'],
    named: 'fails with its first error',
  },
  {
    file: 'src/store/change/complete.ts',
    find: 'rows.length < replaced.length',
    put: 'rows.length > replaced.length',
    tests: ['test/laws/overtaken.test.ts', doubts],
  },
  // Slots: changes in flight, and requests that the site gets at a time.
  {
    file: 'jobs/apply-change.ts',
    find: 'if (wentWell(exchange.outcome)) releaseSlot();',
    put: 'releaseSlot();',
    tests: ['test/jobs/apply-change.test.ts'],
    named: 'one request at a time',
  },
  {
    file: 'src/runtime/engine.ts',
    find: 'siteContext.requestSlots.close();',
    put: '',
    tests: ['test/scenarios/requests-at-a-time.test.ts'],
  },
  // Queue jobs: batches, the dispatcher, and postings that are queued already.
  {
    file: 'src/queue/backend.ts',
    find: '>= LATEST_SCHEMA_VERSION',
    put: '>= 0',
    tests: ['test/queue/backend.test.ts'],
  },
  {
    file: 'src/queue/running-worker.ts',
    find: '.then(() => Promise.all(inFlight))',
    put: '',
    tests: ['test/queue/site-queue.test.ts'],
    named: 'ends when they are handed over',
  },
  {
    file: 'src/queue/running-worker.ts',
    find: 'job.stalledCounter > 0 &&',
    put: 'false &&',
    tests: ['test/queue/running-worker.test.ts'],
    named: 'is split before',
  },
  {
    file: 'src/queue/site-queue.ts',
    find: 'limiterFor(requestsPerSecond / queue.batchSize)',
    put: 'limiterFor(requestsPerSecond)',
    tests: ['test/queue/limiter-options.test.ts'],
  },
  {
    file: 'src/queue/dispatcher.ts',
    find: 'if (job > lastJob - waiting) break;',
    put: 'if (waiting > 0) break;',
    tests: ['test/queue/still-queued.test.ts', 'test/queue/dispatcher.test.ts'],
  },
  {
    file: 'src/queue/dispatcher.ts',
    find: '&& !options.isWorking()',
    put: '',
    tests: ['test/queue/dispatcher.test.ts'],
  },
  {
    file: 'jobs/apply-change.ts',
    find: 'const releaseInFlight = await siteContext.inFlight.take();',
    put: 'const releaseInFlight = () => undefined;',
    tests: ['test/jobs/apply-change.test.ts'],
  },
  {
    file: 'jobs/apply-change.ts',
    find: 'onIntent();',
    put: '',
    tests: ['test/jobs/apply-change.test.ts'],
  },
  {
    file: 'src/plan/after-attempt.ts',
    find: '!superseded && attempts > mostTries',
    put: 'attempts > mostTries',
    tests: ['test/plan/after-attempt.test.ts', 'test/store/worker-lease.test.ts'],
  },
  {
    file: 'src/compact/key-index.ts',
    find: 'for (let at = lastWord & (bit - 1); at',
    put: 'for (let at = lastWord & ((bit << 1) - 1); at',
    tests: ['test/compact/key-index.test.ts'],
  },
  {
    file: 'src/runtime/engine.ts',
    find: 'Math.max(2 * requests, requests + 4 * options.concurrency)',
    put: 'requests + 0 * options.concurrency',
    tests: ['test/scenarios/trouble.test.ts'],
    named: 'many requests in flight',
  },
  // Web pages and sitemaps.
  {
    file: 'src/feed/format/html-format.ts',
    find: 'if (this.#isClosed || isEndProven) return undefined',
    put: 'return undefined',
    tests: ['test/feed/html/page-property.test.ts'],
  },
  {
    file: 'src/feed/format/json-ld-format.ts',
    find: 'dependsOnTime: true',
    put: 'dependsOnTime: false',
    tests: ['test/feed/html/read-pages.test.ts'],
  },
  {
    file: 'src/feed/format/json-ld-format.ts',
    find: "if (!isCertain) return 'uncertain'",
    put: "if (!isCertain) return 'expired'",
    tests: ['test/feed/html/read-pages.test.ts'],
  },
  {
    file: 'src/pull/dated-records.ts',
    find: 'startClock((await databaseTime(db)).getTime())',
    put: 'startClock()',
    tests: ['test/scenarios/expiring-postings.test.ts'],
  },
  {
    file: 'src/feed/format/json-ld-format.ts',
    find: 'counts.records === 0 && this.#options',
    put: 'false && this.#options',
    tests: ['test/feed/html/json-ld-splitter.test.ts'],
  },
  {
    file: 'src/feed/source/pages/open-sitemap.ts',
    find: 'if (this.#failures.length > 0) throw',
    put: 'if (false) throw',
    tests: ['test/feed/sitemap.test.ts'],
  },
  {
    file: 'src/store/backup/restore-backup.ts',
    find: 'await loading?.abandon();',
    put: '',
    tests: ['test/store/restore-backup.test.ts'],
  },
];
