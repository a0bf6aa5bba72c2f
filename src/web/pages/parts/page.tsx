// What all pages and all forms have in common: who asks, and what they may do.

import { randomBytes } from 'node:crypto';
import type { Context, Handler } from 'hono';
import { z } from 'zod';
import type { Scope } from '../../../config/build/web-config.ts';
import type { ProcessControl } from '../../../operations/control.ts';
import { type OperationContext, OperationRefused, type SingleOperation } from '../../../operations/operation.ts';
import { faultInWords, fromText, isList, membersOf } from '../../../operations/scalars.ts';
import type { App } from '../../../runtime/app.ts';
import { ProblemError } from '../../problem.ts';
import { expectOwnPage, type Visitor } from '../../visitor.ts';
import type { WebEnv } from '../../web-env.ts';
import { ownAddress, SignIn } from '../sign-in.tsx';
import { linkTo, type Visit, Visiting } from './addresses.ts';
import { Layout } from './layout.tsx';
import { wholeSentence } from './parts.tsx';
import { type Form, malformed, readForm } from './read-form.ts';

/** What the pages work with. */
export interface PageContext {
  readonly app: App;
  readonly control: ProcessControl;
}

export interface PageVisit {
  readonly c: Context<WebEnv>;
  readonly visit: Visit & { readonly visitor: Visitor };
  /** For the audit. */
  readonly actor: string;
  /** A parameter of the address; `undefined` if it is missing or empty. @throws {ProblemError} if it is given twice or holds a NUL */
  query(name: string): string | undefined;
  /** Answers with a page, by default with 200 as with the page that a handler returns. */
  html(page: Rendered, status?: 400 | 409 | 422): Response | Promise<Response>;
  /** Answers with another page of ours, which the browser then asks for. */
  goTo(address: string): Response;
}

type Rendered = ReturnType<typeof Layout>;
type Page = Rendered | Response;

type Show = (asked: PageVisit) => Promise<Page>;

/** A page, for all who may read, or have another scope. Others are sent to sign in, and come back afterwards. */
export const showPage = (show: Show, scope: Scope = 'read'): Handler<WebEnv> =>
  showTo(scope, scope === 'read' ? (c, visitor) => renderOnce(c, visitor, show) : showAlone(show));

/** A file of any size for all who may read, made for each. */
export const sendFile = (show: (asked: PageVisit) => Promise<Response>): Handler<WebEnv> =>
  showTo('read', showAlone(show));

type Answer = (c: Context<WebEnv>, visitor: Visitor) => Promise<Response>;

const showTo =
  (scope: Scope, answerTo: Answer): Handler<WebEnv> =>
  async (c) => {
    const visitor = await c.get('visitor')();
    if (visitor === undefined) return c.redirect(c.get('client').prefix + signInAddress(c), 303);
    expectScope(visitor, scope);
    return answerTo(c, visitor);
  };

const showAlone =
  (show: Show): Answer =>
  async (c, visitor) => {
    const asked = await pageVisit(c, visitor);
    return answer(asked, await show(asked));
  };

/** Stands for the CSRF token of a session in a page that several sessions of one user are shown. */
const ANY_CSRF = randomBytes(32).toString('base64url');

/**
 * Reads and renders a page once for all browsers of a user, and for all on this machine if nobody signs in, that ask for it at the same
 * time. It may be a redirection, but no other answer.
 */
async function renderOnce(c: Context<WebEnv>, visitor: Visitor, show: Show): Promise<Response> {
  const { actor, scopes, signedIn } = visitor;
  const { pathname, search } = new URL(c.req.url);
  const name = JSON.stringify(['page', pathname + search, c.get('client').prefix, actor, [...scopes], signedIn?.name]);
  const rendered = await c.get('share')(name, async () => {
    const anyOfThem = { ...visitor, signedIn: signedIn && { ...signedIn, csrf: ANY_CSRF } };
    const asked = await pageVisit(c, anyOfThem);
    const page = await show(asked);
    return page instanceof Response ? page : `${await pageFor(asked.visit, page)}`;
  });
  if (rendered instanceof Response) {
    if (rendered.body !== null) throw new Error(`${pathname} answers with a body that only one reader can have`);
    return new Response(null, rendered);
  }
  return c.html(signedIn === undefined ? rendered : rendered.replaceAll(ANY_CSRF, signedIn.csrf));
}

/**
 * A form that changes something: only from our own page, and only by those who may.
 * @param mostUploaded bytes of files, if it takes any
 */
