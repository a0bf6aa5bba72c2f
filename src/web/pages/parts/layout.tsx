// The HTML document around every page.
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { type PauseSubject, type PersonsPause, pauseInFull, pausesOf } from '../../../plan/pause-words.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { formatTime } from '../../../telemetry/times.ts';
import type { Visitor } from '../../visitor.ts';
import { pageAddress } from './addresses.ts';
import { Check, Submit, sentence } from './parts.tsx';

/** What every page knows about its request. */
export interface Visit {
  /** The path below which everything is served. */
  readonly prefix: string;
  /** `undefined`: the page to sign in on, and errors. */
  readonly visitor: Visitor | undefined;
  /** What people have paused. Absent: the page to sign in on, and errors. */
  readonly pauses?: readonly PersonsPause[];
  /** A feed with its site. */
  readonly aboutFeed?: (feed: FeedName) => PauseSubject;
}

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
  readonly visit: Visit;
  readonly section?: NavigationName | undefined;
  /** Whose pauses are shown besides that of everything: those of what the page is about, or each of a feed or site. */
  readonly about?: PauseSubject | 'all' | undefined;
  readonly children: Child;
}

export const Layout = ({ title, visit, section, about, children }: LayoutProps) => {
  const { prefix, visitor } = visit;
  return (
    <>
      {raw('<!DOCTYPE html>')}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{`${title} – jobmirror`}</title>
          <link rel="icon" href={`${prefix}/icon.svg`} type="image/svg+xml" />
          <link rel="stylesheet" href={`${prefix}/style.css`} />
          <script src={`${prefix}/pages.js`} defer />
        </head>
        <body>
          <a class="skip" href="#content">
            Skip to the content
          </a>
          <header class="top">
            <a class="name" href={`${prefix}/`}>
              jobmirror
            </a>
            {visitor !== undefined && <Navigation prefix={prefix} section={section} />}
            {mayReview(visit) && !isAllPaused(visit) && (
              <a class="stop" href={prefix + pageAddress.pause({})}>
                Stop everything
              </a>
            )}
            {visitor?.signedIn !== undefined && (
              <PostForm visit={visit} action={`${prefix}/sign-out`} class="account">
                <span>{visitor.signedIn.name}</span> <button type="submit">Sign out</button>
              </PostForm>
            )}
          </header>
          <main id="content" tabindex={-1}>
            {shownPauses(visit, about).map((pause) => (
              <p class="notice warn">
                {`${sentence(pauseInFull(pause, formatTime))}. `}
                {mayReview(visit) && <a href={prefix + pageAddress.pause(pause)}>Resume or change it</a>}
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
function shownPauses({ pauses = [] }: Visit, about: LayoutProps['about']): readonly PersonsPause[] {
  if (about === 'all') return pauses;
  return about === undefined ? pauses.filter(isOfAll) : pausesOf(pauses, about);
}

const isAllPaused = ({ pauses = [] }: Visit): boolean => pauses.some(isOfAll);

const Navigation = ({ prefix, section }: { prefix: string; section: NavigationName | undefined }) => (
  <nav aria-label="Pages">
    <ul>
      {Object.entries(NAVIGATION).map(([name, label]) => (
        <li>
          <a href={prefix + pageAddress[name as NavigationName]()} aria-current={name === section ? 'page' : undefined}>
            {label}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

/** What a form names beside what the person enters. */
type HiddenValues = Readonly<Record<string, string | number | undefined>>;

export const HiddenFields = ({ of }: { of: HiddenValues }) => (
  <>
    {Object.entries(of).map(
      ([name, value]) => value !== undefined && <input type="hidden" name={name} value={value} />,
    )}
  </>
);

interface PostFormProps {
  readonly visit: Visit;
  readonly action: string;
  readonly id?: string;
  readonly class?: string;
  readonly 'aria-label'?: string;
  readonly hidden?: HiddenValues;
  readonly children: Child;
}

/** A form that changes something. */
export const PostForm = ({ visit, action, hidden = {}, children, ...attributes }: PostFormProps) => (
  <form method="post" action={action} {...attributes}>
    <Csrf visit={visit} />
    <HiddenFields of={hidden} />
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

/** Proves that our own page sent the form. Every form that changes something has it. */
export const Csrf = ({ visit }: { visit: Visit }) =>
  visit.visitor?.signedIn === undefined ? null : (
    <input type="hidden" name="csrf" value={visit.visitor.signedIn.csrf} />
  );

/** Whether the visitor may act, so that pages offer only what they may do. */
export const mayReview = ({ visitor }: Visit): boolean => visitor?.scopes.has('review') === true;
export const mayConfigure = ({ visitor }: Visit): boolean => visitor?.scopes.has('configure') === true;
export const mayPull = ({ visitor }: Visit): boolean => visitor?.scopes.has('pull') === true;
