// The first step of adding a feed: where it comes from.
import {
  CREDENTIAL_FORMS,
  type CredentialForm,
  isSecretCredential,
} from '../../../config/schema/credentials-schema.ts';
import type { TriedFeed } from '../../../operations/feed-setup.ts';
import { keyFault, nothingSent } from '../../../operations/save-questions.ts';
import { plural } from '../../../plan/message.ts';
import { pageAddress } from '../parts/addresses.ts';
import { Layout, PostForm } from '../parts/layout.tsx';
import { Fact, SelectField, Submit, TextField } from '../parts/parts.tsx';
import type { Form } from '../parts/read-form.ts';
import type { GivenSource } from './read-draft.ts';

interface SourceProps {
  readonly sites: readonly string[];
  readonly given: GivenSource;
  /** What was sent, if it was. */
  readonly form?: Form;
  readonly fault?: string;
}

export const SourcePage = ({ sites, given, form, fault }: SourceProps) => (
  <Layout title="Add a feed">
    <Steps at={0} />
    {fault !== undefined && <p role="alert" class="notice bad">{`${fault}.`}</p>}
    <PostForm enctype="multipart/form-data" action={pageAddress.newFeed()} class="setup">
      <TextField
        name="source"
        label="Address of the feed"
        inputmode="url"
        value={given.source ?? ''}
        placeholder="https://ats.example.com/jobs.xml"
        hint="Paste it as you have it. A password or a key in it is not stored: the settings name a variable instead."
      />
      <p>
        <label for="file">Or a file of it</label>
        <input id="file" name="file" type="file" aria-describedby="file-hint" />
        <span class="hint" id="file-hint">
          XML, JSON, a table or a page, also compressed, up to 32 MiB. Without an address, the file itself becomes the
          feed, which then changes when a newer file is uploaded. With one, the mapping is only tried on it.
        </span>
      </p>
      <SelectField name="site" label="Site that gets the jobs">
        {sites.map((site) => (
          <option selected={site === given.site}>{site}</option>
        ))}
      </SelectField>
      <Credentials given={given} form={form} />
      <details
        open={
          fault?.includes('choose another name') === true ||
          [given.feed, given.format, given.records, given.files].some((each) => each !== undefined)
        }
      >
        <summary>More</summary>
        <TextField
          name="feed"
          label="Name of the feed"
          value={given.feed ?? ''}
          hint="Lower-case letters, digits, - and _. By default from the address."
        />
        <TextField
          name="format"
          label="Format"
          value={given.format ?? ''}
          hint="A preset such as indeed, or own. By default the one that fits best."
        />
        <TextField
          name="records"
          label="Path of the records"
          value={given.records ?? ''}
          hint="Such as source/job, if they are not found."
        />
        <SelectField name="files" label="If the address is a folder">
          {FILE_CHOICES.map(([value, words]) => (
            <option value={value} selected={(given.files ?? '') === value}>
              {words}
            </option>
          ))}
        </SelectField>
      </details>
      <Submit kind="main">Recognise the feed</Submit>
    </PostForm>
  </Layout>
);

const FILE_CHOICES = [
  ['', 'it is none'],
  ['newest', 'read its newest file'],
  ['all', 'read all its files as one feed'],
] as const;

const KINDS: Readonly<Record<string, string>> = {
  basic: 'User and password',
  bearer: 'Token',
  oauth2: 'OAuth 2.0 client',
  query: 'Key in the address',
  tls: 'Client certificate',
  sftp: 'SFTP server',
  s3: 'S3 storage',
};

/** Only names of variables and files: a browser and a form are no place for a secret. */
const Credentials = ({ given, form }: { given: GivenSource; form: Form | undefined }) => {
  const scheme = /^([a-z0-9]+):\/\//i.exec(given.source ?? '')?.[1]?.toLowerCase();
  const typed = (kind: string, name: string) => form?.one(`credentials.${kind}.${name}`)?.trim() ?? '';
  // Without a password, a user name is a key.
  const mayBeKey = ({ kind }: CredentialForm, name: string) =>
    isSecretCredential([kind, name]) && !['password', 'password_file'].some((other) => typed(kind, other) !== '');
  const isUsed = ({ kind, settings }: CredentialForm) =>
    kind === scheme || settings.some(({ name }) => typed(kind, name) !== '');
  return (
    <details open={CREDENTIAL_FORMS.some(isUsed)}>
      <summary>Sign-in, if the source asks for one</summary>
      <p class="hint">
        Secrets are never typed here: name the environment variable of jobmirror that holds one, or a file beside the
        configuration.
      </p>
      {CREDENTIAL_FORMS.map((credentials) => (
        <details class="part" open={isUsed(credentials)}>
          <summary>{KINDS[credentials.kind] ?? credentials.kind}</summary>
          {credentials.settings.map((setting) => (
            <CredentialField
              kind={credentials.kind}
              setting={setting}
              typed={typed(credentials.kind, setting.name)}
              mayBeKey={mayBeKey(credentials, setting.name)}
            />
          ))}
        </details>
      ))}
    </details>
  );
};

interface CredentialFieldProps {
  readonly kind: string;
  readonly setting: CredentialForm['settings'][number];
  readonly typed: string;
  /** What was typed may be a secret although it is no setting for one. */
  readonly mayBeKey: boolean;
}

