// The HTML document around every page.
import type { Child } from 'hono/jsx';
import type { Visitor } from '../access/visitor.ts';

/** What every page knows about its request. */
export interface Visit {
  /** The path below which everything is served. */
  readonly prefix: string;
  readonly visitor: Visitor | undefined;
}

export const Layout = ({ title, visit, children }: { title: string; visit: Visit; children: Child }) => {
  const { prefix, visitor } = visit;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} – jobmirror`}</title>
        <link rel="stylesheet" href={`${prefix}/style.css`} />
      </head>
      <body>
        <header>
          <a href={`${prefix}/`}>jobmirror</a>
          {visitor?.signedIn !== undefined && (
            <form method="post" action={`${prefix}/sign-out`}>
              <input type="hidden" name="csrf" value={visitor.signedIn.csrf} />
              <span>{visitor.signedIn.name}</span> <button type="submit">Sign out</button>
            </form>
          )}
        </header>
        <main>
          <h1>{title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
};
