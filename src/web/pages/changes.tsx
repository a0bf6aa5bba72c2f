// What was done on the sites, newest first, with a file of all of it.
import type { Hono } from 'hono';
import { changesAsCsv, type ListedChange, listChanges } from '../../operations/changes.ts';
import { choicesOf, numberSchema } from '../../operations/scalars.ts';
import { csvResponse } from '../problem.ts';
import type { WebEnv } from '../web-env.ts';
import { type ChangesSelection, linkTo, pageAddress } from './parts/addresses.ts';
import { Layout } from './parts/layout.tsx';
import { askedBy, type PageContext, readInput, sendFile, showPage } from './parts/page.tsx';
import { Choice, Pager, SiteLink, StackedTable, TextField, When } from './parts/parts.tsx';
import { expectValue } from './parts/read-form.ts';
import { FoldedFilter } from './review/filter-form.tsx';

const SHOWN = 50;

export function changesPages(pages: Hono<WebEnv>, context: PageContext): void {
  pages.get(
    '/changes',
    showPage(async ({ actor, query }) => {
      const input = readInput(listChanges, query);
      const before = expectValue('before', numberSchema.optional(), query('before'));
      const page = { limit: SHOWN, after: before === undefined ? undefined : { before } };
      const { shown, next } = await listChanges.run(input, page, askedBy(context, actor));
      return (
        <ChangesPage
          items={shown.items}
          keptSince={shown.kept_since}
          feeds={[...context.app.config.feeds.keys()]}
          selection={{ ...input, before }}
          older={next?.before}
        />
      );
    }),
  );
  pages.get(
    '/changes.csv',
    sendFile(async ({ actor, query }) =>
      csvResponse(changesAsCsv(readInput(listChanges, query), askedBy(context, actor)), 'changes'),
    ),
  );
}

interface ChangesPageProps {
  readonly items: readonly ListedChange[];
  readonly keptSince: Date;
  readonly feeds: readonly string[];
  readonly selection: ChangesSelection;
  /** Where the older ones begin; `undefined`: there are none. */
  readonly older: number | undefined;
}

const OPERATIONS = choicesOf(listChanges.input.shape.operation) ?? [];

const ChangesPage = ({ items, keptSince, feeds, selection, older }: ChangesPageProps) => {
  const { before, ...filter } = selection;
  const { since, until, operation, feed } = filter;
  return (
    <Layout title="Changes" section="changes">
      <FoldedFilter chosen={[since, until, operation, feed].flatMap((text) => text ?? [])}>
        <form class="row" method="get" action={linkTo(pageAddress.changes())}>
          <TextField name="since" label="Since" value={since ?? ''} aria-describedby="times" />
          <TextField name="until" label="Before" value={until ?? ''} aria-describedby="times" />
          <Choice name="operation" label="Operation" of={OPERATIONS} chosen={operation} />
          <Choice name="feed" label="Feed" of={feeds} chosen={feed} />
          <button type="submit">Show</button>
        </form>
        <p id="times" class="hint">
          Times, by the clock of the server: today, yesterday, 12h or 3d ago, 2026-03-20, 2026-03-20T14:00.
        </p>
      </FoldedFilter>
      {items.length === 0 ? <p>Nothing like that was done on the sites.</p> : <Changes items={items} />}
      <Pager
        label="Pages of changes"
        isByTime
        first={before === undefined ? undefined : pageAddress.changes(filter)}
        next={older === undefined ? undefined : pageAddress.changes({ ...filter, before: older })}
      >
        {items.length > 0 && <a href={linkTo(pageAddress.changesFile(filter))}>All of these as CSV</a>}
      </Pager>
      {older === undefined && (
        <p class="hint">
          {'What was done before '}
          <When at={keptSince} />
          {' is not kept.'}
        </p>
      )}
    </Layout>
  );
};

const Changes = ({ items }: {} & Pick<ChangesPageProps, 'items'>) => (
  <StackedTable
    label="Changes, newest first"
    columns={[
      {
        head: 'Posting',
        namesRow: true,
        cell: ({ feed, key, title }) => (
          <>
            <a href={linkTo(pageAddress.posting(feed, key))}>{title ?? key}</a>
            <span class="detail">{title === null ? feed : `${key} of ${feed}`}</span>
          </>
        ),
      },
      { head: 'When', cell: ({ at }) => <When at={at} /> },
      { head: 'Operation', cell: ({ operation }) => operation },
      {
        head: 'Why',
        cell: ({ why, pull, fields }) => (
          <>
            {pull === null ? why : <a href={linkTo(pageAddress.pull(pull))}>{why}</a>}
            {fields.length > 0 && <span class="detail">{fields.join(', ')}</span>}
          </>
        ),
      },
      {
        head: 'Job',
        cell: ({ site_job_id: id, site_job_url: url }) => (id === null ? '–' : <SiteLink url={url}>{id}</SiteLink>),
      },
    ]}
    rows={items}
  />
);
