// The pages of review: groups of entries, the entries of one, actions on many of them, rules and notes.
import type { Hono } from 'hono';
import type { z } from 'zod';
import { shareReading } from '../../../flow/share-reading.ts';
import {
  bulkAction,
  type bulkOutput,
  continueReviewAction,
  listReviewActions,
  showReviewAction,
  stopReviewAction,
} from '../../../operations/bulk-actions.ts';
import {
  describeDecision,
  endReviewRule,
  listReviewRules,
  noteReviewGroup,
  removeReviewNote,
} from '../../../operations/rules.ts';
import { numberSchema } from '../../../operations/scalars.ts';
import { plural } from '../../../plan/message.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { excerpt } from '../../../posting/markup.ts';
import { listGroupsWithTotals } from '../../../review/list-groups.ts';
import type { App } from '../../../runtime/app.ts';
import { leftAlone } from '../../../store/review/bulk-actions.ts';
import { decodeCursor, encodeCursor, type WebEnv } from '../../web-env.ts';
import { linkTo, mayReview, pageAddress } from '../parts/addresses.ts';
import { Layout, PostForm } from '../parts/layout.tsx';
import { actOnForm, askedBy, operationForm, type PageContext, readInput, showPage } from '../parts/page.tsx';
import { Alert, Fact, type OtherPages, Pager, StackedTable, Submit, When } from '../parts/parts.tsx';
import { expectValue, type Form } from '../parts/read-form.ts';
import { confirmPage, decideConfirmed, decisionsPage } from './decide.tsx';
import { choices, Entries, readEntriesPage } from './entries.tsx';
import { Groups, Rules } from './groups.tsx';
import { readSelection } from './selection.tsx';

const SHOWN_GROUPS = 50;
/** Beyond that many pages, a filter finds a group sooner. */
const MOST_PAGES = 10_000;
const pageNumber = numberSchema.refine((page) => page <= MOST_PAGES, `must be at most ${MOST_PAGES}`).optional();
const SHOWN_VALUES = 2;
const SHOWN_ACTIONS = 50;
const SHOWN_RULES = 100;
const SHOWN_LEFT_ALONE = 50;

export function reviewPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  const { db } = app;
  const isFromSelection = (form: Form) => readSelection(app, (name) => form.one(name));
  pages.get(
    '/review',
    showPage(async ({ query }) => {
      const { texts, query: selected } = await readSelection(app, query);
      const page = expectValue('page', pageNumber, query('page')) ?? 1;
      const limits = { groups: SHOWN_GROUPS, skipped: (page - 1) * SHOWN_GROUPS, values: SHOWN_VALUES };
      const { groups, totals } = await shareReading(app.config, `groups ${JSON.stringify([selected, limits])}`, () =>
        listGroupsWithTotals(db, selected, limits),
      );
      const shown = { ...texts, group: undefined, cursor: undefined };
      const props = { texts: shown, ...choices(app.config), groups, totals, page, size: SHOWN_GROUPS };
      return <Groups {...props} />;
    }),
  );
  pages.get(
    '/review/entries',
    showPage(async ({ query }) => <Entries {...(await readEntriesPage(app, await readSelection(app, query)))} />),
  );
  pages.post(
    '/review/entries',
    actOnForm('review', (sent) => decisionsPage(context, sent)),
  );
  pages.get(
    '/review/confirm',
    showPage((asked) => confirmPage(context, asked)),
  );
  pages.post(
    '/review/confirm',
    actOnForm('review', (sent) => decideConfirmed(context, sent)),
  );
  pages.get(
    '/review/actions',
    showPage(async ({ actor, query }) => {
      const after = decodeCursor(query('cursor'), listReviewActions.place);
      const page = { limit: SHOWN_ACTIONS, after };
      const { items, next } = await listReviewActions.readPage({}, page, askedBy(context, actor));
      const others = pagesOf(pageAddress.bulkActions, { isFirst: after === undefined, next });
      return <BulkActions actions={items} others={others} />;
    }),
  );
  pages.get(
    '/review/actions/:id',
    showPage(async ({ c, actor }) => {
      const { id } = readInput(showReviewAction, (name) => c.req.param(name));
      return bulkPage(app, await showReviewAction.run({ id }, askedBy(context, actor)));
    }),
  );
  const settings = [
    { operation: stopReviewAction, name: 'stop', isDone: 'It is done already, so nothing was stopped.' },
    { operation: continueReviewAction, name: 'continue', isDone: 'It is done already.' },
  ];
  for (const { operation, name, isDone } of settings) {
    pages.post(
      `/review/actions/:id/${name}`,
      operationForm(context, operation, {
        next: ({ bulk }) => pageAddress.bulkAction(bulk),
        async refused(why, { html }, { id }) {
          if (why.kind === 'unknown') throw why;
          return html(await bulkPage(app, await bulkAction(app, id), isDone), 409);
        },
      }),
    );
  }
  pages.get(
    '/review/rules',
    showPage(async ({ actor, query }) => {
      const after = decodeCursor(query('cursor'), listReviewRules.place);
      const { items, next } = await listReviewRules.readPage(
        {},
        { limit: SHOWN_RULES, after },
        askedBy(context, actor),
      );
      const others = pagesOf(pageAddress.rules, { isFirst: after === undefined, next });
      return <Rules rules={items} others={others} />;
    }),
  );
  pages.post(
    '/review/rules/:id/end',
    operationForm(context, endReviewRule, {
      before: isFromSelection,
      next: (_rule, form) => backTo(app, form, pageAddress.rules()),
    }),
  );
  pages.post(
    '/review/notes',
    operationForm(context, noteReviewGroup, {
      before: isFromSelection,
      next: (_note, form) => backTo(app, form, pageAddress.review()),
    }),
  );
  pages.post(
    '/review/notes/:id/remove',
    operationForm(context, removeReviewNote, {
      before: isFromSelection,
      next: (_note, form) => backTo(app, form, pageAddress.review()),
    }),
  );
}

