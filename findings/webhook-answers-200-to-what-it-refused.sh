#!/usr/bin/env bash
# webhook answers 200 to a message that its rule refused, and to one whose command fails.
#
# Version: webhook 2.8.0 (Debian 12: webhook 2.8.0-4+b6).
#
# Expected: A receiver answers 2xx once it has taken a message; 403 if its secret is wrong, and 500 if the command for it fails.
#
# Behaviour: A hook whose trigger rule does not hold answers 200 with "Hook rules were not satisfied.", unless
# trigger-rule-mismatch-http-response-code is set. A hook answers before its command has ended, so with 200 whatever that does, unless its
# output is part of the answer: then 500. The names of both settings do not say so.
#
# Why it matters: The sender of alerts counts them as delivered and never sends them again, though the secret was mistyped.
#
# Seen:
#   the rule holds: 200, the command ran
#   the rule does not hold: 200, the command did not run
#   with trigger-rule-mismatch-http-response-code: 403, the command did not run
#   the command fails: 200
#   with include-command-output-in-response: 500

source "$(dirname "$0")/support/prepare.sh"
debian webhook=2.8.0-4+b6
cat >program.mjs <<PROGRAM
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { freePort, startServer } from "$support/http.mjs";
const rule = { match: { type: 'value', value: 'right', parameter: { source: 'header', name: 'X-Secret' } } };
const run = { 'execute-command': '/usr/bin/touch', 'command-working-directory': '$work', 'pass-arguments-to-command': [{ source: 'string', name: 'ran' }] };
const hooks = [
  { id: 'rule', 'trigger-rule': rule, ...run },
  { id: 'code', 'trigger-rule': rule, 'trigger-rule-mismatch-http-response-code': 403, ...run },
  { id: 'fails', 'execute-command': '/bin/false' },
  { id: 'output', 'execute-command': '/bin/false', 'include-command-output-in-response': true },
];
writeFileSync('hooks.json', JSON.stringify(hooks));
const port = await freePort();
await startServer(port, 'webhook', '-hooks', 'hooks.json', '-ip', '127.0.0.1', '-port', String(port));
async function post(hook, secret) {
  rmSync('ran', { force: true });
  const headers = { 'content-type': 'application/json', 'x-secret': secret };
  const { status } = await fetch(\`http://127.0.0.1:\${port}/hooks/\${hook}\`, { method: 'POST', headers, body: '{"text":"held"}' });
  for (let tries = 0; tries < 20 && !existsSync('ran'); tries++) await pause(50);
  return { status, ran: existsSync('ran') ? 'the command ran' : 'the command did not run' };
}
const show = (name, { status, ran }) => console.log(\`\${name}: \${status}, \${ran}\`);
show('the rule holds', await post('rule', 'right'));
show('the rule does not hold', await post('rule', 'wrong'));
show('with trigger-rule-mismatch-http-response-code', await post('code', 'wrong'));
console.log(\`the command fails: \${(await post('fails', 'right')).status}\`);
console.log(\`with include-command-output-in-response: \${(await post('output', 'right')).status}\`);
process.exit();
PROGRAM
node program.mjs | expect_seen
