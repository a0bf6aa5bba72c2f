// Setting up a feed: what a source is recognised as, what a draft of its settings makes of its records, and what a sync would send with it.
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { type Config, type FeedConfig, namedFeeds, type SiteConfig } from '../config/config.ts';
import { complaintLine } from '../config/config-error.ts';
import { editDraft, settingsOfDraft } from '../config/feed-draft.ts';
import { addressesNotByHand, checkFeedFile } from '../config/feed-files.ts';
import { requestedAddresses } from '../config/include.ts';
import { scheduleInWords } from '../config/schedule-choice.ts';
import { isWebAddress } from '../config/scheme-sources.ts';
import {
  credentialsMask,
  type Network,
  networkOfSources,
  publicNetwork,
  UPLOADED_FILE,
} from '../feed/source/sources.ts';
import { deletesWithin } from '../plan/delete-guard.ts';
import { plural, tell } from '../plan/message.ts';
import { deletesMissing } from '../plan/policy.ts';
import type { FieldRule } from '../posting/field-mapping.ts';
import { type FeedName, feedName } from '../posting/identifiers.ts';
import {
  type FeedTrial,
  findSample,
  type KeptSample,
  keepSample,
  MOST_SAMPLE_BYTES,
  planDraft,
  tryDraft,
} from '../runtime/feed-trial.ts';
import { nextRun } from '../runtime/schedule/next-run.ts';
import { AccessRefused, type FeedAccess, readFeedAccess } from '../setup/feed-access.ts';
import type { Proposal, SecondProposal } from '../setup/propose.ts';
import { recogniseFeed, samplePaths } from '../setup/recognise.ts';
import { proposeFeedName, writeFeed } from '../setup/write-config.ts';
import type { StoredVersion } from '../store/feed/feed-file-versions.ts';
import { namedSite, type OperationContext, OperationRefused, operation } from './operation.ts';
import { plannedOutput } from './plan.ts';
import { answerOf, count, keyOutput, listIn, nameText, text, time } from './scalars.ts';

export const sampleName = z.string().regex(/^[A-Za-z0-9_-]{24}$/, 'must be the name of a sample');
const sampleOutput = z.strictObject({
  id: z.string().describe('Its name, for the next requests. It is removed two hours after its last use.'),
  name: z.string().describe('The name of the file, or the address.'),
  bytes: count,
  upload: z.boolean().describe('Somebody has uploaded it; otherwise it is the beginning of the source.'),
  whole: z.boolean().describe('It is the whole document.'),
});

const shownSample = (kept: KeptSample) => answerOf(sampleOutput, kept, { upload: kept.isUpload, whole: kept.isWhole });

export const SHOWN_NAME = 200;

/** Without the recursion that a larger pattern takes for a large text. */
export const base64Text = z
  .string()
  .refine((written) => /^[A-Za-z0-9+/]*={0,2}$/.test(written) && written.length % 4 === 0, 'must be Base64');

/** @throws {OperationRefused} */
export async function keepUpload(file: { readonly name: string; readonly bytes: Buffer }, actor: string) {
  if (file.bytes.length === 0) throw new OperationRefused('invalid', 'the file is empty');
  const shown = file.name.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').replaceAll('\\', '/');
  const name = basename(shown).slice(0, SHOWN_NAME).toWellFormed() || 'file';
  const kept = await keepSample(file.bytes, { actor, name, isUpload: true, isWhole: true });
  if (kept !== undefined) return kept;
  const most = `${MOST_SAMPLE_BYTES / 1024 / 1024} MiB`;
  throw new OperationRefused('invalid', `the file has more than ${most}; upload a part of it, or name its address`);
}

export const keepFeedSample = operation({
  id: 'keepFeedSample',
  path: '/feeds/samples',
  summary: 'Keep a file of a feed for a while, to recognise it and to try a mapping on it',
  scope: 'configure',
  input: z.strictObject({
    name: text(SHOWN_NAME).min(1).describe('The name of the file.'),
    content: z.base64().describe('The bytes of the file, in Base64; requests are limited to 1 MiB.'),
  }),
  output: sampleOutput.meta({ title: 'FeedSample' }),
  async run({ name, content }, { actor }) {
    return shownSample(await keepUpload({ name, bytes: Buffer.from(content, 'base64') }, actor));
  },
});

