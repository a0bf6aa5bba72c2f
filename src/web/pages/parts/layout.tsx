// The HTML document around every page.
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { type PauseSubject, type PersonsPause, pauseInFull, pausesOf } from '../../../plan/pause-words.ts';
import { formatTime } from '../../../telemetry/times.ts';
import { currentVisit, linkTo, mayReview, pageAddress } from './addresses.ts';
import { Check, Submit, sentence } from './parts.tsx';

/** The pages that the navigation leads to. */
export type NavigationName = keyof typeof NAVIGATION;

const NAVIGATION = {
  overview: 'Overview',
  review: 'Review',
  pulls: 'Pulls',
  changes: 'Changes',
  jobs: 'Jobs',
  sites: 'Sites',
  queues: 'Queues',
  activity: 'Activity',
} as const;

export interface LayoutProps {
  readonly title: string;
  readonly section?: NavigationName | undefined;
  /** Whose pauses are shown besides that of everything: those of what the page is about, or each of a feed or site. */
  readonly about?: PauseSubject | 'all' | undefined;
  readonly children: Child;
}

export const Layout = ({ title, section, about, children }: LayoutProps) => {
  const { visitor, pauses = [] } = currentVisit();
  return (
    <>
      {raw('<!DOCTYPE html>')}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{`${title} – jobmirror`}</title>
          <link rel="icon" href={linkTo('/icon.svg')} type="image/svg+xml" />
          <link rel="stylesheet" href={linkTo('/style.css')} />
          <script src={linkTo('/pages.js')} defer />
        </head>
        <body>
          <a class="skip" href="#content">
            Skip to the content
          </a>
          <header class="top">
            <a class="name" href={linkTo('/')}>
              jobmirror
            </a>
            {visitor !== undefined && <Navigation section={section} />}
            {mayReview() && !pauses.some(isOfAll) && (
              <a class="stop" href={linkTo(pageAddress.pause({}))}>
                Stop everything
              </a>
            )}
            {visitor?.signedIn !== undefined && (
              <PostForm action="/sign-out" class="account">
                <span>{visitor.signedIn.name}</span> <button type="submit">Sign out</button>
              </PostForm>
            )}
          </header>
          <main id="content" tabindex={-1}>
            {shownPauses(pauses, about).map((pause) => (
              <p class="notice warn">
                {`${sentence(pauseInFull(pause, formatTime))}. `}
                {mayReview() && <a href={linkTo(pageAddress.pause(pause))}>Resume or change it</a>}
              </p>
            ))}
            <h1>{title}</h1>
            {children}
          </main>
        </body>
      </html>
    </>
  );
};

const isOfAll = ({ site, feed }: PersonsPause): boolean => site === undefined && feed === undefined;
function shownPauses(pauses: readonly PersonsPause[], about: LayoutProps['about']): readonly PersonsPause[] {
  if (about === 'all') return pauses;
  return about === undefined ? pauses.filter(isOfAll) : pausesOf(pauses, about);
}

const Navigation = ({ section }: Pick<LayoutProps, 'section'>) => (
  <nav aria-label="Pages">
    <ul>
      {Object.entries(NAVIGATION).map(([name, label]) => (
        <li>
          <a href={linkTo(pageAddress[name as NavigationName]())} aria-current={name === section ? 'page' : undefined}>
            {label}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

/** What a form names beside what the person enters. */
type HiddenValues = Readonly<Record<string, string | number | undefined>>;

const HiddenFields = ({ of }: { of: HiddenValues }) => (
  <>
    {Object.entries(of).map(
      ([name, value]) => value !== undefined && <input type="hidden" name={name} value={value} />,
    )}
  </>
);

interface PostFormProps {
  /** Below the prefix of the client. */
  readonly action: string;
  readonly id?: string;
  readonly class?: string;
  readonly 'aria-label'?: string;
  readonly 'aria-labelledby'?: string;
  /** Of a form that takes files. */
  readonly enctype?: 'multipart/form-data';
  readonly hidden?: HiddenValues;
  readonly children: Child;
}

/** A form that changes something. Its token proves that our own page sent it. */
export const PostForm = ({ action, hidden = {}, children, ...attributes }: PostFormProps) => (
  <form method="post" action={linkTo(action)} {...attributes}>
    <HiddenFields of={{ csrf: currentVisit().visitor?.signedIn?.csrf, ...hidden }} />
    {children}
  </form>
);

interface PanelFormProps extends Omit<PostFormProps, 'class' | 'children'> {
  readonly title?: string;
  readonly hint?: Child;
  /** What the person has to confirm. */
  readonly confirmed?: string;
  readonly submit: string;
  readonly kind?: 'main' | 'danger' | undefined;
  readonly children?: Child;
}

/** A form that decides one thing. */
export const PanelForm = ({ title, hint, confirmed, submit, kind, children, ...form }: PanelFormProps) => (
  <PostForm aria-label={title ?? submit} {...form} class="panel">
    {title !== undefined && (
      <p>
        <strong>{title}</strong>
      </p>
    )}
    {children}
    {hint !== undefined && <p class="hint">{hint}</p>}
    {confirmed !== undefined && (
      <Check name="confirmed" required>
        {confirmed}
      </Check>
    )}
    <Submit kind={kind}>{submit}</Submit>
  </PostForm>
);
