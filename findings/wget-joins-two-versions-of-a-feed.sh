#!/usr/bin/env bash
# wget continues a broken download with the rest of another version, and succeeds.
#
# Version: GNU Wget 1.21.3 (Debian 12: 1.21.3-1+deb12u1).
#
# Expected: wget starts again where the file has changed since the first part, or fails: both answers have an ETag, and Range can be made
# conditional with If-Range.
#
# Behaviour: After a connection that broke in the middle, wget sends Range without If-Range, even when it writes to standard output, and
# ignores that the ETag of the 206 is another one. The result is the beginning of the first version and the end of the second one, with
# exit status 0.
#
# Why it matters: If both versions have records of the same size, the result is well-formed XML whose root is closed. The jobs where they meet
# are in it twice or not at all, and no check of the document can tell.
#
# Seen:
#   request 2: Range from the middle, without If-Range
#   exit status 0, root closed: true, jobs of the first version: 20, of the second: 20

source "$(dirname "$0")/support/prepare.sh"
debian wget=1.21.3-1+deb12u1
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
const [before, after] = [feed('old-'), feed('new-')];
const origin = await startOrigin(({ head }, socket) => {
  const from = Number(/range: bytes=(\d+)-/i.exec(head)?.[1] ?? 0);
  if (++requests === 1)
    socket.end(\`HTTP/1.1 200 OK\r\nETag: "1"\r\nAccept-Ranges: bytes\r\nContent-Length: \${before.length}\r\n\r\n\${before.slice(0, before.length / 2)}\`);
  else {
    const condition = /^if-range/im.test(head) ? 'with' : 'without';
    console.log(\`request \${requests}: Range \${from > 0 ? 'from the middle' : 'none'}, \${condition} If-Range\`);
    socket.end(\`HTTP/1.1 206 Partial Content\r\nETag: "2"\r\nContent-Range: bytes \${from}-\${after.length - 1}/\${after.length}\r\nContent-Length: \${after.length - from}\r\n\r\n\${after.slice(from)}\`);
  }
});
const { status, stdout } = await run('wget', '-q', '-O', '-', '--waitretry=0', \`http://127.0.0.1:\${origin}/feed.xml\`);
console.log(\`exit status \${status}, root closed: \${stdout.endsWith('</jobs>')}, jobs of the first version: \${count(stdout, 'old-')}, of the second: \${count(stdout, 'new-')}\`);
process.exit();
PROGRAM
node program.mjs | expect_seen
