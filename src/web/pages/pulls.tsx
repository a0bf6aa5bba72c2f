// The pages of pulls: the list with its table, and the routes of all.
import type { Hono } from 'hono';
import { z } from 'zod';
import { type ShownPull, showPulls } from '../../operations/pulls.ts';
import { keyText, numberSchema } from '../../operations/scalars.ts';
import { type ShownUndoPlan, showUndo, undoPulled } from '../../operations/undo.ts';
import { plural, textOf } from '../../plan/message.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { excerpt } from '../../posting/markup.ts';
import { differenceOf, pulledChanges, readPullSums } from '../../review/pulled-changes.ts';
import { whyNotUndoOf } from '../../runtime/undo-feed-pull.ts';
import { findUndoOf, PULL_EFFECTS } from '../../store/pull/pull-history.ts';
import { notFound, ProblemError } from '../problem.ts';
import type { WebEnv } from '../web-env.ts';
import { currentVisit, linkTo, pageAddress } from './parts/addresses.ts';
import { Layout, PanelForm } from './parts/layout.tsx';
import { askedBy, operationForm, type PageContext, showPage } from './parts/page.tsx';
import { Pager, PullStatusLabel, ShownDifference, StackedTable, sentence, When } from './parts/parts.tsx';
import { expectValue } from './parts/read-form.ts';
import { PullPage, tookWords } from './pull.tsx';

const SHOWN_PULLS = 50;
const SHOWN_POSTINGS = 50;

export function pullPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  const { db } = app;
  pages.get(
    '/pulls',
    showPage(async ({ query, actor }) => {
      const feed = query('feed') as FeedName | undefined;
      const before = expectValue('before', numberSchema.optional(), query('before'));
      const page = { limit: SHOWN_PULLS, after: before === undefined ? undefined : { before } };
      const { items, next } = await showPulls.readPage({ feed }, page, askedBy(context, actor));
      const older = next?.before;
      return <PullsPage pulls={items} feed={feed} older={older} isFirst={before === undefined} />;
    }),
  );
  pages.get(
    '/pulls/:id',
    showPage(async ({ c, query }) => {
      const id = expectValue('the number of the pull', numberSchema, c.req.param('id'));
      const sums = await readPullSums(db, id);
      if (sums === undefined) throw notFound(`there is no pull ${id}`);
      const asked = expectValue('show', z.enum(PULL_EFFECTS).optional(), query('show'));
      const after = expectValue('after', keyText.optional(), query('after')) as PostingKey | undefined;
      const show = asked ?? PULL_EFFECTS.find((effect) => sums.pull[effect] > 0) ?? 'created';
      const changes = await pulledChanges(db, sums.pull, show, { after, limit: SHOWN_POSTINGS });
      const { pull } = sums;
      const whyNotUndo = await whyNotUndoOf(app, pull);
      const undone = await findUndoOf(db, id);
      return (
        <PullPage
          sums={sums}
          show={show}
          changes={changes}
          after={after}
          whyNotUndo={whyNotUndo}
          undone={undone}
          write={app.writeAction}
        />
      );
    }),
  );
  pages.get(
    '/pulls/:pull/undo',
    showPage(async ({ c, visit, actor }) => {
      if (!visit.visitor.scopes.has('review'))
        throw new ProblemError({ status: 403, detail: 'only reviewers may undo a pull' });
      const pull = expectValue('the number of the pull', numberSchema, c.req.param('pull'));
      return <UndoPage plan={await showUndo.run({ pull }, askedBy(context, actor))} />;
    }),
  );
  pages.post(
    '/pulls/:pull/undo',
    operationForm(context, undoPulled, { required: ['seen'], next: ({ pull }) => pageAddress.pull(pull) }),
  );
}

interface PullsPageProps {
  readonly pulls: readonly ShownPull[];
  readonly feed: FeedName | undefined;
  /** Where the older ones begin; `undefined`: there are none. */
  readonly older: number | undefined;
  readonly isFirst: boolean;
}

const PullsPage = ({ pulls, feed, older, isFirst }: PullsPageProps) => {
  const isRunning = pulls.some(({ status }) => status === 'running');
  return (
    <Layout
      title={feed === undefined ? 'Pulls' : `Pulls of ${feed}`}
      section="pulls"
      about={feed === undefined ? 'all' : currentVisit().aboutFeed?.(feed)}
    >
      {feed !== undefined && (
        <p>
          <a href={linkTo(pageAddress.feed(feed))}>The feed {feed}</a> ·{' '}
          <a href={linkTo(pageAddress.pulls())}>All pulls</a>
        </p>
      )}
      <div id="pulls" data-live={isRunning ? 'true' : undefined}>
        <PullTable pulls={pulls} label="Pulls, newest first" withFeed={feed === undefined} />
      </div>
      <Pager
        label="Pages of pulls"
        isByTime
        first={isFirst ? undefined : pageAddress.pulls(feed)}
        next={older === undefined ? undefined : pageAddress.pulls(feed, older)}
      />
    </Layout>
  );
};

const COUNTS = ['seen', 'unchanged', 'created', 'updated', 'deleted'] as const;

interface PullTableProps {
  readonly pulls: readonly ShownPull[];
  readonly label: string;
  readonly withFeed?: boolean;
}

