// What was done, newest first: one row per action, or each posting of one.

import type { Hono } from 'hono';
import type { z } from 'zod';
import {
  type ActionTaken,
  type activityOutput,
  listActivities,
  showActivity,
  subjectInWords,
} from '../../operations/activity.ts';
import { numberSchema } from '../../operations/scalars.ts';
import { plural } from '../../plan/message.ts';
import { excerpt } from '../../posting/markup.ts';
import { formatTime } from '../../telemetry/times.ts';
import type { WebEnv } from '../web-env.ts';
import { linkTo, pageAddress } from './parts/addresses.ts';
import { Layout } from './parts/layout.tsx';
import { askedBy, type PageContext, readInput, showPage } from './parts/page.tsx';
import { Choice, Pager, StackedTable, TextField, When } from './parts/parts.tsx';
import { expectValue } from './parts/read-form.ts';
import { FoldedFilter } from './review/filter-form.tsx';

const SHOWN = 50;

export function activityPages(pages: Hono<WebEnv>, context: PageContext): void {
  pages.get(
    '/activity',
    showPage(async ({ actor: visitor, query }) => {
      const { feed, actor, of } = readInput(showActivity, query);
      const asked = askedBy(context, visitor);
      const common = { feeds: [...context.app.config.feeds.keys()] };
      const before = expectValue('before', numberSchema.optional(), query('before'));
      if (of !== undefined || before !== undefined) {
        const page = { limit: SHOWN, after: before === undefined ? undefined : { before } };
        const { items, next } = await showActivity.readPage({ feed, actor, of }, page, asked);
        const selection = { feed, actor, of };
        const older = next && pageAddress.activity({ ...selection, before: next.before });
        return (
          <ActivityPage {...common} items={items.map(alone)} selection={selection} isFirst={!before} older={older} />
        );
      }
      const after = expectValue('after', listActivities.place.shape.after.optional(), query('after'));
      const page = { limit: SHOWN, after: after === undefined ? undefined : { after } };
      const { items, next } = await listActivities.readPage({ feed, actor }, page, asked);
      const older = next && pageAddress.activity({ feed, actor, after: next.after });
      return (
        <ActivityPage
          {...common}
          items={items}
          selection={{ feed, actor }}
          isFirst={after === undefined}
          older={older}
        />
      );
    }),
  );
}

type Shown = Omit<ActionTaken, 'place' | 'kind'> & { readonly kind?: ActionTaken['kind'] };

const alone = (entry: z.output<typeof activityOutput>): Shown => ({ ...entry, count: 1, bulk: null, pull: null });

interface ActivityPageProps {
  readonly items: readonly Shown[];
  readonly feeds: readonly string[];
  readonly selection: {
    readonly feed: string | undefined;
    readonly actor: string | undefined;
    readonly of?: number | undefined;
  };
  readonly isFirst: boolean;
  /** The address of the older ones; `undefined`: there are none. */
  readonly older: string | undefined;
}

const ActivityPage = ({ items, feeds, selection, isFirst, older }: ActivityPageProps) => {
  const { feed, actor, of } = selection;
  return (
    <Layout title="Activity" section="activity">
      <FoldedFilter chosen={[feed, actor].flatMap((text) => text ?? [])}>
        <form class="row" method="get" action={linkTo(pageAddress.activity())}>
          <Choice name="feed" label="Feed" of={feeds} chosen={feed} />
          <TextField name="actor" label="Who" value={actor ?? ''} />
          <button type="submit">Show</button>
        </form>
      </FoldedFilter>
      <StackedTable
        label="Actions, newest first"
        columns={[
          { head: 'When', inline: true, cell: ({ at }) => <When at={at} /> },
          {
            head: 'Who',
            inline: true,
            cell: ({ actor: who }) =>
              who === null ? (
                <span class="quiet">jobmirror</span>
              ) : (
                <a href={linkTo(pageAddress.activity({ actor: who }))}>{who}</a>
              ),
          },
          { head: 'What', inline: true, cell: ({ action }) => action },
          { head: 'To what', cell: (item) => <ToWhat item={item} /> },
          {
            head: 'Before and after',
            cell: (item) => <Detail edits={item.edits} facts={subjectInWords(item)?.others ?? item.detail} />,
          },
        ]}
        rows={items}
        none={
          <p>
            {feed === undefined && actor === undefined && of === undefined && isFirst
              ? 'Nobody has done anything yet.'
              : 'There is nothing like that.'}
          </p>
        }
      />
      <Pager
        label="Pages of the activity"
        isByTime
        first={isFirst && of === undefined ? undefined : pageAddress.activity({ feed, actor })}
        next={older && older}
      />
    </Layout>
  );
};

const ToWhat = ({ item }: { item: Shown }) => {
  const { feed, key } = item;
  const reached = key === null ? reachedBy(item) : null;
  return (
    <>
      {reached ?? subjectInWords(item)?.words}
      {reached !== null && feed !== null && ' of '}
      {feed !== null && key !== null && <a href={linkTo(pageAddress.posting(feed, key))}>{key}</a>}
      {feed !== null && (
        <span class={key === null ? '' : 'detail'}>
          <a href={linkTo(pageAddress.feed(feed))}>{feed}</a>
        </span>
      )}
    </>
  );
};

/** What an action on several postings leads to. */
const reachedBy = ({ kind, count, activity, bulk, pull }: Shown) => {
  const address =
    pull !== null
      ? pageAddress.pull(pull, { show: 'deleted' })
      : bulk !== null
        ? pageAddress.bulkAction(bulk)
        : activity !== null && count > 1
          ? pageAddress.activity({ of: activity })
          : undefined;
  if (address === undefined) return null;
  const what = plural(count, pull !== null ? 'job' : kind === 'program' ? 'feed' : 'posting');
  return <a href={linkTo(address)}>{pull === null ? what : `${what} by pull ${pull}`}</a>;
};

const MOST_FACTS = 12;
const MOST_CHARACTERS = 200;

type Recorded = Pick<Shown, 'edits' | 'detail'>;

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
              <dt>{inPlainWords(name)}</dt> <dd>{written(value)}</dd>
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

/** Of a fact's name, which may be written `left_out` or `leftOut`. */
const inPlainWords = (name: string): string => name.replace(/_|(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

const written = (value: unknown): string => excerpt(inWords(value), MOST_CHARACTERS);

/** Names and values, without the marks of JSON. */
function inWords(value: unknown): string {
  if (value == null || value === '') return '(none)';
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return formatTime(new Date(value));
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  return Object.entries(value)
    .map(([name, each]) => `${name.replaceAll('_', ' ')}: ${inWords(each)}`)
    .join(', ');
}
