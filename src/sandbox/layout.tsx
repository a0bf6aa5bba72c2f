// The HTML document around every page: head, navigation, footer. Formats numbers, times and places for the pages.
import type { Child } from 'hono/jsx';
import type { Account } from './accounts.ts';
import type { State } from './job-rules.ts';
import type { Job } from './jobs.ts';

/** What every page knows about its request. */
export interface Visit {
  readonly account: Account | undefined;
  /** Path and query of the XML form of this page; absent if it has none. */
  readonly xmlPath?: string;
}

const NavigationLink = ({ href, here, children }: { href: string; here: string; children: Child }) => (
  <a href={href} aria-current={here === href ? 'page' : undefined}>
    {children}
  </a>
);

/** The frame of every page. `here` is the current navigation entry. */
export const Layout = ({
  title,
  here = '',
  visit,
  children,
}: {
  title: string;
  here?: string;
  visit: Visit;
  children: Child;
}) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title} – Sandbox Jobs</title>
      <link rel="stylesheet" href="/style.css" />
      <link rel="icon" href="data:," />
      {visit.xmlPath ? <link rel="alternate" type="application/xml" href={visit.xmlPath} /> : null}
    </head>
    <body>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="site-header">
        <div class="wide">
          <a class="brand" href="/">
            Sandbox Jobs <span class="badge">practice site</span>
          </a>
          <nav aria-label="Main">
            <NavigationLink href="/jobs" here={here}>
              Jobs
            </NavigationLink>
            <NavigationLink href="/states" here={here}>
              States
            </NavigationLink>
            <NavigationLink href="/requests" here={here}>
              Requests
            </NavigationLink>
          </nav>
          <nav aria-label="Account" class="account">
            {visit.account ? (
              <>
                <NavigationLink href="/account/jobs" here={here}>
                  My jobs
                </NavigationLink>
                <NavigationLink href="/account" here={here}>
                  My Account
                </NavigationLink>
                <form method="post" action="/logout">
                  <button class="plain" type="submit">
                    Log out
                  </button>
                </form>
              </>
            ) : (
              <>
                <NavigationLink href="/login" here={here}>
                  Log in
                </NavigationLink>
                <NavigationLink href="/register" here={here}>
                  Register
                </NavigationLink>
              </>
            )}
            <a class="button" href="/jobs/new">
              Post a job
            </a>
          </nav>
        </div>
      </header>
      <main id="content" class="wide">
        {children}
      </main>
      <footer class="wide">
        <p>
          This site is a sandbox of jobmirror: try a feed on it before you touch the real site. Nothing here is
          published anywhere.
        </p>
        {visit.xmlPath ? (
          <p>
            <a href={visit.xmlPath}>This page as XML</a>
          </p>
        ) : null}
      </footer>
    </body>
  </html>
);

/** The heading of a list, with how many things it has. */
export const TitleLine = ({ title, count }: { title: string; count: string }) => (
  <div class="title-line">
    <h1>{title}</h1>
    <p class="count">{count}</p>
  </div>
);

/** A page with just a message. */
export const MessagePage = ({ title, visit, children }: { title: string; visit: Visit; children: Child }) => (
  <Layout title={title} visit={visit}>
    <h1>{title}</h1>
    <p>{children}</p>
    <p>
      <a href="/">To the home page</a>
    </p>
  </Layout>
);

// Formats numbers, times and places for the pages.

const number = new Intl.NumberFormat('en-US');
const day = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', dateStyle: 'medium' });
const moment = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', dateStyle: 'medium', timeStyle: 'medium' });

/** "1 job", "1,234 jobs". */
export const quantity = (count: number, thing: string): string =>
  `${number.format(count)} ${thing}${count === 1 ? '' : 's'}`;

/** A day, for lists. */
export const Day = ({ at }: { at: Date }) => <time datetime={at.toISOString()}>{day.format(at)}</time>;

/** A day and time with its zone. */
export const Moment = ({ at }: { at: Date }) => <time datetime={at.toISOString()}>{moment.format(at)} UTC</time>;

/** "Boston, Massachusetts". */
export const placeOf = (job: Job, state: State | undefined): string =>
  [job.fields['location-city'], state?.name ?? job.state].filter(Boolean).join(', ');

// A form field: label, input and error message, linked for screen readers.

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'url' | 'password' | 'textarea' | 'select';
  readonly value?: string;
  readonly hint?: string;
  readonly error?: string;
  readonly required?: boolean;
  readonly autocomplete?: string;
  /** The options of a select. */
  readonly children?: Child;
}

export const Field = ({
  name,
  label,
  type = 'text',
  value = '',
  hint,
  error,
  required,
  autocomplete,
  children,
}: FieldProps) => {
  const notes = [hint ? `${name}-hint` : '', error ? `${name}-error` : ''].filter(Boolean).join(' ');
  const common = {
    id: name,
    name,
    required,
    'aria-invalid': error ? ('true' as const) : undefined,
    'aria-describedby': notes || undefined,
  };
  return (
    <div class={error ? 'field wrong' : 'field'}>
      <label for={name}>
        {label}
        {required ? null : <span class="optional"> (optional)</span>}
      </label>
      {hint ? (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      ) : null}
      {type === 'textarea' ? (
        <textarea {...common} rows={12}>
          {value}
        </textarea>
      ) : type === 'select' ? (
        <select {...common}>{children}</select>
      ) : (
        <input {...common} type={type} value={value} autocomplete={autocomplete} />
      )}
      {error ? (
        <p class="error" id={`${name}-error`}>
          {error}
        </p>
      ) : null}
    </div>
  );
};
