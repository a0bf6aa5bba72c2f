#!/usr/bin/env bash
# httplib2 adds the ETag of a page it has read to its PUT, and Apache answers 412 if it had compressed that page.
#
# Version: httplib2 0.20.4 (Debian 12: python3-httplib2 0.20.4-3+deb12u1), Apache 2.4.71 with mod_dav and mod_deflate.
#
# Expected: A PUT has the header fields that it was given. Where one of them is If-Match, an ETag that the server has just sent fits.
#
# Behaviour: httplib2 with a cache adds If-Match to PUT and PATCH of an address that it has read. mod_deflate has added -gzip to the ETag, which
# mod_dav does not know: 412. The refused request empties the cache, so that the second try succeeds. Without compression the first does.
#
# Why it matters: Who reads a job before it is updated is told that somebody else has changed it, each time, and only where answers are long
# enough to be compressed. A client that takes 412 for a conflict never updates it; one that repeats blindly also repeats over real conflicts.
#
# Seen:
#   compressed: GET 200 with an ETag that ends in -gzip, PUT 412, PUT again 204
#   as it is: GET 200 with an ETag, PUT 204, PUT again 204

source "$(dirname "$0")/support/prepare.sh"
debian apache2-bin=2.4.71-1~deb12u1 python3-httplib2=0.20.4-3+deb12u1
chmod 777 "$work" && mkdir -m 777 www locks
for name in compressed plain; do
  mkdir -m 777 "www/$name"
  echo "<job><title>Nurse</title><description>$(printf 'day shift %.0s' {1..200})</description></job>" >"www/$name/7.xml"
  chmod 666 "www/$name/7.xml"
done
cat >program.py <<'PROGRAM'
import sys, httplib2
for name, folder in ('compressed', 'compressed'), ('as it is', 'plain'):
    http = httplib2.Http('kept')
    address = f'http://127.0.0.1:{sys.argv[1]}/{folder}/7.xml'
    page, text = http.request(address)
    tag = 'an ETag that ends in -gzip' if page['etag'].endswith('-gzip"') else 'an ETag'
    tries = [http.request(address, 'PUT', body=text, headers={'content-type': 'application/xml'})[0].status for _ in range(2)]
    print(f'{name}: GET {page.status} with {tag}, PUT {tries[0]}, PUT again {tries[1]}')
PROGRAM
cat >program.mjs <<PROGRAM
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { freePort, startServer } from '$support/http.mjs';
const port = await freePort();
const modules = ['mpm_event', 'authz_core', 'dav', 'dav_fs', 'filter', 'deflate', 'mime'];
writeFileSync('apache', [
  'ServerRoot $work', 'PidFile $work/pid', 'ErrorLog $work/log', \`Listen 127.0.0.1:\${port}\`, 'ServerName localhost', 'User www-data', 'Mutex file:$work',
  'DocumentRoot $work/www', ...modules.map((name) => \`LoadModule \${name}_module $root/usr/lib/apache2/modules/mod_\${name}.so\`),
  'TypesConfig /dev/null', 'AddType application/xml .xml', 'DavLockDB $work/locks/locks', '<Directory $work/www>', 'Dav On', '</Directory>',
  '<Directory $work/www/compressed>', 'AddOutputFilterByType DEFLATE application/xml', '</Directory>', '',
].join('\n'));
await startServer(port, 'apache2', '-X', '-f', '$work/apache');
await once(spawn('python3.11', ['-W', 'ignore', 'program.py', String(port)], { stdio: 'inherit' }), 'exit');
process.exit();
PROGRAM
node program.mjs | expect_seen
