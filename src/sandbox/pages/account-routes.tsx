// The routes of the account pages: register, log in and out, "My Account" (site-interface.md, section 5, rules 4 and 5).
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { SESSION_COOKIE } from '../credentials.ts';
import type { JobSite, SiteEnv } from '../job-site.ts';
import { SESSION_SECONDS } from '../store/sessions.ts';
import { AccountPage, LoginPage, MIN_PASSWORD, RegisterPage } from './account.tsx';
import { formOf, localPath, plainVisit, show, toLogin } from './visit.ts';

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
    show(c, <RegisterPage visit={plainVisit(c)} email="" next={c.req.query('next') ?? ''} errors={{}} />),
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
      return show(c, <RegisterPage visit={plainVisit(c)} email={email} next={next} errors={errors} />, 422);
    }
    await beginSession(c, account.id);
    return c.redirect(localPath(next), 303);
  });

  app.get('/login', (c) =>
    show(c, <LoginPage visit={plainVisit(c)} email="" next={c.req.query('next') ?? ''} errors={{}} />),
  );

  app.post('/login', async (c) => {
    const entered = await formOf(c);
    const [email, next] = [entered('email'), entered('next')];
    const address = addressOf(c);
    const waitSeconds = site.signIns.begin(address, email);
    if (waitSeconds > 0) {
      c.header('retry-after', String(waitSeconds));
      const errors = { password: tooManyAttempts(waitSeconds) };
      return show(c, <LoginPage visit={plainVisit(c)} email={email} next={next} errors={errors} />, 429);
    }
    const account = await site.accounts.logIn(email, entered('password'));
    if (!account) {
      const errors = { password: 'There is no account with this address and password.' };
      return show(c, <LoginPage visit={plainVisit(c)} email={email} next={next} errors={errors} />, 422);
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
      <AccountPage visit={plainVisit(c)} email={account.email} token={token} errors={{}} changed={changed} />,
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
      return show(c, <AccountPage visit={plainVisit(c)} email={account.email} errors={errors} />, 422);
    }
    await site.accounts.changePassword(account.id, entered('password'));
    // The change ended all sessions; this browser continues with a new one.
    await beginSession(c, account.id);
    return c.redirect('/account?changed=password', 303);
  });
}
