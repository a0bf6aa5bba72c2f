// Held deletes: which jobs would go, why they are held, and the decisions about them.
import type { Hono } from 'hono';
import type { ActInput } from '../../operations/decisions.ts';
import { namedFeed } from '../../operations/operation.ts';
import { entryPlace } from '../../operations/review.ts';
import { type DeleteGuard, GUARD_WINDOW_HOURS } from '../../plan/delete-guard.ts';
import { plural, textOf } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { previewBulk } from '../../review/bulk/start-bulk.ts';
import { sumOf, tokenOf, tokenOfOne } from '../../review/seen.ts';
import type { App } from '../../runtime/app.ts';
import { countEntries, type HeldGroup, heldGroups } from '../../store/review/review-entries.ts';
import { type EntryPlace, reviewPage } from '../../store/review/review-page.ts';
import {
  foldReviewCounts,
  type HeldDelete,
  type HeldFor,
  heldReasons,
  readHeldDeletes,
} from '../../store/review/review-totals.ts';
import { ProblemError } from '../problem.ts';
import type { WebEnv } from '../web-env.ts';
import { decodeCursor, encodeCursor } from '../web-env.ts';
import { currentVisit, linkTo, mayReview, pageAddress } from './parts/addresses.ts';
import { Layout, PanelForm, PostForm } from './parts/layout.tsx';
import { actOnForm, type PageContext, showPage } from './parts/page.tsx';
import { LinkToRekeyComparison } from './parts/pairs.tsx';
import { Pager, SiteLink, StackedTable, TextField, When } from './parts/parts.tsx';
import { type Form, malformed } from './parts/read-form.ts';
import { startFromForm } from './review/decide.tsx';
import { boundToChosen, readBound, readChosen, readReason, writeChosen } from './review/read-decision.ts';

const HeldFeeds = ({ groups }: { groups: readonly HeldGroup[] }) => (
  <Layout title="Held deletes" section="review">
    <StackedTable
      label="Feeds with held deletes"
      caption={<caption class="quiet">Feeds with held deletes</caption>}
      columns={[
        {
          head: 'Feed',
          namesRow: true,
          cell: ({ feed }) => <a href={linkTo(pageAddress.held(feed))}>{feed}</a>,
        },
        { head: 'Held', number: true, cell: ({ count }) => count },
        { head: 'Since', cell: ({ since }) => <When at={since} /> },
        { head: 'Why', cell: ({ reason }) => textOf(reason) },
      ]}
      rows={groups}
      none={<p class="notice good">No delete is held.</p>}
    />
  </Layout>
);

// The held deletes of a feed, a page of them, with what binds a decision about all of them to exactly those.

interface HeldPage {
  /** How many deletes are held. */
  readonly count: number;
  /** How many of them approving all would approve. */
  readonly approvable: number;
  /** Of exactly those; `undefined`: they are too many to be approved on the page. */
  readonly seen: string | undefined;
  /** Whether the keys of the feed have changed has to be answered before any of them is decided. */
  readonly inQuestion: boolean;
  /** Why others can't be approved now. */
  readonly barred: readonly string[];
  readonly reasons: readonly HeldFor[];
  readonly deletes: readonly HeldDelete[];
  readonly next: EntryPlace | undefined;
}

const MOST_MARKED = 5_000;

async function readHeldPage(
  { db, config }: App,
  feed: FeedName,
  limit: number,
  after: EntryPlace | undefined,
): Promise<HeldPage> {
  await foldReviewCounts(db);
  const query = { feed, kinds: ['held'] } as const;
  // Bound before the deletes are read: one that is held meanwhile is shown, but not decided.
  const { selected, others, first } = await previewBulk(db, config, 'approve', query);
  const approvable = sumOf(selected);
  const { entries, next } = await reviewPage(db, query, limit, after);
  return {
    count: (await countEntries(db, query)).get('held') ?? 0,
    approvable,
    seen: approvable > MOST_MARKED ? undefined : tokenOf(selected),
    inQuestion: first !== undefined,
    barred: others.map(({ why }) => why),
    reasons: await heldReasons(db, feed),
    deletes: await readHeldDeletes(
      db,
      entries.map(({ id }) => id),
    ),
    next,
  };
}

export interface HeldProps extends Omit<HeldPage, 'next'> {
  readonly feed: FeedName;
  /** `undefined`: the feed is no longer configured. */
  readonly guard: DeleteGuard | undefined;
  /** Where the page begins; `undefined`: it is the first one. */
  readonly cursor: string | undefined;
  /** Whether all of the page are chosen. */
  readonly isChosen: boolean;
  readonly next: string | undefined;
}

