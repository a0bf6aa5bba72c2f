// The overview: each feed and site with its numbers, and what fails.
import { textOf } from '../../../plan/message.ts';
import { siteStatusOf } from '../../../review/site-status.ts';
import type { Status } from '../../../runtime/read-status.ts';
import { formatTime } from '../../../telemetry/times.ts';
import { Layout, type Visit } from '../layout.tsx';

export const Overview = ({ status, visit }: { status: Status; visit: Visit }) => {
  const { failing, review } = status.assessment;
  return (
    <Layout title="Overview" visit={visit} section="overview">
      {failing.length === 0 && review.length === 0 && <p>All is well.</p>}
      {[...failing, ...review].length > 0 && (
        <ul>
          {[...failing, ...review].map(({ message }) => (
            <li>{textOf(message)}</li>
          ))}
        </ul>
      )}
      <h2 id="feeds">Feeds</h2>
      <Feeds status={status} />
      <h2 id="sites">Sites</h2>
      <table aria-labelledby="sites">
        <thead>
          <tr>
            <th scope="col">Site</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {status.sites.map(({ state }) => (
            <tr>
              <th scope="row">{state.site}</th>
              <td>{siteStatusOf(state).replaceAll('_', ' ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Layout>
  );
};

const COUNTS = ['live', 'ready', 'in_doubt', 'held', 'rejected', 'failed', 'unreadable'] as const;

const Feeds = ({ status }: { status: Status }) => (
  <table aria-labelledby="feeds">
    <thead>
      <tr>
        <th scope="col">Feed</th>
        {COUNTS.map((count) => (
          <th scope="col" class="number">
            {count.replace('_', ' ')}
          </th>
        ))}
        <th scope="col">Last complete pull</th>
        <th scope="col">Next pull</th>
      </tr>
    </thead>
    <tbody>
      {status.feeds.map((feed) => (
        <tr>
          <th scope="row">{feed.feed}</th>
          {COUNTS.map((count) => (
            <td class="number">{feed[count]}</td>
          ))}
          <td>{timeOf(feed.history?.lastComplete?.at)}</td>
          <td>{timeOf(feed.nextRun)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const timeOf = (time: Date | undefined): string => (time === undefined ? '–' : formatTime(time));
