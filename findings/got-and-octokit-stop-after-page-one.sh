#!/usr/bin/env bash
# got, Octokit and parse-link-header take page 1 for all of them where Link has rel="next last", rel=next or REL="next".
#
# Version: npm: got 14.6.6, @octokit/plugin-paginate-rest 16.0.0 with @octokit/core 7.0.8, parse-link-header 2.0.0, http-link-header 1.1.4.
#
# Expected: All pages, or an error: RFC 8288 allows several relations in one rel, values without quotes, and names in capitals.
#
# Behaviour: Each of them compares what stands after rel with one fixed text: got knows no rel="next last" and no REL, Octokit nothing but rel="next",
# parse-link-header no REL and no blank beside the =. Then there is no next page, and the pages so far are the result. Where the address or a title has
# a comma, got raises and Octokit reads on, or stops. http-link-header stops after a parameter without a value, such as nopush.
#
# Why it matters: rel="next last" stands on the last page but one, so that a list of 40 pages loses only its last one, and one of two pages half its
# jobs. Nothing fails, and a mirror deletes the rest. Compare the number of records with the total that many answers state.
#
# Seen:
#   header after the address                            got     Octokit parse-link-header http-link-header
#   rel="next"                                          123     123     123               123
#   rel=next                                            123     1       123               123
#   rel="next last"                                     1       1       123               123
#   rel = "next"                                        123     1       1                 123
#   REL="next"                                          1       1       1                 123
#   title="Nurses, cooks"; rel="next"                   error   1       123               123
#   rel="next", after </a.css>; rel=preload; nopush     error   123     123               1
#   rel="next", of /jobs?page=2&fields=id,title         error   123     123               123

source "$(dirname "$0")/support/prepare.sh"
npm_packages got@14.6.6 @octokit/core@7.0.8 @octokit/plugin-paginate-rest@16.0.0 parse-link-header@2.0.0 http-link-header@1.1.4
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import got from 'got';
import links from 'http-link-header';
import parseLinks from 'parse-link-header';
const css = '</a.css>; rel=preload; nopush';
const headers = {
  'rel="next"': (page) => `<${page}>; rel="next"`,
  'rel=next': (page) => `<${page}>; rel=next`,
  'rel="next last"': (page) => `<${page}>; rel="next last"`,
  'rel = "next"': (page) => `<${page}>; rel = "next"`,
  'REL="next"': (page) => `<${page}>; REL="next"`,
  'title="Nurses, cooks"; rel="next"': (page) => `<${page}>; title="Nurses, cooks"; rel="next"`,
  [`rel="next", after ${css}`]: (page) => `${css}, <${page}>; rel="next"`,
  'rel="next", of /jobs?page=2&fields=id,title': (page) => `<${page}&fields=id,title>; rel="next"`,
};
let header;
const server = createServer(({ url }, response) => {
  const page = Number(new URL(url, origin).searchParams.get('page') ?? 1);
  if (page < 3) response.setHeader('Link', header(`${origin}/jobs?page=${page + 1}`));
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify([page]));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${server.address().port}`;
const octokit = new (Octokit.plugin(paginateRest))({ baseUrl: origin });
async function follow(next) {
  const jobs = [];
  for (let address = `${origin}/jobs`; address !== undefined; ) {
    const answer = await fetch(address);
    jobs.push(...(await answer.json()));
    address = next(answer.headers.get('link') ?? '');
  }
  return jobs;
}
const clients = [
  () => got.paginate.all(`${origin}/jobs`, { responseType: 'json', pagination: { transform: ({ body }) => body } }),
  () => octokit.paginate('GET /jobs'),
  () => follow((text) => parseLinks(text)?.next?.url),
  () => follow((text) => links.parse(text).rel('next')[0]?.uri),
];
const show = (name, results) =>
  console.log([name.padEnd(51), ...results.map((text, at) => text.padEnd([7, 7, 17, 16][at]))].join(' ').trim());
show('header after the address', ['got', 'Octokit', 'parse-link-header', 'http-link-header']);
for (const [name, write] of Object.entries(headers)) {
  header = write;
  const results = clients.map((read) => read().then((jobs) => jobs.join(''), () => 'error'));
  show(name, await Promise.all(results));
}
process.exit();
PROGRAM
node program.mjs | expect_seen
