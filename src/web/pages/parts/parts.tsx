// What many pages show in the same way: differences of values, notices with their actions, times, labels of states, and sentences.

import type { Child } from 'hono/jsx';
import type { SiteStatus } from '../../../operations/status.ts';
import type { Action } from '../../../plan/action.ts';
import { actionsOf, type Notice } from '../../../plan/message.ts';
import type { PulledDifference } from '../../../review/pulled-changes.ts';
import type { PullStatus } from '../../../store/pull/pull-history.ts';
import { formatTime } from '../../../telemetry/times.ts';
import { linkTo, pageAddress } from './addresses.ts';

/** The heads of a table; `number`: of a column of numbers. */
export const Columns = ({ of }: { of: readonly (string | { readonly number: string } | false | undefined)[] }) => (
  <thead>
    <tr>
      {of.map((column) => {
        if (column === false || column === undefined) return null;
        if (typeof column === 'string') return <th scope="col">{column}</th>;
        return (
          <th scope="col" class="number">
            {column.number}
          </th>
        );
      })}
    </tr>
  </thead>
);

/** What heads a column, and what each row has in it. */
interface TableColumn<Row> {
  readonly head: string;
  readonly cell: (row: Row) => Child;
  /** It names the row. */
  readonly namesRow?: true;
  readonly number?: true;
  /** On a narrow screen, its cells stand beside others. */
  readonly inline?: true;
  /** On a narrow screen, its cells stand without their head. */
  readonly bare?: true;
  /** A further class of a row's cell. */
  readonly classOf?: (row: Row) => string | false;
}

interface TableProps<Row> {
  /** A text, or the ID of the heading above it. */
  readonly label: string | { readonly heading: string };
  /** A further class of the table. */
  readonly kind?: string;
  readonly caption?: Child;
  /** `false`: left out. */
  readonly columns: readonly (TableColumn<Row> | false)[];
  readonly rows: readonly Row[];
  /** Stands in its place if it has no rows. */
  readonly none?: Child;
}

