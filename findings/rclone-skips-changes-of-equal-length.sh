#!/usr/bin/env bash
# rclone leaves out a changed feed of the same length on its way to a WebDAV server, and then finds no differences.
#
# Version: rclone 1.60.1 (Debian 12: rclone 1.60.1+dfsg-2+b5), Apache 2.4.71 with mod_dav; the remote is of the vendor "other".
#
# Expected: rclone sync sends what differs, or says that it cannot tell; rclone check compares the files, or fails.
#
# Behaviour: Plain WebDAV has no times and hashes that rclone can use, so that the length decides alone: sync, copy, and sync --checksum send
# nothing, with exit status 0. check counts "0 differences" and a hash that it could not check, with 0. --ignore-times sends it, check --download sees it.
#
# Why it matters: A status of open becomes shut, a salary of 48,000 becomes 52,000: the file is as long as before, and the site behind the
# WebDAV server keeps the old one until some job adds a character. Use --ignore-times for feeds.
#
# Seen:
#   first sync: status 0, on the server: <job id="1" pay="48000">open</job>
#   the feed is now: <job id="1" pay="52000">shut</job>
#   sync: status 0, on the server: <job id="1" pay="48000">open</job>
#   copy: status 0, on the server: <job id="1" pay="48000">open</job>
#   sync --checksum: status 0, on the server: <job id="1" pay="48000">open</job>
#   check: status 0, 0 differences found
#   check --download: status 1, 1 differences found
#   sync --ignore-times: status 0, on the server: <job id="1" pay="52000">shut</job>

source "$(dirname "$0")/support/prepare.sh"
debian rclone=1.60.1+dfsg-2+b5 apache2-bin=2.4.71-1~deb12u1
mkdir local server
chmod 777 server "$work"
cat >program.mjs <<PROGRAM
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { freePort, startServer } from "$support/http.mjs";
const port = await freePort();
const module = (name) => \`LoadModule \${name}_module $root/usr/lib/apache2/modules/mod_\${name}.so\`;
writeFileSync('apache.conf', \`ServerRoot $work
PidFile $work/pid
Listen 127.0.0.1:\${port}
ServerName localhost
\${['mpm_event', 'authz_core', 'dav', 'dav_fs'].map(module).join('\n')}
DavLockDB $work/lock
ErrorLog $work/log
User www-data
DocumentRoot $work/server
<Directory $work/server>
  Dav On
  Require all granted
</Directory>
\`);
await startServer(port, 'apache2', '-f', '$work/apache.conf', '-D', 'FOREGROUND');
const env = { ...process.env, RCLONE_CONFIG: '/dev/null', RCLONE_CONFIG_SITE_TYPE: 'webdav', RCLONE_CONFIG_SITE_URL: \`http://127.0.0.1:\${port}\`, RCLONE_CONFIG_SITE_VENDOR: 'other' };
function rclone(name, ...command) {
  const { status, stderr } = spawnSync('rclone', [...command, 'local', 'site:'], { env, encoding: 'utf8' });
  const result = command[0] === 'check' ? /\d+ differences found/.exec(stderr)[0] : \`on the server: \${readFileSync('server/jobs.xml', 'utf8')}\`;
  console.log(\`\${name}: status \${status}, \${result}\`);
}
writeFileSync('local/jobs.xml', '<job id="1" pay="48000">open</job>');
rclone('first sync', 'sync');
const changed = '<job id="1" pay="52000">shut</job>';
writeFileSync('local/jobs.xml', changed);
console.log(\`the feed is now: \${changed}\`);
for (const command of ['sync', 'copy', 'sync --checksum', 'check', 'check --download', 'sync --ignore-times']) rclone(command, ...command.split(' '));
process.exit();
PROGRAM
node program.mjs | expect_seen