/** @throws {OperationRefused} */
export async function namedSample(id: string | undefined, actor: string): Promise<KeptSample | undefined> {
  if (id === undefined) return undefined;
  const sample = await findSample(id, actor);
  if (sample !== undefined) return sample;
  throw new OperationRefused('unknown', 'there is no such sample any more: upload the file, or read the source, again');
}

const pathOutput = z.strictObject({
  path: z.string(),
  records: count.describe('Sampled records with a text there.'),
  distinct: count.describe('Different texts.'),
  values: listIn(z.string()).describe('The first three different texts.'),
});

export const recogniseSource = operation({
  id: 'recogniseFeed',
  path: '/feeds/recognise',
  summary: 'Recognise how a source is read, and draft the settings of a feed for it',
  scope: 'configure',
  input: z.strictObject({
    source: text(2_000)
      .min(1)
      .optional()
      .describe(
        'Its address, or the path of a file, as the configuration has it. `upload://` with a sample: the uploaded file itself.',
      ),
    credentials: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'Credentials of the source as the configuration has them, which name a variable or a file for each secret.',
      ),
    files: z.enum(['newest', 'all']).optional().describe('Of a folder: the newest file, or all as one feed.'),
    sample: sampleName.optional().describe('Instead, or to be read instead: an uploaded file.'),
    feed: nameText.optional().describe('The name of the feed; by default it is made of the source.'),
    site: text(200).min(1).optional().describe('The site that it is mirrored to; by default the only one.'),
    format: text(64).min(1).optional().describe('A preset, or `own`; by default the one that fits best.'),
    records: text(500).min(1).optional().describe('Where the records are, such as source/job.'),
  }),
  output: z
    .strictObject({
      feed: z.string(),
      text: z.string().describe('The draft: the settings of the feed as YAML.'),
      sample: sampleOutput
        .nullable()
        .describe(
          'To try the draft on; `null`: the source is read each time. The command line keeps none: name the file again.',
        ),
      format: z.string().nullable().describe('The preset that fits; `null`: a format of its own.'),
      description: z.string().nullable(),
      key: listIn(z.string()).describe('The paths that identify a posting.'),
      assumed: listIn(z.string()).describe('What nothing shows, and is only assumed.'),
      encoding: z.string().nullable().describe('It is not encoded as UTF-8, nor does it say how.'),
      records: count.describe('Records in the beginning of the document.'),
      filled: listIn(z.string()).describe('Site fields that have a value.'),
      notes: listIn(z.string()),
      variables: listIn(z.string()).describe(
        'Environment variables that the draft names for secrets of the address, to be set for the process.',
      ),
      second: z
        .strictObject({
          format: z.string(),
          postings: count,
          records: count,
          gains: listIn(z.string()),
          losses: listIn(z.string()),
        })
        .nullable()
        .describe(
          'The second choice: the postings it would send, and the fields that only it, or only the first choice, fills.',
        ),
    })
    .meta({ title: 'RecognisedFeed' }),
  async run({ source, credentials, files, sample: sampleId, feed: given, site: siteText, format, records }, asked) {
    const { app, actor, signal = new AbortController().signal } = asked;
    const site = namedSite(app.config, siteText ?? onlySite(app.config));
    const upload = await namedSample(sampleId, actor);
    if (source === undefined && upload === undefined)
      throw new OperationRefused('invalid', 'name a source or a sample');
    if (source === UPLOADED_FILE && upload?.isUpload !== true)
      throw new OperationRefused('invalid', 'upload a file first');
    const named = (source === UPLOADED_FILE ? undefined : source) ?? upload?.name ?? '';
    const name = given ?? freeName(proposeFeedName(named), namedFeeds(app.config));
    if (namedFeeds(app.config).has(name as FeedName)) {
      throw new OperationRefused('conflict', `there is a feed ${name} already; choose another name`);
    }
    const access =
      source === undefined || source === UPLOADED_FILE
        ? uploadAccess(upload as KeptSample, source)
        : await accessOf({ source, credentials, files }, name, site, asked);
    const from = upload === undefined ? access.from : ({ kind: 'file', path: upload.path } as const);
    const folder = dirname(app.config.path);
    const network = app.config.web.privateSources ? undefined : publicNetwork;
    const request = { from, address: named, folder, format, records, network };
    const recognition = await recogniseFeed({
      ...request,
      signal: AbortSignal.any([signal, AbortSignal.timeout(OPENING_MS)]),
    });
    if (recognition.kind === 'refused') throw new OperationRefused('invalid', recognition.message);
    const { opening, encoding, proposal } = recognition;
    const sample =
      upload ??
      (await keepSample(withoutSecretsOf(from, opening.bytes), {
        actor,
        name: placeOf(named),
        isUpload: false,
        isWhole: opening.isWhole,
      }));
    const completed = withAssumptions(proposal);
    const draft = {
      name,
      source: access.source,
      access: access.settings,
      encoding,
      schedule: opening.isWhole ? '*/15 * * * *' : '7 * * * *',
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
    const { preset, runnerUp, notes, filled } = proposal;
    return {
      feed: name,
      text: writeFeed({ heading: [], site: site.name, feed: draft, proposal: completed.proposal }),
      sample: sample === undefined ? null : shownSample(sample),
      format: preset?.name ?? null,
      description: preset?.description ?? null,
      key: [completed.proposal.key ?? []].flat(),
      assumed: completed.assumed,
      encoding: encoding ?? null,
      records: proposal.records,
      filled,
      notes,
      variables: Object.keys(access.secrets),
      second: runnerUp ?? null,
    };
  },
});

