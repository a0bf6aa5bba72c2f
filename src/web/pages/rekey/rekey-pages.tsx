// The pages of changed keys: which feeds wait, and which new posting of one may be which missing one, with the decisions.
import { Hono } from 'hono';
import { decideRekey, type RekeyDecision } from '../../../review/rekey/decide-rekey.ts';
import { rekeyPolicy } from '../../../review/rekey/rekey-policy.ts';
import { suspectedPairs } from '../../../review/rekey/suspected-pairs.ts';
import { rekeyedFeeds } from '../../../store/change/rekey/read-rekey.ts';
import { decodeCursor } from '../../api/cursor.ts';
import { requireFeed } from '../../api/known.ts';
import { linePlaceSchema, oldAndNewKey, pairKindSchema } from '../../api/rekey-values.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { expectValue } from '../expect-value.ts';
import { actOnForm, type PageContext, showPage } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { malformed } from '../review/read-decision.ts';
import { RekeyedFeeds, RekeyPage } from './rekey.tsx';

const SHOWN = 50;

export function rekeyPages({ app, control }: PageContext): Hono<WebEnv> {
  const { db } = app;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/rekey',
    showPage(async ({ visit, query }) => {
      const name = query('feed');
      if (name === undefined) return <RekeyedFeeds visit={visit} feeds={await rekeyedFeeds(db)} />;
      const feed = await requireFeed(app, name);
      const show = expectValue('show', pairKindSchema, query('show'));
      const after = decodeCursor(query('cursor'), linePlaceSchema);
      const pairs = await suspectedPairs(db, feed, { show, after, limit: SHOWN });
      return <RekeyPage visit={visit} feed={feed} pairs={pairs} />;
    }),
  );
  pages.post(
    '/rekey',
    actOnForm('review', async ({ c, visit, form, actor, goTo }) => {
      const feed = await requireFeed(app, form.one('feed') ?? '');
      const end = await decideRekey(db, { feed, actor, policy: rekeyPolicy(app.config, feed) }, decisionOf(form));
      const refusals = end.kind === 'bound' ? end.refused.map(({ message }) => message ?? '') : [];
      if (end.kind !== 'refused') control.wake();
      if (end.kind !== 'refused' && refusals.length === 0) return goTo(pageAddress.rekey(feed));
      const pairs = await suspectedPairs(db, feed, { show: undefined, after: undefined, limit: SHOWN });
      const alert =
        end.kind === 'refused'
          ? `${end.message}. Nothing was changed.`
          : `${end.kind === 'bound' ? end.bound : 0} kept; the others were refused: ${refusals.slice(0, 5).join('; ')}.`;
      return c.html(<RekeyPage visit={visit} feed={feed} pairs={pairs} alert={alert} />, 409);
    }),
  );
  return pages;
}

/** What a form of the page decides, bound to what the page showed. */
function decisionOf(form: Form): RekeyDecision {
  const decision = form.one('decision');
  switch (decision) {
    case 'sure':
      return { kind: 'sure', mark: markIn(form) };
    case 'not-rekey':
      if (form.one('confirmed') !== 'true') throw malformed('confirmed', 'must be set: nothing was changed');
      return { kind: 'not_rekey', mark: markIn(form) };
    case 'pair': {
      const version = form.one('version');
      const typed = (name: string) => (version === undefined ? form.one(name)?.trim() : form.one(name));
      const keys = { key: typed('key'), old_key: typed('was') };
      const read = oldAndNewKey.safeParse(keys);
      if (!read.success) throw malformed('key and was', 'must be the keys of a new and of a missing posting');
      return { kind: 'pair', ...read.data, version };
    }
    default:
      throw malformed('decision', 'must be sure, pair or not-rekey');
  }
}

function markIn(form: Form): string {
  const mark = form.one('mark');
  if (mark === undefined) throw malformed('mark', 'is missing: open the page again');
  return mark;
}
