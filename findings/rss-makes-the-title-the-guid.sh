#!/usr/bin/env bash
# The package rss makes the title the guid of an item without an address.
#
# Version: npm: rss 1.2.2.
#
# Expected: Without an address and a guid, an item has no guid.
#
# Behaviour: The guid is the title. Two jobs with the same title have the same guid, and a corrected title is a new one.
#
# Why it matters: A guid is what readers take for the key. Two openings for "Nurse" become one posting, and each correction of a title
# deletes a job and makes another.
#
# Seen:
#   <guid isPermaLink="false">Nurse</guid>
#   <guid isPermaLink="false">Nurse</guid>

source "$(dirname "$0")/support/prepare.sh"
npm_packages rss@1.2.2
cat >program.mjs <<'PROGRAM'
import RSS from 'rss';
const feed = new RSS({ title: 'Jobs', feed_url: 'https://jobs.example/feed', site_url: 'https://jobs.example' });
feed.item({ title: 'Nurse', description: 'Nights' });
feed.item({ title: 'Nurse', description: 'Days' });
for (const [guid] of feed.xml().matchAll(/<guid.*?<\/guid>/g)) console.log(guid);
PROGRAM
node program.mjs | expect_seen
