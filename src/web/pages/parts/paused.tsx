// What people have paused, with the button to go on; and the link to the page that stops more.
import { type PauseSubject, type PersonsPause, pauseInFull, pauseSubjectWords } from '../../../plan/pause-words.ts';
import { formatTime } from '../../../telemetry/times.ts';
import { pageAddress } from './addresses.ts';
import { mayReview, PostForm, type Visit } from './layout.tsx';
import { sentence } from './parts.tsx';

/** Members of a form that say what it is about. */
export const subjectFields = ({ site, feed }: PauseSubject) => {
  if (feed !== undefined) return <input type="hidden" name="feed" value={feed} />;
  if (site !== undefined) return <input type="hidden" name="site" value={site} />;
  return <input type="hidden" name="all" value="true" />;
};

export const PausedByPerson = ({ visit, pauses }: { visit: Visit; pauses: readonly PersonsPause[] }) => (
  <>
    {pauses.map((pause) => (
      <section class="next warn" aria-label={`${sentence(pauseSubjectWords(pause))} is paused`}>
        <p>
          <span class="status warn">{sentence(pauseInFull(pause, formatTime))}</span>
        </p>
        {mayReview(visit) && (
          <PostForm visit={visit} action={visit.prefix + pageAddress.endPause()}>
            {subjectFields(pause)}
            <input type="hidden" name="pause" value={pause.id} />
            <button type="submit" class="main">
              {`Resume ${pauseSubjectWords(pause)}`}
            </button>{' '}
            <a href={visit.prefix + pageAddress.pause(pause)}>Change it</a>
          </PostForm>
        )}
      </section>
    ))}
  </>
);

/** Absent for those who may not act. */
export const PauseLink = ({ visit, subject }: { visit: Visit; subject: PauseSubject }) =>
  mayReview(visit) ? (
    <p>
      <a href={visit.prefix + pageAddress.pause(subject)}>{`Stop ${pauseSubjectWords(subject)} …`}</a>
    </p>
  ) : null;
