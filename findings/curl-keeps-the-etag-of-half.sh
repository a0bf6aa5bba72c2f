#!/usr/bin/env bash
# curl saves the ETag of a download that broke off, and is then told "not modified" for ever.
#
# Version: curl 7.88.1 (Debian 12: 7.88.1-10+deb12u15), --etag-save and --etag-compare.
#
# Expected: The ETag is saved with the file that it belongs to: after exit status 18 (partial file) the next run downloads the file again.
#
# Behaviour: The ETag is written when the header arrives. The second run asks with it, gets 304, exits with 0 and leaves half of the file
# in place. So does every further run until the feed changes.
#
# Why it matters: This pair of options is what scripts use to fetch a feed only when it has changed. One broken transfer leaves half a
# table, which a reader of files takes for the feed.
#
# Seen:
#   first run: exit status 18, 20 of 40 rows
#   second run: exit status 0, 20 of 40 rows
#   third run: exit status 0, 20 of 40 rows

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
const origin = await startOrigin(({ head }, socket) => {
  if (/if-none-match: "1"/i.test(head)) socket.end('HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nConnection: close\r\n\r\n');
  else socket.end(\`HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: \${whole.length}\r\n\r\n\${++requests === 1 ? half : whole}\`);
});
for (const nth of ['first', 'second', 'third']) {
  const { status } = await run('curl', '-sS', '--etag-save', 'etag', '--etag-compare', 'etag', '-o', 'feed.csv', \`http://127.0.0.1:\${origin}/feed.csv\`);
  console.log(\`\${nth} run: exit status \${status}, \${readFileSync('feed.csv', 'utf8').split('\n').length - 2} of 40 rows\`);
}
process.exit();
PROGRAM
node program.mjs | expect_seen
