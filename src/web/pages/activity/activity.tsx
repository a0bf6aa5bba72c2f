// What people did, newest first.

import { Hono } from 'hono';
import type { z } from 'zod';
import { type activityOutput, showActivity } from '../../../operations/activity.ts';
import { numberSchema } from '../../../operations/scalars.ts';
import { excerpt } from '../../../posting/xml-characters.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { expectValue } from '../expect-value.ts';
import { Layout, type Visit } from '../layout.tsx';
import { askedBy, type PageContext, readInput, showPage } from '../page.tsx';
import { When } from '../when.tsx';

const SHOWN = 50;

export function activityPages(context: PageContext): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();
  pages.get(
    '/activity',
    showPage(async ({ visit, actor: visitor, query }) => {
      const { feed, actor } = readInput(showActivity, query);
      const before = expectValue('before', numberSchema.optional(), query('before'));
      const page = { limit: SHOWN, after: before === undefined ? undefined : { before } };
      const { items, next } = await showActivity.readPage({ feed, actor }, page, askedBy(context, visitor));
      return (
        <ActivityPage
          visit={visit}
          items={items}
          feeds={[...context.app.config.feeds.keys()]}
          selection={{ feed, actor, before }}
          older={next?.before}
        />
      );
    }),
  );
  return pages;
}

interface ActivityPageProps {
  readonly visit: Visit;
  readonly items: readonly z.output<typeof activityOutput>[];
  readonly feeds: readonly string[];
  readonly selection: { readonly feed?: string; readonly actor?: string; readonly before?: number };
  /** Where the older ones begin; `undefined`: there are none. */
  readonly older: number | undefined;
}

const ActivityPage = ({ visit, items, feeds, selection, older }: ActivityPageProps) => {
  const { prefix } = visit;
  const { feed, actor, before } = selection;
  return (
    <Layout title="Activity" visit={visit} section="activity">
      <form class="row" method="get" action={prefix + pageAddress.activity()}>
        <div>
          <label for="feed">Feed</label>
          <select id="feed" name="feed">
            <option value="">all</option>
            {[...new Set([...feeds, ...(feed === undefined ? [] : [feed])])].map((name) => (
              <option selected={name === feed}>{name}</option>
            ))}
          </select>
        </div>
        <div>
          <label for="actor">Who</label>
          <input id="actor" name="actor" value={actor ?? ''} />
        </div>
        <button type="submit">Show</button>
      </form>
      {items.length === 0 ? (
        <p>
          {feed === undefined && actor === undefined && before === undefined
            ? 'Nobody has done anything yet.'
            : 'There is nothing like that.'}
        </p>
      ) : (
        <section class="scroll" tabindex={0} aria-label="Actions, newest first">
          <table>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Who</th>
                <th scope="col">What</th>
                <th scope="col">To what</th>
                <th scope="col">Before and after</th>
              </tr>
            </thead>
            <tbody>
              {items.map(({ at, actor: who, action, feed: ofFeed, key, edits, detail }) => (
                <tr>
                  <td>
                    <When at={at} />
                  </td>
                  <td>
                    <a href={prefix + pageAddress.activity({ actor: who })}>{who}</a>
                  </td>
                  <td>{action}</td>
                  <td>
                    {ofFeed !== null && key !== null && <a href={prefix + pageAddress.posting(ofFeed, key)}>{key}</a>}
                    {ofFeed !== null && (
                      <span class={key === null ? '' : 'detail'}>
                        <a href={prefix + pageAddress.feed(ofFeed)}>{ofFeed}</a>
                      </span>
                    )}
                  </td>
                  <td>
                    <Detail edits={edits} facts={detail} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <p class="row">
        {before !== undefined && <a href={prefix + pageAddress.activity({ feed, actor })}>Newest</a>}
        {older !== undefined && (
          <a href={prefix + pageAddress.activity({ feed, actor, before: older })} rel="next">
            Older
          </a>
        )}
      </p>
    </Layout>
  );
};

const MOST_FACTS = 12;
const MOST_CHARACTERS = 200;

type Recorded = z.output<typeof activityOutput>;

const Detail = ({ edits, facts }: { edits: Recorded['edits']; facts: Recorded['detail'] }) => {
  const shown = Object.entries(facts).slice(0, MOST_FACTS);
  return (
    <>
      {edits.slice(0, MOST_FACTS).map((edit) => (
        <Edit {...edit} />
      ))}
      {shown.length > 0 && (
        <dl class="inline">
          {shown.map(([name, value]) => (
            <div>
              <dt>{name.replaceAll('_', ' ')}</dt> <dd>{written(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
};

const Edit = ({ field, before, before_known, after }: Recorded['edits'][number]) => (
  <div class="difference">
    <span class="field">{field}</span>
    {before_known && (
      <>
        <del>{written(before)}</del>
        {' → '}
      </>
    )}
    <ins>{written(after)}</ins>
  </div>
);

function written(value: unknown): string {
  if (value == null || value === '') return '(none)';
  return excerpt(typeof value === 'string' ? value : JSON.stringify(value), MOST_CHARACTERS);
}
