// The account pages: register, log in, "My Account" with the token and the password.
import { Field } from './form-field.tsx';
import { Layout, type Visit } from './layout.tsx';

/** The minimum password length in characters. */
export const MIN_PASSWORD = 8;

interface EntryProps {
  readonly visit: Visit;
  readonly email: string;
  /** The page to go to afterwards. */
  readonly next: string;
  readonly errors: { readonly email?: string; readonly password?: string };
}

export const RegisterPage = ({ visit, email, next, errors }: EntryProps) => (
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

export const LoginPage = ({ visit, email, next, errors }: EntryProps) => (
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

export const AccountPage = ({ visit, email, token, errors, changed = false }: AccountProps) => (
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
