// Turns a request for a page into what every page route needs: who is asking, the XML form of the page, form fields.
import type { Context } from 'hono';
import { html } from 'hono/html';
import { HTTPException } from 'hono/http-exception';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { SiteEnv } from '../job-site.ts';
import type { Visit } from './layout.tsx';

/** A page, rendered. */
export type Page = HtmlEscapedString | Promise<HtmlEscapedString>;

/** A visit to a page that has an XML form. */
export function visitOf(c: Context<SiteEnv>): Visit {
  const { pathname, search } = new URL(c.req.url);
  return { account: c.get('account'), xmlPath: `${pathname}.xml${search}` };
}

/** A visit to a page for browsers only, such as a form. */
export const plainVisit = (c: Context<SiteEnv>): Visit => ({ account: c.get('account') });

/** The answer that shows a page. */
export const show = (
  c: Context<SiteEnv>,
  page: Page,
  status: 200 | 401 | 403 | 404 | 422 | 429 | 500 = 200,
): Response | Promise<Response> => c.html(html`<!DOCTYPE html>${page}`, status);

const notForXml = /[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/**
 * The text fields of a form that was sent; line ends as XML has them, without characters that XML can't carry.
 * Files and repeated fields are passed over.
 * @throws HTTPException 400 if the body is not the form that its content type names
 */
export async function formOf(c: Context<SiteEnv>): Promise<(name: string) => string> {
  const form = await c.req.parseBody().catch((error: unknown) => {
    // What cannot be parsed is a TypeError (Fetch, `formData()`); a body above the limit is another error, answered with 413.
    if (error instanceof TypeError) throw new HTTPException(400, { message: 'This is not a form.', cause: error });
    throw error;
  });
  return (name) => {
    const value = Object.hasOwn(form, name) ? form[name] : undefined;
    return typeof value === 'string' ? value.replace(/\r\n?/g, '\n').replace(notForXml, '') : '';
  };
}

/** Where to go after logging in: a path of this site, never an address elsewhere, as a browser would read it. */
export function localPath(path: string): string {
  const base = 'http://sandbox.invalid';
  if (!path.startsWith('/') || !URL.canParse(path, base)) return '/account';
  const { origin, pathname, search, hash } = new URL(path, base);
  // A path that begins with two slashes names a host.
  return origin === base && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/account';
}

/** The way to the log-in page, and back here afterwards. */
export const toLogin = (c: Context<SiteEnv>, next: string): Response =>
  c.redirect(`/login?${new URLSearchParams({ next })}`, 303);