/** @throws {OperationRefused} */
function onlySite({ sites }: Pick<Config, 'sites'>): string {
  const [site, ...others] = sites.keys();
  if (site !== undefined && others.length === 0) return site;
  throw new OperationRefused(
    'invalid',
    `name the site that gets the jobs: ${[...sites.keys()].join(', ') || 'there is none'}`,
  );
}

/** Nobody has chosen the name, so any that is free will do. */
function freeName(proposed: string, taken: ReadonlySet<FeedName>): string {
  let name = proposed;
  for (let nth = 2; taken.has(name as FeedName); nth++) name = `${proposed}-${nth}`;
  return name;
}

/** What a source repeats of its credentials is not shown, whatever text the sample is tried with. */
function withoutSecretsOf(from: FeedAccess['from'], bytes: Buffer): Buffer {
  const mask = credentialsMask(from);
  return mask?.mayHold(bytes) === true ? Buffer.from(mask.text(bytes.toString())) : bytes;
}

const OPENING_MS = 30_000;

/** For people: without user, password and query. */
const placeOf = (address: string): string => (address.split('?')[0] ?? '').replace(/\/\/[^/]*@/, '//');

/** Where the file will be is yet to be said. */
const uploadAccess = ({ name, path }: KeptSample, source = name): FeedAccess => ({
  source,
  settings: {},
  secrets: {},
  from: { kind: 'file', path },
});

interface GivenSource {
  readonly source: string;
  readonly credentials: Readonly<Record<string, unknown>> | undefined;
  readonly files: 'newest' | 'all' | undefined;
}

/** @throws {OperationRefused} */
async function accessOf(
  { source, credentials, files }: GivenSource,
  name: string,
  { name: site }: SiteConfig,
  asked: OperationContext,
): Promise<FeedAccess> {
  const { app } = asked;
  const hasCredentials = credentials !== undefined && Object.keys(credentials).length > 0;
  try {
    if (isWebAddress(source) && !hasCredentials) {
      return await readFeedAccess(source, { headers: [], name, folder: '.', options: {}, proxy: app.config.proxy });
    }
  } catch (error) {
    if (error instanceof AccessRefused) throw new OperationRefused('invalid', error.message);
    throw error;
  }
  const settings = { ...(hasCredentials ? { credentials } : {}), ...(files === undefined ? {} : { files }) };
  // What may be read, and named, is decided as for any text that is saved from here.
  const checked = await checkFeedFile(app, name, JSON.stringify({ source, ...settings, format: 'indeed', site }));
  if (checked.kind === 'wrong') {
    const faults = checked.problems.map(
      ({ setting, message }) => `${settingInWords(setting, source, name)} ${message}`,
    );
    throw new OperationRefused('invalid', faults.join('; '));
  }
  const from = checked.config.feeds.get(name as FeedName)?.source.from;
  if (from === undefined || from.kind === 'several')
    throw new OperationRefused('invalid', `${source} is not one source`);
  return { source, settings, secrets: {}, from };
}

