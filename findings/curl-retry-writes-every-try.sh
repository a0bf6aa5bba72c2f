#!/usr/bin/env bash
# curl --retry in a pipe writes the page of the failed try before the feed.
#
# Version: curl 7.88.1 (Debian 12: 7.88.1-10+deb12u15).
#
# Expected: With --retry, the output is that of the last try, as it is with -o, where curl empties the file before it tries again.
#
# Behaviour: Standard output cannot be emptied: the body of the 503 and the feed follow one another, and the exit status is 0. With
# --retry-all-errors half a feed is followed by a whole one.
#
# Why it matters: `curl --retry 3 … | mirror` is the obvious way to pipe a feed. The first line of a table is then a page, or the postings
# of the first half come twice. `--fail` helps against pages only.
#
# Seen:
#   503 first: exit status 0, 42 lines instead of 41, the first: busy
#   broken first: exit status 0, 62 lines instead of 41, the first: id,title

source "$(dirname "$0")/support/prepare.sh"
debian curl=7.88.1-10+deb12u15 libcurl4=7.88.1-10+deb12u15
cat >program.mjs <<PROGRAM
import { freePort, get, openConnection, startOrigin, startServer } from "$support/http.mjs";
import { writeFileSync } from "node:fs";
const whole = 'id,title\n' + Array.from({ length: 40 }, (_, at) => \`j\${at},Nurse \${at}\n\`).join('');
const half = whole.slice(0, whole.indexOf('j20'));

import { existsSync, readFileSync } from 'node:fs';
const feed = (name) => \`<jobs>\${Array.from({ length: 40 }, (_, at) => \`<job><id>\${name}\${at}</id></job>\`).join('')}</jobs>\`;
const { execFile } = await import('node:child_process');
const run = (command, ...args) => new Promise((resolve) =>
  execFile(command, args, (error, stdout) => resolve({ status: error?.code ?? 0, stdout })));
const count = (text, name) => text.split(\`<id>\${name}\`).length - 1;

let requests = 0;
const origin = await startOrigin(({ path }, socket) => {
  if (++requests % 2 === 0) socket.end(\`HTTP/1.1 200 OK\r\nContent-Length: \${whole.length}\r\nConnection: close\r\n\r\n\${whole}\`);
  else if (path === '/busy') socket.end('HTTP/1.1 503 Busy\r\nContent-Length: 5\r\nConnection: close\r\n\r\nbusy\n');
  else socket.end(\`HTTP/1.1 200 OK\r\nContent-Length: \${whole.length}\r\n\r\n\${half}\`);
});
const lines = (text) => text.split('\n').length - 1;
for (const [name, path, ...options] of [['503 first', 'busy', '--retry', '1'], ['broken first', 'cut', '--retry', '1', '--retry-all-errors']]) {
  const { status, stdout } = await run('curl', '-sS', '--retry-delay', '1', ...options, \`http://127.0.0.1:\${origin}/\${path}\`);
  console.log(\`\${name}: exit status \${status}, \${lines(stdout)} lines instead of 41, the first: \${stdout.split('\n')[0]}\`);
}
process.exit();
PROGRAM
node program.mjs | expect_seen