export function actOnForm(
  scope: Scope,
  act: (asked: PageVisit & { readonly form: Form }) => Promise<Page>,
  mostUploaded?: number,
): Handler<WebEnv> {
  return async (c) => {
    const visitor = await c.get('visitor')();
    if (visitor === undefined) return signInAgain(c, mostUploaded !== undefined);
    // Others upload nothing.
    if (mostUploaded !== undefined) expectScope(visitor, scope);
    const form = await readForm(c.req, mostUploaded);
    expectOwnPage(c.env.incoming, c.get('client'), visitor, form.one('csrf'));
    expectScope(visitor, scope);
    const asked = { ...(await pageVisit(c, visitor)), form };
    return answer(asked, await act(asked));
  };
}

/** What an operation works with when a page asks for it. */
export const askedBy = ({ app, control }: PageContext, actor: string): OperationContext => ({ app, actor, control });

/** The pages around a form that asks for an operation. */
interface FormPages<Input, Output> {
  /** Members that a form must name, although the operation does without them: what the person was shown. */
  readonly required?: readonly (keyof Input & string)[];
  /** Refuses a form before anything is done, for what the next page needs of it. @throws {ProblemError} */
  before?(form: Form): Promise<unknown>;
  /** The address of the page that follows, or a page that says what was left. */
  next(done: Output, form: Form, asked: PageVisit): string | Promise<string | Response>;
  /** The page that says why nothing was done; by default that of an error. */
  refused?(why: OperationRefused, asked: SentForm, input: Input): Promise<Page>;
}

type SentForm = PageVisit & { readonly form: Form };

/** The same for a form that asks for an operation: its input is what the address and the form name of its members. */
export const operationForm = <Input extends z.ZodType, Output extends z.ZodType>(
  context: PageContext,
  operation: SingleOperation<Input, Output>,
  pages: FormPages<z.output<Input>, z.output<Output>>,
): Handler<WebEnv> => actOnForm(operation.scope, (asked) => runForm(context, operation, pages, asked));

/** The same of a form that was read. */
export async function runForm<Input extends z.ZodType, Output extends z.ZodType>(
  context: PageContext,
  operation: SingleOperation<Input, Output>,
  pages: FormPages<z.output<Input>, z.output<Output>>,
  asked: SentForm,
): Promise<Page> {
  const { c, form } = asked;
  for (const name of pages.required ?? []) expectPresent(form, name);
  await pages.before?.(form);
  const input = readInput(operation, (name, list) => c.req.param(name) ?? (list ? form.all(name) : form.one(name)));
  try {
    const next = await pages.next(await operation.run(input, askedBy(context, asked.actor)), form, asked);
    return typeof next === 'string' ? asked.goTo(next) : next;
  } catch (error) {
    if (!(error instanceof OperationRefused) || pages.refused === undefined) throw error;
    return pages.refused(error, asked, input);
  }
}

function expectPresent(form: Form, name: string): void {
  if (form.all(name).some((value) => value !== '')) return;
  throw malformed(name, 'is missing: open the page again');
}

/** @throws {ProblemError} with everything that is wrong */
export function readInput<Input extends z.ZodType>(
  { input }: { readonly input: Input },
  textIn: (name: string, list: boolean) => string | readonly string[] | undefined,
): z.output<Input> {
  const members = Object.entries(membersOf(formNamed(input, textIn)));
  const given = Object.fromEntries(
    members.map(([name, schema]) => {
      const written = textIn(name, isList(schema));
      return [name, written === undefined || written.length === 0 ? undefined : written];
    }),
  );
  const read = z.object(Object.fromEntries(members.map(([name, schema]) => [name, fromText(schema)]))).safeParse(given);
  // What was read of one of several forms is not read again: it may have become something else.
  const checked = read.success && input instanceof z.ZodObject ? input.safeParse(read.data) : read;
  if (checked.success) return checked.data as z.output<Input>;
  const faults = checked.error.issues.map((issue) => ({ where: issue.path.join('.'), message: faultInWords(issue) }));
  const detail = faults.map(({ where, message }) => `${where} ${message}`).join('; ');
  throw new ProblemError({ status: 400, detail, faults });
}