/** A fault names the setting, or the source as it was written. */
function settingInWords(setting: string, source: string, feed: string): string {
  const path = setting.replace(`feeds.${feed}.`, '');
  return path === 'source' ? placeOf(source) : path;
}

/** What a draft needs to be tried, although nothing shows it. */
function withAssumptions(proposal: Proposal): { readonly proposal: Proposal; readonly assumed: readonly string[] } {
  const { preset, key, keyCandidates, fields } = proposal;
  const [candidate] = keyCandidates ?? [];
  const lacksKey = key === undefined && (preset === undefined || keyCandidates !== undefined);
  const used = lacksKey ? candidate?.path : key;
  const number: Proposal['fields'] =
    preset === undefined && !('number' in fields) && typeof used === 'string' ? { number: used } : {};
  return {
    proposal: { ...proposal, key: used, fields: { ...number, ...fields } },
    assumed:
      lacksKey && candidate !== undefined
        ? [
            `No path identifies the records: "${candidate.path}" has ${candidate.distinct} different texts in ${candidate.records} records. Choose what differs in every record and never changes.`,
          ]
        : [],
  };
}

const draftInput = {
  feed: nameText.describe('The name of the feed, new or configured.'),
  text: text(256 * 1024)
    .min(1)
    .describe('The draft: the settings of the feed as YAML.'),
};

const problemKind = z.strictObject({
  field: z.string().nullable(),
  message: z.string(),
  count,
  examples: listIn(z.strictObject({ key: z.string().nullable(), record: count, value: z.string().nullable() })),
});

const trialOutput = z.strictObject({
  complete: z.boolean(),
  shortfalls: listIn(z.string()).describe('Why it is not proven complete.'),
  weak: z.string().nullable().describe('Why its completeness is proven only weakly.'),
  partial: z.boolean().describe('Only the beginning was read.'),
  records: count,
  postings: count.describe('Postings with different keys.'),
  sent: count.describe('Of the postings: those that would be sent.'),
  rejected: count,
  unreadable: count,
  skipped: count,
  repeated: count.describe('Further records with the key of an earlier one.'),
  conflicting: count.describe('Of the repeated: with other content.'),
  without_detail: count.describe('Postings whose details were not requested.'),
  rejections: listIn(problemKind),
  unreadable_records: listIn(problemKind),
  repeated_keys: listIn(z.strictObject({ key: keyOutput, same_content: z.boolean() })),
  mistakes: listIn(z.string()).describe('Likely mistakes of the mapping.'),
  samples: listIn(
    z.strictObject({
      key: keyOutput,
      record: listIn(z.strictObject({ path: z.string(), value: z.string() })).describe(
        'What the record has at its paths.',
      ),
      fields: z.record(z.string(), z.string()).describe('What it becomes.'),
      problems: listIn(z.strictObject({ field: z.string().nullable(), message: z.string() })).describe(
        'Why it is rejected.',
      ),
      notes: listIn(z.string()).describe('What was changed while reading.'),
    }),
  ),
});

const fieldOutput = z.strictObject({
  field: z.string(),
  required: z.boolean(),
  from: z.string().nullable().describe('Where its value comes from, in words; `null`: nothing fills it.'),
  filled: count.describe('Postings with a value that nothing refuses.'),
  refused: count.describe('Postings with a value that is refused.'),
});

const policyOutput = z.strictObject({
  site: z.string(),
  policy: z.enum(['mirror', 'upsert_only', 'create_only']),
  schedule: z.string().nullable(),
  time_zone: z.string(),
  pulled: z.string().describe('When it is pulled, in words: `every day at 06:00 (UTC)`.'),
  next_runs: listIn(time).describe('The next three pulls by the schedule.'),
  delete_guard: z.strictObject({
    percent: z.number(),
    count,
    missing_pulls: count,
    deletes: count
      .nullable()
      .describe('Deletes of a day that are done with this number of postings; more wait for approval.'),
  }),
});

const tryInput = z.strictObject({
  ...draftInput,
  sample: sampleName.optional().describe('To be read instead of the source, where that is enough.'),
  postings: z.int().min(1).max(20).optional().describe('How many postings to show; 3 by default.'),
});

