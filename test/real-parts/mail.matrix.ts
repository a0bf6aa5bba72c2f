// Real mail servers between the mirror and its operators: a message arrives once at each recipient, or is tried again and listed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AlertDestination } from '../../src/config/config.ts';
import { Secret } from '../../src/config/read-secret.ts';
import { sendMessages } from '../../src/runtime/run-alerts.ts';
import { listUndelivered } from '../../src/store/status/outbox.ts';
import { openDatabaseProxy } from '../support/database-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { unpackPackages, withPackages } from './packages.ts';
import { untilListening } from './proxies.ts';
import { cellKey, writeSection } from './seen.ts';

/** Users of Debian's packages, which their installation makes; known only where the packages are laid over. */
const USERS = { 'Debian-exim': 991, postfix: 992, postdrop: 993 } as const;

interface MailServer {
  readonly package: string;
  /** Writes its files; `grey` lists recipients that are refused for now, one a line. Asks postgrey about the others. */
  readonly prepare: (folder: string, ports: { readonly own: number; readonly postgrey: number }, root: string) => void;
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
    prepare: (folder, ports) => {
      writeFileSync(
        join(folder, 'conf'),
        `local_interfaces = 127.0.0.1
daemon_smtp_ports = ${ports.own}
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
  defer set acl_m0 = request=smtpd_access_policy\\nprotocol_state=RCPT\\nclient_address=$sender_host_address\\nclient_name=localhost\\n\\
                     sender=$sender_address\\nrecipient=$local_part@$domain\\ninstance=$message_exim_id\\n\\n
        set acl_m0 = \${readsocket{inet:127.0.0.1:${ports.postgrey}}{$acl_m0}{5s}{ }}
        condition = \${if match{$acl_m0}{DEFER_IF_PERMIT}}
        message = \${sg{$acl_m0}{action=DEFER_IF_PERMIT}{}}
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
    prepare: (folder, ports, root) => {
      for (const each of ['spool', 'data']) mkdirSync(join(folder, each));
      chownSync(join(folder, 'data'), USERS.postfix, USERS.postfix);
      const master = readFileSync(join(root, 'usr/share/postfix/master.cf.dist'), 'utf8')
        .replace(/^smtp +inet.*$/m, `127.0.0.1:${ports.own} inet n - n - - smtpd`)
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
smtpd_recipient_restrictions = check_recipient_access texthash:${folder}/grey,
  check_policy_service inet:127.0.0.1:${ports.postgrey}, permit_mynetworks, reject
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
  'one of two recipients greylisted',
  'all recipients greylisted',
  'all recipients new to postgrey',
  'one of two recipients new to postgrey',
  'longer than the server allows',
  'the answer to the message is lost',
] as const;

/** How long postgrey refuses a recipient. */
const DELAY_SECONDS = 3;

/** Starts Debian's postgrey, which knows the recipients that other rows have. */
async function startPostgrey(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const root = join(tmpdir(), 'jobmirror-real-parts/postgrey');
  Object.assign(versions, unpackPackages(root, ['postgrey']));
  const folder = mkdtempSync(join(tmpdir(), 'jobmirror-postgrey-'));
  writeFileSync(join(folder, 'clients'), '');
  writeFileSync(join(folder, 'recipients'), BOTH.map((each) => `${each}\n`).join(''));
  execFileSync('chown', ['-R', 'nobody:nogroup', folder]);
  const port = await freePort();
  const options = [
    `--inet=127.0.0.1:${port}`,
    `--delay=${DELAY_SECONDS}`,
    `--dbdir=${folder}`,
    `--whitelist-clients=${folder}/clients`,
    `--whitelist-recipients=${folder}/recipients`,
  ];
  const [command, all] = withPackages(root, '/usr/sbin/postgrey', '--user=nobody', '--group=nogroup', ...options);
  const running = spawn(command, all, { stdio: process.env.SHOW === undefined ? 'ignore' : 'inherit' });
  await untilListening(running, 'postgrey', port);
  return {
    port,
    async close() {
      const ended = once(running, 'exit');
      running.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const BOTH = ['ops@localhost', 'new@localhost'];
const cells = new Map<string, string>();
const versions: Record<string, string> = {};

describe.each(NAMES)('%s', (name) => {
  const server: MailServer = SERVERS[name];
  let folder: string;
  let running: ChildProcess;
  let mirror: Mirror;
  let smtp: string;
  let postgrey: Awaited<ReturnType<typeof startPostgrey>>;

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
    postgrey = await startPostgrey();
    const port = await freePort();
    server.prepare(folder, { own: port, postgrey: postgrey.port }, root);
    const [command, options] = withPackages(root, ...server.command(folder));
    running = spawn(command, options, { stdio: 'ignore' });
    await untilListening(running, name, port);
    smtp = `smtp://127.0.0.1:${port}`;
    mirror = await openMirror();
  });
  afterAll(async () => {
    await mirror.close();
    await postgrey.close();
    // The process that was started may have left the work to another one.
    const pid = Number(readFileSync(join(folder, server.pid), 'utf8').trim());
    process.kill(pid, 'SIGTERM');
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), 30_000);
    running.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
    writeSection({
      title: 'Behind mail servers',
      law: `Alerts to two recipients, through a server on this machine that has a certificate of its own and a limit of 2 kB. Greylisted: the server refuses the recipient for now, and takes it at the next try; new to postgrey: for ${DELAY_SECONDS} seconds, and the next try comes sooner. A message arrives once at each recipient, or is listed as not delivered; if the answer to it is lost, it arrives twice, with one Message-ID.`,
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

  /** Sends a message, again with `grey` empty if it is not delivered, and waits until it has arrived. */
  async function send(
    row: string,
    to: readonly string[],
    {
      grey = [],
      detail = 'x',
      address = smtp,
      pauses = [0],
      times = 1,
    }: {
      readonly grey?: readonly string[];
      readonly detail?: string;
      readonly address?: string;
      /** Before each further try, in seconds. */
      readonly pauses?: readonly number[];
      /** How often it arrives. */
      readonly times?: number;
    } = {},
  ): Promise<void> {
    const app = await mirror.app();
    const destination = {
      name: `ops-${ROWS.indexOf(row as (typeof ROWS)[number])}`,
      channel: { kind: 'email', smtp: new Secret(address), from: 'jobmirror@localhost', to },
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
    const said: string[] = [];
    let isDelivered = false;
    for (const seconds of [0, ...pauses]) {
      if (isDelivered) break;
      await pause(seconds * 1_000);
      await app.db.query('update alert_message set not_before = now() where id = $1 and state = $2', [id, 'pending']);
      const end = await sendMessages(app, destination, 'alert', signal);
      isDelivered = end.delivered > 0;
      const [undelivered] = (await listUndelivered(app.db, 10)).filter((each) => each.id === id);
      if (said.length === 0)
        expect(end).toEqual(undelivered === undefined ? { delivered: 1, failed: 0 } : { delivered: 0, failed: 1 });
      const text = isDelivered ? 'delivered' : (undelivered?.lastError ?? 'nothing');
      if (said.at(-1) !== text) said.push(text);
      else if (said.length === 1 && seconds === pauses.at(-1)) said.push('the same');
      listGrey();
    }
    const wanted = isDelivered ? Array.from({ length: times }, () => to.map((each) => `${id} ${each}`)).flat() : [];
    await vi.waitFor(
      () => expect([...arrivals().filter((each) => each.startsWith(id))].sort()).toEqual(wanted.sort()),
      30_000,
    );
    cells.set(cellKey(row, name), said.join('; then ') + (times === 1 ? '' : `; arrived ${times} times`));
  }

  const [CERTIFICATE, ONE_GREY, ALL_GREY, ALL_NEW, ONE_NEW, LONG, LOST] = ROWS;
  const afterDelay = { pauses: [0, DELAY_SECONDS + 1] };
  it(CERTIFICATE, () => send(CERTIFICATE, BOTH));
  it(ONE_GREY, () => send(ONE_GREY, BOTH, { grey: ['new'] }));
  it(ALL_GREY, () => send(ALL_GREY, BOTH, { grey: ['ops', 'new'] }));
  it(ALL_NEW, () => send(ALL_NEW, ['one@localhost', 'two@localhost'], afterDelay));
  it(ONE_NEW, () => send(ONE_NEW, ['ops@localhost', 'three@localhost'], afterDelay));
  it(LONG, () => send(LONG, BOTH, { detail: 'long '.repeat(LIMIT) }));
  it(LOST, async () => {
    const proxy = await openDatabaseProxy(smtp);
    let isSent = false;
    // In the clear: the product does not insist on encryption to this machine.
    proxy.pass = (bytes, to, receiver) => {
      const text = bytes.toString('latin1');
      if (receiver === 'server' && text.endsWith('\r\n.\r\n')) isSent = true;
      else if (isSent && receiver === 'client') {
        proxy.pass = (later, next) => void next.write(later);
        return void to.destroy();
      }
      to.write(receiver === 'client' ? text.replace(/250-STARTTLS\r\n/, '') : bytes);
    };
    await send(LOST, BOTH, { address: proxy.url, times: 2 });
    await proxy.close();
  });
});
