// The routes of the board pages: home, lists, states, and the request log as a table.
import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { pageRequest } from './interface/list-jobs.ts';
import { stateByAbbreviation, stateBySlug } from './job-rules.ts';
import type { JobSite, SiteEnv } from './job-site.ts';
import type { Job, JobFilter } from './jobs.ts';
import { Day, Layout, Moment, placeOf, quantity, TitleLine, type Visit } from './layout.tsx';
import type { RequestRecord } from './request-log.ts';
import { show, showMessage, toLogin, visitOf, visitWithoutForms } from './visit.ts';

const NEWEST_SHOWN = 5;
const REQUESTS_SHOWN = 200;

export function addBoardRoutes(app: Hono<SiteEnv>, site: JobSite): void {
  /** The content of a list page. Pages for people are always numbered, whatever paging style the interface uses. */
  const listFor = async (c: Context<SiteEnv>, filter: JobFilter) => {
    const { offset, limit } = pageRequest(c, { paging: 'page', pageSize: site.settings().pageSize });
    const { jobs, total } = await site.jobs.list(filter, offset, limit);
    const list = {
      path: c.req.path,
      search: filter.search,
      page: offset / limit + 1,
      pages: Math.max(1, Math.ceil(total / limit)),
    };
    return { visit: visitOf(c), jobs, total, list };
  };

  app.get('/', async (c) => {
    const [{ jobs, total }, states] = await Promise.all([
      site.jobs.list({}, 0, NEWEST_SHOWN),
      site.jobs.countByState(),
    ]);
    const { stateField, stateValues, separator } = site.settings();
    return show(
      c,
      <HomePage
        visit={visitOf(c)}
        newest={jobs}
        total={total}
        states={states}
        origin={new URL(c.req.url).origin}
        stateField={separator === '_' ? stateField.replaceAll('-', '_') : stateField}
        exampleState={stateValues === 'abbreviation' ? 'OH' : 'Ohio'}
      />,
    );
  });

  app.get('/jobs', async (c) => {
    const search = c.req.query('q')?.trim() || undefined;
    const empty = search ? `No job has “${search}” in its title, or as its number.` : <NothingYet />;
    return show(
      c,
      <JobListPage
        title={search ? 'Jobs found' : 'Jobs'}
        here="/jobs"
        searchable
        empty={empty}
        {...(await listFor(c, { search }))}
      />,
    );
  });

  app.get('/states', async (c) => show(c, <StatesPage visit={visitOf(c)} states={await site.jobs.countByState()} />));

  app.get('/states/:slug', async (c) => {
    const state = stateBySlug(c.req.param('slug'));
    if (!state) {
      const known = (
        <>
          The <a href="/states">list of states</a> shows all states with jobs.
        </>
      );
      return showMessage(c, 404, 'There is no such state', known);
    }
    return show(
      c,
      <JobListPage
        title={`Jobs in ${state.name}`}
        here="/states"
        empty={`There are no jobs in ${state.name}.`}
        {...(await listFor(c, { state: state.abbreviation }))}
      />,
    );
  });

  app.get('/account/jobs', async (c) => {
    const account = c.get('account');
    if (!account) return toLogin(c, '/account/jobs');
    return show(
      c,
      <JobListPage
        title="My jobs"
        here="/account/jobs"
        empty={<NothingYet />}
        {...(await listFor(c, { ownerId: account.id }))}
      />,
    );
  });

  app.get('/requests', (c) => {
    const requests = site.requests.recent().slice(-REQUESTS_SHOWN).reverse();
    return show(c, <RequestsPage visit={visitWithoutForms(c)} requests={requests} total={site.requests.total()} />);
  });
}

const NothingYet = () => (
  <>
    Nothing here yet. <a href="/jobs/new">Post a job</a> by hand, or send one through the XML interface.
  </>
);

// The request log as a table: requests to the XML interface and their responses.

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