const triedOutput = z
  .strictObject({
    feed: z.string(),
    valid: z.boolean(),
    problems: listIn(z.string()).describe('What is wrong with the text.'),
    warnings: listIn(z.string()),
    message: z.string().nullable().describe('Why nothing was read.'),
    on_sample: z.boolean(),
    trial: trialOutput.nullable(),
    fields: listIn(fieldOutput),
    key: listIn(z.string()),
    sampled: count.describe('Records of which the paths were collected.'),
    paths: listIn(pathOutput),
    settings: policyOutput.nullable(),
  })
  .meta({ title: 'TriedFeed' });

export const tryFeedText = operation({
  id: 'tryFeedText',
  path: '/feeds/{feed}/try',
  summary: 'Try a draft of the settings of a feed: what its records become. Nothing is stored or sent',
  scope: 'configure',
  input: tryInput,
  output: triedOutput,
  run: (input, asked) => tryText(input, asked),
});

/** @param restored the former version of the feed's file that the draft is */
export async function tryText(
  { feed: name, text: draft, sample: sampleId, postings = 3 }: z.output<typeof tryInput>,
  asked: OperationContext,
  restored?: StoredVersion,
): Promise<TriedFeed> {
  const { app, actor, signal } = asked;
  const feed = feedName(name);
  const sample = await namedSample(sampleId, actor);
  const unset = sample === undefined ? [] : unsetVariablesIn(draft);
  const env = { ...process.env, ...Object.fromEntries(unset.map((variable) => [variable, 'not-set-yet'])) };
  const tested = sample?.isUpload === true ? withPlace(draft) : draft;
  const checked = await checkFeedFile({ ...app, env }, name, tested, restored);
  const nothing = {
    trial: null,
    on_sample: false,
    fields: [],
    key: [],
    sampled: 0,
    paths: [],
    settings: null,
    message: null,
  };
  if (checked.kind === 'wrong') {
    const paths = sample === undefined ? [] : await samplePaths(sample, draft, dirname(app.config.path));
    return {
      ...nothing,
      feed,
      valid: false,
      problems: checked.problems.map(complaintLine),
      warnings: [],
      sampled: Math.max(0, ...paths.map((path) => path.records)),
      paths,
    };
  }
  const configured = checked.config.feeds.get(feed) as FeedConfig;
  const onlySample = unset.length === 0 ? undefined : notSet(unset);
  const warnings = [...checked.warnings, ...(onlySample === undefined ? [] : [onlySample])];
  const about = { feed, valid: true, problems: [], warnings, key: configured.mapping.key.paths };
  const network = await networkOf(asked, feed, draft, restored);
  const request = { config: checked.config, db: app.db, feed, sample, samples: postings, onlySample };
  const tried = await tryDraft({ ...request, network, signal });
  const settings = settingsOf(configured, typeof tried === 'string' ? undefined : tried.trial);
  if (typeof tried === 'string')
    return { ...nothing, ...about, message: tried, settings, fields: fieldsOf(configured) };
  const { trial, onSample } = tried;
  const read = { ...about, settings, on_sample: onSample, fields: fieldsOf(configured, trial) };
  if (trial.kind === 'failed') return { ...nothing, ...read, message: trial.message };
  return {
    ...read,
    message: null,
    trial: shownTrial(trial),
    sampled: trial.paths?.sampled ?? 0,
    paths: trial.paths?.found ?? [],
  };
}

/** A sample can be tried before anybody sets them. */
const unsetVariablesIn = (draft: string): string[] => [
  ...new Set(
    [...draft.matchAll(/\$\{([A-Za-z_]\w*)\}/g)].flatMap(([, name = '']) => (process.env[name] ? [] : [name])),
  ),
];

const notSet = (variables: readonly string[]): string =>
  `the source can't be read until ${variables.join(' and ')} ${variables.length === 1 ? 'is' : 'are'} set in the environment of jobmirror`;

/** A feed that was uploaded can be tried before anybody says where it will be read. */
function withPlace(draft: string): string {
  const { source } = settingsOfDraft(draft);
  const isPath = typeof source === 'string' && !/^(?:-$|[a-z][a-z0-9+.-]*:)/i.test(source);
  return isPath ? editDraft(draft, { settings: { source: 'https://feeds.invalid/upload' } }) : draft;
}