/** Scrolls by itself; on a narrow screen, the cells of each row stand below each other, each with its head. */
export const StackedTable = <Row,>({ label, kind, caption, columns, rows, none }: TableProps<Row>) => {
  if (none !== undefined && rows.length === 0) return <>{none}</>;
  const shown = columns.filter((column) => column !== false);
  const heading = typeof label === 'string' ? undefined : label.heading;
  return (
    <section
      class="scroll"
      tabindex={0}
      aria-label={typeof label === 'string' ? label : undefined}
      aria-labelledby={heading}
    >
      <table class={kind === undefined ? 'stacked' : `stacked ${kind}`} aria-labelledby={heading}>
        {caption}
        <Columns of={shown.map(({ head, number }) => (number ? { number: head } : head))} />
        <tbody>
          {rows.map((row) => (
            <tr>
              {shown.map(({ cell, classOf, ...column }) => (
                <Cell {...column} further={classOf?.(row) ?? false}>
                  {cell(row)}
                </Cell>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

type CellProps = Omit<TableColumn<never>, 'cell' | 'classOf'> & {
  readonly further: string | false;
  readonly children: Child;
};

const Cell = ({ head, namesRow, number, inline, bare, further, children }: CellProps) => {
  const attributes = {
    class: [number && 'number', inline && 'inline', further].filter(Boolean).join(' ') || undefined,
    'data-column': bare ? undefined : head,
  };
  return namesRow ? (
    <th scope="row" {...attributes}>
      {children}
    </th>
  ) : (
    <td {...attributes}>{children}</td>
  );
};

/** Only an address of the web becomes a link, as it comes from the site: others could run something. */
export const SiteLink = ({ url, children }: { url: string | null | undefined; children: Child }) =>
  url != null && /^https?:\/\//i.test(url) ? (
    <a href={url} rel="noreferrer">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  );

interface TabsProps<Kind> {
  readonly label: string;
  readonly of: readonly Kind[];
  readonly shown: Kind;
  readonly href: (kind: Kind) => string;
  readonly words: (kind: Kind) => string;
}

export const Tabs = <Kind,>({ label, of, shown, href, words }: TabsProps<Kind>) => (
  <ul class="tabs" aria-label={label}>
    {of.map((kind) => (
      <li>
        <a href={href(kind)} aria-current={kind === shown ? 'true' : undefined}>
          {words(kind)}
        </a>
      </li>
    ))}
  </ul>
);

/** A fact of a list of facts; nothing if it has no value. */
export const Fact = ({ name, children }: { name: string; children: Child }) =>
  children == null || children === false ? null : (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );

// The parts of forms: a text, a box to check, and the button.

interface TextFieldProps {
  readonly name: string;
  readonly label: string;
  /** By default the name. */
  readonly id?: string;
  readonly value?: string | undefined;
  readonly maxlength?: number;
  readonly required?: boolean;
  readonly pattern?: string;
  readonly list?: string | undefined;
  readonly spellcheck?: boolean;
  readonly placeholder?: string | undefined;
  readonly inputmode?: 'url';
  readonly type?: 'time';
  readonly hint?: string;
  readonly 'aria-describedby'?: string;
  /** What else belongs to it. */
  readonly children?: Child;
}

export const TextField = ({ name, label, id = name, value, hint, children, ...attributes }: TextFieldProps) => {
  const described = hint === undefined ? undefined : `${id}-hint`;
  return (
    <p>
      <label for={id}>{label}</label>
      <input id={id} name={name} value={value} autocomplete="off" aria-describedby={described} {...attributes} />
      {children}
      {hint !== undefined && (
        <span class="hint" id={described}>
          {hint}
        </span>
      )}
    </p>
  );
};

interface SelectFieldProps {
  readonly name: string;
  readonly label: string;
  /** By default the name. */
  readonly id?: string;
  /** Its options. */
  readonly children: Child;
}

export const SelectField = ({ name, label, id = name, children }: SelectFieldProps) => (
  <p>
    <label for={id}>{label}</label>
    <select id={id} name={name}>
      {children}
    </select>
  </p>
);

interface CheckProps {
  readonly name: string;
  readonly required?: boolean;
  readonly checked?: boolean | undefined;
  readonly children: Child;
}

export const Check = ({ children, ...attributes }: CheckProps) => (
  <p>
    <label>
      <input type="checkbox" value="true" autocomplete="off" {...attributes} /> {children}
    </label>
  </p>
);

export const Submit = ({ kind, children }: { kind?: 'main' | 'danger' | undefined; children: Child }) => (
  <p>
    <button type="submit" class={kind}>
      {children}
    </button>
  </p>
);

/** Why what was asked for was not done. */
export const Alert = ({ children }: { children: Child }) => (
  <p role="alert" class="notice bad">
    {children}
  </p>
);

/** The same of a form on a long page, which leads to it; nothing if nothing was refused. */
export const RefusedForm = ({ why }: { why: string | undefined }) =>
  why === undefined ? null : (
    <p role="alert" class="notice bad text" id="refused">
      {why}
    </p>
  );

export interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly id?: string;
  readonly of: Iterable<string>;
  /** May be none of these, such as a feed that is no longer configured. */
  readonly chosen: string | undefined;
  /** What the empty choice is called. */
  readonly none?: string;
  readonly words?: (value: string) => string;
}

/** Chooses one, or none. */
export const Choice = ({ of, chosen, none = 'all', words = (value) => value, ...field }: ChoiceProps) => (
  <SelectField {...field}>
    <option value="">{none}</option>
    {[...new Set([...of, ...(chosen === undefined ? [] : [chosen])])].map((value) => (
      <option value={value} selected={value === chosen}>
        {words(value)}
      </option>
    ))}
  </SelectField>
);

/** Where the other pages of a list are. */
export interface OtherPages {
  /** The address of the first page; `undefined`: this is it. */
  readonly first: string | undefined;
  /** That of the next page; `undefined`: nothing follows. */
  readonly next: string | undefined;
}

interface PagerProps extends OtherPages {
  readonly label: string;
  /** The list has the newest first. */
  readonly isByTime?: true;
  /** How many this page shows. */
  readonly shown?: number;
  readonly children?: Child;
}

/** The way to other pages of a list; nothing if this is the only one. */
export const Pager = ({ label, first, next, isByTime, shown, children }: PagerProps) =>
  first === undefined && next === undefined && !children ? null : (
    <nav aria-label={label} class="row">
      {first !== undefined && <a href={linkTo(first)}>{isByTime ? 'Newest' : 'First page'}</a>}
      {next !== undefined && (
        <a href={linkTo(next)} rel="next">
          {isByTime ? 'Older' : 'Next page'}
        </a>
      )}
      {children}
      {shown !== undefined && <span class="quiet">{`${shown} on this page`}</span>}
    </nav>
  );

export const ShownDifference = ({ field, before, now }: PulledDifference) => (
  <div class="difference">
    <span class="field">{field}</span>
    <del>{before ?? '(no such field)'}</del>
    {' → '}
    <ins>{now ?? '(no such field)'}</ins>
  </div>
);

// A message with what can be done about it: as commands, and as a link where a page does the same.

export interface NoticeTextProps {
  readonly notice: Notice;
}

export const NoticeText = ({ notice: { messages, text } }: NoticeTextProps) => (
  <>
    {text}
    {[...new Map(messages.flatMap(actionsOf).flatMap(pageOf))].map(([address, words]) => (
      <>
        {' '}
        <a href={linkTo(address)}>{words}</a>
      </>
    ))}
  </>
);

/** The address of the page that does the same, and the words of the link; none if there is no such page. */
function pageOf(action: Action): readonly (readonly [address: string, words: string])[] {
  switch (action.kind) {
    case 'compare_keys':
      return [[pageAddress.rekey(action.parameters.feed), 'Compare them here']];
    case 'rekey_feed':
    case 'deny_rekey':
      return [[pageAddress.rekey(action.feed), 'Compare them here']];
    case 'list_entries': {
      const { feed, entryKind, discarded } = action;
      const listed = discarded === true ? ({ feed, discarded: 'true' } as const) : { feed };
      return [[entryKind === 'held' ? pageAddress.held(feed) : pageAddress.entries(listed), 'See them here']];
    }
    case 'approve_held':
      return [[pageAddress.held(action.feed), 'See them here']];
    case 'list_pulls':
      return [[pageAddress.pulls(action.feed), 'See its pulls']];
    case 'explain_posting':
    case 'renew_posting':
      return [[pageAddress.posting(action.feed, action.key), 'See the posting']];
    case 'resume_site':
      return [[pageAddress.site(action.site), 'See the site']];
    case 'resume_feed':
      return [[pageAddress.feed(action.feed), 'See the feed']];
    case 'undo_pull':
      return [[pageAddress.undoPull(action.pull), 'See what it would do']];
    case 'adopt_jobs':
      return [[pageAddress.adopt(action.feed), 'See which job is which']];
    default:
      return [];
  }
}

// A time on a page: how long ago it was, with the exact one for whoever points at it, and for programs.

/** The units, with the age in milliseconds up to which each is used. */
const UNITS = [
  ['s', 1_000, 60_000],
  ['min', 60_000, 3_600_000],
  ['h', 3_600_000, 48 * 3_600_000],
  ['d', 86_400_000, 60 * 86_400_000],
] as const;
const JUST_NOW_MS = 3_000;

/** `7 min`; `undefined`: so long that the date says more. */
function spanWords(ms: number): string | undefined {
  const unit = UNITS.find(([, , most]) => ms < most);
  return unit && `${Math.max(1, Math.floor(ms / unit[1]))} ${unit[0]}`;
}

/** `7 min ago`, `in 2 h`; a time long ago, or far away, as a date. */
function agoWords(at: Date, now: Date): string {
  const ms = now.getTime() - at.getTime();
  if (Math.abs(ms) < JUST_NOW_MS) return 'just now';
  const span = spanWords(Math.abs(ms));
  if (span === undefined) return formatTime(at).slice(0, 'yyyy-mm-dd'.length);
  return ms > 0 ? `${span} ago` : `in ${span}`;
}

export const When = ({ at }: { at: Date | undefined | null }) =>
  at == null ? <>–</> : <Exactly at={at}>{agoWords(at, new Date())}</Exactly>;

/** How long it has lasted: `for 7 min`, `since 2026-01-05`. */
export const TimeSince = ({ since }: { since: Date | undefined | null }) => {
  if (since == null) return <>–</>;
  const span = spanWords(Math.max(0, Date.now() - since.getTime()));
  return (
    <>
      {span === undefined ? 'since ' : 'for '}
      <Exactly at={since}>{span ?? agoWords(since, new Date())}</Exactly>
    </>
  );
};

const Exactly = ({ at, children }: { at: Date; children: string }) => (
  <time datetime={at.toISOString()} title={formatTime(at)}>
    {children}
  </time>
);

// How a pull ended, and whether a site is sent to, in words and a colour.

interface Label {
  readonly words: string;
  readonly level: string;
}

export const PULL_STATUS: Readonly<Record<PullStatus, Label>> = {
  running: { words: 'running', level: 'live' },
  mirrored: { words: 'mirrored', level: 'good' },
  not_modified: { words: 'not modified', level: 'good' },
  review: { words: 'mirrored, with review', level: 'warn' },
  pending: { words: 'not all sent', level: 'warn' },
  incomplete: { words: 'incomplete', level: 'warn' },
  failed: { words: 'failed', level: 'bad' },
};

const REFUSED: Label = { words: 'not pulled, stopped by an undo', level: 'warn' };

const SITE_STATES: Readonly<Record<SiteStatus['state'], Label>> = {
  sending: { words: 'open for sending', level: 'good' },
  paused: { words: 'paused', level: 'bad' },
  stopped: { words: 'paused by a person', level: 'warn' },
  out_of_reach: { words: 'out of reach', level: 'bad' },
  waiting: { words: 'waiting, as it asked to', level: 'warn' },
};

const Labelled = ({ words, level }: Label) => <span class={`status ${level}`}>{words}</span>;

interface LabelledPull {
  readonly status: PullStatus;
  readonly actions?: readonly Action[];
}

/** A pull that was refused because an undo had stopped the feed has not failed. */
export const PullStatusLabel = ({ pull: { status, actions = [] } }: { pull: LabelledPull }) => (
  <Labelled
    {...(actions.some(({ kind }) => kind === 'resume_feed') && status === 'failed' ? REFUSED : PULL_STATUS[status])}
  />
);

export const SiteStatusLabel = ({ site: { state, moved } }: { site: SiteStatus }) => (
  <Labelled {...(moved === null ? SITE_STATES[state] : { words: 'at another address', level: 'bad' })} />
);

// A message of review as the beginning of a sentence.

export const sentence = (message: string): string => message.charAt(0).toUpperCase() + message.slice(1);

/** The same with a full stop. */
export const wholeSentence = (message: string): string => `${sentence(message).replace(/\.$/, '')}.`;
