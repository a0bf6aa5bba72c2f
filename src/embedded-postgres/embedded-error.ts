// The one error of the embedded server: what happened, where, and what to do next, in words for the person at the terminal.

/** Thrown by everything below `src/store/embedded` that a user can meet. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  /** `next` is an instruction; `detail` is what a program said, such as the tail of the server's log. */
  constructor(happened: string, next: string, options: { readonly detail?: string; readonly cause?: unknown } = {}) {
    const detail = options.detail?.trim();
    super(`${happened}\n${next}${detail ? `\n\n${detail}` : ''}`, { cause: options.cause });
  }
}

/** The instruction that always works: do without the embedded server. */
export const USE_OWN_POSTGRES = 'Or use a Postgres of your own: set "database: postgres://user:password@host/name".';
