// The page of one job, with tools for its owner.
import { Parser } from 'htmlparser2';
import { stateByAbbreviation } from '../job-rules.ts';
import type { Job } from '../store/jobs.ts';
import { knownFields, orderedFields } from '../xml/write-xml.ts';
import { Layout, Moment, placeOf, type Visit } from './layout.tsx';

/** Fields with their own place on the page. */
const placed = new Set<string>(['title', 'description', 'location-city', 'category-name', 'number']);

const label = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ');

const Value = ({ name, value }: { name: string; value: string }) => {
  if (name === 'contact-email-address' && value.includes('@'))
    return <a href={`mailto:${encodeURI(value)}`}>{value}</a>;
  if (/^https?:\/\//i.test(value)) {
    return (
      <a href={value} rel="nofollow noopener noreferrer">
        {value}
      </a>
    );
  }
  return <>{value}</>;
};

interface JobProps {
  readonly visit: Visit;
  readonly job: Job;
  readonly ownerEmail: string;
  readonly stateField: string;
}

export const JobPage = ({ visit, job, ownerEmail, stateField }: JobProps) => {
  const { title = 'Untitled', description = '', number } = job.fields;
  const text = plainText(description);
  const path = `/jobs/${encodeURIComponent(job.id)}`;
  const details = orderedFields(job.fields).filter(([name]) => !placed.has(name) && name !== stateField);
  const known = new Set<string>(knownFields);
  return (
    <Layout title={title} visit={visit}>
      <article class="job">
        <header>
          <p class="path">
            <a href="/jobs">Jobs</a> ›{' '}
            <a href={`/states/${stateByAbbreviation(job.state)?.slug ?? ''}`}>{stateByAbbreviation(job.state)?.name}</a>
          </p>
          <h1>{title}</h1>
          <p class="facts">
            <span>{placeOf(job, stateByAbbreviation(job.state))}</span>
            {job.fields['category-name'] ? <span>{job.fields['category-name']}</span> : null}
            {number ? <span class="number">No. {number}</span> : null}
          </p>
        </header>
        <div class="columns">
          <section aria-label="Description">
            {text ? <div class="description">{text}</div> : <p class="empty">This job has no description.</p>}
            {text === description ? null : (
              <details>
                <summary>The description as it was sent</summary>
                <pre tabindex={0}>{description}</pre>
              </details>
            )}
          </section>
          <aside>
            <h2>Details</h2>
            <dl>
              {details.map(([name, value]) => (
                <div class={known.has(name) ? '' : 'further'}>
                  <dt>{label(name)}</dt>
                  <dd>{value ? <Value name={name} value={value} /> : '–'}</dd>
                </div>
              ))}
              <div>
                <dt>Posted by</dt>
                <dd>{ownerEmail}</dd>
              </div>
              <div>
                <dt>Posted</dt>
                <dd>
                  <Moment at={job.createdAt} />
                </dd>
              </div>
              <div>
                <dt>Last changed</dt>
                <dd>
                  <Moment at={job.updatedAt} />
                </dd>
              </div>
              <div>
                <dt>Job ID</dt>
                <dd>{job.id}</dd>
              </div>
            </dl>
            {visit.account?.id === job.ownerId ? (
              <div class="tools">
                <a class="button" href={`${path}/edit`}>
                  Edit
                </a>
                <form method="post" action={`${path}/delete`}>
                  <button class="danger" type="submit">
                    Delete this job
                  </button>
                </form>
              </div>
            ) : null}
          </aside>
        </div>
      </article>
    </Layout>
  );
};

// Converts a description that may contain HTML to plain text, with paragraphs and list items on separate lines.
// The result is shown as text: HTML from a feed never reaches a browser as HTML.

const BLOCKS = new Set('p div h1 h2 h3 h4 h5 h6 ul ol tr table section article'.split(' '));
const HIDDEN = new Set(['script', 'style']);

/** The description as text with line breaks. */
export function plainText(description: string): string {
  let text = '';
  let hidden = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (HIDDEN.has(name)) hidden++;
      if (name === 'li') text += '\n• ';
      else if (name === 'br' || BLOCKS.has(name)) text += '\n';
    },
    ontext(part) {
      if (hidden === 0) text += part;
    },
    onclosetag(name) {
      if (HIDDEN.has(name)) hidden--;
      if (BLOCKS.has(name)) text += '\n';
    },
  });
  parser.end(description);
  return text
    .replace(/[ \t\u00a0]+/g, ' ')
    .replace(/ *\n */g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^(• .*)\n\n(?=• )/gm, '$1\n')
    .trim();
}
