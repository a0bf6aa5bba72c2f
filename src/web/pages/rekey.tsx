// The pages of changed keys: which feeds wait, and for one each new posting beside the missing one that it may be, and what to do about them.
import type { Hono } from 'hono';
import { namedFeed } from '../../operations/operation.ts';
import { decideAboutRekey, showRekey } from '../../operations/rekey.ts';
import { plural, textOf } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { type ShownPair, type SuspectedPairs, suspectedPairs } from '../../review/decide-rekey.ts';
import { PAIR_KINDS } from '../../store/change/rekey/compare-rekey.ts';
import { type RekeyedFeed, rekeyedFeeds } from '../../store/change/rekey/read-rekey.ts';
import { decodeCursor, encodeCursor, type WebEnv } from '../web-env.ts';
import { linkTo, mayReview, pageAddress } from './parts/addresses.ts';
import { Layout, PanelForm, PostForm } from './parts/layout.tsx';
import { operationForm, type PageContext, type PageVisit, readInput, showPage } from './parts/page.tsx';
import { Pairs } from './parts/pairs.tsx';
import { Alert, Pager, sentence, Tabs, TextField, TimeSince } from './parts/parts.tsx';
import { malformed } from './parts/read-form.ts';

interface RekeyProps {
  readonly feed: FeedName;
  /** `undefined`: no change of keys is suspected. */
  readonly pairs: SuspectedPairs | undefined;
  /** Why a decision was refused. */
  readonly alert?: string;
}

interface SuspectedProps extends RekeyProps {
  readonly pairs: SuspectedPairs;
}

const RekeyedFeeds = ({ feeds }: { feeds: readonly RekeyedFeed[] }) => (
  <Layout title="Changed keys" section="review">
    {feeds.length === 0 ? (
      <p class="notice good">The keys of no feed seem to have changed.</p>
    ) : (
      <>
        <p>
          The keys of these feeds seem to have changed. Nothing is created or deleted for them until a person decides.
        </p>
        <ul>
          {feeds.map(({ feed, since }) => (
            <li>
              <a href={linkTo(pageAddress.rekey(feed))}>{feed}</a>
              {', '}
              <TimeSince since={since} />
            </li>
          ))}
        </ul>
      </>
    )}
  </Layout>
);

const RekeyPage = (props: RekeyProps) => {
  const { feed, pairs, alert } = props;
  return (
    <Layout title={`Changed keys of feed ${feed}`} section="review">
      <p class="row">
        <a href={linkTo(pageAddress.feed(feed))}>{`Feed ${feed}`}</a>
        <a href={linkTo(pageAddress.held(feed))}>Held deletes</a>
        <a href={linkTo(pageAddress.activity({ feed }))}>Who decided what</a>
      </p>
      {alert !== undefined && <Alert>{sentence(alert)}</Alert>}
      {pairs === undefined ? (
        <p class="notice good">The keys of this feed do not seem to have changed. Nothing waits for a decision.</p>
      ) : (
        <Suspected {...props} pairs={pairs} />
      )}
    </Layout>
  );
};

const TABS = {
  sure: 'sure pair',
  unsure: 'unsure pair',
  new: 'other new posting',
  missing: 'other missing posting',
} as const;

const Suspected = (props: SuspectedProps) => {
  const { feed, pairs } = props;
  const { show } = pairs;
  return (
    <>
      <p class="notice">{`${textOf(pairs.note)}.`}</p>
      {!pairs.current && (
        <p class="notice">
          These postings have changed since they were compared, and could not be compared again: the database is
          read-only or busy. A decision about them is refused until they are compared.
        </p>
      )}
      <p>
        If a new posting is a missing one under another key, it keeps that one's job, and what differs is sent as an
        update, unless the feed only creates jobs. Otherwise the new posting gets a job of its own, and the job of the
        missing one is deleted.
      </p>
      {mayReview() && <AllSure {...props} />}
      <h2 id="pairs">Which posting is which</h2>
      <Tabs
        label="Kinds of postings"
        of={PAIR_KINDS}
        shown={show}
        href={(kind) => linkTo(`${pageAddress.rekey(feed, { show: kind })}#pairs`)}
        words={(kind) => plural(pairs.counts[kind], TABS[kind])}
      />
      {pairs.items.length === 0 ? <p>None.</p> : <Lines {...props} />}
      <Pages {...props} />
      {mayReview() && (
        <>
          <AnotherPair {...props} />
          <NotRekey {...props} />
        </>
      )}
    </>
  );
};

const Lines = ({ feed, pairs: { show, items } }: SuspectedProps) => {
  const hasPairs = show === 'sure' || show === 'unsure';
  const titles = { missing: 'Missing posting', new: 'New posting' };
  return (
    <Pairs
      label="pairs"
      columns={hasPairs ? [titles.missing, titles.new] : [titles[show]]}
      differing={hasPairs ? 'Before → now' : undefined}
      decides={hasPairs && mayReview()}
      pairs={items.map((pair) => ({
        ...pair,
        cells: [
          ...(pair.oldKey === undefined ? [] : [<Missing feed={feed} pair={pair} />]),
          ...(pair.key === undefined ? [] : [<New feed={feed} pair={pair} />]),
        ],
        decide: <OnePair feed={feed} pair={pair} />,
      }))}
    />
  );
};

