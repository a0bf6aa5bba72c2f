// The account pages and their routes: register, log in and out, "My Account" with the token and the password
// (site-interface.md, section 5, rules 4 and 5).
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { SESSION_SECONDS } from './accounts.ts';
import type { JobSite, SiteEnv } from './job-site.ts';
import { SESSION_COOKIE } from './job-site.ts';
import { Field, Layout, type Visit } from './layout.tsx';
import { formOf, localPath, show, toLogin, visitWithoutForms } from './visit.ts';

const MAX_PASSWORD = 200;
const emailAddress = /^[^\s@]+@[^\s@]+$/;
const MAX_EMAIL = 254;

const passwordError = (password: string): string | undefined =>
  password.length < MIN_PASSWORD || password.length > MAX_PASSWORD
    ? `Choose a password of ${MIN_PASSWORD} to ${MAX_PASSWORD} characters.`
    : undefined;

const tooManyAttempts = (seconds: number): string =>
  `Too many wrong attempts. Try again in ${Math.ceil(seconds / 60)} min.`;

const addressOf = (c: Context<SiteEnv>): string => getConnInfo(c).remote.address ?? '';

export function addAccountRoutes(app: Hono<SiteEnv>, site: JobSite): void {
  const beginSession = async (c: Context<SiteEnv>, accountId: number): Promise<void> => {
    setCookie(c, SESSION_COOKIE, await site.sessions.begin(accountId), {
      httpOnly: true,
      sameSite: 'Lax',
      secure: new URL(c.req.url).protocol === 'https:',
      path: '/',
      maxAge: SESSION_SECONDS,
    });
  };

  app.get('/register', (c) =>
    show(c, <RegisterPage visit={visitWithoutForms(c)} email="" next={c.req.query('next') ?? ''} errors={{}} />),
  );

  app.post('/register', async (c) => {
    const entered = await formOf(c);
    const [email, password, next] = [entered('email').trim(), entered('password'), entered('next')];
    const wellFormed = emailAddress.test(email) && email.length <= MAX_EMAIL;
    const errors = {
      email: wellFormed ? undefined : 'Enter an e-mail address, such as ann@example.com.',
      password: passwordError(password),
    };
    const account = errors.email || errors.password ? undefined : await site.accounts.register(email, password);
    if (!account) {
      errors.email ??= errors.password ? undefined : 'There is an account with this address. Log in instead.';
      return show(c, <RegisterPage visit={visitWithoutForms(c)} email={email} next={next} errors={errors} />, 422);
    }
    await beginSession(c, account.id);
    return c.redirect(localPath(next), 303);
  });

  app.get('/login', (c) =>
    show(c, <LoginPage visit={visitWithoutForms(c)} email="" next={c.req.query('next') ?? ''} errors={{}} />),
  );

  app.post('/login', async (c) => {
    const entered = await formOf(c);
    const [email, next] = [entered('email'), entered('next')];
    const address = addressOf(c);
    const waitSeconds = site.signIns.begin(address, email);
    if (waitSeconds > 0) {
      c.header('retry-after', String(waitSeconds));
      const errors = { password: tooManyAttempts(waitSeconds) };
      return show(c, <LoginPage visit={visitWithoutForms(c)} email={email} next={next} errors={errors} />, 429);
    }
    const account = await site.accounts.logIn(email, entered('password'));
    if (!account) {
      const errors = { password: 'There is no account with this address and password.' };
      return show(c, <LoginPage visit={visitWithoutForms(c)} email={email} next={next} errors={errors} />, 422);
    }
    site.signIns.recordSuccess(address, email);
    await beginSession(c, account.id);
    return c.redirect(localPath(next), 303);
  });

  app.post('/logout', async (c) => {
    const secret = getCookie(c, SESSION_COOKIE);
    if (secret) await site.sessions.end(secret);
    deleteCookie(c, SESSION_COOKIE, { path: '/' });
    return c.redirect('/', 303);
  });

  app.get('/account', async (c) => {
    const account = c.get('account');
    if (!account) return toLogin(c, '/account');
    const token = c.req.query('show') === 'key' ? await site.accounts.tokenOf(account.id) : undefined;
    const changed = c.req.query('changed') === 'password';
    c.header('cache-control', 'no-store');
    return show(
      c,
      <AccountPage visit={visitWithoutForms(c)} email={account.email} token={token} errors={{}} changed={changed} />,
    );
  });

  app.post('/account/password', async (c) => {
    const account = c.get('account');
    if (!account) return toLogin(c, '/account');
    const entered = await formOf(c);
    const address = addressOf(c);
    const waitSeconds = site.signIns.begin(address, account.email);
    const right = waitSeconds === 0 && (await site.accounts.logIn(account.email, entered('current')));
    if (right) site.signIns.recordSuccess(address, account.email);
    const wrong = waitSeconds > 0 ? tooManyAttempts(waitSeconds) : 'This is not your password.';
    const errors = {
      current: right ? undefined : wrong,
      password: passwordError(entered('password')),
    };
    if (errors.current || errors.password) {
      return show(c, <AccountPage visit={visitWithoutForms(c)} email={account.email} errors={errors} />, 422);
    }
    await site.accounts.changePassword(account.id, entered('password'));
    // The change ended all sessions; this browser continues with a new one.
    await beginSession(c, account.id);
    return c.redirect('/account?changed=password', 303);
  });
}

