// The home page and the list of states.
import { stateByAbbreviation } from '../job-rules.ts';
import type { Job } from '../store/jobs.ts';
import { Jobs, Search } from './job-list.tsx';
import { Layout, quantity, type Visit } from './layout.tsx';

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

export const HomePage = ({ visit, newest, total, states, origin, stateField, exampleState }: HomeProps) => (
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
            Nothing here yet. <a href="/jobs/new">Post a job</a> by hand, or send one through the XML interface.
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

/** States with their job counts. */
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

/** All states with jobs. */
export const StatesPage = ({ visit, states }: Pick<HomeProps, 'visit' | 'states'>) => (
  <Layout title="Jobs by state" here="/states" visit={visit}>
    <div class="title-line">
      <h1>Jobs by state</h1>
      <p class="count">{quantity(states.length, 'state')}</p>
    </div>
    {states.length > 0 ? <StateCounts states={states} /> : <p class="empty">There are no jobs in any state yet.</p>}
  </Layout>
);
