// A list of jobs with a pager.
import type { Child } from 'hono/jsx';
import { stateByAbbreviation } from '../job-rules.ts';
import type { Job } from '../store/jobs.ts';
import { Day, Layout, placeOf, quantity, type Visit } from './layout.tsx';

/** The jobs themselves, newest first. */
export const Jobs = ({ jobs }: { jobs: readonly Job[] }) => (
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
export const Search = ({ value = '' }: { value?: string }) => (
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

/** A whole page with a list of jobs. */
export const JobListPage = ({ title, here, visit, jobs, total, list, empty, searchable = false }: JobListProps) => (
  <Layout title={title} here={here} visit={visit}>
    <div class="title-line">
      <h1>{title}</h1>
      <p class="count">{quantity(total, 'job')}</p>
    </div>
    {searchable ? <Search value={list.search} /> : null}
    {jobs.length > 0 ? <Jobs jobs={jobs} /> : <p class="empty">{empty}</p>}
    <Pager list={list} />
  </Layout>
);
