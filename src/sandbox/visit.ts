// What every page route needs from a request: the account, the page's XML form, form fields.
import type { Context } from 'hono';
import { html } from 'hono/html';
import { HTTPException } from 'hono/http-exception';
import type { Child } from 'hono/jsx';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { SiteEnv } from './job-site.ts';
import { MessagePage, type Visit } from './layout.tsx';

/** A rendered page. */
export type Page = HtmlEscapedString | Promise<HtmlEscapedString>;

/** A visit to a page that has an XML form. */
export function visitOf(c: Context<SiteEnv>): Visit {
  const { pathname, search } = new URL(c.req.url);
  return { account: c.get('account'), xmlPath: `${pathname}.xml${search}` };
}

/** A visit to a page for browsers only, such as a form. */
export const visitWithoutForms = (c: Context<SiteEnv>): Visit => ({ account: c.get('account') });

export const show = (
  c: Context<SiteEnv>,
  page: Page,
  status: 200 | 401 | 403 | 404 | 422 | 429 | 500 = 200,
): Response | Promise<Response> => c.html(html`<!DOCTYPE html>${page}`, status);

export const showMessage = (
  c: Context<SiteEnv>,
  status: Parameters<typeof show>[2],
  title: string,
  children: Child,
): Response | Promise<Response> => show(c, MessagePage({ title, visit: visitWithoutForms(c), children }), status);

const notForXml = /[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/**
 * The text fields of a submitted form, with XML line ends and without characters that XML can't carry.
 * Ignores files and repeated fields.
 * @throws HTTPException 400 if the body does not match its content type
 */
export async function formOf(c: Context<SiteEnv>): Promise<(name: string) => string> {
  const form = await c.req.parseBody().catch((error: unknown) => {
    // An unparsable body throws a TypeError (Fetch, `formData()`); an oversized one throws another error, hence a 413.
    if (error instanceof TypeError) throw new HTTPException(400, { message: 'This is not a form.', cause: error });
    throw error;
  });
  return (name) => {
    const value = Object.hasOwn(form, name) ? form[name] : undefined;
    return typeof value === 'string' ? value.replace(/\r\n?/g, '\n').replace(notForXml, '') : '';
  };
}

/** The page to go to after logging in: always a path of this site, parsed as a browser would. */
export function localPath(path: string): string {
  const base = 'http://sandbox.invalid';
  if (!path.startsWith('/') || !URL.canParse(path, base)) return '/account';
  const { origin, pathname, search, hash } = new URL(path, base);
  // A path that begins with two slashes names a host.
  return origin === base && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/account';
}

/** Redirects to the log-in page, and from there back to `next`. */
export const toLogin = (c: Context<SiteEnv>, next: string): Response =>
  c.redirect(`/login?${new URLSearchParams({ next })}`, 303);