/** The addresses of the first page of a list and of the next one. */
const pagesOf = (
  address: (cursor?: string) => string,
  { isFirst, next }: { readonly isFirst: boolean; readonly next: unknown },
): OtherPages => ({
  first: isFirst ? undefined : address(),
  next: next === undefined ? undefined : address(encodeCursor(next) ?? undefined),
});

/** The list of entries that a form was sent from, if it was one. */
async function backTo(app: App, form: Form, otherwise: string): Promise<string> {
  const { texts } = await readSelection(app, (name) => form.one(name));
  return texts.group === undefined ? otherwise : pageAddress.entries(texts);
}

async function bulkPage({ db }: App, bulk: z.output<typeof bulkOutput>, refused?: string) {
  const left = bulk.left_alone === 0 ? [] : await leftAlone(db, bulk.bulk, SHOWN_LEFT_ALONE);
  return <BulkProgress bulk={bulk} leftAlone={left} refused={refused} />;
}

// Actions on many entries: all of them, the newest first, and one with its progress and what it left alone.

const STATES = { open: 'running', stopped: 'stopped', done: 'done' } as const;
type Bulk = z.output<typeof bulkOutput>;

const stateOf = ({ state, waits_for }: Bulk): string => (waits_for === null ? STATES[state] : 'waiting');

const BulkActions = ({ actions, others }: { actions: readonly Bulk[]; others: OtherPages }) => (
  <Layout title="Actions on many entries" section="review">
    <p>
      <a href={linkTo(pageAddress.review())}>All groups</a>
    </p>
    <StackedTable
      label="Actions, the newest first"
      caption={<caption class="hint">The newest first</caption>}
      columns={[
        {
          head: 'Action',
          number: true,
          namesRow: true,
          cell: ({ bulk }) => <a href={linkTo(pageAddress.bulkAction(bulk))}>{bulk}</a>,
        },
        { head: 'What', cell: (bulk) => excerpt(describeDecision(bulk), 300) },
        {
          head: 'By',
          inline: true,
          cell: ({ rule, actor }) => (rule === null ? actor : `${actor}, by rule ${rule}`),
        },
        { head: 'Started', inline: true, cell: ({ started_at }) => <When at={started_at} /> },
        { head: 'State', inline: true, cell: stateOf },
        { head: 'Entries', number: true, inline: true, cell: ({ total }) => total },
        { head: 'Done', number: true, inline: true, cell: ({ done }) => done },
        { head: 'Left alone', number: true, inline: true, cell: ({ left_alone }) => left_alone },
      ]}
      rows={actions}
      none={<p>There are none yet.</p>}
    />
    <Pager label="Pages of actions" isByTime {...others} />
  </Layout>
);