/** Of an input that has several forms, the one that is named. */
function formNamed(input: z.ZodType, textIn: (name: string, list: boolean) => unknown): z.ZodType {
  if (!(input instanceof z.ZodDiscriminatedUnion)) return input;
  const { discriminator } = input.def;
  const named = textIn(discriminator, false);
  const form = input.options.find((each) => membersOf(each as z.ZodType)[discriminator]?.safeParse(named).success);
  if (form !== undefined) return form as z.ZodType;
  throw malformed(discriminator, faultInWords(input.safeParse({ [discriminator]: named }).error?.issues[0]));
}

const SIGNED_OUT = 'your session has ended and nothing was changed; sign in again';
/** Of a form that is sent along with a sign-in. */
const MOST_KEPT = 200_000;

/** Keeps what a person has typed until they have signed in again; other pages than ours, and files, are sent again by their own means. */
async function signInAgain(c: Context<WebEnv>, takesFiles: boolean): Promise<Response> {
  const { origin, prefix } = c.get('client');
  const isOwn = c.req.header('origin')?.toLowerCase() === origin;
  const fields = isOwn && !takesFiles ? (await readForm(c.req)).encoded() : undefined;
  if (fields === undefined || fields.length > MOST_KEPT) {
    throw new ProblemError({ status: 401, detail: `${SIGNED_OUT} and repeat it` });
  }
  const { pathname, search } = new URL(c.req.url);
  const sent = { address: pathname + search, fields };
  const error = wholeSentence(`${SIGNED_OUT}, and what you entered can be sent then`);
  return c.html(<SignIn prefix={prefix} name="" to={pageOfForm(c)} sent={sent} error={error} />, 401);
}

/** The page that a form was on, if the browser says so and it can be asked for again. */
export function pageOfForm({ req, get }: Context<WebEnv>): string {
  const { origin, prefix } = get('client');
  const from = req.header('referer') ?? '';
  if (!from.toLowerCase().startsWith(`${origin}${prefix}/`)) return '/';
  // What an answer to a form shows has the address of the form.
  const at = from.slice(origin.length + prefix.length);
  return at === new URL(req.url).pathname || at === '/sign-in' ? '/' : ownAddress(at);
}

const answer = ({ html }: PageVisit, page: Page): Response | Promise<Response> =>
  page instanceof Response ? page : html(page);

const pageFor = (visit: Visit, page: Rendered): Rendered => <Visiting value={visit}>{page}</Visiting>;

async function pageVisit(c: Context<WebEnv>, visitor: Visitor): Promise<PageVisit> {
  const { prefix } = c.get('client');
  const visit = { prefix, visitor, pauses: await c.get('pauses')(), aboutFeed: c.get('aboutFeed') };
  return {
    c,
    visit,
    actor: visitor.actor,
    html: (page, status) => c.html(pageFor(visit, page), status),
    query(name) {
      const values = c.req.queries(name) ?? [];
      const fault = values.length > 1 ? 'is given twice' : values[0]?.includes('\0') ? 'holds a NUL character' : '';
      if (fault === '') return values[0] || undefined;
      throw new ProblemError({
        status: 400,
        detail: `the parameter ${name} ${fault}`,
        faults: [{ where: `query.${name}`, message: fault }],
      });
    },
    goTo: (address) => c.redirect(prefix + address, 303),
  };
}

function expectScope({ scopes }: Visitor, scope: Scope): void {
  if (scopes.has(scope)) return;
  throw new ProblemError({ status: 403, detail: `you may not do this: it needs the scope ${scope}` });
}

/** Comes back to the page that was asked for. */
function signInAddress({ req }: Context<WebEnv>): string {
  const { pathname, search } = new URL(req.url);
  return pathname === '/' && search === '' ? '/sign-in' : `/sign-in?${new URLSearchParams({ to: pathname + search })}`;
}

interface ErrorPageProps {
  readonly visit: Visit;
  readonly title: string;
  readonly detail: string;
  /** The page whose form failed. */
  readonly back?: string | undefined;
}

/** A failed request, for people. */
export const ErrorPage = ({ visit, ...failure }: ErrorPageProps) => (
  <Visiting value={visit}>
    <Failure {...failure} />
  </Visiting>
);

const Failure = ({ title, detail, back = '/' }: Omit<ErrorPageProps, 'visit'>) => (
  <Layout title={title}>
    <p role="alert">{wholeSentence(detail)}</p>
    <p class="row">
      {back !== '/' && <a href={linkTo(back)}>Back to the page before</a>}
      <a href={linkTo('/')}>Back to the overview</a>
    </p>
  </Layout>
);
