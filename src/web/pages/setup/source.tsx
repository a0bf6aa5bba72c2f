// The first step of adding a feed: where it comes from.
import type { TriedFeed } from '../../../operations/feed-setup.ts';
import { plural } from '../../../plan/message.ts';
import { pageAddress } from '../parts/addresses.ts';
import { Csrf, Layout, type Visit } from '../parts/layout.tsx';
import type { GivenSource } from './read-draft.ts';

interface SourceProps {
  readonly visit: Visit;
  readonly sites: readonly string[];
  readonly given: GivenSource;
  readonly fault?: string;
}

export const SourcePage = ({ visit, sites, given, fault }: SourceProps) => (
  <Layout title="Add a feed" visit={visit}>
    <Steps at={0} />
    {fault !== undefined && <p role="alert" class="notice bad">{`${fault}.`}</p>}
    <form method="post" enctype="multipart/form-data" action={visit.prefix + pageAddress.newFeed()} class="setup">
      <Csrf visit={visit} />
      <p>
        <label for="source">Address of the feed</label>
        <input
          id="source"
          name="source"
          type="text"
          inputmode="url"
          autocomplete="off"
          value={given.source ?? ''}
          placeholder="https://ats.example.com/jobs.xml"
          aria-describedby="source-hint"
        />
        <span class="hint" id="source-hint">
          Paste it as you have it. A password or a key in it is not stored: the settings name a variable instead.
        </span>
      </p>
      <p>
        <label for="file">Or a file of it</label>
        <input id="file" name="file" type="file" aria-describedby="file-hint" />
        <span class="hint" id="file-hint">
          XML, JSON, a table or a page, also compressed, up to 32 MiB. It is kept for two hours to try the mapping on
          it.
        </span>
      </p>
      <p>
        <label for="site">Site that gets the jobs</label>
        <select id="site" name="site">
          {sites.map((site) => (
            <option selected={site === given.site}>{site}</option>
          ))}
        </select>
      </p>
      <details open={given.feed !== undefined || given.format !== undefined || given.records !== undefined}>
        <summary>More</summary>
        <p>
          <label for="feed">Name of the feed</label>
          <input id="feed" name="feed" value={given.feed ?? ''} aria-describedby="feed-hint" />
          <span class="hint" id="feed-hint">
            Lower-case letters, digits, - and _. By default from the address.
          </span>
        </p>
        <p>
          <label for="format">Format</label>
          <input id="format" name="format" value={given.format ?? ''} aria-describedby="format-hint" />
          <span class="hint" id="format-hint">
            A preset such as indeed, or own. By default the one that fits best.
          </span>
        </p>
        <p>
          <label for="records">Path of the records</label>
          <input id="records" name="records" value={given.records ?? ''} aria-describedby="records-hint" />
          <span class="hint" id="records-hint">
            Such as source/job, if they are not found.
          </span>
        </p>
      </details>
      <p>
        <button type="submit" class="main">
          Recognise the feed
        </button>
      </p>
    </form>
  </Layout>
);

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
      <dt>Complete</dt>
      <dd>{completeness(trial, onSample)}</dd>
      <dt>Keys</dt>
      <dd>{keysInWords(trial)}</dd>
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
