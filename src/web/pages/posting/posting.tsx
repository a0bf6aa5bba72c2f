// The page of one posting: its state, what can be done, its fields, what was sent and received, and its history.
import { textOf } from '../../../plan/message.ts';
import { excerpt } from '../../../posting/markup.ts';
import type { Problem } from '../../../posting/posting.ts';
import { paragraphsOf } from '../../../review/describe-history.ts';
import { editsVersion } from '../../../review/edit-posting.ts';
import { actionsOfRecord } from '../../../review/entry-facts.ts';
import { tokenOfOne } from '../../../review/seen.ts';
import type { RecordEntry } from '../../../store/review/review-entries.ts';
import type { NeighbouringEntry } from '../../../store/review/review-page.ts';
import { terminalText } from '../../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../../telemetry/times.ts';
import { currentVisit, linkTo, mayReview, pageAddress } from '../parts/addresses.ts';
import { Layout, PanelForm, PostForm } from '../parts/layout.tsx';
import { Columns, Fact, RefusedForm, SiteLink, TimeSince, When } from '../parts/parts.tsx';
import { DecisionSection, EditJob, SimpleActions, SyncNotice, SyncNow } from './decide.tsx';
import {
  type PostingProps,
  type PostingView,
  pageRoom,
  type ShownExchange,
  type TextBeginning,
} from './read-posting.ts';

export const PostingOverview = (props: PostingProps) => {
  const { view, refused, synced } = props;
  const { story } = view;
  const { live, change, feed, key } = story;
  const title = excerpt(change?.fields?.title ?? live?.fields?.title ?? '', 150);
  const { state, past } = paragraphsOf(story, { at: formatTime, span: formatSpan }, view.waitsFor);
  const problems = change?.reason?.problems ?? [];
  const unusable = story.unreadable.length + story.duplicates.length;
  return (
    <Layout
      title={title === '' ? `Posting ${key}` : title}
      section={change ? 'review' : 'jobs'}
      about={{ feed, site: change?.site ?? live?.site ?? currentVisit().aboutFeed?.(feed).site }}
    >
      <Neighbouring view={view} />
      <RefusedForm why={refused} />
      {synced !== undefined && <SyncNotice feed={feed} start={synced} />}
      <dl class="facts">
        <dt>Key</dt>
        <dd class="text">{key}</dd>
        <Fact name="Feed">
          <a href={linkTo(pageAddress.feed(feed))}>{feed}</a>
        </Fact>
        <Fact name="Site">{change?.site ?? live?.site ?? '–'}</Fact>
        <Fact name="Job on the site">
          {live === undefined ? 'none' : <SiteLink url={live.url}>{`${live.siteJobId}, on the site`}</SiteLink>}
        </Fact>
        <Fact name="State">
          <strong>
            {(change?.state ?? view.state ?? (unusable > 0 ? 'unusable record' : 'not on the site')).replaceAll(
              '_',
              ' ',
            )}
          </strong>
          {change !== undefined && (
            <>
              {`, to be ${change.operation}d, `}
              <TimeSince since={change.since} />
              {change.attempts > 0 && `, attempts: ${change.attempts}`}
              {` (entry ${change.id})`}
            </>
          )}
        </Fact>
      </dl>
      {view.isConfigured && <SyncNow feed={feed} posting={key} group={view.group} />}
      <section aria-labelledby="meaning">
        <h2 id="meaning">What it means</h2>
        {state.map((message) => (
          <p class="said">{excerpt(textOf(message), 1_500)}</p>
        ))}
        <Problems of={problems} />
      </section>
      {change !== undefined && view.actions.length > 0 && mayReview() && (
        <DecisionSection {...props} entry={change.id} />
      )}
      {view.actions.length === 0 && mayReview() && <EditJob view={view} />}
      {view.isRenewable && mayReview() && <Renew view={view} />}
      <EditList view={view} />
      <FieldTable view={view} />
      {view.record !== undefined && (
        <section aria-labelledby="record">
          <h2 id="record">Its record, as the feed has it</h2>
          <pre tabindex={0}>
            <ShownText shown={view.record} mark={view.marked} />
          </pre>
        </section>
      )}
      {view.detail !== undefined && (
        <section aria-labelledby="detail">
          <h2 id="detail">Its detail, as received</h2>
          <p class="quiet">
            <When at={view.detail.at} />
          </p>
          <pre tabindex={0}>
            <ShownText shown={view.detail.text} mark={problems.find(({ value }) => value)?.value} />
          </pre>
        </section>
      )}
      <Exchanges exchanges={view.exchanges} />
      <section aria-labelledby="history">
        <h2 id="history">History</h2>
        {past.length === 0 ? (
          <p>Nothing was sent or decided yet, as far as it is still recorded.</p>
        ) : (
          <ul>
            {past.map((message) => (
              <li class="said">{excerpt(textOf(message), 500)}</li>
            ))}
          </ul>
        )}
      </section>
    </Layout>
  );
};

