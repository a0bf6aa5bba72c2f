// The request log as a table: requests to the XML interface and their responses.
import type { RequestRecord } from '../request-log.ts';
import { Layout, type Visit } from './layout.tsx';
import { Moment, quantity } from './wording.tsx';

const kindOf = (status: number | undefined): string => {
  if (status === undefined) return 'cut';
  return status < 300 ? 'good' : status < 500 ? 'refused' : 'failed';
};

interface RequestsProps {
  readonly visit: Visit;
  /** Latest first. */
  readonly requests: readonly RequestRecord[];
  readonly total: number;
}

export const RequestsPage = ({ visit, requests, total }: RequestsProps) => (
  <Layout title="Requests" here="/requests" visit={visit}>
    <div class="title-line">
      <h1>Requests to the XML interface</h1>
      <p class="count">{quantity(total, 'request')} since the start</p>
    </div>
    {requests.length > 0 ? (
      <div class="scroll" tabindex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Request</th>
              <th scope="col">Account</th>
              <th scope="col">Answer</th>
              <th scope="col" class="figure">
                Time
              </th>
              <th scope="col">Fault</th>
            </tr>
          </thead>
          <tbody>
            {requests.map((request) => (
              <tr>
                <td>
                  <Moment at={request.at} />
                </td>
                <td>
                  <code>
                    {request.method} {request.path}
                  </code>
                </td>
                <td>{request.account ?? '–'}</td>
                <td class={`status ${kindOf(request.status)}`}>{request.status ?? 'none'}</td>
                <td class="figure">{request.durationMs} ms</td>
                <td>{request.faults.join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    ) : (
      <p class="empty">No program has sent a request yet. Reload this page once one has.</p>
    )}
  </Layout>
);
