// The pages of changed keys: which feeds wait, and which new posting of one may be which missing one, with the decisions.
import { Hono } from 'hono';
import { namedFeed } from '../../operations/operation.ts';
import { decideAboutRekey, showRekey } from '../../operations/rekey.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { suspectedPairs } from '../../review/decide-rekey.ts';
import { rekeyedFeeds } from '../../store/change/rekey/read-rekey.ts';
import { decodeCursor } from '../cursor.ts';
import type { WebEnv } from '../web-env.ts';
import { pageAddress } from './parts/addresses.ts';
import { operationForm, type PageContext, type PageVisit, readInput, showPage } from './parts/page.tsx';
import { RekeyedFeeds, RekeyPage } from './rekey.tsx';
import { malformed } from './review/read-decision.ts';

const SHOWN = 50;

export function rekeyPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const pages = new Hono<WebEnv>();
  const tell = async ({ c, visit }: PageVisit, feed: FeedName, alert: string) => {
    const pairs = await suspectedPairs(app.db, feed, { show: undefined, after: undefined, limit: SHOWN });
    return c.html(<RekeyPage visit={visit} feed={feed} pairs={pairs} alert={alert} />, 409);
  };
  pages.get(
    '/rekey',
    showPage(async ({ visit, query }) => {
      if (query('feed') === undefined) return <RekeyedFeeds visit={visit} feeds={await rekeyedFeeds(app.db)} />;
      const { feed: name, show } = readInput(showRekey, query);
      const feed = await namedFeed(app, name);
      const after = decodeCursor(query('cursor'), showRekey.place);
      return (
        <RekeyPage
          visit={visit}
          feed={feed}
          pairs={await suspectedPairs(app.db, feed, { show, after, limit: SHOWN })}
        />
      );
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
  return pages;
}
