#!/usr/bin/env bash
# jstoxml writes the name of a member that is null as a text, and drops the name of one that is an empty list.
#
# Version: jstoxml 7.1.1 (npm).
#
# Expected: Null becomes an empty element, or nothing, as undefined and an empty text do.
#
# Behaviour: { category: null } becomes the text "category" between the other elements.
#
# Why it matters: The document is well-formed and valid for most readers, who skip text between elements; those that read the text of the whole job,
# to search or to compare it, find words that nobody wrote, and every job that gets a category changes.
#
# Seen:
#   <job><id>7</id><title>Nurse</title></job>
#   <job><id>7</id>category<title>Nurse</title></job>
#   <job><id>7</id><category/><title>Nurse</title></job>

source "$(dirname "$0")/support/prepare.sh"
npm_packages jstoxml@7.1.1
cat >program.mjs <<'PROGRAM'
import jstoxml from 'jstoxml';
console.log(jstoxml.toXML({ job: { id: '7', title: 'Nurse' } }));
console.log(jstoxml.toXML({ job: { id: '7', category: null, title: 'Nurse' } }));
console.log(jstoxml.toXML({ job: { id: '7', category: undefined, title: 'Nurse' } }));
PROGRAM
node program.mjs | expect_seen