export const PullTable = ({ pulls, label, withFeed = false }: PullTableProps) => (
  <StackedTable
    label={label}
    kind="pulls"
    columns={[
      {
        head: 'Pull',
        namesRow: true,
        number: true,
        cell: ({ pull }) => <a href={linkTo(pageAddress.pull(pull))}>{pull}</a>,
      },
      withFeed && { head: 'Feed', cell: ({ feed }) => <a href={linkTo(pageAddress.feed(feed))}>{feed}</a> },
      { head: 'Started', cell: ({ started_at }) => <When at={started_at} /> },
      { head: 'Status', cell: (pull) => <PullStatusLabel pull={pull} /> },
      ...COUNTS.map((name) => ({
        head: sentence(name),
        number: true as const,
        inline: true as const,
        classOf: (pull: ShownPull) => pull[name] === 0 && 'quiet',
        cell: (pull: ShownPull) => pull[name],
      })),
      {
        head: 'Took',
        number: true,
        inline: true,
        cell: ({ duration_ms }) => (duration_ms === null ? '–' : tookWords(duration_ms)),
      },
      { head: 'Notes', bare: true, classOf: () => 'notes-of-pull', cell: (pull) => shortened(notesOfPull(pull)) },
    ]}
    rows={pulls}
    none={<p>Nothing has been pulled yet.</p>}
  />
);

/** The page of the pull has all of it. */
const MOST_NOTES = 120;

function shortened(notes: string): string {
  if (notes.length <= MOST_NOTES) return excerpt(notes, MOST_NOTES);
  return `${excerpt(notes, MOST_NOTES).replace(/[\s;,:]*\S*$/, '')} …`;
}

const notesOfPull = ({ undoes, message, shortfalls, weak }: ShownPull): string =>
  [
    ...(undoes === null ? [] : [`undoes pull ${undoes}`]),
    ...[...(message === null ? [] : [message]), ...shortfalls].flatMap(({ messages }) => messages.map(textOf)),
    ...(weak === null ? [] : [weak]),
  ].join('; ');

const UndoPage = ({ plan }: { plan: ShownUndoPlan }) => {
  const { pull, feed, restored, created_again: again, deleted, withdrawn, left_out: left, held, seen } = plan;
  const isNothing = restored + deleted + withdrawn === 0;
  return (
    <Layout title={`Undo pull ${pull}`} section="pulls">
      <p class="row">
        <a href={linkTo(pageAddress.pull(pull))}>{`Pull ${pull}`}</a>
        <a href={linkTo(pageAddress.feed(feed))}>{feed}</a>
        <span>
          {'of '}
          <When at={plan.started_at} />
        </span>
      </p>
      {isNothing ? (
        <p class="notice">
          {left === 0 ? 'There is nothing to undo: the site is as it was before.' : 'There is nothing to undo.'}
        </p>
      ) : (
        <ul>
          <li>{`${plural(again, 'job')} to create again, with new job IDs`}</li>
          <li>{`${plural(restored - again, 'job')} to set back`}</li>
          <li>{`${plural(deleted, 'job')} to delete, which the pull created`}</li>
          <li>{`${plural(withdrawn, 'change')} that ${withdrawn === 1 ? 'is' : 'are'} not sent any more`}</li>
          {left > 0 && <li>{`${plural(left, 'posting')} left as ${left === 1 ? 'it is' : 'they are'}`}</li>}
        </ul>
      )}
      {held !== null && <p class="notice">{`The deletes wait for approval: ${held}.`}</p>}
      {again > 0 && plan.creates_wait && (
        <p class="notice">
          {'The creates wait until somebody has decided about the changed keys of the feed. '}
          <a href={linkTo(pageAddress.rekey(feed))}>Compare them here</a>
        </p>
      )}
      {!isNothing && (
        <PanelForm
          action={pageAddress.undoPull(pull)}
          hidden={{ seen }}
          hint={`Afterwards feed ${feed} is not pulled until somebody resumes it, because its source would bring all of this back. If the undo would do anything else by then, nothing is done.`}
          submit={`Undo pull ${pull}`}
          kind="danger"
        />
      )}
      {plan.lines.length > 0 && (
        <>
          <h2 id="lines">What happens to each posting</h2>
          <Lines lines={plan.lines} />
          {plan.more > 0 && <p>{`And ${plural(plan.more, 'more posting')}.`}</p>}
        </>
      )}
    </Layout>
  );
};

const WORDS = { create: 'create again', update: 'set back', delete: 'delete', none: 'leave as it is' } as const;

const Lines = ({ lines }: {} & Pick<ShownUndoPlan, 'lines'>) => (
  <StackedTable
    label={{ heading: 'lines' }}
    columns={[
      {
        head: 'Posting',
        namesRow: true,
        cell: ({ feed, key }) => (key === null ? '–' : <a href={linkTo(pageAddress.posting(feed, key))}>{key}</a>),
      },
      {
        head: 'What happens',
        cell: ({ operation, reason }) => (
          <>
            {WORDS[operation]}
            {reason !== undefined && <span class="detail">{reason}</span>}
          </>
        ),
      },
      {
        head: 'Now → afterwards',
        cell: (line) =>
          line.operation === 'update'
            ? Object.entries(line.fields).map(([field, { from, to }]) => (
                <ShownDifference {...differenceOf(field, from ?? undefined, to ?? undefined)} />
              ))
            : titleIn(line),
      },
    ]}
    rows={lines}
  />
);

function titleIn(line: ShownUndoPlan['lines'][number]): string {
  if (line.operation === 'none') return '';
  const { title } = line.fields;
  return title?.to || title?.from || '';
}
