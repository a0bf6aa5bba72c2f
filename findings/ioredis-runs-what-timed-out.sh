#!/usr/bin/env bash
# ioredis runs commands whose caller was told that they timed out, once the server is back.
#
# Version: ioredis 6.0.0 (npm), Redis 7.0.15 (Debian 12: redis-server 5:7.0.15-1~deb12u10).
#
# Expected: A command that was rejected with "Command timed out" before there was a connection was never sent, and never will be.
#
# Behaviour: With commandTimeout, only the promise is rejected. The command stays in the queue of what waits for a connection, and is sent
# when the server is there: each repetition as well. With enableOfflineQueue: false it fails at once, and is not done.
#
# Why it matters: Who adds a job to a queue again after the error adds it as often as it was tried: a job posting is made three times.
#
# Seen:
#   without a server: Command timed out
#   without a server: Command timed out
#   without a server: Command timed out
#   with the server: it was done 3 times
#   while the server is paused: Command timed out
#   afterwards: it was done 1 time
#   without its queue: Stream isn't writeable and enableOfflineQueue options is false

source "$(dirname "$0")/support/prepare.sh"
debian redis-server=5:7.0.15-1~deb12u10 redis-tools=5:7.0.15-1~deb12u10
npm_packages ioredis@6.0.0
cat >program.mjs <<PROGRAM
import { freePort, startServer } from "$support/http.mjs";
import { Redis } from "ioredis";
import { setTimeout as pause } from "node:timers/promises";
const port = await freePort();
const times = (count) => \`it was done \${count} time\${count === '1' ? '' : 's'}\`;
const tell = (when, answer) => answer.then((value) => console.log(\`\${when}: \${value}\`), (error) => console.log(\`\${when}: \${error.message}\`));
const client = new Redis(port, '127.0.0.1', { commandTimeout: 300, maxRetriesPerRequest: null, retryStrategy: () => 100 });
client.on('error', () => undefined);
for (let tries = 0; tries < 3; tries++) await tell('without a server', client.incr('jobs'));
await startServer(port, 'redis-server', '--port', String(port), '--bind', '127.0.0.1', '--save', '');
await pause(1_000);
console.log(\`with the server: \${times(await client.get('jobs'))}\`);
const other = new Redis(port, '127.0.0.1');
await other.client('PAUSE', 1_000, 'ALL');
await tell('while the server is paused', client.incr('more'));
await pause(1_500);
console.log(\`afterwards: \${times(await client.get('more'))}\`);
const strict = new Redis(await freePort(), '127.0.0.1', { commandTimeout: 300, enableOfflineQueue: false, retryStrategy: () => 100 });
strict.on('error', () => undefined);
await tell('without its queue', strict.incr('jobs'));
process.exit();
PROGRAM
node program.mjs | expect_seen