/** Where the source may be: whoever wrote the present text by hand could name any. `undefined`: anywhere. */
async function networkOf(
  { app }: OperationContext,
  feed: FeedName,
  draft: string,
  restored: StoredVersion | undefined,
): Promise<Network | undefined> {
  if (app.config.web.privateSources) return undefined;
  const brought = new Set(await addressesNotByHand(app, feed, draft, restored));
  return networkOfSources(requestedAddresses(settingsOfDraft(draft)), (address) => brought.has(address));
}

type ReadTrial = Extract<FeedTrial['trial'], { kind: 'read' }>;

function shownTrial(trial: ReadTrial): z.output<typeof trialOutput> {
  const kind = (problem: ReadTrial['rejections'][number]) =>
    answerOf(problemKind, problem, {
      examples: problem.examples.map(({ key = null, ordinal, value = null }) => ({ key, record: ordinal + 1, value })),
    });
  return answerOf(trialOutput, trial, {
    complete: trial.shortfalls.length === 0,
    partial: trial.isPartial,
    records: trial.seen,
    sent: trial.postings - trial.rejected,
    rejections: trial.rejections.map(kind),
    unreadable_records: trial.unreadableKinds.map(kind),
    repeated_keys: trial.repeatedKeys.map(({ key, isSame }) => ({ key, same_content: isSame })),
    samples: trial.samples.map(({ key, fields, problems, notes, record = [] }) => ({
      key,
      record,
      fields: { ...fields },
      problems: problems.map(({ field, message }) => ({ field: field ?? null, message })),
      notes: notes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`)),
    })),
  });
}

/** The mapped fields, and those that the site requires. */
function fieldsOf({ mapping }: FeedConfig, trial?: FeedTrial['trial']): z.output<typeof fieldOutput>[] {
  const required = new Set([...mapping.requiredFields, mapping.stateField.name]);
  const counts = new Map(
    (trial?.kind === 'read' ? trial.fields : []).map(({ field, ...found }) => [field, found] as const),
  );
  return [...new Set([...Object.keys(mapping.fields), ...required])].map((field) => {
    const rules = mapping.fields[field];
    const { filled, refused } = counts.get(field) ?? { filled: 0, refused: 0 };
    const from = rules === undefined ? null : [rules].flat().map(inWords).join('; otherwise ');
    return { field, required: required.has(field), from, filled, refused };
  });
}

function inWords({ source, as, when }: FieldRule): string {
  const steps = as.map((step) => (typeof step === 'string' ? step : step.kind === 'us_place' ? step.part : step.kind));
  const what = [sourceInWords(source), ...steps].join(' → ');
  return when === undefined ? what : `${what} (under a condition)`;
}

function sourceInWords(source: FieldRule['source']): string {
  switch (source.kind) {
    case 'paths':
      return source.paths.join(' or ');
    case 'template':
      return source.template;
    case 'sections':
      return 'several sections';
    case 'constant':
      return `"${source.value}"`;
    case 'jsonata':
      return 'an expression';
    default:
      return source satisfies never;
  }
}

function settingsOf(feed: FeedConfig, trial: FeedTrial['trial'] | undefined): z.output<typeof policyOutput> {
  const { schedule, timeZone, guard, policy = 'mirror', siteName } = feed;
  const postings = trial?.kind === 'read' && !trial.isPartial ? trial.postings - trial.rejected : undefined;
  return {
    site: siteName,
    policy,
    schedule: schedule ?? null,
    time_zone: timeZone,
    pulled: schedule === undefined ? 'only when somebody asks' : `${scheduleInWords(schedule)} (${timeZone})`,
    next_runs: schedule === undefined ? [] : nextRuns({ pattern: schedule, timeZone }, 3),
    delete_guard: {
      percent: guard.percent,
      count: guard.count,
      missing_pulls: guard.missingPulls,
      deletes: postings === undefined ? null : deletesWithin(guard, postings),
    },
  };
}

function nextRuns(cron: { readonly pattern: string; readonly timeZone: string }, n: number): Date[] {
  const runs: Date[] = [];
  for (let after = new Date(); runs.length < n; runs.push(after)) after = nextRun(cron, after);
  return runs;
}

const SHOWN_CHANGES = 100;

const planInput = z.strictObject({
  ...draftInput,
  sample: sampleName.optional().describe('An uploaded file to be read instead of the source.'),
});

const plannedFeedOutput = z
  .strictObject({
    feed: z.string(),
    planned: z.boolean(),
    message: z.string().nullable().describe('Why it can not be planned.'),
    create: count,
    update: count,
    delete: count,
    unchanged: count,
    rejected: count,
    unreadable: count,
    live: count.describe('Live jobs of the feed.'),
    grace: count.describe('Jobs that go once further complete pulls lack their postings.'),
    held: z.string().nullable().describe('Why its deletes would wait for approval.'),
    shortfalls: listIn(z.string()).describe('Why nothing would be deleted.'),
    warnings: listIn(z.string()),
    changes: listIn(plannedOutput).describe(`The first ${SHOWN_CHANGES} changes.`),
  })
  .meta({ title: 'PlannedFeed' });

export const planFeedText = operation({
  id: 'planFeedText',
  path: '/feeds/{feed}/plan',
  summary: 'Plan a draft of the settings of a feed: what a sync would send with it. Nothing is stored or sent',
  scope: 'configure',
  input: planInput,
  output: plannedFeedOutput,
  run: (input, asked) => planText(input, asked),
});

/** @param restored the former version of the feed's file that the draft is */
export async function planText(
  { feed: name, text: draft, sample: sampleId }: z.output<typeof planInput>,
  asked: OperationContext,
  restored?: StoredVersion,
): Promise<PlannedFeed> {
  const { app, actor, signal } = asked;
  const feed = feedName(name);
  const checked = await checkFeedFile(app, name, draft, restored);
  const nothing = { create: 0, update: 0, delete: 0, unchanged: 0, rejected: 0, unreadable: 0, live: 0, grace: 0 };
  const unplanned = (message: string) => ({
    ...nothing,
    feed,
    planned: false,
    message,
    held: null,
    shortfalls: [],
    warnings: [],
    changes: [],
  });
  if (checked.kind === 'wrong') return unplanned(checked.problems.map(complaintLine).join('; '));
  const network = await networkOf(asked, feed, draft, restored);
  const sample = await namedSample(sampleId, actor);
  const request = { config: checked.config, feed, network, signal, sample, mostChanges: SHOWN_CHANGES };
  const plan = await planDraft(app, request);
  const say = (message: Parameters<typeof tell>[0]): string => tell(message, app.writeAction);
  if ('kind' in plan) {
    return unplanned(plan.kind === 'busy' ? 'the feed is being pulled right now; try again later' : say(plan.message));
  }
  const { end, changes, counts } = plan;
  return {
    feed,
    planned: true,
    message: null,
    ...counts,
    unchanged: end.unchanged,
    rejected: end.rejected,
    unreadable: end.unreadable,
    live: end.live,
    grace: deletesMissing(checked.config.feeds.get(feed)?.policy) ? end.grace : 0,
    held: end.holdReason === undefined ? null : say(end.holdReason),
    shortfalls: end.shortfalls.map(say),
    warnings: end.warnings,
    changes: changes.map(({ reason, ...change }) => ({
      ...change,
      ...(reason === undefined ? {} : { reason: say(reason) }),
    })) as z.output<typeof plannedOutput>[],
  };
}

export type TriedFeed = z.output<typeof triedOutput>;
export type RecognisedFeed = z.output<typeof recogniseSource.output>;
export type PlannedFeed = z.output<typeof plannedFeedOutput>;

/** The second choice in a sentence, for people. @param named how a person would choose it */
export function secondChoice(named: string, { postings, records, gains, losses }: SecondProposal): string {
  const differences = [
    ...(gains.length === 0 ? [] : [`it would also fill ${gains.join(', ')}`]),
    ...(losses.length === 0 ? [] : [`it would lose ${losses.join(', ')}`]),
  ];
  const what = differences.length === 0 ? 'it would fill the same fields' : differences.join(', and ');
  return `Second choice: ${named}, by which ${postings} of the first ${plural(records, 'record')} would be sent; ${what}.`;
}
