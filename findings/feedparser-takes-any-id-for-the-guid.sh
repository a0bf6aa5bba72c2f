#!/usr/bin/env bash
# feedparser takes the last of guid and any <id> of an RSS item for its ID, and the first of them for its link.
#
# Version: feedparser 6.0.10 (Debian 12: python3-feedparser 6.0.10-1).
#
# Expected: The ID of an RSS item is its guid; <id> in RSS is an element of the publisher's own, such as <location>, and found by its name.
#
# Behaviour: <id> overwrites the guid if it comes after it, and the guid overwrites <id> if not. In a namespace of its own, as g:id, it does not.
# The first of both is also the link of a job without one: "X9". Of two elements <job:location>, the last one is left.
#
# Why it matters: The key of a posting depends on the order of two elements: a publisher who adds the requisition's <id> below the guid, or
# moves it, has all jobs deleted and made again by whoever reads the feed with it.
#
# Seen:
#   guid, id: id X9, link A-7
#   id, guid: id A-7, link X9
#   guid, g:id: id A-7, link A-7
#   two locations: Salem

source "$(dirname "$0")/support/prepare.sh"
debian python3-feedparser=6.0.10-1
cat >program.py <<'PROGRAM'
import feedparser
def entry(text):
    return feedparser.parse(f'''<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0" xmlns:job="https://example.com/job"><channel>
      <title>Jobs</title><item><title>Nurse</title>{text}</item></channel></rss>''').entries[0]
guid = '<guid>A-7</guid>'
for name, text in (('guid, id', guid + '<id>X9</id>'), ('id, guid', '<id>X9</id>' + guid), ('guid, g:id', guid + '<g:id>X9</g:id>')):
    print(f'{name}: id {entry(text).id}, link {entry(text).link}')
print('two locations:', entry(guid + '<job:location>Boston</job:location><job:location>Salem</job:location>').job_location)
PROGRAM
python3.11 program.py | expect_seen
