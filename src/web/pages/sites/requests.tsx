// The newest requests to a site.
import type { SentRequest } from '../../../store/site/recent-requests.ts';
import { pageAddress } from '../addresses.ts';
import { When } from '../when.tsx';

const GOOD = new Set(['accepted', 'created']);

export const Requests = ({ prefix, requests }: { prefix: string; requests: readonly SentRequest[] }) => {
  if (requests.length === 0) return <p>Nothing was sent to it lately.</p>;
  return (
    <section class="scroll" tabindex={0} aria-label="Requests, newest first">
      <table>
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Feed</th>
            <th scope="col">Posting</th>
            <th scope="col">Request</th>
            <th scope="col" class="number">
              Status
            </th>
            <th scope="col">Outcome</th>
            <th scope="col" class="number">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {requests.map(({ at, feed, key, operation, status, outcome, durationMs }) => (
            <tr>
              <td>
                <When at={at} />
              </td>
              <td>
                <a href={prefix + pageAddress.feed(feed)}>{feed}</a>
              </td>
              <td>
                <a href={prefix + pageAddress.posting(feed, key)}>{key}</a>
              </td>
              <td>{operation}</td>
              <td class="number">{status ?? '–'}</td>
              <td>
                <span class={`status ${GOOD.has(outcome) ? 'good' : 'warn'}`}>{outcome.replaceAll('_', ' ')}</span>
              </td>
              <td class="number">{durationMs} ms</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};
