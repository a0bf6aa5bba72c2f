// What docs/reference.md says of commands beyond their help: the members of what they print as JSON, and their exit statuses. The JSON of
// a command that is made of an operation is described by the operation.

import type { findingJson, resultJson } from '../../src/cli/output/describe-finding.ts';
import type { sampleJson } from '../../src/cli/output/describe-trial.ts';
import { HEALTH_CONDITIONS } from '../../src/review/health/assess-health.ts';
import type { PullReportJson } from '../../src/runtime/conclude-pull.ts';
import type { ExitStatus } from '../../src/runtime/stop-signal.ts';

/** A kind of object that a command prints, or the values of a member. */
interface PrintedNotes {
  readonly about: string;
  readonly members: Readonly<Record<string, string>>;
}

export interface CommandNotes {
  /** Paragraphs after the tables of arguments and options. */
  readonly text?: readonly string[];
  readonly json?: readonly PrintedNotes[];
  /** Where it says more than the exit statuses of all commands. */
  readonly exitStatus?: Readonly<Partial<Record<ExitStatus, string>>>;
}

/** The members of any variant of an object. */
type MembersOf<Printed> = Printed extends unknown ? Extract<keyof Printed, string> : never;

/** What the exit statuses of all commands mean. */
export const EXIT_STATUS_NOTES: Readonly<Record<ExitStatus, string>> = {
  0: 'everything is mirrored, or the command did what it was asked for',
  1: 'the command could not do its work: wrong configuration, source or site unreachable, feed unreadable or incomplete. The part of the feed that could be read is mirrored; nothing is deleted',
  2: 'mirrored, but something needs review',
};

const PULL_STATUSES = {
  mirrored: 'the site has what the feed has',
  not_modified: 'the source has nothing new',
  review: 'mirrored, but something waits for a person',
  incomplete: 'the feed is not proven complete: what was read is mirrored, nothing is deleted',
  pending: 'some changes could not be sent, or the jobs are at another address',
  failed: 'the feed could not be read, or the pull was stopped',
} satisfies Record<PullReportJson['status'], string>;

const SAMPLE_MEMBERS = {
  key: 'key of the posting',
  fields: "the site's fields, as they would be sent",
  problems: 'what would be rejected: `[{"field","message"}]`',
  record: 'number of its record in the document, from 1',
  line: 'line of the record; `null`: not known',
  document: 'the document that has the record',
  xml: 'with `--xml`: the request',
} satisfies Record<Extract<keyof ReturnType<typeof sampleJson>, string>, string>;

const BULK_NOTES: CommandNotes = {
  exitStatus: { 1: 'it was interrupted, or did nothing', 2: 'entries were left alone or are still rejected' },
};

const FINDING_MEMBERS = {
  feed: 'name of the feed',
  key: 'key of the posting',
  job_id: 'its job',
  finding: "`changed`, `gone`, or `foreign` if the job shows another posting's reference or content",
  fields: 'the fields that differ: `{name: {"from","to"}}`',
  message: 'why it is foreign; absent otherwise',
  state: 'state of its change, if there is one',
} satisfies Record<MembersOf<ReturnType<typeof findingJson>>, string>;

const VERIFIED_MEMBERS = {
  feed: 'name of the feed',
  jobs: 'jobs of the feed that were to be compared',
  same: 'as they were sent',
  changed: 'of other content',
  gone: 'that the site does not have any more',
  foreign: "that are another posting's",
  waiting: 'that are being sent, or marked to be sent again',
  unknown: 'of unknown content',
  unasked: 'without a clear answer of the site',
  hidden: 'how many jobs do not show a field, by field',
  marked: 'with `--repair`: how many the next sync sets again',
  not_marked: 'with `--repair`: how many are left',
  to_compare: 'with `--repair`: how many are sent once more, as they could not be compared',
  restored: 'what to know of jobs made since the backup; absent if there is nothing',
  message: 'why not all jobs could be compared; absent if they could',
} satisfies Record<MembersOf<ReturnType<typeof resultJson>>, string>;

const groupsAndLists =
  'Words of `--text` are beginnings of words of the key, title, value and message, in any case and order; punctuation separates words, and a word of one or two characters must be a whole one.';

