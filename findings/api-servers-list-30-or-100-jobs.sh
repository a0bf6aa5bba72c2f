#!/usr/bin/env bash
# Sails lists 30 of 40 jobs and Parse Server 100 of 120, without a word; on Postgres, an edited job leaves Parse's list.
#
# Version: Sails 1.5.18 (npm, with sails-hook-orm 4.0.3 and sails-disk 2.1.2), Parse Server 9.10.0 (npm, with express 5.2.1), Postgres 15.20
# (Debian 12: postgresql-15 15.20-0+deb12u1).
#
# Expected: GET on a collection lists all of it, or says that it is a part: a total, a link to the next page, a header.
#
# Behaviour: Both answer 200 with the first 30 or 100 and nothing else. Parse Server does not order them unless asked to: on Postgres, a job whose
# title is edited goes to the end of the table, so the list loses it and shows another one instead. ?limit=1000 lists all in both.
#
# Why it matters: A mirror takes the list for whole. Each edit in the source then ends the edited job, and the list keeps its length. Jobs beyond
# the limit are never seen.
#
# Seen:
#   Sails: 30 of 40 jobs, headers of pages: none
#   Sails with ?limit=1000: 40 of 40 jobs
#   Parse Server: 100 of 120 jobs, members: results, headers of pages: none
#   Parse Server after an edit of the first job: 100 of 120 jobs, without the edited one
#   Parse Server with ?limit=1000: 120 of 120 jobs

source "$(dirname "$0")/support/prepare.sh"
debian postgresql-15=15.20-0+deb12u1
npm_packages sails@1.5.18 sails-hook-orm@4.0.3 sails-disk@2.1.2 parse-server@9.10.0 express@5.2.1
mkdir data && chown nobody data
postgres="$root/usr/lib/postgresql/15/bin"
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
as_nobody "$postgres/initdb" -D "$work/data" -U jobs --auth=trust --no-sync >log
cat >sails.mjs <<PROGRAM
import orm from "sails-hook-orm";
import sails from "sails";
import disk from "sails-disk";
import { freePort } from "$support/http.mjs";
const port = await freePort();
const app = new sails.constructor();
const off = Object.fromEntries(['grunt', 'session', 'views', 'pubsub', 'sockets', 'i18n'].map((hook) => [hook, false]));
const settings = {
  appPath: '$work', port, explicitHost: '127.0.0.1', globals: false, log: { level: 'error' }, hooks: { ...off, orm },
  datastores: { default: { adapter: disk, inMemoryOnly: true } }, blueprints: { rest: true },
  models: { migrate: 'drop', attributes: { id: { type: 'number', autoIncrement: true } }, dataEncryptionKeys: { default: 'YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=' } },
  orm: { moduleDefinitions: { models: { job: { attributes: { title: { type: 'string' } } } } } },
};
await new Promise((resolve, reject) => app.lift(settings, (error) => (error ? reject(error) : resolve())));
for (let at = 0; at < 40; at++) await app.models.job.create({ title: \`Nurse \${at}\` });
const list = (query) => fetch(\`http://127.0.0.1:\${port}/job\${query}\`);
const answer = await list('');
const { length } = await answer.json();
const headers = [...answer.headers.keys()].filter((name) => /link|total|range|page|count/.test(name));
console.log(\`Sails: \${length} of 40 jobs, headers of pages: \${headers.join(', ') || 'none'}\`);
console.log(\`Sails with ?limit=1000: \${(await (await list('?limit=1000')).json()).length} of 40 jobs\`);
process.exit();
PROGRAM
cat >parse.mjs <<PROGRAM
import { freePort, startServer } from "$support/http.mjs";
import express from "express";
const database = await freePort();
await startServer(database, 'setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', '$postgres/postgres', '-D', '$work/data',
  '-p', String(database), '-c', 'unix_socket_directories=', '-c', 'listen_addresses=127.0.0.1');
const { ParseServer } = await import('parse-server');
const port = await freePort();
const at = \`http://127.0.0.1:\${port}/parse\`;
const server = new ParseServer({ databaseURI: \`postgres://jobs@127.0.0.1:\${database}/postgres\`, appId: 'jobs', masterKey: 'key', serverURL: at,
  allowClientClassCreation: true, silent: true });
await server.start();
express().use('/parse', server.app).listen(port, '127.0.0.1');
const headers = { 'X-Parse-Application-Id': 'jobs', 'Content-Type': 'application/json' };
const send = async (method, path, body) => {
  const answer = await fetch(at + path, { method, headers, body: body && JSON.stringify(body) });
  return { answer, json: await answer.json() };
};
const ids = [];
for (let nth = 0; nth < 120; nth++) ids.push((await send('POST', '/classes/Job', { title: \`Nurse \${nth}\` })).json.objectId);
const { answer, json } = await send('GET', '/classes/Job');
const named = [...answer.headers.keys()].filter((name) => /^(?!access-control).*(?:link|total|range|page|count)/.test(name));
console.log(\`Parse Server: \${json.results.length} of 120 jobs, members: \${Object.keys(json)}, headers of pages: \${named.join(', ') || 'none'}\`);
await send('PUT', \`/classes/Job/\${ids[0]}\`, { title: 'Head nurse' });
const { results } = (await send('GET', '/classes/Job')).json;
const which = results.some(({ objectId }) => objectId === ids[0]) ? 'with' : 'without';
console.log(\`Parse Server after an edit of the first job: \${results.length} of 120 jobs, \${which} the edited one\`);
console.log(\`Parse Server with ?limit=1000: \${(await send('GET', '/classes/Job?limit=1000')).json.results.length} of 120 jobs\`);
process.exit();
PROGRAM
{ node sails.mjs && node parse.mjs 2>>log | grep -v DeprecationWarning; } | expect_seen
