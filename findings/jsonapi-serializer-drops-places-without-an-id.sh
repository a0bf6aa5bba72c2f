#!/usr/bin/env bash
# jsonapi-serializer writes null for a place that has no ID, or the ID 0, and one place for all with the same ID.
#
# Version: npm: jsonapi-serializer 3.6.9.
#
# Expected: An object that cannot be a resource of its own, as it has no ID, stays an attribute of the job or is an error.
#
# Behaviour: A member that is described as a relationship is null if its ID is missing, null or 0. Of places with one ID, the attributes of the last
# one are written for all. The deserializer leaves a relationship out whose resource is not in "included", also its ID.
#
# Why it matters: Places are often entered as text by some users and chosen from a list by others. The jobs of the former have no town in the feed,
# without a message, so that a site which requires one rejects them. An ID that only counts within a company moves jobs to another town.
#
# Seen:
#   place 1 Boston: 1
#   place 0 Salem: null
#   place without ID Lynn: null
#   included: 1 Reno
#   read without included: {"title":"Nurse","id":"7"}

source "$(dirname "$0")/support/prepare.sh"
npm_packages jsonapi-serializer@3.6.9
cat >program.mjs <<'PROGRAM'
import api from 'jsonapi-serializer';
const jobs = new api.Serializer('jobs', { attributes: ['title', 'place'], place: { ref: 'id', attributes: ['town'] } });
const places = [{ id: 1, town: 'Boston' }, { id: 0, town: 'Salem' }, { town: 'Lynn' }];
const { data } = jobs.serialize(places.map((place, at) => ({ id: 7 + at, title: 'Nurse', place })));
for (const [at, { id, town }] of places.entries())
  console.log(`place ${id ?? 'without ID'} ${town}: ${data[at].relationships.place.data?.id ?? null}`);
const shared = jobs.serialize(['Boston', 'Reno'].map((town, at) => ({ id: 7 + at, title: 'Nurse', place: { id: 1, town } })));
console.log('included:', shared.included.map(({ id, attributes }) => `${id} ${attributes.town}`).join());
console.log('read without included:', JSON.stringify(await new api.Deserializer().deserialize({ data: data[0] })));
PROGRAM
node program.mjs | expect_seen
