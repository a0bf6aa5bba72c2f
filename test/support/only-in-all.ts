// The test files that only `npm run test:all` runs: each takes long, and another one covers the laws and rules it is about.
import { existsSync, readdirSync } from 'node:fs';

const COVERED_BY: Readonly<Record<string, string>> = {
  // Laws, with more processes, sites and connections.
  'test/laws/adopt.test.ts': 'test/cli/mappings-adopt.test.ts',
  'test/laws/clock.test.ts': 'test/scenarios/expiring-postings.test.ts',
  'test/laws/adopt-page.test.ts': 'test/web/adopt.test.ts',
  'test/laws/crash-seeds.test.ts': 'test/laws/crash.test.ts',
  'test/laws/crossing.test.ts': 'test/laws/simulation.test.ts',
  'test/laws/database-states.test.ts': 'test/laws/own-faults.test.ts',
  'test/laws/detailed-places.test.ts': 'test/laws/places.test.ts',
  'test/laws/details.test.ts': 'test/scenarios/details.test.ts',
  'test/laws/few-connections.test.ts': 'test/laws/own-faults.test.ts',
  'test/laws/missing-postings.test.ts': 'test/store/grace.test.ts',
  'test/laws/recover.test.ts': 'test/cli/recover.test.ts',
  'test/laws/rekey.test.ts': 'test/scenarios/rekey.test.ts',
  'test/laws/rewritten-values.test.ts': 'test/laws/doubts.test.ts',
  'test/laws/secrets.test.ts': 'test/scenarios/echoed-token.test.ts',
  'test/laws/several-machines.test.ts': 'test/laws/own-faults.test.ts',
  'test/laws/two-tokens.test.ts': 'test/laws/token.test.ts',
  'test/laws/undo.test.ts': 'test/cli/undo.test.ts',
  'test/laws/verify.test.ts': 'test/cli/verify.test.ts',
  // Laws, at sites and sources of a special kind.
  'test/queue/queue-loss.test.ts': 'test/laws/own-faults.test.ts',
  'test/review/bulk-feeds.test.ts': 'test/review/bulk.test.ts',
  'test/review/bulk-size.test.ts': 'test/review/bulk.test.ts',
  'test/review/match-corpus.test.ts': 'test/review/match-jobs.test.ts',
  'test/scenarios/alerts-of-configurations.test.ts': 'test/scenarios/alerts.test.ts',
  'test/scenarios/cached-list.test.ts': 'test/laws/doubts.test.ts',
  'test/scenarios/create-only-pairs.test.ts': 'test/scenarios/create-only-fields.test.ts',
  'test/scenarios/details-meanwhile.test.ts': 'test/scenarios/details.test.ts',
  'test/scenarios/doubt-reason.test.ts': 'test/laws/doubts.test.ts',
  'test/scenarios/expiry.test.ts': 'test/laws/expiry.test.ts',
  'test/scenarios/expiry-details.test.ts': 'test/laws/expiry.test.ts',
  'test/scenarios/expiry-pairs.test.ts': 'test/laws/expiry.test.ts',
  'test/scenarios/expiring-site.test.ts': 'test/apply/confirm-gone.test.ts',
  'test/scenarios/gone-doubts-in-grace.test.ts': 'test/scenarios/gone-doubts.test.ts',
  'test/scenarios/json-feed.test.ts': 'test/feed/splitting.test.ts',
  'test/scenarios/known-less.test.ts': 'test/scenarios/ahead.test.ts',
  'test/scenarios/lenient.test.ts': 'test/posting/reader.test.ts',
  'test/scenarios/likely-mistakes.test.ts': 'test/posting/mapping-mistakes.test.ts',
  'test/scenarios/many-gone.test.ts': 'test/scenarios/mirror.test.ts',
  'test/scenarios/many-messages.test.ts': 'test/store/review-entries.test.ts',
  'test/scenarios/notes.test.ts': 'test/store/review-entries.test.ts',
  'test/scenarios/odd-answers.test.ts': 'test/site/outcome.test.ts',
  'test/scenarios/paced-reads.test.ts': 'test/flow/rate-limiter.test.ts',
  'test/scenarios/places.test.ts': 'test/laws/places.test.ts',
  'test/scenarios/real-feeds.test.ts': 'test/scenarios/mirror.test.ts',
  'test/scenarios/resume-probe.test.ts': 'test/scenarios/trouble.test.ts',
  'test/scenarios/retention.test.ts': 'test/store/forget-old-rows.test.ts',
  'test/scenarios/reused-ids.test.ts': 'test/store/ended-claim.test.ts',
  'test/scenarios/scheduled-verify.test.ts': 'test/cli/verify.test.ts',
  'test/scenarios/several-configurations.test.ts': 'test/store/feed-schedule.test.ts',
  'test/scenarios/sitemap.test.ts': 'test/feed/sitemap.test.ts',
  'test/scenarios/slow-sources.test.ts': 'test/feed/http-source.test.ts',
  'test/scenarios/table-feed.test.ts': 'test/feed/csv-splitter.test.ts',
  'test/scenarios/throttled-site.test.ts': 'test/apply/outcome-policy.test.ts',
  'test/scenarios/token-in-answers.test.ts': 'test/scenarios/echoed-token.test.ts',
  'test/scenarios/undo-and-rekey.test.ts': 'test/scenarios/rekey.test.ts',
  'test/scenarios/undo-and-verify-pairs.test.ts': 'test/cli/undo.test.ts',
  'test/scenarios/wrong-details.test.ts': 'test/scenarios/details.test.ts',
  'test/setup/real-feeds.test.ts': 'test/setup/propose.test.ts',
  'test/site/list-stream.test.ts': 'test/site/list.test.ts',
  'test/telemetry/alerts/mail.test.ts': 'test/telemetry/alerts/webhook.test.ts',
  'test/web/adopt.test.ts': 'test/cli/mappings-adopt.test.ts',
  'test/web/hostile-forms.test.ts': 'test/web/hostile.test.ts',
  'test/web/page-sizes.test.ts': 'test/review/list-groups.test.ts',
  'test/web/many-entries.test.ts': 'test/review/list-groups.test.ts',
  // How the program behaves as a process, in a terminal, a browser, a package or on another machine.
  'test/cli/approve-selected.test.ts': 'test/review/bulk-actions.test.ts',
  'test/cli/broken-feed.test.ts': 'test/config/load-config.test.ts',
  'test/cli/completion.test.ts': 'test/cli/run-program.test.ts',
  'test/cli/demo.test.ts': 'test/cli/demo/proof.test.ts',
  'test/cli/discard-asks.test.ts': 'test/cli/discard.test.ts',
  'test/cli/init-sources.test.ts': 'test/cli/init.test.ts',
  'test/cli/left-open.test.ts': 'test/cli/run-program.test.ts',
  'test/cli/mappings-adopt-attacks.test.ts': 'test/cli/mappings-adopt.test.ts',
  'test/cli/mappings-round-trip.test.ts': 'test/cli/mappings-import.test.ts',
  'test/cli/output-failure.test.ts': 'test/cli/sync.test.ts',
  'test/cli/plan-reasons.test.ts': 'test/plan/plan-posting.test.ts',
  'test/cli/process-limits.test.ts': 'test/cli/run-program.test.ts',
  'test/cli/remote-session.test.ts': 'test/cli/feeds.test.ts',
  'test/cli/resume-moved.test.ts': 'test/scenarios/moved-site.test.ts',
  'test/cli/review-bulk-groups.test.ts': 'test/review/bulk.test.ts',
  'test/cli/review-undo-edit.test.ts': 'test/review/undo-edit.test.ts',
  'test/cli/sandbox-command.test.ts': 'test/sandbox/settings.test.ts',
  'test/cli/status-check.test.ts': 'test/review/assess-health.test.ts',
  'test/cli/stopped-while-opening.test.ts': 'test/embedded-postgres/sharing.test.ts',
  'test/cli/unreadable.test.ts': 'test/pull/unreadable-postings.test.ts',
  'test/embedded-postgres/failures.test.ts': 'test/embedded-postgres/sharing.test.ts',
  'test/embedded-postgres/major-upgrade.test.ts': 'test/cli/backup.test.ts',
  'test/embedded-postgres/locations.test.ts': 'test/embedded-postgres/sharing.test.ts',
  'test/embedded-postgres/stopped-opening.test.ts': 'test/embedded-postgres/sharing.test.ts',
  'test/packaging/npm-package.test.ts': 'test/packaging/scripts.test.ts',
  'test/sandbox/pages.test.ts': 'test/sandbox/sandbox.test.ts',
};

