#!/usr/bin/env bash
# wget and undici's RetryAgent continue a broken download with the rest of another version, and succeed.
#
# Version: wget 1.21.3 (Debian 12: wget 1.21.3-1+deb12u1); undici 7.30.2 (npm), RetryAgent.
#
# Expected: A download that broke off is continued only if the file is still the same; other validators than the first ones mean another
# file (RFC 9110, 13.1.5: If-Range).
#
# Behaviour: wget asks for the rest by Range, without If-Range, and looks at no validator. RetryAgent asks with If-Match if the first answer had a
# strong ETag, and fails if it has changed. With a weak one (which compressing servers make of strong ones), or with Last-Modified only, it asks for
# the rest, ignores that both differ in the second answer, and resolves as if nothing had happened.
#
# Why it matters: Feeds are written anew while they are read. The result is well-formed and has a closed root, with the first jobs of the old version and
# the last ones of the new: whatever was between them is missing and would be deleted.
#
# Seen:
#   wget, strong ETag: root closed, 20 old jobs, 20 new jobs, exit status 0
#   RetryAgent, Last-Modified: root closed, 20 old jobs, 20 new jobs, status 200
#   RetryAgent, weak ETag: root closed, 20 old jobs, 20 new jobs, status 200
#   RetryAgent, strong ETag: an error

source "$(dirname "$0")/support/prepare.sh"
debian wget=1.21.3-1+deb12u1
npm_packages undici@7.30.2
cat >program.mjs <<PROGRAM
import { execFile } from "node:child_process";
import { Agent, RetryAgent, request } from "undici";
import { startOrigin } from "$support/http.mjs";
const feed = (name) => \`<jobs>\${Array.from({ length: 40 }, (_, at) => \`<job><id>\${name}\${at}</id></job>\`).join('')}</jobs>\`;
const [before, after] = [feed('old-'), feed('new-')];
const half = before.indexOf('<job><id>old-20');
const VALIDATORS = {
  'strong ETag': (version) => \`ETag: "\${version}"\`,
  'weak ETag': (version) => \`ETag: W/"\${version}"\`,
  'Last-Modified': (version) => \`Last-Modified: Sun, 0\${version} Nov 2026 10:00:00 GMT\`,
};
async function serve(validator) {
  let requests = 0;
  const origin = await startOrigin(({ head }, socket) => {
    if (++requests === 1)
      return socket.end(\`HTTP/1.1 200 OK\r\n\${VALIDATORS[validator](1)}\r\nAccept-Ranges: bytes\r\nContent-Length: \${before.length}\r\n\r\n\${before.slice(0, half)}\`);
    if (/^if-match: "1"/im.test(head)) return socket.end('HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n');
    const from = Number(/range: bytes=(\d+)-/i.exec(head)[1]);
    socket.end(\`HTTP/1.1 206 Partial Content\r\n\${VALIDATORS[validator](2)}\r\nContent-Range: bytes \${from}-\${after.length - 1}/\${after.length}\r\nContent-Length: \${after.length - from}\r\n\r\n\${after.slice(from)}\`);
  });
  return \`http://127.0.0.1:\${origin}/feed.xml\`;
}
function show(name, text, end) {
  const count = (part) => text.split(\`<id>\${part}\`).length - 1;
  const root = text.endsWith('</jobs>') ? 'closed' : 'open';
  console.log(\`\${name}: root \${root}, \${count('old-')} old jobs, \${count('new-')} new jobs, \${end}\`);
}
const wget = ['-q', '-O', '-', '--waitretry=0', await serve('strong ETag')];
await new Promise((resolve) =>
  execFile('wget', wget, (error, text) => resolve(show('wget, strong ETag', text, \`exit status \${error?.code ?? 0}\`))));
for (const validator of ['Last-Modified', 'weak ETag', 'strong ETag']) {
  const name = \`RetryAgent, \${validator}\`;
  try {
    const { statusCode, body } = await request(await serve(validator), { dispatcher: new RetryAgent(new Agent(), { minTimeout: 10 }) });
    show(name, await body.text(), \`status \${statusCode}\`);
  } catch {
    console.log(\`\${name}: an error\`);
  }
}
process.exit();
PROGRAM
node program.mjs | expect_seen
