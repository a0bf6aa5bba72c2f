#!/usr/bin/env bash
# Gyoku writes a Ruby Time as its time of day, without the date, and a DateTime with both.
#
# Version: Gyoku 1.3.1 (Debian 12: ruby-gyoku 1.3.1-1.1), Ruby 3.1.2.
#
# Expected: Time and DateTime are two classes for the same thing: both become a date with a time.
#
# Behaviour: A Time becomes "09:30:00", as xs:time has no date; a DateTime becomes an xs:dateTime. Nil becomes xsi:nil, whose prefix
# the document does not declare.
#
# Why it matters: Ruby on Rails returns a Time for every column with date and time. All jobs that are posted at the same time of day have the same date,
# and none of them can be read as a date.
#
# Seen:
#   Date: <posted>2026-10-01</posted>
#   DateTime: <posted>2026-10-01T09:30:00+00:00</posted>
#   Time: <posted>09:30:00</posted>
#   NilClass: <posted xsi:nil="true"/>

source "$(dirname "$0")/support/prepare.sh"
debian ruby-gyoku=1.3.1-1.1 ruby-builder=3.2.4-2
cat >program.rb <<'RUBY'
require 'date'
require 'gyoku'
[Date.new(2026, 10, 1), DateTime.new(2026, 10, 1, 9, 30), Time.utc(2026, 10, 1, 9, 30), nil].each do |posted|
  puts "#{posted.class}: #{Gyoku.xml(posted: posted)}"
end
RUBY
libraries="$(printf -- '-I %s ' "$root"/usr/share/rubygems-integration/*/gems/*/lib "$root"/usr/lib/ruby/vendor_ruby)"
# shellcheck disable=SC2086
ruby -W0 $libraries program.rb | expect_seen
