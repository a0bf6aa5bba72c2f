// What a trial of a draft found: mistakes in the text, whether the feed is complete, its keys, and what would be sent and refused.
import type { TriedFeed } from '../../../operations/feed-setup.ts';
import { plural } from '../../../plan/plural.ts';

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
