// Finds postings by key, job ID or words of their title, and lists the postings that have a job, or whose job has ended.

import type { Hono } from 'hono';
import { z } from 'zod';
import { shareReading } from '../../flow/share-reading.ts';
import { namedFeed } from '../../operations/operation.ts';
import { keyText } from '../../operations/scalars.ts';
import { type FeedName, postingKey } from '../../posting/identifiers.ts';
import {
  findJobs,
  type JobOfPosting,
  type JobSearchResult,
  jobsAfter,
  jobsFrom,
} from '../../store/mapping/find-jobs.ts';
import { decodeCursor, encodeCursor, type WebEnv } from '../web-env.ts';
import { linkTo, mayPull, pageAddress } from './parts/addresses.ts';
import { Layout } from './parts/layout.tsx';
import { type PageContext, showPage } from './parts/page.tsx';
import { Choice, Pager, SiteLink, StackedTable } from './parts/parts.tsx';
import { malformed } from './parts/read-form.ts';
import { SyncNow } from './posting/decide.tsx';

export interface JobsProps {
  readonly feeds: readonly FeedName[];
  /** `undefined`: of all feeds. */
  readonly feed: FeedName | undefined;
  readonly q: string | undefined;
  /** `undefined`: nothing was given. */
  readonly found: JobSearchResult | undefined;
  readonly listed: readonly JobOfPosting[];
  readonly isFirst: boolean;
  readonly next: string | undefined;
}

const Jobs = (props: JobsProps) => {
  const { feeds, feed, q, found, listed, isFirst, next } = props;
  const { named, titled = [], more = false } = found ?? {};
  return (
    <Layout title="Jobs" section="jobs">
      <search>
        <form method="get" action={linkTo(pageAddress.jobs())} class="row">
          <div>
            <label for="q">Key of a posting, ID of a job, or words of a title</label>
            <input id="q" name="q" type="search" value={q ?? ''} maxlength={2_000} autocomplete="off" />
          </div>
          <Choice name="feed" label="Feed" of={feeds} chosen={feed} none="all feeds" />
          <button type="submit">Find</button>
        </form>
      </search>
      {named !== undefined && named.length > 0 && (
        <>
          <h2 id="named">Found</h2>
          <List jobs={named} heading="named" syncable={feeds} />
        </>
      )}
      {titled.length > 0 && (
        <>
          <h2 id="titled">Titles with these words</h2>
          <List jobs={titled} heading="titled" />
          {more && <p class="hint">{`Only ${titled.length} are shown: type more words.`}</p>}
        </>
      )}
      {named?.length === 0 && (
        <>
          <p class={titled.length > 0 ? 'hint' : 'notice'}>
            {`No posting${feed === undefined ? '' : ` of feed ${feed}`} has exactly this key, and no job this ID.`}
            {feed === undefined && ' Choose a feed to see the keys that follow.'}
          </p>
          {feed !== undefined && q !== undefined && feeds.includes(feed) && (
            <SyncNow feed={feed} posting={postingKey(q)} />
          )}
        </>
      )}
      {found !== undefined && (
        <p class="hint">
          A posting that waits to be created is found by its key only: to find it by its title, each pull would have to
          write an index of the titles of all new postings.
        </p>
      )}
      {(named === undefined || feed !== undefined) && (
        <>
          <h2 id="listed">
            {named === undefined ? 'Postings that have a job, or whose job has ended, by key' : 'Keys from there on'}
          </h2>
          {listed.length === 0 ? (
            <p class="quiet">{isFirst ? 'None.' : 'No more.'}</p>
          ) : (
            <List jobs={listed} heading="listed" />
          )}
        </>
      )}
      <p>
        <a href={linkTo(pageAddress.adopt(feed))}>Match jobs that a site already has</a>
      </p>
      <Pager
        label="Pages of jobs"
        first={isFirst ? undefined : pageAddress.jobs({ ...only(feed) })}
        next={next && pageAddress.jobs({ ...only(feed), cursor: next })}
      />
    </Layout>
  );
};

const only = (feed: FeedName | undefined) => (feed === undefined ? {} : { feed });

const STATES = {
  ready: 'to be sent',
  sending: 'being sent',
  in_doubt: 'in doubt',
  held: 'delete held',
  rejected: 'rejected',
  failed: 'failed',
  discarded: 'discarded',
  expired: 'expired',
} as const;

const MOST_CHARACTERS = 120;
const excerpt = (text: string): string => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text);

interface ListProps {
  readonly jobs: readonly JobOfPosting[];
  readonly heading: string;
  /** The feeds whose postings have a button that syncs them. */
  readonly syncable?: readonly FeedName[];
}

const List = ({ jobs, heading, syncable = [] }: ListProps) => (
  <StackedTable
    label={{ heading }}
    columns={[
      {
        head: 'Posting',
        namesRow: true,
        cell: ({ feed, key }) => <a href={linkTo(pageAddress.posting(feed, key))}>{excerpt(key)}</a>,
      },
      {
        head: 'Title',
        cell: ({ title }) => (title === null ? <span class="quiet">not known</span> : excerpt(title)),
      },
      { head: 'Feed', inline: true, cell: ({ feed }) => feed },
      { head: 'Site', inline: true, cell: ({ site }) => site },
      {
        head: 'Job',
        inline: true,
        cell: ({ siteJobId, url }) =>
          siteJobId === null ? <span class="quiet">none</span> : <SiteLink url={url}>{siteJobId}</SiteLink>,
      },
      { head: 'State', inline: true, cell: ({ state }) => (state === null ? 'as in the feed' : STATES[state]) },
      syncable.length > 0 &&
        mayPull() && {
          head: 'Sync',
          cell: ({ feed, key }) => syncable.includes(feed) && <SyncNow feed={feed} posting={key} />,
        },
    ]}
    rows={jobs}
  />
);

// The page that finds the job of a posting by key, ID or title.

const SHOWN = 50;
const placeSchema = z.strictObject({ feed: z.string().max(100), key: keyText });

export function jobPages(pages: Hono<WebEnv>, { app }: PageContext): void {
  const { db, config } = app;
  pages.get(
    '/jobs',
    showPage(async ({ query }) => {
      const name = query('feed');
      const feed = name === undefined ? undefined : await namedFeed(app, name);
      const q = query('q')?.trim() || undefined;
      if (q !== undefined && !keyText.safeParse(q).success)
        throw malformed('q', "can't be a key or an ID: it is too long");
      const cursor = query('cursor');
      const after = decodeCursor(cursor, placeSchema);
      const found = q === undefined || after !== undefined ? undefined : await findJobs(db, q, feed, SHOWN);
      const rows =
        q !== undefined && after === undefined
          ? feed === undefined
            ? []
            : await jobsFrom(db, feed, q, SHOWN + 1)
          : await shareReading(config, `jobs ${JSON.stringify([feed, after])}`, () =>
              jobsAfter(db, feed, after, SHOWN + 1),
            );
      const listed = rows.slice(0, SHOWN);
      const last = rows.length > SHOWN ? listed.at(-1) : undefined;
      const next = encodeCursor(last && { feed: last.feed, key: last.key }) ?? undefined;
      const props = {
        feed,
        q,
        found,
        listed,
        next,
        isFirst: cursor === undefined,
        feeds: [...config.feeds.keys()],
      };
      return <Jobs {...props} />;
    }),
  );
}