const CredentialField = ({ kind, setting, typed, mayBeKey }: CredentialFieldProps) => {
  const { name, words, description, isSecret, choices } = setting;
  const id = `credentials-${kind}-${name}`;
  // What is no name may be the secret.
  const isName = (isSecret ? /^(?:\$\{)?[A-Za-z_][A-Za-z0-9_]*\}?$/ : /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/).test(typed);
  const shown = (isSecret || mayBeKey) && !isName ? '' : typed;
  const says = description
    .replaceAll('`', '')
    .replace(/: \$\{NAME\}, from the environment/, '')
    .replace('relative to this file', 'beside the configuration');
  return (
    <p>
      <label for={id}>{isSecret ? `${words}: name of the variable` : words}</label>
      {choices.length > 0 ? (
        <select id={id} name={`credentials.${kind}.${name}`} aria-describedby={`${id}-hint`}>
          <option value="">as usual</option>
          {choices.map((choice) => (
            <option selected={choice === typed}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={`credentials.${kind}.${name}`}
          value={shown}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`${id}-hint`}
        />
      )}
      <span class="hint" id={`${id}-hint`}>
        {says}
      </span>
    </p>
  );
};

const STEPS = ['Source', 'Fields', 'Settings'] as const;

/** Where the visitor is. */
export const Steps = ({ at }: { at: 0 | 1 | 2 }) => (
  <ol class="steps" aria-label="Steps">
    {STEPS.map((step, nth) => (
      <li aria-current={nth === at ? 'step' : undefined} class={nth < at ? 'done' : ''}>
        {step}
      </li>
    ))}
  </ol>
);

// What a trial of a draft found: mistakes in the text, whether the feed is complete, its keys, and what would be sent and refused.

type Trial = NonNullable<TriedFeed['trial']>;

export const TrialFindings = ({ tried }: { tried: TriedFeed }) => {
  const { trial, problems, warnings, message } = tried;
  const wrongKey = keyFault(tried);
  const nothing = nothingSent(tried);
  return (
    <section aria-labelledby="found" id="findings">
      <h2 id="found">What would be sent</h2>
      {problems.length > 0 && (
        <div class="notice bad">
          <p>{`The settings have ${plural(problems.length, 'mistake')}, so nothing could be tried:`}</p>
          <ul>
            {problems.map((problem) => (
              <li>{problem}</li>
            ))}
          </ul>
        </div>
      )}
      {message !== null && <p class="notice bad">{`The feed could not be read: ${message}.`}</p>}
      {wrongKey !== undefined && (
        <p class="notice bad">{`${wrongKey.message}. Choose a key that differs in each record and never changes.`}</p>
      )}
      {nothing !== undefined && <p class="notice bad">{`${nothing.message.replace(/^it /, 'The feed ')}.`}</p>}
      {trial !== null && <Counts trial={trial} onSample={tried.on_sample} />}
      {warnings.map((warning) => (
        <p class="notice">{`Warning: ${warning}.`}</p>
      ))}
    </section>
  );
};

const Counts = ({ trial, onSample }: { trial: Trial; onSample: boolean }) => (
  <>
    <ul class="counts">
      {countsOf(trial).map(({ n, words, level }) => (
        <li class={level}>
          <b>{n}</b> {words}
        </li>
      ))}
    </ul>
    <dl class="facts">
      <Fact name="Complete">{completeness(trial, onSample)}</Fact>
      <Fact name="Keys">{keysInWords(trial)}</Fact>
    </dl>
    <Kinds title="Rejected by the rules of the mapping and the site" kinds={trial.rejections} />
    <Kinds title="Unreadable" kinds={trial.unreadable_records} />
    {trial.mistakes.length > 0 && (
      <div class="notice">
        <p>Likely mistakes:</p>
        <ul>
          {trial.mistakes.map((mistake) => (
            <li>{mistake}</li>
          ))}
        </ul>
      </div>
    )}
  </>
);

const countsOf = ({ records, sent, rejected, unreadable, repeated, skipped }: Trial) =>
  [
    { n: records, words: 'records', level: '' },
    { n: sent, words: 'would be sent', level: sent === 0 ? 'warn' : '' },
    { n: rejected, words: 'rejected', level: 'warn' },
    { n: unreadable, words: 'unreadable', level: 'warn' },
    { n: repeated, words: 'with a key of another', level: 'warn' },
    { n: skipped, words: "skipped by the feed's rule", level: '' },
  ].filter(({ n }, at) => at < 2 || n > 0);

function completeness({ complete, shortfalls, weak, partial }: Trial, onSample: boolean): string {
  if (partial) return 'not known: only the beginning was read, as the feed is large';
  const of = onSample ? 'the sample is' : 'it is';
  if (!complete) return `no, so nothing would be deleted: ${shortfalls.join('; ')}`;
  return weak === null ? `yes, ${of} proven complete` : `yes, but ${weak}`;
}

function keysInWords({ postings, repeated, conflicting, repeated_keys: keys }: Trial): string {
  if (repeated === 0) return `each of the ${plural(postings, 'posting')} has its own`;
  const such = keys
    .slice(0, 3)
    .map(({ key }) => key)
    .join(', ');
  const same =
    conflicting === 0
      ? 'with the same content'
      : `${conflicting} of them with other content, of which only the first is sent`;
  return `${plural(repeated, 'record')} with the key of an earlier one, ${same}, such as ${such}`;
}

const Kinds = ({ title, kinds }: { title: string; kinds: Trial['rejections'] }) =>
  kinds.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul>
        {kinds.slice(0, 10).map(({ count, message, examples }) => (
          <li>
            <b>{count}</b> {` × ${message}`}
            <span class="detail">
              {examples
                .slice(0, 3)
                .map(({ key, record }) => `${key === null ? '' : `${key}, `}record ${record}`)
                .join('; ')}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
