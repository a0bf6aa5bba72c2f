#!/usr/bin/env bash
# JSON-LD makes one JobPosting with two titles of two pages that use the same @id, and one number of the list [40, 40].
#
# Version: npm: jsonld 9.0.0 (flatten); rdflib 6.1.1 (Debian 12: python3-rdflib 6.1.1-1).
#
# Expected: Two objects in two pages are two jobs; a list keeps its elements.
#
# Behaviour: Objects with one @id are the same thing, so that their members are added to one another, whatever library reads them; values are
# sets: what occurs twice is there once. Without @id they stay two, and there is no order of them.
#
# Why it matters: Templates of job pages use "@id": "https://example.com/#job" or the address of the list. Read one by one with JSON.parse
# they are fine; once read as the format that they state, all jobs of a site are one with every title, and its first title is any of them.
#
# Seen:
#   jsonld: 1 job, titles Cook, Nurse, hours 40
#   jsonld, without @id: 2 jobs, titles Cook, Nurse, hours 40
#   rdflib: 1 job, titles Cook, Nurse, hours 40
#   rdflib, without @id: 2 jobs, titles Cook, Nurse, hours 40

source "$(dirname "$0")/support/prepare.sh"
debian python3-rdflib=6.1.1-1
npm_packages jsonld@9.0.0
cat >pages.json <<'PAGES'
[{ "@context": { "@vocab": "https://schema.org/" }, "@id": "https://example.com/#job", "@type": "JobPosting", "title": "Nurse", "hours": [40, 40] },
 { "@context": { "@vocab": "https://schema.org/" }, "@id": "https://example.com/#job", "@type": "JobPosting", "title": "Cook" }]
PAGES
sed 's/"@id": [^,]*, //' pages.json >without.json
cat >program.mjs <<'PROGRAM'
import { readFileSync } from 'node:fs';
import jsonld from 'jsonld';
for (const [name, file] of [['jsonld', 'pages.json'], ['jsonld, without @id', 'without.json']]) {
  const jobs = await jsonld.flatten(JSON.parse(readFileSync(file, 'utf8')));
  const all = (member) => jobs.flatMap((job) => (job[`https://schema.org/${member}`] ?? []).map((each) => each['@value'])).sort().join(', ');
  console.log(`${name}: ${jobs.length} job${jobs.length === 1 ? '' : 's'}, titles ${all('title')}, hours ${all('hours')}`);
}
PROGRAM
cat >program.py <<'PROGRAM'
import rdflib
schema = rdflib.Namespace('https://schema.org/')
for name, file in (('rdflib', 'pages.json'), ('rdflib, without @id', 'without.json')):
    graph = rdflib.Graph().parse(file, format='json-ld')
    jobs = set(graph.subjects(rdflib.RDF.type, schema.JobPosting))
    titles, hours = (', '.join(sorted(map(str, graph.objects(None, schema[member])))) for member in ('title', 'hours'))
    print(f"{name}: {len(jobs)} job{'' if len(jobs) == 1 else 's'}, titles {titles}, hours {hours}")
PROGRAM
{
  node program.mjs
  python3.11 program.py
} | expect_seen
