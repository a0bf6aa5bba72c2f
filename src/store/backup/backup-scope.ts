// Which tables, sequences and functions are ours: those that the migrations create.

/** What our migrations have created so far, by kind. Some may exist no more. */
export interface OwnObjects {
  readonly tables: readonly string[];
  readonly sequences: readonly string[];
  readonly functions: readonly string[];
}

export function objectsOf(migrations: ReadonlyMap<string, string>): OwnObjects {
  const named = (kind: string): string[] => [
    ...new Set(
      [...migrations.values()].flatMap((text) =>
        [...text.matchAll(new RegExp(`^create (?:or replace )?${kind} (?:if not exists )?(\\w+)`, 'gm'))].map(
          ([, name = '']) => name,
        ),
      ),
    ),
  ];
  return { tables: named('table'), sequences: named('sequence'), functions: named('function') };
}

/**
 * Tables that a backup leaves out: what only lives as long as a process or a session, the stamp by which jobmirror notices that data
 * was restored, and what is computed again from other tables (`compareRekey`).
 */
export const LEFT_OUT: readonly string[] = [
  'process',
  'process_feed',
  'web_session',
  'web_request',
  'data_stamp',
  'rekey_survey',
  'rekey_line',
  'rekey_total',
  'rekey_touched',
];

/** Texts must not depend on settings of the server, the database or the user. */
export const COPY_SETTINGS = `set local client_encoding = 'UTF8'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
  set local timezone = 'UTC'; set local extra_float_digits = 1; set local bytea_output = 'hex'; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0; set local row_security = off`;
