#!/usr/bin/env bash
# Apache passes on bodies of any length through ProxyPass, whatever LimitRequestBody says; for a file it answers 413.
#
# Version: Apache 2.4.71 (Debian 12: apache2-bin 2.4.71-1~deb12u1).
#
# Expected: LimitRequestBody 1000 at the top of the configuration holds for all requests of the server, as client_max_body_size of nginx does.
#
# Behaviour: It does not hold for what mod_proxy passes on; the configuration is accepted without a warning. What has the effect there
# is a rule about the request: <If "%{HTTP:Content-Length} -gt 1000">, with Redirect 413.
#
# Why it matters: A job site behind Apache is told that long descriptions are refused, and tests it with a page of Apache's own. In front
# of the site they arrive, and are cut or refused by what comes after it.
#
# Seen:
#   LimitRequestBody 1000: a POST of 5000 bytes to a file 413, through ProxyPass 200, 5000 bytes
#   with the rule: through ProxyPass 413

source "$(dirname "$0")/support/prepare.sh"
debian apache2-bin=2.4.71-1~deb12u1
mkdir www && echo page >www/page.html && chmod 777 "$work"
cat >program.mjs <<PROGRAM
import { writeFileSync } from "node:fs";
import { freePort, startOrigin, startServer } from "$support/http.mjs";
const origin = await startOrigin(({ body }, socket) => {
  const text = \`\${body.length} bytes\`;
  socket.end(\`HTTP/1.1 200 OK\r\nContent-Length: \${text.length}\r\nConnection: close\r\n\r\n\${text}\`);
});
async function start(rule) {
  const port = await freePort();
  const modules = ['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'alias'];
  writeFileSync('apache', [
    'ServerRoot $work', \`PidFile $work/pid-\${port}\`, 'ErrorLog $work/log', \`Listen 127.0.0.1:\${port}\`, 'ServerName localhost', 'User www-data', 'Mutex file:$work',
    'DocumentRoot $work/www', ...modules.map((name) => \`LoadModule \${name}_module $root/usr/lib/apache2/modules/mod_\${name}.so\`),
    ...rule, \`ProxyPass /site http://127.0.0.1:\${origin}/\`, '',
  ].join('\n'));
  await startServer(port, 'apache2', '-X', '-f', '$work/apache');
  return async (path) => {
    const answer = await fetch(\`http://127.0.0.1:\${port}\${path}\`, { method: 'POST', body: 'x'.repeat(5_000) });
    return \`\${answer.status}\${answer.ok ? \`, \${await answer.text()}\` : ''}\`;
  };
}
const limited = await start(['LimitRequestBody 1000']);
console.log(\`LimitRequestBody 1000: a POST of 5000 bytes to a file \${await limited('/page.html')}, through ProxyPass \${await limited('/site')}\`);
const ruled = await start(['<If "%{HTTP:Content-Length} -gt 1000">', 'Redirect 413 /', '</If>']);
console.log(\`with the rule: through ProxyPass \${await ruled('/site')}\`);
process.exit();
PROGRAM
node program.mjs | expect_seen
