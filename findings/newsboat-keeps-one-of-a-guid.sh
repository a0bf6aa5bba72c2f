#!/usr/bin/env bash
# newsboat keeps one of two jobs that have the same guid in two feeds, and moves it to the feed that was read last.
#
# Version: newsboat 2.21 (Debian 12: newsboat 2.21-1.5), RSS 2.0.
#
# Expected: A guid tells the items of one feed apart: numbers such as 7, with isPermaLink="false", mean another job in each feed.
#
# Behaviour: The cache has one item for each guid in all feeds. The job of the feed that is read second takes the place, the title and the feed of
# the other one, which is gone without a message; at the next reload it is the same again.
#
# Why it matters: Job boards number their jobs, so that two of them have the same keys sooner or later, and always if one producer writes both feeds.
# Whoever watches them sees fewer jobs, and one feed's jobs change when the other one is read. Store the feed with each key.
#
# Seen:
#   feeds: a.xml 7 Nurse, 8 Cook; b.xml 7 Chef, 9 Guard
#   cache: 7 Chef (b.xml), 8 Cook (a.xml), 9 Guard (b.xml)
#   3 unread articles

source "$(dirname "$0")/support/prepare.sh"
debian newsboat=2.21-1.5 sqlite3=3.40.1-2+deb12u2
feed() {
  local name="$1" item
  shift
  for item; do echo "<item><title>${item#* }</title><link>https://$name.example/${item% *}</link><guid isPermaLink=\"false\">${item% *}</guid></item>"; done >items
  echo "<rss version=\"2.0\"><channel><title>$name</title><link>https://$name.example/</link><description>Jobs</description>$(cat items)</channel></rss>" >"$name.xml"
}
feed a '7 Nurse' '8 Cook'
feed b '7 Chef' '9 Guard'
printf "file://$work/%s\n" a.xml b.xml >urls
ask() { newsboat -C /dev/null -u urls -c cache.db -x "$1"; }
ask reload
{
  echo 'feeds: a.xml 7 Nurse, 8 Cook; b.xml 7 Chef, 9 Guard'
  sqlite3 cache.db "select 'cache: ' || group_concat(each, ', ') from (
    select guid || ' ' || title || ' (' || replace(feedurl, 'file://$work/', '') || ')' as each from rss_item order by guid)"
  ask print-unread
} | expect_seen