/** By the words of the command. */
export const COMMAND_NOTES: Readonly<Record<string, CommandNotes>> = {
  sync: {
    json: [{ about: 'Values of `status`:', members: PULL_STATUSES }],
    exitStatus: { 2: 'also if no feed is named, and one that is no longer in the configuration has unsent changes' },
    text: [
      'jobmirror checks the first of these sums for every pull and both for a complete pull. A wrong sum fails the pull with a message:',
      '    seen = unchanged + created + updated + rejected + in_doubt + pending + failed + duplicates + unreadable + skipped\n    gone = deleted + held + kept + grace + pending_deletes + failed_deletes',
      'If a later pull of the same feed overtakes this one, the counts stop at that moment. The `message` then names the later pull, which counts the rest, and `status` covers the result of both. An incomplete pull counts what it saw.',
    ],
  },
  undo: {
    json: [
      {
        about:
          'The objects of [`plan`](#jobmirror-plan); once it is undone, the one that [`sync`](#jobmirror-sync) prints of a pull.',
        members: {},
      },
    ],
  },
  try: {
    json: [
      { about: 'One object for each of the first postings:', members: SAMPLE_MEMBERS },
      {
        about: 'A last one for the whole feed; of a feed that could not be read only `feed`, `complete` and `message`:',
        members: {
          feed: 'name of the feed',
          complete: 'the feed is proven complete',
          shortfalls: 'why it is not',
          weak: 'why the completeness is proven only weakly; absent if it is not',
          'seen, postings, rejected, unreadable, skipped':
            'counts of records, of postings, and of those that would be rejected, cannot be read, or are skipped',
          without_detail: 'postings whose details were not requested',
          'repeated, conflicting': 'records whose key an earlier one has; those of them that differ from it',
          bytes: 'bytes read from the source, decompressed',
          fields: 'how many postings have each field',
          refused_fields: 'how many values of each field were refused; they do not count as filled',
          unescaped_fields: 'how many values of each field were unescaped',
          fields_of_pairs: 'how many values of each field are the name of a pair of ID and name',
          rejections:
            'problems of postings: `[{"field","message","count","examples"}]`, with keys, values, records and lines',
          unreadable_records: 'problems of records, in the same form',
          repeated_keys:
            'keys that several records have: `[{"key","same_content","record","line","document","first"}]`',
          skipped_records: 'some of the skipped records; with `key`, `since` and `until` if a date decides',
          warnings: 'likely mistakes of the mapping',
        },
      },
    ],
    exitStatus: {
      1: 'the feed cannot be read or is not complete',
      2: 'postings would be rejected, keys conflict, or a mistake is likely',
    },
  },
  init: {
    text: [
      'It chooses the preset that fits, or proposes key and fields by the names in the records, finds out how an API sends its pages, and asks only what the feed does not say: everything that it would ask is an option. It shows the first three postings as they would be sent. To a file that exists it adds the feed, and leaves a copy of the former one.',
    ],
    exitStatus: { 2: 'no posting would be sent; it says what to change' },
  },
  check: {
    text: [
      'It reports every mistake with file and line, including missing source files and a configuration without feeds, and ends with “is right” only if there is no mistake. It reads the beginning of feeds that are files, with `--online` of all feeds, and warns of likely mistakes: a path of the records that matches nothing, paths of values that no record has.',
    ],
  },
  status: {
    json: [{ about: 'Values of `condition`:', members: HEALTH_CONDITIONS }],
    exitStatus: {
      0: 'with `--check`: all is well',
      1: 'with `--check`: something fails',
      2: 'with `--check`: something needs review',
    },
  },
  report: {
    text: [
      'The report reads only the database, sends nothing, and suggests no commands, which only your own operators can run. With `--state` and `--since` the totals still cover all postings. The file of `--output` is replaced only when the report is complete.',
    ],
    exitStatus: { 0: 'the report is complete, whatever it says' },
  },
  'review groups': { text: [groupsAndLists] },
  'review list': { text: [groupsAndLists] },
  verify: {
    json: [
      { about: 'One object per finding:', members: FINDING_MEMBERS },
      { about: 'Then one per feed:', members: VERIFIED_MEMBERS },
    ],
  },
  'review edit': BULK_NOTES,
  'review retry': BULK_NOTES,
  'review discard': BULK_NOTES,
  'review reopen': BULK_NOTES,
  'review approve': BULK_NOTES,
  'review continue': BULK_NOTES,
  'review settle': BULK_NOTES,
};
