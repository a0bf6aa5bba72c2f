// The page that asks before it stops a feed, a site or everything, and the forms that stop and go on.
import type { Hono } from 'hono';
import { namedFeed, namedSite, type OperationContext } from '../../operations/operation.ts';
import { endPersonsPause, pauseSending } from '../../operations/pauses.ts';
import { type PauseSubject, type PersonsPause, pauseInFull, pauseSubjectWords } from '../../plan/pause-words.ts';
import { countInFlight, listPauses } from '../../store/locks/pauses.ts';
import { formatTime } from '../../telemetry/times.ts';
import { ProblemError } from '../problem.ts';
import type { WebEnv } from '../web-env.ts';
import { linkTo, mayReview, pageAddress } from './parts/addresses.ts';
import { Layout, PostForm } from './parts/layout.tsx';
import { operationForm, type PageContext, showPage } from './parts/page.tsx';
import { Check, sentence, TextField } from './parts/parts.tsx';

export function pausePages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  pages.get(
    '/pause',
    showPage(async ({ query }) => {
      const subject = await subjectNamed(app, query('feed'), query('site'));
      const pauses = await listPauses(app.db);
      const present = pauses.find((pause) => pause.site === subject.site && pause.feed === subject.feed);
      const inFlight = await countInFlight(app.db, subject);
      return <PausePage subject={subject} present={present} inFlight={inFlight} />;
    }),
  );
  pages.post('/pause', operationForm(context, pauseSending, { next: ({ pause }) => placeOf(pause) }));
  pages.post(
    pageAddress.endPause(),
    operationForm(context, endPersonsPause, {
      required: ['pause'],
      next: ({ ended }) => (ended === null ? pageAddress.overview() : placeOf(ended)),
    }),
  );
}

const placeOf = ({ site, feed }: { readonly site: string | null; readonly feed: string | null }): string =>
  feed !== null ? pageAddress.feed(feed) : site !== null ? pageAddress.site(site) : pageAddress.overview();

async function subjectNamed(
  app: OperationContext['app'],
  feed: string | undefined,
  site: string | undefined,
): Promise<PauseSubject> {
  if (feed !== undefined && site !== undefined) {
    throw new ProblemError({ status: 400, detail: 'the address must name a feed or a site, not both' });
  }
  if (feed !== undefined) return { feed: await namedFeed(app, feed) };
  return site === undefined ? {} : { site: namedSite(app.config, site).name };
}

/** In the zone of the machine, as messages have it, and with it, as the form reads it: no earlier than the pause ends. */
function endText(until: Date | undefined): string | undefined {
  if (until === undefined) return undefined;
  const end = new Date(Math.ceil(until.getTime() / 1_000) * 1_000);
  const ahead = -end.getTimezoneOffset();
  const zone = `${ahead < 0 ? '-' : '+'}${twoDigits(Math.abs(ahead) / 60)}:${twoDigits(Math.abs(ahead) % 60)}`;
  return formatTime(end).replace(/ [^ ]*$/, zone);
}

const twoDigits = (n: number): string => String(Math.floor(n)).padStart(2, '0');

interface PausePageProps {
  readonly subject: PauseSubject;
  readonly present: Awaited<ReturnType<typeof listPauses>>[number] | undefined;
  readonly inFlight: number;
}

const PausePage = ({ subject, present, inFlight }: PausePageProps) => {
  const what = pauseSubjectWords(subject);
  const asked = present === undefined ? `Stop ${what}` : `Pause ${what} otherwise`;
  return (
    <Layout title={`${asked}?`}>
      {present !== undefined && <PausedByPerson pauses={[present]} />}
      <p>
        {`From then on no request is begun${subject.feed === undefined ? '' : ' for it'}, by whatever process, until somebody resumes it. `}
        {inFlight === 0
          ? 'Requests in flight end, and their answers are recorded.'
          : `${inFlight === 1 ? '1 request is' : `${inFlight} requests are`} in flight: they end, and their answers are recorded.`}
      </p>
      {mayReview() ? (
        <PostForm action={'/pause'} class="fields" hidden={fieldsOf(subject)}>
          <TextField name="reason" label="Why" maxlength={1000} value={present?.reason} />
          <TextField
            name="until"
            label="Until"
            maxlength={40}
            placeholder="until somebody resumes it"
            value={endText(present?.until)}
            hint={`such as 2h, 3d or 2026-12-24 18:00, by the clock of the server (now ${formatTime(new Date())}); empty: until somebody resumes it`}
          >
            <br />
          </TextField>
          <Check name="pulls" checked={present?.stopsPulls}>
            Stop the pulls too; otherwise they go on, and what they find waits
          </Check>
          <p>
            <button type="submit" class="main">
              {asked}
            </button>{' '}
            <a href={linkTo(placeOf({ site: subject.site ?? null, feed: subject.feed ?? null }))}>Leave it</a>
          </p>
        </PostForm>
      ) : (
        <p class="hint">You may look, but not stop it.</p>
      )}
    </Layout>
  );
};

// What people have paused, with the button to go on; and the link to the page that stops more.

/** Members of a form that say what it is about. */
const fieldsOf = ({ site, feed }: PauseSubject) =>
  feed !== undefined ? { feed } : site !== undefined ? { site } : { all: 'true' };

export const PausedByPerson = ({ pauses }: { pauses: readonly PersonsPause[] }) => (
  <>
    {pauses.map((pause) => (
      <section class="next warn" aria-label={`${sentence(pauseSubjectWords(pause))} is paused`}>
        <p>
          <span class="status warn">{sentence(pauseInFull(pause, formatTime))}</span>
        </p>
        {mayReview() && (
          <PostForm action={pageAddress.endPause()} hidden={{ ...fieldsOf(pause), pause: pause.id }}>
            <button type="submit" class="main">
              {`Resume ${pauseSubjectWords(pause)}`}
            </button>{' '}
            <a href={linkTo(pageAddress.pause(pause))}>Change it</a>
          </PostForm>
        )}
      </section>
    ))}
  </>
);

/** Absent for those who may not act. */
export const PauseLink = ({ subject }: { subject: PauseSubject }) =>
  mayReview() ? (
    <p>
      <a href={linkTo(pageAddress.pause(subject))}>{`Stop ${pauseSubjectWords(subject)} …`}</a>
    </p>
  ) : null;