interface PairProps {
  readonly feed: FeedName;
  readonly pair: ShownPair;
}

const Missing = ({ feed, pair: { key, oldKey, title, siteJobId } }: PairProps) => (
  <>
    {oldKey !== undefined && <a href={linkTo(pageAddress.posting(feed, oldKey))}>{oldKey}</a>}
    {key === undefined && title !== undefined && <span class="detail">{title}</span>}
    <span class="detail">{siteJobId === undefined ? 'its job has ended' : `job ${siteJobId}`}</span>
  </>
);

const New = ({ feed, pair: { key, title, secondJobId } }: PairProps) => (
  <>
    {key !== undefined && <a href={linkTo(pageAddress.posting(feed, key))}>{key}</a>}
    {title !== undefined && <span class="detail">{title}</span>}
    {secondJobId !== undefined && <span class="detail">{`job ${secondJobId}, which is deleted`}</span>}
  </>
);

const OnePair = ({ feed, pair }: PairProps) => (
  <PostForm
    action={pageAddress.rekey()}
    hidden={{ feed, decision: 'pair', key: pair.key, old_key: pair.oldKey, version: pair.version }}
  >
    <button type="submit" aria-label={`Keep this job: ${pair.oldKey} is ${pair.key} now`}>
      Keep this job
    </button>
  </PostForm>
);

const Pages = ({ feed, pairs: { show, items, isFirst, next } }: SuspectedProps) => (
  <Pager
    label="Pages of postings"
    first={isFirst ? undefined : pageAddress.rekey(feed, { show })}
    next={next && pageAddress.rekey(feed, { show, cursor: encodeCursor(next) ?? undefined })}
    shown={items.length}
  />
);

const AllSure = ({ feed, pairs: { counts, marks } }: SuspectedProps) =>
  counts.sure === 0 ? null : (
    <PanelForm
      action={pageAddress.rekey()}
      aria-label="All sure pairs"
      hidden={{ feed, decision: 'sure', mark: marks.sure }}
      hint="A pair is sure if both postings have the same content, apart from references and addresses, and as many are missing with it as are new. If other pairs are sure by then, nothing is done."
      submit={counts.sure === 1 ? 'Keep the job of the sure pair' : `Keep the jobs of all ${counts.sure} sure pairs`}
      kind="main"
    />
  );

const AnotherPair = ({ feed, pairs: { counts } }: SuspectedProps) =>
  counts.new + counts.unsure === 0 || counts.missing + counts.unsure === 0 ? null : (
    <PanelForm
      action={pageAddress.rekey()}
      title="Another pair"
      hidden={{ feed, decision: 'pair' }}
      submit="It keeps that job"
    >
      <div class="row">
        <TextField name="key" label="Key of the new posting" required maxlength={1_000} />
        <TextField name="old_key" label="Key of the missing posting" required maxlength={1_000} />
      </div>
    </PanelForm>
  );

const NotRekey = ({ feed, pairs: { counts, marks } }: SuspectedProps) => {
  const added = counts.sure + counts.unsure + counts.new;
  return (
    <PanelForm
      action={pageAddress.rekey()}
      title="They are new postings"
      hidden={{ feed, decision: 'not_rekey', mark: marks.all }}
      hint="The new postings are created, and the jobs of the missing ones are deleted, as far as the delete guard does not hold them."
      confirmed={`Yes, ${plural(added, 'new posting is no missing one', 'new postings are no missing ones')}`}
      submit="They are new postings"
      kind="danger"
    />
  );
};

// The pages of changed keys: which feeds wait, and which new posting of one may be which missing one, with the decisions.

const SHOWN = 50;

export function rekeyPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  const tell = async ({ html }: PageVisit, feed: FeedName, alert: string) => {
    const pairs = await suspectedPairs(app.db, feed, { show: undefined, after: undefined, limit: SHOWN });
    return html(<RekeyPage feed={feed} pairs={pairs} alert={alert} />, 409);
  };
  pages.get(
    '/rekey',
    showPage(async ({ query }) => {
      if (query('feed') === undefined) return <RekeyedFeeds feeds={await rekeyedFeeds(app.db)} />;
      const { feed: name, show } = readInput(showRekey, query);
      const feed = await namedFeed(app, name);
      const after = decodeCursor(query('cursor'), showRekey.place);
      return <RekeyPage feed={feed} pairs={await suspectedPairs(app.db, feed, { show, after, limit: SHOWN })} />;
    }),
  );
  pages.post(
    '/rekey',
    operationForm(context, decideAboutRekey, {
      async before(form) {
        if (form.one('decision') === 'not_rekey' && form.one('confirmed') !== 'true')
          throw malformed('confirmed', 'must be set: nothing was changed');
      },
      async next({ feed, bound = 0, refused = [] }, _form, asked) {
        if (refused.length === 0) return pageAddress.rekey(feed);
        const reasons = refused.slice(0, 5).map(({ message }) => message);
        return tell(asked, feed, `${bound} kept; the others were refused: ${reasons.join('; ')}.`);
      },
      refused: async ({ message }, asked, { feed }) =>
        tell(asked, await namedFeed(app, feed), `${message}. Nothing was changed.`),
    }),
  );
}
