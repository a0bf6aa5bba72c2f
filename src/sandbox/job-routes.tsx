// The routes of one job: to read it, and for its owner to post, edit and delete it, with the form for that.
import type { Context, Hono } from 'hono';
import { Parser } from 'htmlparser2';
import type { Account } from './accounts.ts';
import { knownFields, orderedFields } from './interface/write-xml.ts';
import { planId } from './interface/xml-app.ts';
import { checkJob, errorSentence, type JobError, stateByAbbreviation, stateLists } from './job-rules.ts';
import type { JobSite, SiteEnv } from './job-site.ts';
import type { Job, JobFields } from './jobs.ts';
import { Field, Layout, Moment, placeOf, type Visit } from './layout.tsx';
import type { SandboxSettings } from './settings.ts';
import { formOf, show, showMessage, toLogin, visitOf, visitWithoutForms } from './visit.ts';

export function addJobRoutes(app: Hono<SiteEnv>, site: JobSite): void {
  const form = (c: Context<SiteEnv>, job: Job | undefined, fields: JobFields, errors: readonly JobError[]) =>
    show(
      c,
      <JobFormPage
        visit={visitWithoutForms(c)}
        title={job ? 'Edit the job' : 'Post a job'}
        action={job ? pathOf(job) : '/jobs'}
        fields={fields}
        errors={errors}
        settings={site.settings()}
      />,
      errors.length > 0 ? 422 : 200,
    );

  /** The fields of the form. Blank fields are omitted from a new job, and emptied in an existing one. */
  const formJob = async (c: Context<SiteEnv>, whole: boolean): Promise<JobFields> => {
    const entered = await formOf(c);
    const all = formFields(site.settings()).map((name): [string, string] => [name, entered(name)]);
    return Object.fromEntries(all.filter(([, value]) => !whole || value !== ''));
  };

  /** The account's own job, or a page that says why it can't be changed. */
  const owned = async (c: Context<SiteEnv>): Promise<{ account: Account; job: Job } | Response> => {
    const id = c.req.param('id') ?? '';
    const account = c.get('account');
    if (!account) return toLogin(c, `/jobs/${encodeURIComponent(id)}`);
    const job = await site.jobs.find(id);
    if (!job) return noSuchJob(c);
    return job.ownerId === account.id ? { account, job } : showMessage(c, 403, 'This job is not yours', FOREIGN);
  };

  app.get('/jobs/new', (c) => (c.get('account') ? form(c, undefined, {}, []) : toLogin(c, '/jobs/new')));

  app.post('/jobs', async (c) => {
    const account = c.get('account');
    if (!account) return toLogin(c, '/jobs/new');
    const fields = await formJob(c, true);
    const checked = checkJob(fields, true, site.settings());
    if (checked.kind === 'invalid') return form(c, undefined, fields, checked.errors);
    const job = await site.jobs.create(account.id, planId(fields, site.settings()), checked.state ?? '', fields);
    return c.redirect(pathOf(job), 303);
  });

  app.get('/jobs/:id', async (c) => {
    const job = await site.jobs.find(c.req.param('id'));
    if (!job) return noSuchJob(c);
    const owner = await site.accounts.byId(job.ownerId);
    const { stateField } = site.settings();
    return show(c, <JobPage visit={visitOf(c)} job={job} ownerEmail={owner?.email ?? ''} stateField={stateField} />);
  });

  app.get('/jobs/:id/edit', async (c) => {
    const found = await owned(c);
    return found instanceof Response ? found : form(c, found.job, found.job.fields, []);
  });

  app.post('/jobs/:id', async (c) => {
    const found = await owned(c);
    if (found instanceof Response) return found;
    const fields = await formJob(c, false);
    const checked = checkJob(fields, false, site.settings());
    if (checked.kind === 'invalid') return form(c, found.job, fields, checked.errors);
    const changed = await site.jobs.update(found.account.id, found.job.id, fields, checked.state);
    return changed.kind === 'changed' ? c.redirect(pathOf(changed.job), 303) : noSuchJob(c);
  });

  app.post('/jobs/:id/delete', async (c) => {
    const found = await owned(c);
    if (found instanceof Response) return found;
    await site.jobs.delete(found.account.id, found.job.id);
    return c.redirect('/account/jobs', 303);
  });
}

const FOREIGN = 'You can read the jobs of other accounts, and change only your own.';

const pathOf = (job: Job): string => `/jobs/${encodeURIComponent(job.id)}`;

const noSuchJob = (c: Context<SiteEnv>) =>
  showMessage(
    c,
    404,
    'There is no such job',
    <>
      It may have been deleted. The <a href="/jobs">list of jobs</a> shows all of them.
    </>,
  );

// The form to post or edit a job.

interface JobFormProps {
  readonly visit: Visit;
  readonly title: string;
  /** The URL that the form is sent to. */
  readonly action: string;
  readonly fields: JobFields;
  readonly errors: readonly JobError[];
  readonly settings: SandboxSettings;
}

/** The fields of the form, which are all that the site reads from it. */
const formFields = (settings: Pick<SandboxSettings, 'stateField'>): readonly string[] => [
  'title',
  'number',
  'category-name',
  'description',
  'location-city',
  settings.stateField,
  'contact-email-address',
  'contact-web-address',
];

const JobFormPage = ({ visit, title, action, fields, errors, settings }: JobFormProps) => {
  const field = (name: string) => {
    const error = errors.find((candidate) => candidate.field === name);
    return { name, value: fields[name], error: error && `${errorSentence(error)}.` };
  };
  const state = fields[settings.stateField] ?? '';
  return (
    <Layout title={title} visit={visit}>
      <h1>{title}</h1>
      {errors.length > 0 ? (
        <p class="alert" role="alert">
          The job was not saved. See what is wrong below.
        </p>
      ) : null}
      <form method="post" action={action} class="sheet" novalidate>
        <Field {...field('title')} label="Title" required />
        <Field {...field('location-city')} label="City" />
        <Field {...field(settings.stateField)} label="State" type="select" required>
          <option value="">Choose a state</option>
          {stateLists[settings.states].map(({ name, abbreviation }) => {
            const value = settings.stateValues === 'abbreviation' ? abbreviation : name;
            return (
              <option value={value} selected={state === value || state === abbreviation}>
                {name}
              </option>
            );
          })}
        </Field>
        <Field {...field('category-name')} label="Category" />
        <Field {...field('description')} label="Description" type="textarea" />
        <Field {...field('number')} label="Reference number" hint="Your own number, by which you find the job again." />
        <Field {...field('contact-email-address')} label="E-mail address for applications" type="email" />
        <Field {...field('contact-web-address')} label="Web address for applications" type="url" />
        <button type="submit">Save</button>
      </form>
    </Layout>
  );
};

// The page of one job, with tools for its owner.

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

const JobPage = ({ visit, job, ownerEmail, stateField }: JobProps) => {
  const { title = 'Untitled', description = '', number } = job.fields;
  const text = plainText(description);
  const path = pathOf(job);
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
              {[
                ['Posted by', ownerEmail],
                ['Posted', <Moment at={job.createdAt} />],
                ['Last changed', <Moment at={job.updatedAt} />],
                ['Job ID', job.id],
              ].map(([name, value]) => (
                <div>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
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
