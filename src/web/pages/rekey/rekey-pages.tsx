// The pages of changed keys: which feeds wait, and which new posting of one may be which missing one, with the decisions.
import { Hono } from 'hono';
import { decideRekey, type RekeyDecision } from '../../../review/rekey/decide-rekey.ts';
import { PAIR_KINDS, suspectedPairs } from '../../../review/rekey/suspected-pairs.ts';
import { rekeyedFeeds } from '../../../store/change/rekey/rekey-sides.ts';
import { requireFeed } from '../../api/known.ts';
import { oldAndNewKey, pairKindSchema, startSchema } from '../../api/rekey-values.ts';
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
      const asked = query('show');
      const from = expectValue('from', startSchema, query('from'));
      const show = expectValue('show', pairKindSchema, asked) ?? 'sure';
      let pairs = await suspectedPairs(db, feed, { show, from, limit: SHOWN });
      // With no certain pair, the first page shows what there is.
      const first = pairs && PAIR_KINDS.find((kind) => pairs?.counts[kind] !== 0);
      if (asked === undefined && pairs?.counts.sure === 0 && first !== undefined) {
        pairs = await suspectedPairs(db, feed, { show: first, from, limit: SHOWN });
        return <RekeyPage visit={visit} feed={feed} pairs={pairs} show={first} from={from} />;
      }
      return <RekeyPage visit={visit} feed={feed} pairs={pairs} show={show} from={from} />;
    }),
  );
  pages.post(
    '/rekey',
    actOnForm('review', async ({ c, visit, form, actor, goTo }) => {
      const feed = await requireFeed(app, form.one('feed') ?? '');
      const end = await decideRekey(db, { feed, actor, policy: app.config.feeds.get(feed)?.policy }, decisionOf(form));
      const refusals = end.kind === 'bound' ? end.refused.map(({ message }) => message ?? '') : [];
      if (end.kind !== 'refused') control.wake();
      if (end.kind !== 'refused' && refusals.length === 0) return goTo(pageAddress.rekey(feed));
      const pairs = await suspectedPairs(db, feed, { show: 'sure', from: 0, limit: SHOWN });
      const alert =
        end.kind === 'refused'
          ? `${end.message}. Nothing was changed.`
          : `${end.kind === 'bound' ? end.bound : 0} kept; the others were refused: ${refusals.slice(0, 5).join('; ')}.`;
      return c.html(<RekeyPage visit={visit} feed={feed} pairs={pairs} show="sure" from={0} alert={alert} />, 409);
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