const RequestsPage = ({ visit, requests, total }: RequestsProps) => (
  <Layout title="Requests" here="/requests" visit={visit}>
    <TitleLine title="Requests to the XML interface" count={`${quantity(total, 'request')} since the start`} />
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

// The home page and the list of states.

interface HomeProps {
  readonly visit: Visit;
  readonly newest: readonly Job[];
  readonly total: number;
  readonly states: readonly { readonly state: string; readonly count: number }[];
  /** The origin of this site, for the example. */
  readonly origin: string;
  readonly stateField: string;
  readonly exampleState: string;
}

const STATES_SHOWN = 8;

const HomePage = ({ visit, newest, total, states, origin, stateField, exampleState }: HomeProps) => (
  <Layout title="Home" visit={visit}>
    <section class="hero">
      <h1>A job site to try your feed on</h1>
      <p>
        {total === 0 ? 'There are no jobs yet.' : `${quantity(total, 'job')} in ${quantity(states.length, 'state')}.`}{' '}
        Everything here works like the real thing: the pages, the accounts and the XML interface.
      </p>
      <Search />
    </section>
    <div class="columns">
      <section aria-labelledby="newest">
        <h2 id="newest">Newest jobs</h2>
        {newest.length > 0 ? (
          <>
            <Jobs jobs={newest} />
            <p>
              <a href="/jobs">All jobs</a>
            </p>
          </>
        ) : (
          <p class="empty">
            <NothingYet />
          </p>
        )}
      </section>
      <aside>
        {states.length > 0 ? (
          <section aria-labelledby="by-state">
            <h2 id="by-state">By state</h2>
            <StateCounts states={states.slice(0, STATES_SHOWN)} />
            {states.length > STATES_SHOWN ? (
              <p>
                <a href="/states">All {states.length} states</a>
              </p>
            ) : null}
          </section>
        ) : null}
        <section aria-labelledby="how">
          <h2 id="how">Send jobs to it</h2>
          <ol>
            <li>
              <a href="/register">Register</a>, or <a href="/login">log in</a>.
            </li>
            <li>
              Copy your token: <a href="/account">My Account</a>, API, Show Key.
            </li>
            <li>
              Send a job:
              <pre tabindex={0}>
                <code>{`curl -u TOKEN:X \\
  -H 'Content-Type: application/xml' \\
  -d '<job>
  <title>Nurse</title>
  <${stateField}>${exampleState}</${stateField}>
</job>' \\
  ${origin}/jobs.xml`}</code>
              </pre>
            </li>
          </ol>
        </section>
      </aside>
    </div>
  </Layout>
);

const StateCounts = ({ states }: { states: HomeProps['states'] }) => (
  <ul class="counts">
    {states.map(({ state, count }) => {
      const known = stateByAbbreviation(state);
      return (
        <li>
          <a href={`/states/${known?.slug ?? ''}`}>{known?.name ?? state}</a>{' '}
          <span>{count.toLocaleString('en-US')}</span>
        </li>
      );
    })}
  </ul>
);

const StatesPage = ({ visit, states }: Pick<HomeProps, 'visit' | 'states'>) => (
  <Layout title="Jobs by state" here="/states" visit={visit}>
    <TitleLine title="Jobs by state" count={quantity(states.length, 'state')} />
    {states.length > 0 ? <StateCounts states={states} /> : <p class="empty">There are no jobs in any state yet.</p>}
  </Layout>
);

// A list of jobs with a pager.

/** The jobs themselves, newest first. */
const Jobs = ({ jobs }: { jobs: readonly Job[] }) => (
  <ul class="jobs">
    {jobs.map((job) => (
      <li>
        <h3>
          <a href={`/jobs/${encodeURIComponent(job.id)}`}>{job.fields.title ?? 'Untitled'}</a>
        </h3>
        <p class="facts">
          <span>{placeOf(job, stateByAbbreviation(job.state))}</span>
          {job.fields['category-name'] ? <span>{job.fields['category-name']}</span> : null}
          {job.fields.number ? <span class="number">No. {job.fields.number}</span> : null}
          <Day at={job.createdAt} />
        </p>
      </li>
    ))}
  </ul>
);

/** The current page of a list, with links to its neighbours. */
export interface PageOfList {
  readonly path: string;
  readonly search?: string;
  readonly page: number;
  readonly pages: number;
}

const Pager = ({ list }: { list: PageOfList }) => {
  if (list.pages <= 1) return null;
  const href = (page: number): string =>
    `${list.path}?${new URLSearchParams({ ...(list.search ? { q: list.search } : {}), page: String(page) })}`;
  return (
    <nav class="pager" aria-label="Pages of this list">
      {list.page > 1 ? (
        <a rel="prev" href={href(list.page - 1)}>
          ← Newer
        </a>
      ) : (
        <span class="off">← Newer</span>
      )}
      <span>
        Page {list.page} of {list.pages}
      </span>
      {list.page < list.pages ? (
        <a rel="next" href={href(list.page + 1)}>
          Older →
        </a>
      ) : (
        <span class="off">Older →</span>
      )}
    </nav>
  );
};

/** The search field, also used on the home page. */
const Search = ({ value = '' }: { value?: string }) => (
  <search>
    <form class="search" action="/jobs">
      <label for="q">Title or number</label>
      <input type="search" id="q" name="q" value={value} />
      <button type="submit">Search</button>
    </form>
  </search>
);

interface JobListProps {
  readonly title: string;
  readonly here?: string;
  readonly visit: Visit;
  readonly jobs: readonly Job[];
  readonly total: number;
  readonly list: PageOfList;
  /** Shown if there are no jobs. */
  readonly empty: Child;
  readonly searchable?: boolean;
}

const JobListPage = ({ title, here, visit, jobs, total, list, empty, searchable = false }: JobListProps) => (
  <Layout title={title} here={here} visit={visit}>
    <TitleLine title={title} count={quantity(total, 'job')} />
    {searchable ? <Search value={list.search} /> : null}
    {jobs.length > 0 ? <Jobs jobs={jobs} /> : <p class="empty">{empty}</p>}
    <Pager list={list} />
  </Layout>
);
