#!/usr/bin/env bash
# sitemapper, sitemap and sitemap-stream-parser take half a sitemap for all of it, and Crawlee takes it for an empty one.
#
# Version: npm: sitemapper 4.1.6, sitemap 9.0.1, sitemap-stream-parser 1.7.0, @crawlee/utils 3.18.1.
#
# Expected: An error: half a sitemap is no XML document, and the list says nothing about the rest.
#
# Behaviour: Nothing is raised, and sitemapper's list of errors is empty. A sitemap that is cut in an address gives an address that is cut, or empty.
# Crawlee notices it, logs a warning, and returns no address. For status 500, sitemap-stream-parser calls back without an error, Crawlee as well;
# sitemapper has an error in its list.
#
# Why it matters: Sitemaps are how mirrors find the pages of jobs. The sitemap of a site that restarts while it writes it has some jobs
# left, and the rest is deleted as closed. Ask for the length of the answer, and for </urlset>.
#
# Seen:
#   whole: sitemapper: /1 /2 /3 /4 | sitemap: /1 /2 /3 /4 | sitemap-stream-parser: /1 /2 /3 /4 | Crawlee: /1 /2 /3 /4
#   cut after the second job: sitemapper: /1 /2 | sitemap: /1 /2 | sitemap-stream-parser: /1 /2 | Crawlee:
#   cut in the third address: sitemapper: /1 /2 "" | sitemap: /1 /2 | sitemap-stream-parser: /1 /2 /jo | Crawlee:
#   status 500: sitemapper: 1 error | sitemap-stream-parser: | Crawlee:

source "$(dirname "$0")/support/prepare.sh"
npm_packages sitemapper@4.1.6 sitemap@9.0.1 sitemap-stream-parser@1.7.0 @crawlee/utils@3.18.1
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Sitemap } from '@crawlee/utils';
import { parseSitemap } from 'sitemap';
import streamParser from 'sitemap-stream-parser';
import Sitemapper from 'sitemapper';
const server = createServer(({ url }, response) => {
  const text = texts[url];
  response.writeHead(text === undefined ? 500 : 200, { 'Content-Type': 'application/xml' }).end(text);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${server.address().port}`;
const jobs = [1, 2, 3, 4].map((each) => `<url><loc>${origin}/jobs/${each}</loc></url>`);
const all = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${jobs.join('')}</urlset>`;
const third = all.indexOf(jobs[2]);
const texts = { '/whole': all, '/second': all.slice(0, third), '/third': all.slice(0, all.indexOf('bs/', third)) };
const parsers = {
  sitemapper: async (url) => {
    const { sites, errors } = await new Sitemapper({ url }).fetch();
    return errors.length > 0 ? [`${errors.length} error`] : sites;
  },
  sitemap: async (url) => (await parseSitemap(Readable.fromWeb((await fetch(url)).body))).map((item) => item.url),
  'sitemap-stream-parser': async (url) => {
    const found = [];
    await promisify(streamParser.parseSitemaps)([url], (each) => found.push(each));
    return found;
  },
  Crawlee: async (url) => (await Sitemap.load(url)).urls,
};
const short = (address) => (address === '' ? '""' : address.replace(origin, '').replace('/jobs/', '/'));
async function show(name, path, names) {
  const results = [];
  for (const each of names) results.push(`${each}: ${(await parsers[each](`${origin}${path}`)).map(short).join(' ')}`.trim());
  console.log(`${name}: ${results.join(' | ')}`);
}
const names = Object.keys(parsers);
await show('whole', '/whole', names);
await show('cut after the second job', '/second', names);
await show('cut in the third address', '/third', names);
await show('status 500', '/missing', names.filter((name) => name !== 'sitemap'));
process.exit();
PROGRAM
node program.mjs 2>log | expect_seen
