// The page that finds the job of a posting by key, ID or title.
import { Hono } from 'hono';
import { z } from 'zod';
import { namedFeed } from '../../../operations/operation.ts';
import { keyText } from '../../../operations/scalars.ts';
import { findJobs, jobsAfter, jobsFrom } from '../../../store/mapping/find-jobs.ts';
import { decodeCursor, encodeCursor } from '../../cursor.ts';
import type { WebEnv } from '../../web-env.ts';
import { type PageContext, showPage } from '../page.tsx';
import { malformed } from '../review/read-decision.ts';
import { Jobs } from './jobs.tsx';

const SHOWN = 50;
const placeSchema = z.strictObject({ feed: z.string().max(100), key: keyText });

export function jobPages({ app }: PageContext): Hono<WebEnv> {
  const { db, config } = app;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/jobs',
    showPage(async ({ visit, query }) => {
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
          : await jobsAfter(db, feed, after, SHOWN + 1);
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
      return <Jobs visit={visit} {...props} />;
    }),
  );
  return pages;
}
