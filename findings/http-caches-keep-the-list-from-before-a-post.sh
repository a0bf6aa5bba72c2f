#!/usr/bin/env bash
# got, axios-cache-interceptor, requests-cache and CacheControl show the list of jobs as it was before their own POST.
#
# Version: npm: got 16.1.0, axios 1.21.1 with axios-cache-interceptor 1.12.3, undici 7.30.2, make-fetch-happen 16.0.1; Debian 12:
# requests-cache 0.9.8 (python3-requests-cache), CacheControl 0.12.12 (python3-cachecontrol), httplib2 0.20.4 (python3-httplib2).
#
# Expected: A successful POST, PUT or DELETE invalidates what a cache has of that address (RFC 9111, 4.4: it MUST).
#
# Behaviour: The list may be kept for a minute, and is asked for before and after a request to the same address. got, axios-cache-interceptor
# and requests-cache answer from their copy after each of them; CacheControl only after POST. undici, make-fetch-happen and httplib2 ask.
#
# Why it matters: A site takes new jobs at /jobs.xml and lists them there. Whoever looks whether a job was made whose answer got lost finds that
# it was not, and makes it again. Ask for such a list past all caches.
#
# Seen:
#   got: old list after POST, PUT, DELETE
#   axios-cache-interceptor: old list after POST, PUT, DELETE
#   undici: new list
#   make-fetch-happen: new list
#   requests-cache: old list after POST, PUT, DELETE
#   CacheControl: old list after POST
#   httplib2: new list

source "$(dirname "$0")/support/prepare.sh"
npm_packages got@16.1.0 axios@1.21.1 axios-cache-interceptor@1.12.3 undici@7.30.2 make-fetch-happen@16.0.1
debian python3-requests-cache=0.9.8-1 python3-cachecontrol=0.12.12-2 python3-httplib2=0.20.4-3+deb12u1 python3-requests=2.28.1+dfsg-1 python3-urllib3
cat >program.py <<'PROGRAM'
import sys, cachecontrol, httplib2, requests, requests_cache
address = sys.argv[1]
clients = {
    'requests-cache': lambda session=requests_cache.CachedSession(backend='memory'): lambda method, url: session.request(method, url).text,
    'CacheControl': lambda session=cachecontrol.CacheControl(requests.Session()): lambda method, url: session.request(method, url).text,
    'httplib2': lambda http=httplib2.Http('kept'): lambda method, url: http.request(url, method)[1].decode(),
}
for name, make in clients.items():
    ask, old = make(), []
    for method in 'POST', 'PUT', 'DELETE':
        url = f'{address}/{name}/{method}'
        before = ask('GET', url)
        ask(method, url)
        if ask('GET', url) == before: old.append(method)
    print(f'{name}:', 'old list after ' + ', '.join(old) if old else 'new list')
PROGRAM
cat >program.mjs <<'PROGRAM'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import axios from 'axios';
import { setupCache } from 'axios-cache-interceptor';
import got from 'got';
import makeFetchHappen from 'make-fetch-happen';
import { Agent, interceptors, request } from 'undici';
const changes = new Map();
const site = createServer(({ method, url }, response) => {
  const changed = changes.get(url) ?? 0;
  if (method === 'GET') return response.setHeader('cache-control', 'max-age=60').end(`<jobs>${changed}</jobs>`);
  changes.set(url, changed + 1);
  response.end('<job/>');
}).listen(0, '127.0.0.1');
await once(site, 'listening');
const address = `http://127.0.0.1:${site.address().port}`;
const cache = new Map();
const kept = setupCache(axios.create());
const dispatcher = new Agent().compose(interceptors.cache());
const fetchKept = makeFetchHappen.defaults({ cachePath: 'kept' });
const CLIENTS = {
  got: (method, url) => got(url, { method, cache }).text(),
  'axios-cache-interceptor': async (method, url) => (await kept.request({ method, url })).data,
  undici: async (method, url) => (await request(url, { method, dispatcher })).body.text(),
  'make-fetch-happen': async (method, url) => (await fetchKept(url, { method })).text(),
};
for (const [name, ask] of Object.entries(CLIENTS)) {
  const old = [];
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const url = `${address}/${name}/${method}`;
    const before = await ask('GET', url);
    await ask(method, url);
    if ((await ask('GET', url)) === before) old.push(method);
  }
  console.log(`${name}: ${old.length > 0 ? `old list after ${old.join(', ')}` : 'new list'}`);
}
await once(spawn('python3.11', ['-W', 'ignore', 'program.py', address], { stdio: 'inherit' }), 'exit');
process.exit();
PROGRAM
node program.mjs | expect_seen
