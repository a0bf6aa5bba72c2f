// Starts Rails boards (`rails-board.rb`), each in one of its variants, and looks at them from within. Without Rails, says why tests
// are skipped.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import { packageRoot } from '../../src/config/package-root.ts';
import { fastFolder } from '../support/fast-folder.ts';
import { freePort } from '../support/free-port.ts';

/** Settings of `rails-board.rb`: `{ REWRITE: 'title:titleize', ERRORS: 'details' }`. */
export type BoardVariant = Readonly<Record<string, string>>;

/** A row, also one that the site hides. Its fields have the names of columns, and are texts. */
export interface BoardJob {
  readonly id: string;
  readonly owner: 'mirror' | 'somebody else';
  readonly deleted: boolean;
  readonly published: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly fields: Readonly<Record<string, string>>;
}

export type BoardAction = 'index' | 'show' | 'create' | 'update' | 'destroy';

/** What happens to a request by accident. */
export interface BoardFault {
  /**
   * `before`, `after`: an exception before or after the commit; `lost`: the connection ends after the commit; `die-before`, `die`: the
   * site is killed before or after it; `busy`: another process writes to SQLite; `stale`: another request changes the job meanwhile
   * (with LOCKING); `slow`, `slow-after`: `seconds` pass before or after the commit.
   */
  readonly name: 'before' | 'after' | 'lost' | 'die-before' | 'die' | 'busy' | 'stale' | 'slow' | 'slow-after';
  /** By default `create`. */
  readonly on?: readonly BoardAction[];
  /** How often it happens; without it, always. */
  readonly count?: number;
  /** Only to each n-th request that it could happen to. */
  readonly every?: number;
  /** Only to requests whose body has this text. */
  readonly matching?: string;
  readonly seconds?: number;
}

export interface BoardRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
}

export interface RailsBoard {
  readonly url: string;
  readonly token: string;
  jobs(): Promise<readonly BoardJob[]>;
  /** Sets columns of a row, as a person on the website does. */
  edit(id: string, columns: Readonly<Record<string, unknown>>): Promise<void>;
  remove(id: string): Promise<void>;
  /** Makes a job of another user. */
  addForeign(columns: Readonly<Record<string, unknown>>): Promise<void>;
  /** What the site stores of these fields, named as columns. */
  stored(columns: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, string>>>;
  /** Replaces those set before. */
  setFaults(faults: readonly BoardFault[]): Promise<void>;
  /** Replaces the token that the site accepts of the mirror's user. */
  setToken(token: string): Promise<void>;
  /** Those that arrived since the last {@link clearRequests}. */
  requests(): Promise<readonly BoardRequest[]>;
  clearRequests(): Promise<void>;
  /** `kill -9`, and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again, at the same address and with the same rows, if it does not run; in another variant if one is given. */
  start(variant?: BoardVariant): Promise<void>;
  close(): Promise<void>;
}

const LIBRARIES = ['rails', 'activemodel-serializers-xml', 'action_pack/xml_parser', 'puma', 'sqlite3'];
const PACKAGES = 'ruby-rails ruby-activemodel-serializers-xml ruby-actionpack-xml-parser puma ruby-sqlite3';
const PROGRAM = join(packageRoot, 'test/real-sites/rails-board.rb');

/**
 * Whether the tests of the board run here, and a suffix for their titles that says why not.
 * @throws Error if Rails is missing and `JOBMIRROR_REQUIRE_ALL=1` forbids skipping (as in CI).
 */
export function railsForTests(): { readonly available: boolean; readonly note: string } {
  const available = spawnSync('ruby', LIBRARIES.map((name) => `-r${name}`).concat('-e', '')).status === 0;
  if (!available && process.env.JOBMIRROR_REQUIRE_ALL === '1')
    throw new Error(`JOBMIRROR_REQUIRE_ALL=1, but no Rails 6.1: install it (Debian: apt-get install ${PACKAGES})`);
  return { available, note: available ? '' : ` (skipped: no Rails 6.1; Debian: apt-get install ${PACKAGES})` };
}

/** Rails, loaded once; the processes of its boards are copies of it, which do not load it again. */
export interface Rails {
  startBoard(variant?: BoardVariant): Promise<RailsBoard>;
  /** Ends it and its boards. */
  close(): Promise<void>;
}

/** A process of one board. */
interface BoardProcess {
  /** When it listens; rejects if it ends before. */
  readonly listening: Promise<number>;
  readonly ended: Promise<void>;
  hasEnded(): boolean;
}

/** It ends with this process, whose end closes its standard input. */
export function loadRails(): Rails {
  const child = spawn('ruby', ['-W0', PROGRAM], {
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-10_000);
  });
  const closed = once(child, 'close');
  /** What happens to the present process of each folder. */
  const events = new EventEmitter();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { folder, pid }: { readonly folder: string; readonly pid?: number } = JSON.parse(line);
    if (pid === undefined) events.emit(`ended ${folder}`);
    else events.emit(`listening ${folder}`, pid);
  });

  const run = (folder: string, port: number, settings: BoardVariant): BoardProcess => {
    let hasEnded = false;
    const ended = Promise.race([once(events, `ended ${folder}`), closed]).then(() => {
      hasEnded = true;
    });
    const listening = Promise.race([
      once(events, `listening ${folder}`).then(([pid]): number => pid),
      ended.then(() => {
        throw new Error(`the Rails board ended: ${said}`);
      }),
    ]);
    child.stdin.write(`${JSON.stringify({ folder, port, settings })}\n`);
    return { listening, ended, hasEnded: () => hasEnded };
  };

  return {
    startBoard: (variant) => startBoard(run, variant),
    close: async () => {
      child.stdin.end();
      await closed;
    },
  };
}

async function startBoard(
  run: (folder: string, port: number, settings: BoardVariant) => BoardProcess,
  variant: BoardVariant = {},
): Promise<RailsBoard> {
  const folder = await mkdtemp(join(await fastFolder(), 'jobmirror-rails-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const token = randomBytes(20).toString('hex');
  const log = join(folder, 'requests.log');
  let current = variant;
  let running: BoardProcess | undefined;
  const inside = async <Value>(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, input?: unknown) => {
    const answer = await request(`${url}/-/${path}`, {
      method,
      body: input === undefined ? null : JSON.stringify(input),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return JSON.parse(text) as Value;
  };
  const start = async (next = current): Promise<void> => {
    current = next;
    // One that was killed may not have been reported yet.
    if (running !== undefined && !running.hasEnded()) {
      const answers = await inside('GET', 'jobs').then(
        () => true,
        () => false,
      );
      if (answers) return;
      await running.ended;
    }
    running = run(folder, port, { ...current, TOKEN: token });
    await running.listening;
  };
  const kill = async (): Promise<void> => {
    if (running === undefined || running.hasEnded()) return;
    const pid = await running.listening;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
    await running.ended;
  };
  await start();
  return {
    url,
    token,
    jobs: () => inside('GET', 'jobs'),
    edit: (id, columns) => inside('PUT', `jobs/${id}`, columns),
    remove: (id) => inside('DELETE', `jobs/${id}`),
    addForeign: (columns) => inside('POST', 'jobs', columns),
    stored: (columns) => inside('POST', 'stored', columns),
    setFaults: (faults) => inside('PUT', 'faults', faults),
    setToken: (next) => inside('PUT', 'token', { token: next }),
    requests: async () => {
      const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line));
    },
    clearRequests: () => truncate(log),
    kill,
    start,
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
