// The error of the embedded server: tells people what happened, where, and what to do next.

/** Thrown for every failure of the embedded server that a user may see. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  /** `next` is an instruction; `detail` is a program's output, such as the tail of the server's log. */
  constructor(happened: string, next: string, options: { readonly detail?: string; readonly cause?: unknown } = {}) {
    const detail = options.detail?.trim();
    super(`${happened}\n${next}${detail ? `\n\n${detail}` : ''}`, { cause: options.cause });
  }
}

/** The instruction that always works: use another server. */
export const USE_OWN_POSTGRES = 'Or use a Postgres of your own: set "database: postgres://user:password@host/name".';
