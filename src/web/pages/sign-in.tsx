// Signing in and out of the pages.

import { type Context, Hono } from 'hono';
import { type Sessions, sessionCookie } from '../sessions.ts';
import { expectOwnPage } from '../visitor.ts';
import type { WebEnv } from '../web-env.ts';
import { Visiting } from './parts/addresses.ts';
import { Layout } from './parts/layout.tsx';
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
    const fields = form.one('sent');
    const sent = fields === undefined ? undefined : { address: ownAddress(form.one('sent_to')), fields };
    const result = await sessions.signIn(client, name, password);
    if (result.kind === 'signed_in') {
      await sessions.end(cookiesOf(c));
      c.header('Set-Cookie', sessionCookie(result.secret, client));
      if (sent === undefined) return c.redirect(client.prefix + to, 303);
      return c.html(<SendAgain prefix={client.prefix} name={name} to={to} sent={sent} csrf={result.csrf} />);
    }
    const again = { prefix: client.prefix, name, to, sent };
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
  /** A form that was sent after the end of a session. */
  readonly sent?: SentForm | undefined;
  readonly error: string | undefined;
}

interface SentForm {
  readonly address: string;
  /** URL-encoded. */
  readonly fields: string;
}

/** The page that a sign-in leads to: one of ours, whatever the address of the form names. */
export function ownAddress(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])[^\s\\\0]*$/.test(to) ? to : '/';
}

interface SendAgainProps extends Omit<SignInProps, 'error'> {
  readonly sent: SentForm;
  readonly csrf: string;
}

/** Somebody else may have signed in, and much may have changed: it is sent only if they say so, and checked like any form. */
const SendAgain = ({ prefix, name, to, sent, csrf }: SendAgainProps) => (
  <Visiting value={{ prefix, visitor: undefined }}>
    <Layout title="Send what you entered?">
      <p>{`You are signed in as ${name}. What was entered before the session ended has not been sent yet.`}</p>
      <form method="post" action={prefix + sent.address}>
        {[...new URLSearchParams(sent.fields)].map(([field, value]) => (
          <input type="hidden" name={field} value={value} />
        ))}
        <input type="hidden" name="csrf" value={csrf} />
        <p class="row">
          <button type="submit" class="main">
            Send it
          </button>
          <a href={prefix + to}>Go on without sending it</a>
        </p>
      </form>
    </Layout>
  </Visiting>
);

export const SignIn = ({ prefix, name, to, sent, error }: SignInProps) => (
  <Visiting value={{ prefix, visitor: undefined }}>
    <Layout title="Sign in">
      <form method="post" action={`${prefix}/sign-in`}>
        <input type="hidden" name="to" value={to} />
        {sent !== undefined && (
          <>
            <input type="hidden" name="sent_to" value={sent.address} />
            <input type="hidden" name="sent" value={sent.fields} />
          </>
        )}
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
  </Visiting>
);
