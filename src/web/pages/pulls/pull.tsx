// One pull: its sums, whether the feed was complete and why not, what it changed on the site, and how to undo it.
import {
  type Advice,
  adviceOf,
  type Message,
  noticeOf,
  reword,
  tell,
  type WriteAction,
} from '../../../plan/message.ts';
import type { PullSums } from '../../../review/pull-sums.ts';
import type { PulledChanges } from '../../../review/pulled-changes.ts';
import { PULL_EFFECTS, type PullEffect } from '../../../store/pull/pull-history.ts';
import { formatBytes } from '../../../telemetry/progress-line.ts';
import { formatSpan } from '../../../telemetry/times.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, mayReview, type Visit } from '../layout.tsx';
import { sentence } from '../sentence.ts';
import { PullStatusLabel } from '../status-labels.tsx';
import { Told } from '../told.tsx';
import { When } from '../when.tsx';
import { Changes } from './changes.tsx';
import { GoneSum, SeenSum } from './sums.tsx';

export interface PullPageProps {
  readonly visit: Visit;
  readonly sums: PullSums;
  readonly show: PullEffect;
  readonly changes: PulledChanges;
  readonly after: string | undefined;
  /** `undefined`: it can be undone. */
  readonly whyNotUndo: Message | undefined;
  /** The undo of this pull, if there is one. */
  readonly undone: number | undefined;
  readonly write: WriteAction;
}

export const PullPage = ({ visit, sums, show, changes, after, whyNotUndo, undone, write }: PullPageProps) => {
  const { prefix } = visit;
  const { pull, effects, requests, fault } = sums;
  const isRunning = pull.status === 'running';
  return (
    <Layout title={`Pull ${pull.id}`} visit={visit} section="pulls">
      <div id="pull" data-live={isRunning ? 'true' : undefined}>
        <p class="row">
          <PullStatusLabel pull={pull} />
          <span>
            {'of '}
            <a href={prefix + pageAddress.feed(pull.feed)}>{pull.feed}</a>
            {' to '}
            <a href={prefix + pageAddress.site(pull.site)}>{pull.site}</a>
          </span>
        </p>
        {pull.undoes !== undefined && (
          <p class="notice">
            {'This is the undo of '}
            <a href={prefix + pageAddress.pull(pull.undoes)}>pull {pull.undoes}</a>.
          </p>
        )}
        {pull.notes.map((note) => (
          <p class={`notice ${pull.status === 'failed' ? 'bad' : ''}`}>
            <Told notice={noticeOf(write, note)} prefix={prefix} />
          </p>
        ))}
        {fault !== undefined && <p class="notice bad">{fault}</p>}
        <dl class="facts">
          <dt>Started</dt>
          <dd>
            <When at={pull.startedAt} />
          </dd>
          <dt>Read completely</dt>
          <dd>
            {pull.committedAt === undefined ? (
              isRunning ? (
                'it is being read'
              ) : (
                'no, nothing of it was saved'
              )
            ) : (
              <When at={pull.committedAt} />
            )}
          </dd>
          <dt>{isRunning ? 'Sending' : 'Ended'}</dt>
          <dd>{pull.finishedAt === undefined ? 'it runs' : <When at={pull.finishedAt} />}</dd>
          {pull.durationMs !== undefined && (
            <>
              <dt>Took</dt>
              <dd>
                {pull.durationMs < 10_000 ? `${(pull.durationMs / 1000).toFixed(1)} s` : formatSpan(pull.durationMs)}
              </dd>
            </>
          )}
          <dt>Read</dt>
          <dd>{formatBytes(pull.bytes)}</dd>
          <dt>Requests</dt>
          <dd>{requests}</dd>
          {pull.takenOver !== undefined && (
            <>
              <dt>Goes on as</dt>
              <dd>
                <a href={prefix + pageAddress.pull(pull.takenOver.by)}>pull {pull.takenOver.by}</a>, which has what this
                one left open; the sums below are of that moment
              </dd>
            </>
          )}
        </dl>
        {pull.committedAt !== undefined && (
          <>
            <SeenSum prefix={prefix} feed={pull.feed} seen={sums.seen} expired={pull.expired} />
            <h2>What was gone</h2>
            {sums.gone === undefined ? (
              <>
                <p class="notice">
                  The feed is not proven complete, so no posting counts as gone and nothing is deleted.
                </p>
                <ul>
                  {pull.shortfalls.map((shortfall) => (
                    <li>{tell(shortfall, write)}</li>
                  ))}
                </ul>
              </>
            ) : (
              <>
                {pull.weak === undefined ? null : <p class="notice">{pull.weak}</p>}
                <GoneSum prefix={prefix} feed={pull.feed} gone={sums.gone} />
              </>
            )}
          </>
        )}
        <h2 id="changes">What it changed on the site</h2>
        <ul class="tabs" aria-label="Kinds of changes">
          {PULL_EFFECTS.map((effect) => (
            <li>
              <a
                href={`${prefix}${pageAddress.pull(pull.id, { show: effect })}#changes`}
                aria-current={effect === show ? 'true' : undefined}
              >
                {`${effects[effect]} ${effect}`}
              </a>
            </li>
          ))}
        </ul>
        <Changes prefix={prefix} pull={pull} show={show} count={effects[show]} changes={changes} after={after} />
      </div>
      <h2>Undo</h2>
      {pull.committedAt === undefined ? (
        <p>{`It has changed nothing${isRunning ? ' yet' : ''}, so there is nothing to undo.`}</p>
      ) : whyNotUndo === undefined ? (
        <>
          {mayReview(visit) && (
            <p>
              <a class="button" href={prefix + pageAddress.undoPull(pull.id)}>
                Undo this pull …
              </a>
            </p>
          )}
          <p class="hint">
            {'The next page shows what the site would get back, and asks before anything is done. So does '}
            <code>{write({ kind: 'undo_pull', pull: pull.id })}</code>.
          </p>
        </>
      ) : undone !== undefined ? (
        <Undone prefix={prefix} undone={undone} advice={adviceOf(whyNotUndo)} />
      ) : (
        <p>
          <Told notice={noticeOf(write, reword(whyNotUndo, sentence))} prefix={prefix} />
        </p>
      )}
    </Layout>
  );
};

/** The undo may have been undone in turn: then the last of them is what can be undone. */
const Undone = (props: { prefix: string; undone: number; advice: readonly Advice[] }) => {
  const { prefix, undone, advice } = props;
  return (
    <p>
      {'It was undone by '}
      <a href={prefix + pageAddress.pull(undone)}>pull {undone}</a>.
      {advice.map(
        ({ words = '', action }) =>
          action?.kind === 'undo_pull' && (
            <>
              {action.pull === undone ? ' ' : ' That was undone, too. '}
              {`${sentence(words)}, undo `}
              <a href={prefix + pageAddress.pull(action.pull)}>{`pull ${action.pull}`}</a>.
            </>
          ),
      )}
    </p>
  );
};
