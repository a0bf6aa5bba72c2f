// The third step: where the feed is read and when, what it may do to jobs, and what that means for it; then it is saved.
import { settingsOfDraft } from '../../../config/feed-draft.ts';
import { AS_CRON, BY_HAND, SCHEDULES, scheduleChoiceOf } from '../../../config/schedule-choice.ts';
import { UPLOADED_FILE } from '../../../feed/source/sources.ts';
import type { saveFeedText } from '../../../operations/configuration.ts';
import type { PlannedFeed, TriedFeed } from '../../../operations/feed-setup.ts';
import { keyFault, nothingSent } from '../../../operations/save-questions.ts';
import { plural } from '../../../plan/message.ts';
import { type PresentText, PresentTextShown, SaveAnyway } from '../configuration.tsx';
import { linkTo, pageAddress } from '../parts/addresses.ts';
import { Layout, PostForm } from '../parts/layout.tsx';
import { SelectField, StackedTable, sentence, TextField } from '../parts/parts.tsx';
import { draftFields } from './mapping.tsx';
import { namesUpload, type SetupDraft } from './read-draft.ts';
import { Steps, TrialFindings } from './source.tsx';

interface SettingsProps {
  readonly draft: SetupDraft;
  readonly tried: TriedFeed;
  /** Of a feed that is changed. */
  readonly plan: PlannedFeed | undefined;
  readonly fault: string | undefined;
  /** What somebody has written into the file meanwhile. */
  readonly present: PresentText | undefined;
  readonly sites: readonly string[];
  /** A save was refused for what its own reading has found. */
  readonly mayInsist: boolean;
}

export const SettingsPage = ({ draft, tried, plan, fault, present, sites, mayInsist }: SettingsProps) => {
  const written = settingsOfDraft(draft.text);
  const { settings } = tried;
  return (
    <Layout title={draft.isNew ? `Add the feed ${draft.feed}` : `Change the feed ${draft.feed}`}>
      <Steps at={2} />
      {fault !== undefined && <p role="alert" class="notice bad said">{`${fault}.`}</p>}
      {present !== undefined && <PresentTextShown present={present} />}
      <TrialFindings tried={tried} />
      {plan !== undefined && <Plan plan={plan} />}
      <PostForm
        action={pageAddress.setupSettings()}
        class="setup"
        aria-labelledby="settings"
        hidden={draftFields(draft)}
      >
        <h2 id="settings">Settings</h2>
        {written.sources === undefined && (
          <Place source={textIn(written.source)} isUpload={draft.isUpload || namesUpload(draft.text)} />
        )}
        <SelectField id="set-site" name="set.site" label="Site that gets the jobs">
          {sites.map((site) => (
            <option selected={site === written.site}>{site}</option>
          ))}
        </SelectField>
        <ScheduleSettings settings={settings} written={written} />
        <fieldset>
          <legend>What it may do to jobs</legend>
          {POLICIES.map(([name, words]) => (
            <label class="option">
              <input type="radio" name="set.policy" value={name} checked={(written.policy ?? 'mirror') === name} />{' '}
              {words}
            </label>
          ))}
        </fieldset>
        <GuardSettings tried={tried} written={written} />
        {(mayInsist || (keyFault(tried) ?? nothingSent(tried)) !== undefined) && <SaveAnyway />}
        <p class="row actions">
          <button type="submit" name="go" value="back">
            Back to the fields
          </button>
          <button type="submit" name="go" value="update">
            Show what this means
          </button>
          <button type="submit" name="go" value="save" class="main">
            {draft.isNew ? 'Save the feed' : 'Save the change'}
          </button>
        </p>
      </PostForm>
      <h2>What is saved</h2>
      <pre>{draft.text}</pre>
    </Layout>
  );
};

const Place = ({ source, isUpload }: { source: string; isUpload: boolean }) => (
  <TextField
    id="set-source"
    name="set.source"
    label="Where it is read"
    value={source === UPLOADED_FILE ? '' : source}
    placeholder={isUpload ? 'the uploaded file' : undefined}
    hint={
      isUpload
        ? 'Left empty, the uploaded file is the feed: jobmirror keeps it, and the feed changes only when somebody uploads a newer file on its page. With an address, or the path of a file on the machine of jobmirror, the uploaded file was only tried.'
        : 'The address, or the path of a file on the machine of jobmirror.'
    }
  />
);

interface ScheduleProps {
  readonly settings: TriedFeed['settings'];
  readonly written: Readonly<Record<string, unknown>>;
}

