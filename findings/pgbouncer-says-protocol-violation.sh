#!/usr/bin/env bash
# pgbouncer accepts connections to a Postgres that is gone, and calls what follows a protocol violation, 08P01.
#
# Version: pgbouncer 1.18.0 (Debian 12: 1.18.0-1+deb12u1) in session mode, Postgres 15.20 (Debian 12: 15.20-0+deb12u1), pg 8.23.1 (npm).
#
# Expected: The codes of a restart come through: 57P01 (admin_shutdown) for a statement in flight, 57P02 after a crash, and the class of
# connection exceptions that may pass, 08006 or 08001, for those that find no server.
#
# Behaviour: What Postgres says itself comes through, but whatever pgbouncer finds out, a server that was killed as well as one that cannot
# be reached, has 08P01, which stands for a client or server that speaks the protocol wrongly. A client is also let in when there is no
# server: pgbouncer knows from before what it would say, and only the first statement fails, after query_wait_timeout (two minutes unless
# set; here five seconds) or at once while pgbouncer remembers that its last login failed.
#
# Why it matters: A rule that repeats what has 57P01, 57P02, 57P03 or ECONNREFUSED, and gives up at the rest as a fault of the program,
# works without pgbouncer and gives up behind it; a check that only connects finds the database well. Only the message tells what happened.
#
# Seen:
#   stopped (SIGINT), directly: in flight 57P01, then ECONNREFUSED
#   stopped (SIGINT), through pgbouncer: in flight 57P01, then connected, 08P01
#   killed (SIGKILL), directly: in flight no code, then ECONNREFUSED
#   killed (SIGKILL), through pgbouncer: in flight 08P01, then connected, 08P01

source "$(dirname "$0")/support/prepare.sh"
debian pgbouncer=1.18.0-1+deb12u1 postgresql-15=15.20-0+deb12u1
npm_packages pg@8.23.1
cat >program.mjs <<PROGRAM
import { freePort, startServer } from "$support/http.mjs";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
const folder = process.cwd();
const bin = folder + '/root/usr/lib/postgresql/15/bin/';
const user = { uid: 65534, gid: 65534 };
const data = folder + '/data';
mkdirSync(data);
chownSync(data, user.uid, user.gid);
chmodSync(data, 0o700);
execFileSync(bin + 'initdb', ['-D', data, '-U', 'mirror', '--auth=trust', '--no-sync'], { ...user, stdio: 'ignore' });

const [port, pooled] = [await freePort(), await freePort()];
writeFileSync('users', '"mirror" ""\n');
writeFileSync('bouncer.ini', \`[databases]
* = host=127.0.0.1 port=\${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = \${pooled}
unix_socket_dir =
auth_type = trust
auth_file = \${folder}/users
pool_mode = session
server_connect_timeout = 2
server_login_retry = 2
query_wait_timeout = 5
\`);
const connect = async (to) => {
  const client = new pg.Client({ connectionString: \`postgres://mirror@127.0.0.1:\${to}/postgres\` });
  client.on('error', () => undefined);
  await client.connect();
  return client;
};
const isUp = (to) => connect(to).then((client) => client.query('select 1').then(() => client.end())).then(() => true, () => false);
const codeOf = (error) => error.code ?? 'no code';

await startServer(pooled, 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', folder + '/root/usr/sbin/pgbouncer', '-q', folder + '/bouncer.ini');
const WAYS = [['directly', port], ['through pgbouncer', pooled]];
// The killed one comes last, as its processes need a while to end.
for (const [how, signal] of [['stopped', 'SIGINT'], ['killed', 'SIGKILL']]) {
  const server = spawn(bin + 'postgres', ['-D', data, '-c', \`port=\${port}\`, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='], { ...user, stdio: 'ignore' });
  // pgbouncer remembers for a while that there was none.
  for (const [, to] of WAYS) while (!(await isUp(to))) await pause(200);
  const inFlight = [];
  for (const [, to] of WAYS) {
    const client = await connect(to);
    const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid');
    inFlight.push({ pid, end: client.query('select pg_sleep(30)').then(() => 'done', codeOf) });
  }
  await pause(300);
  const ended = once(server, 'exit');
  server.kill(signal);
  // Who kills a server kills all of its processes.
  if (signal === 'SIGKILL') for (const { pid } of inFlight) process.kill(pid, signal);
  await ended;
  for (const [at, [way, to]] of WAYS.entries()) {
    const first = await inFlight[at].end;
    const later = await connect(to).then(
      (again) => again.query('select 1').then(() => 'connected, done', (error) => \`connected, \${codeOf(error)}\`),
      codeOf,
    );
    console.log(\`\${how} (\${signal}), \${way}: in flight \${first}, then \${later}\`);
  }
}
process.exit();
PROGRAM
node program.mjs | expect_seen
