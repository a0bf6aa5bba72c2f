#!/usr/bin/env bash
# Calendar libraries make two categories of "Health, Care": ics writes them, node-ical, ical and icalendar read them.
#
# Version: npm: ics 3.12.0, ical-generator 11.1.2, ical.js 2.2.1, node-ical 0.26.1, ical 0.8.0; Debian 12: python3-icalendar 4.0.3,
# python3-vobject 0.9.6.1, ruby-icalendar 2.8.0, iCal::Parser 1.21.
#
# Expected: A comma in a category is written as \, and is no comma between two categories (RFC 5545, 3.3.11 and 3.8.1.2).
#
# Behaviour: ics does not escape it, so that every reader sees three categories where there were two. node-ical, ical and Python's icalendar divide
# the escaped one as well, iCal::Parser returns all as it is written. Only ical.js, vobject and Ruby's icalendar have what was meant.
#
# Why it matters: Calendars of shifts and job fairs have the fields of work as categories, and their names have commas. A mapping by name finds none,
# or the one that is called like the first half.
#
# Seen:
#   ics writes: Health, Care,Night
#   ical-generator writes: Health\, Care,Night
#   ical.js reads: Health, Care | Night
#   node-ical reads: Health\ | Care | Night
#   ical reads: Health\ | Care | Night
#   icalendar (Python) reads: Health |  Care | Night
#   vobject reads: Health, Care | Night
#   icalendar (Ruby) reads: Health, Care | Night
#   iCal::Parser reads: Health\, Care,Night

source "$(dirname "$0")/support/prepare.sh"
npm_packages ics@3.12.0 ical-generator@11.1.2 ical.js@2.2.1 node-ical@0.26.1 ical@0.8.0
debian python3-icalendar=4.0.3-5 python3-vobject=0.9.6.1-2 ruby-icalendar=2.8.0-1 libical-parser-perl=1.21-3
cat >program.mjs <<'PROGRAM'
import { writeFileSync } from 'node:fs';
import ical from 'ical';
import icalGenerator from 'ical-generator';
import ICAL from 'ical.js';
import { createEvent } from 'ics';
import nodeIcal from 'node-ical';
const names = ['Health, Care', 'Night'];
const lineOf = (calendar) => /^CATEGORIES:(.*?)\r?$/m.exec(calendar)[1];
const { value } = createEvent({ title: 'Nurse', start: [2026, 11, 1, 9, 0], duration: { hours: 8 }, categories: names });
const calendar = icalGenerator();
calendar.createEvent({ id: '7', summary: 'Nurse', start: new Date('2026-11-01T09:00:00Z'), categories: names.map((name) => ({ name })) });
writeFileSync('jobs.ics', `${calendar}`);
console.log('ics writes:', lineOf(value));
console.log('ical-generator writes:', lineOf(`${calendar}`));
const event = new ICAL.Component(ICAL.parse(`${calendar}`)).getFirstSubcomponent('vevent');
console.log('ical.js reads:', event.getFirstProperty('categories').getValues().join(' | '));
for (const [name, library] of [['node-ical', nodeIcal.sync], ['ical', ical]])
  console.log(`${name} reads:`, Object.values(library.parseICS(`${calendar}`)).find(({ type }) => type === 'VEVENT').categories.join(' | '));
PROGRAM
cat >program.py <<'PROGRAM'
import icalendar, vobject
text = open('jobs.ics', newline='').read()
event = icalendar.Calendar.from_ical(text).walk('VEVENT')[0]
print('icalendar (Python) reads:', ' | '.join(str(name) for name in event['categories'].cats))
print('vobject reads:', ' | '.join(vobject.readOne(text).vevent.categories.value))
PROGRAM
cat >program.rb <<'RUBY'
require 'icalendar'
puts "icalendar (Ruby) reads: #{Icalendar::Calendar.parse(File.read('jobs.ics'))[0].events[0].categories.flatten.join(' | ')}"
RUBY
cat >program.pl <<'PROGRAM'
use iCal::Parser;
my ($event) = values %{iCal::Parser->new->parse('jobs.ics')->{events}{2026}{11}{1}};
print "iCal::Parser reads: $event->{CATEGORIES}\n";
PROGRAM
libraries="$(printf -- '-I %s ' "$root"/usr/share/rubygems-integration/*/gems/*/lib "$root"/usr/lib/ruby/vendor_ruby)"
{
  node program.mjs
  python3.11 -W ignore program.py
  # shellcheck disable=SC2086
  ruby -W0 $libraries program.rb
  perl program.pl 2>log
} | expect_seen