/** Choices for people who write no cron expressions; of any other schedule, the expression is shown. */
const ScheduleSettings = ({ settings, written }: ScheduleProps) => {
  const shown = scheduleChoiceOf(textIn(written.schedule) || undefined);
  const option = (every: string, words: string) => (
    <option value={every} selected={every === shown.every}>
      {words}
    </option>
  );
  return (
    <fieldset>
      <legend>Schedule</legend>
      <div class="choice">
        <SelectField id="schedule-every" name="schedule.every" label="When it is pulled">
          {option(BY_HAND, 'only when somebody asks')}
          {SCHEDULES.map(({ title, choices }) => (
            <optgroup label={title}>{choices.map(({ every, words }) => option(every, words))}</optgroup>
          ))}
          {option(AS_CRON, 'as the cron expression says')}
        </SelectField>
        <TextField
          id="schedule-at"
          name="schedule.at"
          label="At"
          type="time"
          value={shown.at}
          hint="A schedule in hours uses only the minutes of this time; a schedule in minutes ignores it."
        />
        <TextField
          id="set-zone"
          name="set.time_zone"
          label="Time zone"
          value={textIn(written.time_zone)}
          placeholder="UTC"
          list="zones"
        >
          <datalist id="zones">
            {ZONES.map(([zone, words]) => (
              <option value={zone}>{words}</option>
            ))}
          </datalist>
        </TextField>
        <TextField
          id="set-schedule"
          name="set.schedule"
          label="Cron expression"
          value={textIn(written.schedule)}
          hint="Minute, hour, day, month, weekday. A choice is written like this, too."
        />
      </div>
      {settings !== null && (
        <p class="hint">
          {`${sentence(settings.pulled)}. `}
          {settings.next_runs.length > 0 && 'Next pulls: '}
          {settings.next_runs.map((at, nth) => (
            <>
              {nth === 0 ? '' : '; '}
              <time datetime={at.toISOString()}>{clockOf(at, settings.time_zone)}</time>
            </>
          ))}
        </p>
      )}
    </fieldset>
  );
};

/** What the clock of the schedule shows: `Mon 30 Nov, 05:30`. */
function clockOf(at: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value ?? '';
  return `${part('weekday')} ${part('day')} ${part('month')}, ${part('hour')}:${part('minute')}`;
}

/** Of the sites' country; any other can be typed. */
const ZONES = [
  ['America/New_York', 'Eastern'],
  ['America/Chicago', 'Central'],
  ['America/Denver', 'Mountain'],
  ['America/Phoenix', 'Arizona'],
  ['America/Los_Angeles', 'Pacific'],
  ['America/Anchorage', 'Alaska'],
  ['Pacific/Honolulu', 'Hawaii'],
  ['UTC', 'UTC'],
] as const;

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

const POLICIES = [
  ['mirror', 'Create, update and delete: a job goes when its posting is gone'],
  ['upsert_only', 'Create and update, but never delete'],
  ['create_only', 'Only create: neither update nor delete'],
] as const;

const GuardSettings = ({ tried, written }: { tried: TriedFeed; written: Readonly<Record<string, unknown>> }) => {
  const { settings, trial } = tried;
  const own = Object(written.delete_guard) as Readonly<Record<string, unknown>>;
  const { percent = 20, count = 5, missing_pulls: pulls = 1 } = settings?.delete_guard ?? {};
  const shown = {
    percent: own.percent ?? percent,
    count: own.count ?? count,
    missing_pulls: own.missing_pulls ?? pulls,
  };
  return (
    <fieldset>
      <legend>Delete guard</legend>
      <div class="choice">
        {(
          [
            ['count', 'Jobs a day'],
            ['percent', 'Percent of the jobs a day'],
            ['missing_pulls', 'Complete pulls without the posting'],
          ] as const
        ).map(([name, label]) => (
          <p>
            <label for={`guard-${name}`}>{label}</label>
            <input id={`guard-${name}`} name={`guard.${name}`} inputmode="decimal" value={String(shown[name])} />
            <input type="hidden" name={`guard.${name}.shown`} value={String(shown[name])} />
          </p>
        ))}
      </div>
      <p class="hint">{guardInWords(settings, trial)}</p>
    </fieldset>
  );
};

function guardInWords(settings: TriedFeed['settings'], trial: TriedFeed['trial']): string {
  if (settings === null) return 'Deletes beyond both limits within 24 hours wait for approval.';
  if (settings.policy !== 'mirror') return 'With this policy the feed deletes nothing.';
  const { percent, count, missing_pulls: pulls, deletes } = settings.delete_guard;
  const when =
    pulls === 1
      ? 'A job goes with the first complete pull without its posting'
      : `A job goes once ${pulls} complete pulls in a row lack its posting`;
  const empty = 'All deletes of an empty feed wait.';
  if (deletes === null || trial === null)
    return `${when}. Deletes beyond ${count} jobs and ${percent} % within 24 hours wait for approval. ${empty}`;
  return `${when}. Up to ${count} jobs, or ${percent} % of ${trial.sent}, may go within 24 hours: ${plural(deletes, 'job')} at present. More wait for approval. ${empty}`;
}

