// The form to post or edit a job.
import { errorSentence, type JobError } from '../job-rules.ts';
import { stateLists } from '../job-states.ts';
import type { SandboxSettings } from '../settings.ts';
import type { JobFields } from '../store/jobs.ts';
import { Field } from './form-field.tsx';
import { Layout, type Visit } from './layout.tsx';

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
export const formFields = (settings: Pick<SandboxSettings, 'stateField'>): readonly string[] => [
  'title',
  'number',
  'category-name',
  'description',
  'location-city',
  settings.stateField,
  'contact-email-address',
  'contact-web-address',
];

export const JobFormPage = ({ visit, title, action, fields, errors, settings }: JobFormProps) => {
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
