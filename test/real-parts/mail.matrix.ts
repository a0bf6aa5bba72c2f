// Real mail servers between the mirror and its operators: a message arrives once at each recipient, or is tried again and listed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AlertDestination } from '../../src/config/config.ts';
import { Secret } from '../../src/config/read-secret.ts';
import { sendMessages } from '../../src/runtime/run-alerts.ts';
import { listUndelivered } from '../../src/store/alert/outbox.ts';
import { freePort } from '../support/free-port.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { unpackPackages, withPackages } from './packages.ts';
import { untilListening } from './proxies.ts';
import { cellKey, writeSection } from './seen.ts';

/** Users of Debian's packages, which their installation makes; known only where the packages are laid over. */
const USERS = { 'Debian-exim': 991, postfix: 992, postdrop: 993 } as const;

interface MailServer {
  readonly package: string;
  /** Writes its files; `grey` lists recipients that are refused for now, one a line. */
  readonly prepare: (folder: string, port: number, root: string) => void;
  readonly command: (folder: string) => readonly string[];
  /** The file with the number of its process, below its folder. */
  readonly pid: string;
  /** One `ID recipient` for each message that it has taken for a recipient. */
  readonly arrivals: (log: string) => readonly string[];
}

const LIMIT = 2_048;
const SERVERS = {
  Exim: {
    package: 'exim4-daemon-light',
    prepare: (folder, port) => {
      writeFileSync(
        join(folder, 'conf'),
        `local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
primary_hostname = localhost
exim_user = Debian-exim
spool_directory = ${folder}/spool
log_file_path = ${folder}/%slog
pid_file_path = ${folder}/pid
log_selector = +received_recipients
message_size_limit = ${LIMIT}
queue_only
acl_smtp_rcpt = rcpt
acl_smtp_data = accept
begin acl
rcpt:
  defer condition = \${lookup{$local_part}lsearch{${folder}/grey}{yes}{no}}
        message = listed grey
  accept
`,
      );
    },
    command: (folder) => ['exim4', '-C', `${folder}/conf`, '-bdf'],
    pid: 'pid',
    arrivals: (log) =>
      [...log.matchAll(/ <= .* id=(\S+)@jobmirror.* for (.+)$/gm)].flatMap(([, id, to = '']) =>
        to.split(' ').map((each) => `${id} ${each}`),
      ),
  },
  Postfix: {
    package: 'postfix',
    prepare: (folder, port, root) => {
      for (const each of ['spool', 'data']) mkdirSync(join(folder, each));
      chownSync(join(folder, 'data'), USERS.postfix, USERS.postfix);
      const master = readFileSync(join(root, 'usr/share/postfix/master.cf.dist'), 'utf8')
        .replace(/^smtp +inet.*$/m, `127.0.0.1:${port} inet n - n - - smtpd`)
        // None in a folder of its own, which would need the machine's files again.
        .replace(/^(\w+ +unix +\S+ +\S+ +)y/gm, '$1n');
      writeFileSync(join(folder, 'master.cf'), master);
      writeFileSync(
        join(folder, 'main.cf'),
        `compatibility_level = 3.6
queue_directory = ${folder}/spool
data_directory = ${folder}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
maillog_file = ${folder}/mainlog
maillog_file_prefixes = ${tmpdir()}
inet_interfaces = 127.0.0.1
mynetworks = 127.0.0.0/8
mydestination = localhost
local_recipient_maps =
local_transport = discard
alias_maps =
message_size_limit = ${LIMIT}
max_use = 1
smtpd_tls_security_level = may
smtpd_tls_chain_files = ${folder}/certificate
smtpd_recipient_restrictions = check_recipient_access texthash:${folder}/grey, permit_mynetworks, reject
`,
      );
    },
    command: (folder) => ['postfix', '-c', folder, 'start-fg'],
    pid: 'spool/pid/master.pid',
    arrivals: (log) => {
      const ids = new Map(
        [...log.matchAll(/ (\w+): message-id=<(\S+)@jobmirror>/g)].map(([, queue, id]) => [queue, id]),
      );
      const sent = [...log.matchAll(/ (\w+): to=<(\S+)>.* status=sent/g)];
      return sent.map(([, queue, to]) => `${ids.get(queue)} ${to}`);
    },
  },
} as const satisfies Readonly<Record<string, MailServer>>;
type ServerName = keyof typeof SERVERS;
const NAMES = Object.keys(SERVERS) as readonly ServerName[];

const ROWS = [
  'a certificate of its own',
  'one of two recipients listed grey',
  'all recipients listed grey',
  'longer than the server allows',
] as const;

const cells = new Map<string, string>();
const versions: Record<string, string> = {};