/** Each test file here starts Chromium; these of them show that signing in and pages with forms work in a browser. */
const BROWSER_TESTS = 'test/web/pages';
const BROWSER_TESTS_IN_PART = [`${BROWSER_TESTS}/overview.test.ts`];

/** What the other pages show and what their forms do is to be tested over HTTP, by the other files in `test/web`. */
const otherBrowserTests = (): string[] =>
  readdirSync(BROWSER_TESTS, { recursive: true, encoding: 'utf8' })
    .map((file) => `${BROWSER_TESTS}/${file}`)
    .filter((file) => file.endsWith('.test.ts') && !BROWSER_TESTS_IN_PART.includes(file));

/** The files to leave out of a partial run, unless the command line names the file or its folder. */
export function leftOut(commandLine: readonly string[]): string[] {
  const named = commandLine.filter((word) => word.startsWith('test/'));
  const files = [...Object.keys(COVERED_BY), ...otherBrowserTests()];
  const gone = [...files, ...Object.values(COVERED_BY), ...BROWSER_TESTS_IN_PART].filter((file) => !existsSync(file));
  if (gone.length > 0) throw new Error(`test/support/only-in-all.ts names files that do not exist: ${gone.join(', ')}`);
  return files.filter((file) => !named.some((word) => file.startsWith(word)));
}
