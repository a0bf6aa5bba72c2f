// The page of a record that could not become a posting: what is wrong, where, and how it begins.
import { excerpt } from '../../../posting/xml-characters.ts';
import { actionsOfRecord } from '../../../review/entry-facts.ts';
import { tokenOfOne } from '../../../review/seen.ts';
import type { RecordEntry } from '../../../store/review/review-entry.ts';
import { terminalText } from '../../../telemetry/terminal-text.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, mayReview, type Visit } from '../layout.tsx';
import { Lasting } from '../when.tsx';
import { SimpleActions } from './decide.tsx';
import { Neighbouring } from './neighbouring.tsx';
import type { PostingView } from './read-posting.ts';
import { pageRoom } from './room.ts';
import { ShownText } from './shown-text.tsx';

export interface RecordProps {
  readonly visit: Visit;
  readonly record: RecordEntry;
  readonly placed: Pick<PostingView, 'group' | 'neighbours'>;
  readonly refused?: string | undefined;
  readonly reason?: string | undefined;
}

const MEANING = {
  unreadable: 'The record can not be read, so nothing is sent for it. Fix it at the source, or discard it.',
  duplicate:
    'The record repeats a key with different content, so nothing is sent for it. Fix it at the source, or discard it.',
} as const;
const ROOM_BYTES = 60_000;
const LONGEST = 20_000;

export const RecordPage = ({ visit, record, placed, refused, reason }: RecordProps) => {
  const marked = record.problems.find(({ value }) => value)?.value;
  return (
    <Layout
      title={`${record.kind === 'unreadable' ? 'Unreadable record' : 'Repeated key'}: ${terminalText(excerpt(record.key ?? 'no usable key'))}`}
      visit={visit}
      section="review"
    >
      <Neighbouring visit={visit} view={placed} />
      {refused !== undefined && (
        <p role="alert" class="notice bad text" id="refused">
          {refused}
        </p>
      )}
      <dl class="facts">
        <dt>Key</dt>
        <dd class="text">
          {record.key === undefined ? (
            'not usable'
          ) : (
            <a href={visit.prefix + pageAddress.posting(record.feed, record.key)}>{terminalText(record.key)}</a>
          )}
        </dd>
        <dt>Feed</dt>
        <dd>
          <a href={visit.prefix + pageAddress.feed(record.feed)}>{record.feed}</a>
        </dd>
        <dt>State</dt>
        <dd>
          <strong>{record.discarded ? `discarded, ${record.kind}` : record.kind}</strong>
          {', '}
          <Lasting since={record.since} />
          {` (entry ${record.id})`}
        </dd>
        <dt>Records in the last pull</dt>
        <dd>{record.records}</dd>
        {record.recordNumber !== undefined && (
          <>
            <dt>Number in the feed</dt>
            <dd>{record.recordNumber}</dd>
          </>
        )}
      </dl>
      <h2 id="meaning">What it means</h2>
      <p>{MEANING[record.kind]}</p>
      <ul>
        {record.problems.slice(0, 20).map(({ field, value, message }) => (
          <li class="bad">
            {field !== undefined && <strong>{`${field}: `}</strong>}
            {terminalText(excerpt(message, 500))}
            {value !== undefined && (
              <>
                {' '}
                <mark class="text">{terminalText(value)}</mark>
              </>
            )}
          </li>
        ))}
      </ul>
      {mayReview(visit) && (
        <section class="panel" aria-labelledby="decide">
          <h2 id="decide">Decide</h2>
          <SimpleActions
            visit={visit}
            actions={actionsOfRecord(record)}
            address={pageAddress.decideEntry(record.id)}
            version={tokenOfOne(record)}
            group={placed.group}
            reason={reason}
          />
        </section>
      )}
      <h2 id="record">The record begins</h2>
      <pre tabindex={0}>
        <ShownText shown={pageRoom(ROOM_BYTES).take(record.excerpt, LONGEST)} mark={marked} />
      </pre>
    </Layout>
  );
};