const Held = (props: HeldProps) => {
  const { feed, count, deletes, inQuestion, barred } = props;
  return (
    <Layout title={`Held deletes of feed ${feed}`} section="review" about={currentVisit().aboutFeed?.(feed)}>
      <p class="row">
        <a href={linkTo(pageAddress.held())}>All feeds</a>
        <a href={linkTo(pageAddress.entries({ feed, kind: 'held', discarded: 'true' }))}>Jobs that were kept</a>
      </p>
      {count === 0 && deletes.length === 0 ? (
        <p class="notice good">No delete of this feed is held.</p>
      ) : (
        <>
          {inQuestion && <LinkToRekeyComparison feed={feed} />}
          <p>
            <strong>{count === 1 ? '1 job would be deleted' : `${count} jobs would be deleted`}</strong>: their postings
            are no longer in the feed. Nothing is deleted until a person approves it.
          </p>
          {!inQuestion &&
            barred.map((why) => (
              <p class="notice">{`${props.approvable === 0 ? "They can't" : 'Not all of them can'} be approved now: ${why}.`}</p>
            ))}
          {props.reasons.map((reason) => (
            <Why {...props} {...reason} />
          ))}
          <h2 id="deletes">What would be deleted</h2>
          {mayReview() && !inQuestion ? (
            <>
              <PostForm action={pageAddress.held()} id="decide" hidden={{ feed }}>
                <Decisions {...props} />
                <Deletes {...props} checkable />
                <p class="row">
                  <DecideChosen approvable={props.approvable} />
                </p>
              </PostForm>
              <ApproveAll {...props} />
            </>
          ) : (
            <Deletes {...props} checkable={false} />
          )}
          <Pages {...props} />
        </>
      )}
    </Layout>
  );
};

/** What holds deletes, in a column and as a title. */
const HOLDS = {
  guard: ['delete guard', 'Held by the delete guard'],
  unreadable: ['unreadable records', 'Held because records could not be read'],
  rekey: ['changed keys', 'Held because the keys of the feed seem to have changed'],
  restored: ['restored database', 'Held until the next complete pull of the feed'],
  newest: ['newest postings only', 'Held because the feed may list only its newest postings'],
  empty_source: ['empty source', 'Held because a source of the feed had postings and has none'],
} as const;

const Why = ({ feed, guard, hold, count, reason }: HeldProps & HeldFor) => (
  <section class="panel" aria-label={HOLDS[hold][1]}>
    <p>
      <strong>{`${HOLDS[hold][1]}: ${plural(count, 'delete')}.`}</strong>
    </p>
    <p>{textOf(reason)}</p>
    {hold === 'guard' && (
      <p>
        {guard !== undefined &&
          `The limit of this feed: more than ${plural(guard.count, 'delete')} and more than ${guard.percent} % of its live jobs within ${GUARD_WINDOW_HOURS} hours. `}
        They stay held until a person decides, or the posting comes back.
      </p>
    )}
    {hold === 'unreadable' && (
      <p>
        {'Each of these records may be one of the postings below. '}
        <a href={linkTo(pageAddress.entries({ feed, kind: 'unreadable' }))}>
          Look at the records that could not be read
        </a>
        {' and have them fixed at the source: then the next pull checks these deletes again.'}
      </p>
    )}
    {hold === 'restored' && (
      <p>The next complete pull of the feed decides again: start one, rather than approve them.</p>
    )}
  </section>
);

const Deletes = ({ feed, deletes, reasons, isChosen, checkable }: HeldProps & { readonly checkable: boolean }) => (
  <StackedTable
    label={{ heading: 'deletes' }}
    columns={[
      checkable && {
        head: 'Choose',
        bare: true,
        cell: (held) => (
          <input
            type="checkbox"
            name="entry"
            value={writeChosen(held.id, tokenOfOne(held))}
            aria-label={`Choose ${held.key}`}
            checked={isChosen}
            autocomplete="off"
          />
        ),
      },
      {
        head: 'Posting',
        namesRow: true,
        cell: ({ key }) => <a href={linkTo(pageAddress.posting(feed, key))}>{key}</a>,
      },
      { head: 'Title', cell: ({ title }) => title ?? <span class="quiet">not known</span> },
      { head: 'Job', inline: true, cell: (held) => <Job {...held} /> },
      reasons.length > 1 && { head: 'Held for', cell: ({ hold }) => HOLDS[hold][0] },
      { head: 'Since', inline: true, cell: ({ since }) => <When at={since} /> },
    ]}
    rows={deletes}
  />
);

const Job = ({ siteJobId, url }: Pick<HeldDelete, 'siteJobId' | 'url'>) =>
  siteJobId === null ? <span class="quiet">none yet</span> : <SiteLink url={url}>{siteJobId}</SiteLink>;