export interface BulkProps {
  readonly bulk: Bulk;
  readonly leftAlone: readonly { readonly entry: number; readonly feed: FeedName; readonly why: string }[];
  /** Why it was not stopped or continued. */
  readonly refused?: string | undefined;
}

const BulkProgress = ({ bulk, leftAlone, refused }: BulkProps) => {
  const handled = bulk.done + bulk.left_alone;
  return (
    <Layout title={`Action ${bulk.bulk}: ${excerpt(describeDecision(bulk))}`} section="review">
      <p class="row">
        <a href={linkTo(pageAddress.review())}>All groups</a>
        <a href={linkTo(pageAddress.bulkActions())}>Actions on many entries</a>
      </p>
      {refused !== undefined && <Alert>{refused}</Alert>}
      <section id="progress" data-live={bulk.state === 'open' ? 'true' : undefined} aria-labelledby="progress-heading">
        <h2 id="progress-heading">Progress</h2>
        <p class={bulk.state === 'done' ? 'notice good' : 'notice'}>
          <label for="handled">{`${stateOf(bulk)}: ${handled} of ${plural(bulk.total, 'entry', 'entries')}`}</label>
          <progress id="handled" value={String(handled)} max={String(Math.max(1, bulk.total))} />
        </p>
        {bulk.waits_for !== null && (
          <p class="notice">
            {`Waiting: ${excerpt(bulk.waits_for, 500)}`}
            <br />
            {bulk.unattended ? 'It continues by itself.' : 'It does not continue by itself.'}
          </p>
        )}
        <dl class="facts">
          <Fact name="Done">{bulk.done}</Fact>
          {bulk.still_rejected > 0 && (
            <Fact name="Of them still rejected">
              {bulk.still_rejected} <a href={linkTo(pageAddress.review({ kind: 'rejected' }))}>Show what is rejected</a>
            </Fact>
          )}
          <Fact name="Left alone">{bulk.left_alone}</Fact>
          <Fact name="Still to do">{bulk.to_do}</Fact>
          <Fact name="By">
            {bulk.actor}
            {bulk.rule !== null && (
              <>
                {', by '}
                <a href={linkTo(pageAddress.rules())}>{`rule ${bulk.rule}`}</a>
              </>
            )}
          </Fact>
          <Fact name="Started">
            <When at={bulk.started_at} />
          </Fact>
          <Fact name="Last progress">
            <When at={bulk.touched_at} />
          </Fact>
        </dl>
        {bulk.reasons.length > 0 && (
          <>
            <h2 id="why">Why entries were left alone</h2>
            <ul>
              {bulk.reasons.map(({ message, count }) => (
                <li>{`${count}: ${excerpt(message, 300)}`}</li>
              ))}
            </ul>
            <h3 id="left-alone">{leftAlone.length < bulk.left_alone ? `${leftAlone.length} of them` : 'Which ones'}</h3>
            <ul>
              {leftAlone.map(({ entry, feed, why }) => (
                <li>
                  <a href={linkTo(pageAddress.entry(entry))}>{`entry ${entry}`}</a>
                  {` of feed ${feed}: ${excerpt(why, 200)}`}
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
      <div id="control" class="row" data-live={bulk.state === 'open' ? 'true' : undefined}>
        {mayReview() && <Control bulk={bulk} />}
      </div>
    </Layout>
  );
};

/** An action that waits is continued at once by whichever process the visitor asks, unless another one carries it out by then. */
const Control = ({ bulk }: Pick<BulkProps, 'bulk'>) => (
  <>
    {(bulk.state === 'stopped' || bulk.waits_for !== null) && (
      <PostForm action={pageAddress.continueBulkAction(bulk.bulk)}>
        <Submit>Continue</Submit>
      </PostForm>
    )}
    {bulk.state === 'open' && (
      <PostForm action={pageAddress.stopBulkAction(bulk.bulk)}>
        <Submit>Stop after the present batch</Submit>
      </PostForm>
    )}
  </>
);
