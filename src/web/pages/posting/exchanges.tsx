// Requests that failed, with what was sent and received. Credentials were removed before they were stored.
import { When } from '../when.tsx';
import type { ShownExchange } from './read-posting.ts';
import { ShownText } from './shown-text.tsx';

export const Exchanges = ({ exchanges }: { exchanges: readonly ShownExchange[] }) =>
  exchanges.length === 0 ? null : (
    <section aria-labelledby="exchanges">
      <h2 id="exchanges">Sent and received</h2>
      <p class="hint">Requests that failed, the newest first. The token is never stored.</p>
      {exchanges.map(({ at, operation, kind, request, response }, index) => (
        <details open={index === 0}>
          <summary>
            <When at={at} />
            {`: ${operation} failed: ${kind}`}
          </summary>
          <h3>Sent</h3>
          {request === undefined ? (
            <p>Nothing is recorded.</p>
          ) : (
            <pre tabindex={0}>
              {`${request.line}\n`}
              <ShownText shown={request.body} />
            </pre>
          )}
          <h3>Received</h3>
          {response === undefined ? (
            <p>No response.</p>
          ) : (
            <pre tabindex={0}>
              {`${response.line}\n`}
              <ShownText shown={response.body} />
            </pre>
          )}
        </details>
      ))}
    </section>
  );
