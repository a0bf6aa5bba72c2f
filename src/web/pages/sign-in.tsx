// The page to sign in on.
import { Layout } from './layout.tsx';

export interface SignInProps {
  readonly prefix: string;
  readonly name: string;
  /** The page to go to afterwards. */
  readonly to: string;
  readonly error: string | undefined;
}

export const SignIn = ({ prefix, name, to, error }: SignInProps) => (
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
