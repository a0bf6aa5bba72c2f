// Signing in and out of the pages.

import { type Context, Hono } from 'hono';
import { type Sessions, sessionCookie } from '../sessions.ts';
import { expectOwnPage } from '../visitor.ts';
import type { WebEnv } from '../web-env.ts';
import { Layout } from './parts/layout.tsx';
import { ownAddress } from './parts/page.tsx';
import { readForm } from './parts/read-form.ts';

export function signInRoutes(sessions: Sessions): Hono<WebEnv> {
  const routes = new Hono<WebEnv>();
  routes.get('/sign-in', (c) =>
    c.html(<SignIn prefix={c.get('client').prefix} name="" to={ownAddress(c.req.query('to'))} error={undefined} />),
  );
  routes.post('/sign-in', async (c) => {
    const client = c.get('client');
    // A page elsewhere must not sign somebody in under another name.
    const nobody = { actor: '', scopes: new Set<never>(), signedIn: undefined, byBrowser: true };
    expectOwnPage(c.env.incoming, client, nobody, undefined);
    const form = await readForm(c.req);
    const [name = '', password = ''] = [form.one('name'), form.one('password')];
    const to = ownAddress(form.one('to'));
    const result = await sessions.signIn(client, name, password);
    if (result.kind === 'signed_in') {
      await sessions.end(cookiesOf(c));
      c.header('Set-Cookie', sessionCookie(result.secret, client));
      return c.redirect(client.prefix + to, 303);
    }
    const again = { prefix: client.prefix, name, to };
    if (result.kind === 'wrong') return c.html(<SignIn {...again} error="Name or password is wrong." />, 401);
    c.header('Retry-After', String(result.waitSeconds));
    if (result.kind === 'busy') {
      const error = `Too many people are signing in. Try again in ${result.waitSeconds} s.`;
      return c.html(<SignIn {...again} error={error} />, 503);
    }
    const error = `Too many wrong attempts. Try again in ${Math.ceil(result.waitSeconds / 60)} min.`;
    return c.html(<SignIn {...again} error={error} />, 429);
  });
  routes.post('/sign-out', async (c) => {
    const client = c.get('client');
    const visitor = await c.get('visitor')();
    if (visitor !== undefined) {
      const form = await readForm(c.req);
      expectOwnPage(c.env.incoming, client, visitor, form.one('csrf'));
      await sessions.end(cookiesOf(c));
    }
    c.header('Set-Cookie', sessionCookie(undefined, client));
    return c.redirect(`${client.prefix}/sign-in`, 303);
  });
  return routes;
}

const cookiesOf = (c: Context<WebEnv>): string => c.req.header('cookie') ?? '';

interface SignInProps {
  readonly prefix: string;
  readonly name: string;
  /** The page to go to afterwards. */
  readonly to: string;
  readonly error: string | undefined;
}

const SignIn = ({ prefix, name, to, error }: SignInProps) => (
  <Layout title="Sign in" visit={{ prefix, visitor: undefined }}>
    <form method="post" action={`${prefix}/sign-in`}>
      <input type="hidden" name="to" value={to} />
      {error !== undefined && (
        <p role="alert" id="error">
          {error}
        </p>
      )}
      <p>
        <label for="name">Name</label>
        <input
          id="name"
          name="name"
          value={name}
          autocomplete="username"
          required
          aria-describedby={error === undefined ? undefined : 'error'}
        />
      </p>
      <p>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required />
      </p>
      <p>
        <button type="submit">Sign in</button>
      </p>
    </form>
  </Layout>
);
