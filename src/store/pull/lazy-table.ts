// A temporary table in which a pull collects rows for the merge at its end.
import type { Session } from '../postgres/database.ts';

/**
 * Exists from its first rows to the end of the transaction: to create and drop a table takes Postgres longer than most statements
 * of a pull, and few pulls need all of them.
 */
export class LazyTable {
  readonly name: string;
  readonly #session: Session;
  readonly #columns: Readonly<Record<string, string>>;
  #exists = false;

  /** @param columns their types, as in Postgres, and constraints. Names and types are constants, never data. */
  constructor(session: Session, name: string, columns: Readonly<Record<string, string>>) {
    this.#session = session;
    this.name = name;
    this.#columns = columns;
  }

  /** If not, it is empty. */
  get exists(): boolean {
    return this.#exists;
  }

  /** To read from, in `from` or `join` and followed by an alias: the table, or no rows while it does not exist. */
  get rows(): string {
    if (this.#exists) return this.name;
    const columns = Object.entries(this.#columns).map(([name, type]) => `null::${type.split(' ', 1)[0]} as ${name}`);
    return `(select ${columns.join(', ')} where false)`;
  }

  /** Call it before rows are inserted; does nothing if the table exists. */
  async create(): Promise<void> {
    if (this.#exists) return;
    const columns = Object.entries(this.#columns).map(([name, type]) => `${name} ${type}`);
    await this.#session.query(`create temporary table ${this.name} (${columns.join(', ')}) on commit drop`);
    this.#exists = true;
  }
}
