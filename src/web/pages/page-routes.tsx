// The pages: sign in, sign out, and the overview.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Context, Hono } from 'hono';
import { parse } from 'hono/utils/cookie';
import { packageRoot } from '../../config/package-root.ts';
import type { App } from '../../runtime/app.ts';
import { readStatus } from '../../runtime/read-status.ts';
import { COOKIE, type Sessions, sessionCookie } from '../access/sessions.ts';
import { expectOwnPage, isOpen } from '../access/visitor.ts';
import type { WebEnv } from '../web-env.ts';
import { Overview } from './overview.tsx';
import { readForm } from './read-form.ts';
import { SignIn } from './sign-in.tsx';

const STYLE = readFileSync(join(packageRoot, 'src', 'web', 'pages', 'style.css'), 'utf8');

export function pageRoutes(app: App, sessions: Sessions): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();
  pages.get('/style.css', (c) => c.body(STYLE, 200, { 'Content-Type': 'text/css', 'Cache-Control': 'max-age=300' }));
  pages.get('/', async (c) => {
    const { prefix } = c.get('client');
    const visitor = await c.get('visitor')();
    if (visitor === undefined) return c.redirect(`${prefix}/sign-in`, 303);
    return c.html(<Overview status={await readStatus(app)} visit={{ prefix, visitor }} />);
  });
  if (isOpen(app.config.web)) return pages;
  pages.get('/sign-in', (c) => c.html(<SignIn prefix={c.get('client').prefix} name="" error={undefined} />));
  pages.post('/sign-in', async (c) => {
    const client = c.get('client');
    // A page elsewhere must not sign somebody in under another name.
    const nobody = { actor: '', scopes: new Set<never>(), signedIn: undefined, byBrowser: true };
    expectOwnPage(c.env.incoming, client, nobody, undefined);
    const { name = '', password = '' } = await readForm(c.req);
    const result = await sessions.signIn(client, name, password);
    if (result.kind === 'signed_in') {
      await sessions.end(cookieOf(c));
      c.header('Set-Cookie', sessionCookie(result.secret, client));
      return c.redirect(`${client.prefix}/`, 303);
    }
    if (result.kind === 'wrong') {
      return c.html(<SignIn prefix={client.prefix} name={name} error="Name or password is wrong." />, 401);
    }
    const error = `Too many wrong attempts. Try again in ${Math.ceil(result.waitSeconds / 60)} min.`;
    c.header('Retry-After', String(result.waitSeconds));
    return c.html(<SignIn prefix={client.prefix} name={name} error={error} />, 429);
  });
  pages.post('/sign-out', async (c) => {
    const client = c.get('client');
    const visitor = await c.get('visitor')();
    if (visitor !== undefined) {
      const { csrf } = await readForm(c.req);
      expectOwnPage(c.env.incoming, client, visitor, csrf);
      await sessions.end(cookieOf(c));
    }
    c.header('Set-Cookie', sessionCookie(undefined, client));
    return c.redirect(`${client.prefix}/sign-in`, 303);
  });
  return pages;
}

const cookieOf = (c: Context<WebEnv>): string | undefined => parse(c.req.header('cookie') ?? '', COOKIE)[COOKIE];
