// What people did, newest first.
import type { z } from 'zod';
import type { activityOutput } from '../../../operations/activity.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, type Visit } from '../layout.tsx';
import { When } from '../when.tsx';
import { Detail } from './detail.tsx';

export interface ActivityPageProps {
  readonly visit: Visit;
  readonly items: readonly z.output<typeof activityOutput>[];
  readonly feeds: readonly string[];
  readonly selection: { readonly feed?: string; readonly actor?: string; readonly before?: number };
  /** Where the older ones begin; `undefined`: there are none. */
  readonly older: number | undefined;
}

export const ActivityPage = ({ visit, items, feeds, selection, older }: ActivityPageProps) => {
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