describe.each(NAMES)('%s', (name) => {
  const server: MailServer = SERVERS[name];
  let folder: string;
  let running: ChildProcess;
  let mirror: Mirror;
  let smtp: string;

  beforeAll(async () => {
    const root = join(tmpdir(), `jobmirror-real-parts/${name.toLowerCase()}`);
    versions[name] = unpackPackages(root, [server.package])[server.package] ?? '';
    for (const each of ['passwd', 'group']) {
      const lines = Object.entries(USERS).map(([user, id]) =>
        each === 'passwd' ? `${user}:x:${id}:${id}::/nonexistent:/usr/sbin/nologin\n` : `${user}:x:${id}:\n`,
      );
      writeFileSync(join(root, 'etc', each), readFileSync(`/etc/${each}`, 'utf8') + lines.join(''));
    }
    folder = mkdtempSync(join(tmpdir(), `jobmirror-${name.toLowerCase()}-`));
    chmodSync(folder, 0o755);
    if (name === 'Exim') chownSync(folder, USERS['Debian-exim'], USERS['Debian-exim']);
    const certificate = ['-keyout', 'key', '-out', 'certificate', '-days', '30', '-subj', '/CN=mail.example.com'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...certificate], {
      cwd: folder,
      stdio: 'ignore',
    });
    writeFileSync(
      join(folder, 'certificate'),
      readFileSync(join(folder, 'key'), 'utf8') + readFileSync(join(folder, 'certificate'), 'utf8'),
    );
    listGrey();
    const port = await freePort();
    server.prepare(folder, port, root);
    const [command, options] = withPackages(root, ...server.command(folder));
    running = spawn(command, options, { stdio: 'ignore' });
    await untilListening(running, name, port);
    smtp = `smtp://127.0.0.1:${port}`;
    mirror = await openMirror();
  });
  afterAll(async () => {
    await mirror.close();
    // The process that was started may have left the work to another one.
    const pid = Number(readFileSync(join(folder, server.pid), 'utf8').trim());
    process.kill(pid, 'SIGTERM');
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), 30_000);
    running.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
    writeSection({
      title: 'Behind mail servers',
      law: 'Alerts to two recipients, through a server on this machine that has a certificate of its own and a limit of 2 kB. Listed grey: the server refuses the recipient for now, and takes it at the next try. A message arrives once at each recipient, or is listed as not delivered.',
      versions,
      rows: ROWS,
      columns: NAMES,
      cells,
    });
  });

  function listGrey(...recipients: readonly string[]): void {
    const lines = recipients.map((each) =>
      name === 'Exim' ? `${each}:\n` : `${each}@localhost DEFER_IF_PERMIT listed grey\n`,
    );
    writeFileSync(join(folder, 'grey'), lines.join(''));
  }
  const arrivals = (): readonly string[] => {
    const log = join(folder, 'mainlog');
    return existsSync(log) ? server.arrivals(readFileSync(log, 'utf8')) : [];
  };

  /** Sends a message, a second time with `grey` empty if it is not delivered, and waits until it has arrived. @returns what was said. */
  async function send(row: string, to: readonly string[], grey: readonly string[], detail = 'x'): Promise<void> {
    const app = await mirror.app();
    const destination = {
      name: `ops-${ROWS.indexOf(row as (typeof ROWS)[number])}`,
      channel: { kind: 'email', smtp: new Secret(smtp), from: 'jobmirror@localhost', to },
      kinds: new Set(),
      events: [],
    } as unknown as AlertDestination;
    const at = new Date().toISOString();
    const data = { alert: 'held', site: null, feed: 'acme', message: 'held', detail, count: null, since: at };
    const [{ id } = { id: '' }] = await app.db.query<{ id: string }>(
      'insert into alert_message (destination, payload) values ($1, $2) returning id',
      [destination.name, JSON.stringify({ type: 'alert.opened', timestamp: at, data })],
    );
    const signal = { signal: new AbortController().signal };
    listGrey(...grey);
    const first = await sendMessages(app, destination, 'alert', signal);
    const [undelivered] = (await listUndelivered(app.db, 10)).filter((each) => each.id === id);
    expect(first).toEqual(undelivered === undefined ? { delivered: 1, failed: 0 } : { delivered: 0, failed: 1 });
    listGrey();
    await app.db.query('update alert_message set not_before = now() where id = $1 and state = $2', [id, 'pending']);
    const second = await sendMessages(app, destination, 'alert', signal);
    const isDelivered = first.delivered + second.delivered > 0;
    const wanted = isDelivered ? to.map((each) => `${id} ${each}`).sort() : [];
    await vi.waitFor(
      () =>
        expect(
          arrivals()
            .filter((each) => each.startsWith(id))
            .sort(),
        ).toEqual(wanted),
      30_000,
    );
    const said = undelivered === undefined ? '' : `${undelivered.lastError}; then `;
    cells.set(cellKey(row, name), `${said}${isDelivered ? 'delivered' : 'the same'}`);
  }

  const [CERTIFICATE, ONE_GREY, ALL_GREY, LONG] = ROWS;
  const BOTH = ['ops@localhost', 'new@localhost'];
  it(CERTIFICATE, () => send(CERTIFICATE, BOTH, []));
  it(ONE_GREY, () => send(ONE_GREY, BOTH, ['new']));
  it(ALL_GREY, () => send(ALL_GREY, BOTH, ['ops', 'new']));
  it(LONG, () => send(LONG, BOTH, [], 'long '.repeat(LIMIT)));
});
