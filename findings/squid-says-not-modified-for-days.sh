#!/usr/bin/env bash
# Squid answers "not modified" about a feed that has changed, from its own copy and without asking, for up to three days.
#
# Version: Squid 5.7 (Debian 12: squid 5.7-2+deb12u6), with its default refresh_pattern.
#
# Expected: Without Expires and Cache-Control, a cache asks the source before it says that a client's copy is current: a conditional request is
# asked for exactly that.
#
# Behaviour: What had not changed for ten days when it was copied counts as fresh for a fifth of that time, at most 4320 minutes (RFC 9111, 4.2.2, allows
# it). In that time Squid compares the client's ETag with that of its copy. Cache-Control: no-cache or max-age=0 of the request leads to the source.
#
# Why it matters: A feed that is quiet for two weeks and then changes is the one that a mirror sees last. The 304 looks like the source's own, the sign
# is only X-Cache and Age. Clients that send If-None-Match and nothing else, as most do, are all affected.
#
# Seen:
#   the client has v1, the source v2
#   If-None-Match: 304, X-Cache: HIT
#   If-None-Match, Cache-Control: max-age=0: 200, ETag "v2", X-Cache: MISS
#   If-None-Match, Cache-Control: no-cache: 200, ETag "v2", X-Cache: MISS

source "$(dirname "$0")/support/prepare.sh"
debian squid=5.7-2+deb12u6
chmod 777 "$work"
cat >program.mjs <<PROGRAM
import { writeFileSync } from "node:fs";
import { freePort, openConnection, startOrigin, startServer } from "$support/http.mjs";
let version = 'v1';
const origin = await startOrigin(({ head }, socket) => {
  const isKnown = head.includes(\`"\${version}"\`);
  const modified = new Date(Date.now() - (version === 'v1' ? 10 * 86_400_000 : 0)).toUTCString();
  const date = new Date().toUTCString();
  socket.end(\`HTTP/1.1 \${isKnown ? '304 Not Modified' : '200 OK'}\r\nDate: \${date}\r\nETag: "\${version}"\r\nLast-Modified: \${modified}\r\nConnection: close\r\n\` +
    (isKnown ? '\r\n' : \`Content-Type: application/xml\r\nContent-Length: 7\r\n\r\n<jobs/>\`));
});
const port = await freePort();
writeFileSync('squid.conf', \`http_port 127.0.0.1:\${port} accel defaultsite=localhost no-vhost
cache_peer 127.0.0.1 parent \${origin} 0 no-query no-digest no-netdb-exchange originserver
http_access allow all
pid_filename $work/pid
access_log none
cache_log $work/log
coredump_dir $work
netdb_filename none
pinger_enable off
unlinkd_program /bin/true
icon_directory $root/usr/share/squid/icons
mime_table $root/usr/share/squid/mime.conf
error_directory $root/usr/share/squid-langpack/en
shutdown_lifetime 0 seconds
\`);
await startServer(port, 'squid', '-N', '-f', '$work/squid.conf');
async function ask(...fields) {
  const connection = openConnection(port);
  const answer = await connection.send(['GET /feed.xml HTTP/1.1', 'Host: localhost', ...fields, 'Connection: close', '', ''].join('\r\n'));
  connection.close();
  return answer;
}
while ((await ask()).status !== '200');
version = 'v2';
console.log('the client has v1, the source v2');
const known = 'If-None-Match: "v1"';
for (const fields of [[known], [known, 'Cache-Control: max-age=0'], [known, 'Cache-Control: no-cache']]) {
  const { status, field } = await ask(...fields);
  const names = fields.map((each) => each.replace(/: "v1"/, '')).join(', ');
  console.log(\`\${names}: \${status}\${status === '200' ? \`, ETag \${field('etag')}\` : ''}, X-Cache: \${field('x-cache').split(' ')[0]}\`);
}
process.exit();
PROGRAM
node program.mjs | expect_seen