const Plan = ({ plan }: { plan: PlannedFeed }) => (
  <section aria-labelledby="plan">
    <h2 id="plan">What the next pull would change</h2>
    {plan.message !== null && <p class="notice bad">{`It can't be planned: ${plan.message}.`}</p>}
    {plan.planned && (
      <>
        <ul class="counts">
          {(
            [
              [plan.create, 'to create'],
              [plan.update, 'to update'],
              [plan.delete, 'to delete'],
              [plan.unchanged, 'unchanged'],
              [plan.rejected, 'rejected'],
            ] as const
          ).map(([n, words]) => (
            <li>
              <b>{n}</b> {words}
            </li>
          ))}
        </ul>
        {plan.grace > 0 && (
          <p class="notice">{`${plural(plan.grace, 'job')} would go once further complete pulls lack ${plan.grace === 1 ? 'its posting' : 'their postings'}.`}</p>
        )}
        {plan.held !== null && <p class="notice">{`The deletes would wait for approval: ${plan.held}.`}</p>}
        {plan.shortfalls.map((shortfall) => (
          <p class="notice">{`Nothing would be deleted: ${shortfall}.`}</p>
        ))}
        {plan.changes.length > 0 && (
          <StackedTable
            label="Planned changes"
            columns={[
              { head: 'Posting', namesRow: true, cell: ({ key }) => key },
              { head: 'Operation', cell: ({ operation }) => operation },
              {
                head: 'Fields',
                cell: ({ operation, fields }) =>
                  operation === 'delete' ? '' : <Differences fields={fields} isNew={operation === 'create'} />,
              },
            ]}
            rows={plan.changes}
          />
        )}
      </>
    )}
  </section>
);

const SHOWN_CHARACTERS = 200;
const brief = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text;

const Differences = ({ fields, isNew }: { fields: PlannedFeed['changes'][number]['fields']; isNew: boolean }) => (
  <>
    {Object.entries(fields)
      .slice(0, isNew ? 3 : undefined)
      .map(([field, { from, to }]) => (
        <div class="difference">
          <span class="field">{field}</span>
          {from !== null && <del>{brief(from)}</del>} {to !== null && <ins>{brief(to)}</ins>}
        </div>
      ))}
  </>
);

type Saved = (typeof saveFeedText.output)['_output'];

/** The file has the settings. */
export const SavedPage = ({ draft, saved }: { draft: SetupDraft; saved: Saved }) => (
  <Layout title={`The feed ${draft.feed} is saved`}>
    <p class="notice">
      {saved.result === 'unchanged' ? 'These settings were there already, in ' : 'Its settings are in '}
      <code>{saved.file}</code>.
    </p>
    {saved.warnings.map((warning) => (
      <p class="notice">{`Warning: ${warning}.`}</p>
    ))}
    <h2>What comes next</h2>
    <ul>
      <li>
        {'The running processes take it over by themselves: '}
        <a href={linkTo(pageAddress.configuration())}>see whether they have</a>.
      </li>
      <li>
        {nextPullInWords(draft)}
        <a href={linkTo(pageAddress.feed(draft.feed))}>{`the feed ${draft.feed}`}</a>.
      </li>
      {namesUpload(draft.text) && (
        <li>
          {'When there is a newer file: '}
          <a href={linkTo(pageAddress.uploads(draft.feed))}>upload it</a>.
        </li>
      )}
      <li>
        <a href={linkTo(pageAddress.changeFeed(draft.feed))}>{`Change the feed ${draft.feed}`}</a>
      </li>
    </ul>
  </Layout>
);

function nextPullInWords({ text, isNew }: SetupDraft): string {
  if (settingsOfDraft(text).schedule === undefined) return 'Then pull it: ';
  return isNew
    ? 'Then it is pulled for the first time, and from then on by its schedule: '
    : 'The change is sent with the next pull by its schedule, or as soon as you pull it: ';
}

/** Nothing was written: a person has to. */
export const CommitPage = ({ draft, saved }: { draft: SetupDraft; saved: Saved }) => (
  <Layout title={`The feed ${draft.feed} is not saved yet`}>
    <p class="notice">{`The settings are right, but they can't be written from here: ${saved.reason}.`}</p>
    <p>
      {'Write this text to '}
      <code>{saved.file}</code>
      {saved.include === null ? '.' : ', and this line into the main configuration:'}
    </p>
    {saved.include !== null && <pre>{saved.include}</pre>}
    <pre>{saved.text}</pre>
    {draft.isUpload && namesUpload(draft.text) && (
      <p class="notice">
        {draft.isNew
          ? 'The uploaded file is kept for the feed, and is read once these settings are there.'
          : 'The uploaded file is not kept: upload it on the page of the feed once these settings are there.'}
      </p>
    )}
    <PostForm action={pageAddress.setupSettings()} hidden={draftFields(draft)}>
      <button type="submit" name="go" value="update">
        Back to the settings
      </button>
    </PostForm>
  </Layout>
);