// The account pages: register, log in, "My Account" with the token and the password.

/** The minimum password length in characters. */
const MIN_PASSWORD = 8;

interface EntryProps {
  readonly visit: Visit;
  readonly email: string;
  /** The page to go to afterwards. */
  readonly next: string;
  readonly errors: { readonly email?: string; readonly password?: string };
}

const RegisterPage = ({ visit, email, next, errors }: EntryProps) => (
  <Layout title="Register" here="/register" visit={visit}>
    <h1>Register</h1>
    <p>
      An account owns jobs and has a token for the XML interface. Have one already? <a href="/login">Log in</a>.
    </p>
    <form method="post" action="/register" class="sheet narrow" novalidate>
      <input type="hidden" name="next" value={next} />
      <Field
        name="email"
        label="E-mail address"
        type="email"
        hint="Any will do; no mail is sent."
        value={email}
        error={errors.email}
        autocomplete="username"
        required
      />
      <Field
        name="password"
        label="Password"
        type="password"
        hint={`At least ${MIN_PASSWORD} characters.`}
        error={errors.password}
        autocomplete="new-password"
        required
      />
      <button type="submit">Register</button>
    </form>
  </Layout>
);

const LoginPage = ({ visit, email, next, errors }: EntryProps) => (
  <Layout title="Log in" here="/login" visit={visit}>
    <h1>Log in</h1>
    <p>
      No account yet? <a href="/register">Register</a>.
    </p>
    <form method="post" action="/login" class="sheet narrow" novalidate>
      <input type="hidden" name="next" value={next} />
      <Field name="email" label="E-mail address" type="email" value={email} autocomplete="username" required />
      <Field
        name="password"
        label="Password"
        type="password"
        error={errors.password}
        autocomplete="current-password"
        required
      />
      <button type="submit">Log in</button>
    </form>
  </Layout>
);

interface AccountProps {
  readonly visit: Visit;
  readonly email: string;
  /** Present once the user has asked to see it. */
  readonly token?: string;
  readonly errors: { readonly current?: string; readonly password?: string };
  readonly changed?: boolean;
}

const AccountPage = ({ visit, email, token, errors, changed = false }: AccountProps) => (
  <Layout title="My Account" here="/account" visit={visit}>
    <h1>My Account</h1>
    {changed ? (
      <p class="notice" role="status">
        The password was changed, and the token with it. Programs that use the old token must be given the new one.
      </p>
    ) : null}
    <p>
      You are logged in as <strong>{email}</strong>. <a href="/account/jobs">Your jobs</a>
    </p>
    <section class="sheet narrow" aria-labelledby="api">
      <h2 id="api">API</h2>
      <p>
        Programs send your token as the user name of HTTP Basic authentication, with anything as password. Whoever has
        it may do all that you may do: keep it as secret as your password.
      </p>
      {token ? (
        <p class="key">
          <code>{token}</code> <a href="/account">Hide</a>
        </p>
      ) : (
        <p>
          <a class="button" href="/account?show=key">
            Show Key
          </a>
        </p>
      )}
    </section>
    <section class="sheet narrow" aria-labelledby="password-title">
      <h2 id="password-title">Password</h2>
      <p>Changing it also changes the token, and ends your sessions in other browsers.</p>
      <form method="post" action="/account/password" novalidate>
        <Field
          name="current"
          label="Current password"
          type="password"
          error={errors.current}
          autocomplete="current-password"
          required
        />
        <Field
          name="password"
          label="New password"
          type="password"
          hint={`At least ${MIN_PASSWORD} characters.`}
          error={errors.password}
          autocomplete="new-password"
          required
        />
        <button type="submit">Change password</button>
      </form>
    </section>
  </Layout>
);