const Problems = ({ of }: { of: readonly Problem[] }) =>
  of.length === 0 ? null : (
    <ul>
      {of.slice(0, 20).map(({ field, value, message }) => (
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
  );

const Renew = ({ view: { story, group } }: PostingProps) => {
  const { feed, key, live, expiry } = story;
  return (
    <PanelForm
      action={pageAddress.renewPosting()}
      aria-label="Its days on the site"
      hidden={{ feed, key, group }}
      hint={
        live === undefined || expiry?.expiredAt !== undefined
          ? 'The posting has expired: its job was on the site for as long as the feed’s expire_after_days allows. Its days begin anew, and the next pull lets it have a job, if the feed still has it.'
          : 'The job ends after the number of days that the feed’s expire_after_days allows. Its days begin anew now.'
      }
      submit="Start its days anew"
    />
  );
};

const Exchanges = ({ exchanges }: { exchanges: readonly ShownExchange[] }) =>
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

// What people have set in a posting, each until the source changes that field.

const SHOWN = 300;

const EditList = ({ view }: { view: PostingView }) =>
  view.story.edits.length === 0 ? null : (
    <section aria-labelledby="edits">
      <h2 id="edits">Edits</h2>
      <p class="hint">
        An edit lasts until the source changes that field, or until it is undone: then the next pull brings back what
        the source has.
      </p>
      <ul>
        {view.story.edits.slice(0, 50).map(({ field, value, sourceValue }) => (
          <li>
            <strong>{field}</strong>
            {value === '' ? (
              ': removed; the source '
            ) : (
              <>
                {': '}
                <span class="text">{excerpt(value, SHOWN)}</span>
                {'; the source '}
              </>
            )}
            {sourceValue === null ? (
              'has none'
            ) : (
              <>
                {'has '}
                <span class="text">{excerpt(sourceValue, SHOWN)}</span>
              </>
            )}
            {mayReview() && (
              <PostForm
                action={pageAddress.undoEdit()}
                hidden={{
                  feed: view.story.feed,
                  key: view.story.key,
                  fields: field,
                  version: editsVersion(view.story.edits),
                  group: view.group,
                }}
              >
                <button type="submit" aria-label={`Undo the edit of ${field}`}>
                  Undo
                </button>
              </PostForm>
            )}
          </li>
        ))}
      </ul>
    </section>
  );

// The fields of a posting as they should be on the site, beside what the site has where that differs.

const FieldTable = ({ view }: { view: PostingView }) => {
  const { fields, hasSiteFields, story } = view;
  const isLive = story.change?.fields === undefined;
  if (fields.length === 0) return null;
  const differing = fields.filter(({ differs }) => differs).length;
  return (
    <section aria-labelledby="fields">
      <h2 id="fields">Fields</h2>
      <p class="hint">
        {isLive
          ? 'As the site last accepted them.'
          : hasSiteFields
            ? `As they should be on the site, which has ${differing === 0 ? 'the same' : `${differing} differently`}.`
            : 'As they should be on the site. What the site has is not known, or it has no job.'}
      </p>
      <section class="scroll" tabindex={0} aria-label="Fields, scrollable">
        <table class="fields">
          <Columns of={['Field', isLive ? 'Value' : 'Should be', hasSiteFields && !isLive && 'The site has']} />
          <tbody>
            {fields.map(({ name, desired, site, differs, problems }) => (
              <tr>
                <th scope="row">{name}</th>
                <td>
                  {desired === undefined ? (
                    <span class="quiet">none</span>
                  ) : problems.length > 0 ? (
                    <ShownText shown={desired} mark={problems.find(({ value }) => value)?.value ?? desired.text} />
                  ) : (
                    <ShownText shown={desired} />
                  )}
                  {problems.map(({ message }) => (
                    <p class="error">{message.slice(0, 500)}</p>
                  ))}
                </td>
                {hasSiteFields && !isLive && (
                  <td>
                    {!differs ? (
                      <span class="quiet">the same</span>
                    ) : site === undefined ? (
                      <span class="warn">none</span>
                    ) : (
                      <ShownText shown={site} />
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
};

// The links to the group of a posting, and to the postings before and after it there.

type Placed = Pick<PostingView, 'group' | 'neighbours'>;

const Neighbouring = ({ view: { group, neighbours } }: { view: Placed }) =>
  group === undefined ? null : (
    <nav aria-label="Group" class="row">
      <a href={linkTo(pageAddress.entries({ group }))}>All entries of the group</a>
      {neighbours?.before !== undefined && (
        <a href={linkTo(addressOf(neighbours.before, group))} rel="prev" data-key="p">
          Previous
        </a>
      )}
      {neighbours?.after !== undefined && (
        <a href={linkTo(addressOf(neighbours.after, group))} rel="next" data-key="n">
          Next
        </a>
      )}
    </nav>
  );

/** A record that could not be read has no posting. */
const addressOf = ({ id, feed, key, kind }: NeighbouringEntry, group: string): string =>
  key === null || kind === 'unreadable' || kind === 'duplicate'
    ? pageAddress.entry(id)
    : pageAddress.posting(feed, key, group);

// The page of a record that could not become a posting: what is wrong, where, and how it begins.

export interface RecordProps {
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

export const RecordPage = ({ record, placed, refused, reason }: RecordProps) => {
  const marked = record.problems.find(({ value }) => value)?.value;
  return (
    <Layout
      title={`${record.kind === 'unreadable' ? 'Unreadable record' : 'Repeated key'}: ${terminalText(excerpt(record.key ?? 'no usable key'))}`}
      section="review"
      about={currentVisit().aboutFeed?.(record.feed)}
    >
      <Neighbouring view={placed} />
      <RefusedForm why={refused} />
      <dl class="facts">
        <dt>Key</dt>
        <dd class="text">
          {record.key === undefined ? (
            'not usable'
          ) : (
            <a href={linkTo(pageAddress.posting(record.feed, record.key))}>{terminalText(record.key)}</a>
          )}
        </dd>
        <Fact name="Feed">
          <a href={linkTo(pageAddress.feed(record.feed))}>{record.feed}</a>
        </Fact>
        <Fact name="State">
          <strong>{record.discarded ? `discarded, ${record.kind}` : record.kind}</strong>
          {', '}
          <TimeSince since={record.since} />
          {` (entry ${record.id})`}
        </Fact>
        <Fact name="Records in the last pull">{record.records}</Fact>
        <Fact name="Number in the feed">{record.recordNumber}</Fact>
      </dl>
      <h2 id="meaning">What it means</h2>
      <p>{MEANING[record.kind]}</p>
      <Problems of={record.problems} />
      {mayReview() && (
        <section class="panel" aria-labelledby="decide">
          <h2 id="decide">Decide</h2>
          <SimpleActions
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

// A text of a feed or site, as text, with the part that is meant marked. Characters that would turn or hide what stands beside them are
// shown as their escapes, as in a terminal.

/** @param mark marked wherever the text contains it; the whole text, if it is empty or the text is this */
const ShownText = ({ shown, mark }: { shown: TextBeginning; mark?: string | undefined }) => (
  <>
    <span class="text">
      {mark === undefined ? terminalText(shown.text) : marked(terminalText(shown.text), terminalText(mark))}
    </span>
    {shown.left > 0 && <span class="hint">{` … ${shown.left} more characters`}</span>}
  </>
);

const MOST_MARKS = 20;

function marked(text: string, mark: string) {
  const parts = mark === '' ? [] : text.split(mark, MOST_MARKS + 1);
  if (parts.length < 2) return mark === '' || text !== mark ? text : <mark>{text}</mark>;
  const rest = text.slice(parts.join(mark).length);
  return (
    <>
      {parts.map((part, at) => (
        <>
          {at > 0 && <mark>{mark}</mark>}
          {part}
        </>
      ))}
      {rest}
    </>
  );
}