const Decisions = ({ feed, count, approvable, deletes, cursor, isChosen }: HeldProps) => (
  <section class="panel" aria-label="The chosen postings">
    <p>
      <strong>The chosen postings</strong>
    </p>
    <p class="hint">
      Keep: the job stays on the site and its delete is discarded. Nothing is sent for it while its posting is missing;
      if the posting comes back, it is mirrored again. You can reopen it.
    </p>
    <TextField name="reason" label="Reason for keeping, for the record" maxlength={1_000} />
    <p class="row">
      <DecideChosen approvable={approvable} />
      {isChosen ? (
        <a href={linkTo(`${pageAddress.held(feed, cursor)}#decide`)}>Choose none</a>
      ) : (
        <a href={linkTo(`${pageAddress.held(feed, cursor, 'all')}#decide`)}>{`Choose all ${deletes.length} shown`}</a>
      )}
    </p>
    <p class="row">
      <strong>All of them</strong>
      <a class="button" href={linkTo(pageAddress.confirmAction('discard', { feed, kind: 'held' }))}>
        {`Keep all ${count} …`}
      </a>
      {approvable > 0 && (
        <a class="button" href={linkTo(pageAddress.confirmAction('approve', { feed, kind: 'held' }))}>
          {`Delete all ${approvable} …`}
        </a>
      )}
    </p>
  </section>
);

const DecideChosen = ({ approvable }: Pick<HeldProps, 'approvable'>) => (
  <>
    <button type="submit" name="decision" value="keep">
      Keep the chosen
    </button>
    {approvable > 0 && (
      <button type="submit" name="decision" value="approve" class="danger">
        Delete the chosen
      </button>
    )}
  </>
);

const ApproveAll = ({ feed, approvable: count, seen, barred }: HeldProps) => {
  if (count === 0) return null;
  if (seen === undefined)
    return (
      <p>
        <a href={linkTo(pageAddress.confirmAction('approve', { feed, kind: 'held' }))}>{`Approve all ${count} …`}</a>
      </p>
    );
  return (
    <PanelForm
      action={pageAddress.held()}
      aria-label="All held deletes"
      title={`All ${plural(count, 'held delete')} of this feed${barred.length === 0 ? '' : ' that can be approved'}`}
      hidden={{ feed, decision: 'approve-all', expected: String(count), seen }}
      hint="If others are held by then, nothing is approved."
      confirmed={`Yes, delete ${plural(count, 'job')} from the site`}
      submit={`Delete all ${count}`}
      kind="danger"
    />
  );
};

const Pages = ({ feed, cursor, next, deletes }: HeldProps) => (
  <Pager
    label="Pages of held deletes"
    first={cursor === undefined ? undefined : pageAddress.held(feed)}
    next={next && pageAddress.held(feed, next)}
    shown={deletes.length}
  />
);

// The pages of held deletes: which feeds have some, and those of one feed with the decisions about them.

const SHOWN = 50;

export function heldPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  const { db, config } = app;
  pages.get(
    '/held',
    showPage(async ({ query }) => {
      const name = query('feed');
      if (name === undefined) {
        await foldReviewCounts(db);
        return <HeldFeeds groups={await heldGroups(db, undefined)} />;
      }
      const feed = await namedFeed(app, name);
      const cursor = query('cursor');
      const held = await readHeldPage(app, feed, SHOWN, decodeCursor(cursor, entryPlace));
      const isChosen = query('chosen') === 'all';
      const props = { ...held, next: encodeCursor(held.next) ?? undefined, cursor, isChosen };
      return <Held feed={feed} guard={config.feeds.get(feed)?.guard} {...props} />;
    }),
  );
  pages.post(
    '/held',
    actOnForm('review', async (sent) => {
      const feed = await namedFeed(app, sent.form.one('feed') ?? '');
      return startFromForm(context, sent, decisionOf(feed, sent.form), async (why) => {
        throw new ProblemError({ status: 409, detail: why.replace(/\.?$/, '') });
      });
    }),
  );
}

/** What a form of the page decides, bound to what the page showed. */
function decisionOf(feed: FeedName, form: Form): ActInput {
  const decision = form.one('decision');
  const filter = { feed, kinds: ['held' as const] };
  if (decision === 'approve-all') {
    if (form.one('confirmed') !== 'true') throw malformed('confirmed', 'must be set: nothing was approved');
    if (form.one('seen') === undefined) throw malformed('seen', 'is missing: open the page again');
    return { action: 'approve', filter, ...readBound(form) };
  }
  if (decision !== 'approve' && decision !== 'keep')
    throw malformed('decision', 'must be approve, keep or approve-all');
  const chosen = readChosen(form.all('entry'));
  if (chosen.length === 0) throw malformed('entry', 'is missing: choose at least one posting. Nothing was done');
  const reason = readReason(form);
  return {
    action: decision === 'approve' ? 'approve' : 'discard',
    filter: { ...filter, ids: chosen.map(({ id }) => id) },
    seen: boundToChosen(chosen).seen,
    reason: decision === 'approve' ? undefined : reason,
  };
}
