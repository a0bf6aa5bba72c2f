#!/usr/bin/env bash
# feed-extractor makes 7 of the guid 007 and 100000 of 1e5, and one address of all jobs of a page with #7, #8.
#
# Version: @extractus/feed-extractor 8.0.3 (npm).
#
# Expected: id is the guid as it stands, and link is the link; an item without guid gets an id that does not change.
#
# Behaviour: A guid that looks like a number becomes one, and a text again: 007 and 7 are one id; one with other letters or 17 digits stays. The
# fragment and parameters such as utm_source are removed from addresses. Without guid the id is made of the address, without its fragment, and the date.
#
# Why it matters: The ids of two jobs are the same for some numbers only, and both addresses for all jobs of a site that shows them by their fragment: whoever
# stores by id or link keeps one of them. A job without guid that is renewed has another id, and is deleted and made again.
#
# Seen:
#   guid 007: id 7, link https://example.com/jobs
#   guid 7: id 7, link https://example.com/jobs
#   guid 1e5: id 100000, link https://example.com/jobs
#   guid 12345678901234567: id 12345678901234567, link https://example.com/jobs
#   no guid, #7 and #8 of one day: one id
#   no guid, one job renewed: another id

source "$(dirname "$0")/support/prepare.sh"
npm_packages @extractus/feed-extractor@8.0.3
cat >program.mjs <<'PROGRAM'
import { extractFromXml } from '@extractus/feed-extractor';
const read = (...items) =>
  extractFromXml(`<rss version="2.0"><channel><title>Jobs</title><link>https://example.com/</link><description>Jobs</description>${items
    .map(({ guid, at, day = 1 }) => `<item><title>Nurse</title><link>https://example.com/jobs?utm_source=feed#${at}</link>${
      guid === undefined ? '' : `<guid isPermaLink="false">${guid}</guid>`
    }<pubDate>0${day} Oct 2026 09:30:00 GMT</pubDate></item>`)
    .join('')}</channel></rss>`).entries;
const guids = ['007', '7', '1e5', '12345678901234567'];
read(...guids.map((guid) => ({ guid, at: guid }))).forEach(({ id, link }, at) => console.log(`guid ${guids[at]}: id ${id}, link ${link}`));
const compare = (name, ...items) => {
  const [one, other] = read(...items);
  console.log(`no guid, ${name}: ${one.id === other.id ? 'one' : 'another'} id`);
};
compare('#7 and #8 of one day', { at: 7 }, { at: 8 });
compare('one job renewed', { at: 7 }, { at: 7, day: 2 });
PROGRAM
node program.mjs | expect_seen
