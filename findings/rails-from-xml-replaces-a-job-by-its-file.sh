#!/usr/bin/env bash
# Rails replaces a whole job by its element <file type="file">, and reads 20,000 as 20.
#
# Version: Active Support 6.1.7.10 (Rails' `Hash.from_xml`; Debian 12: ruby-activesupport 2:6.1.7.10+dfsg-1~deb12u4).
#
# Expected: An attachment is one member of the job beside the others; a number that cannot be read is an error or a text.
#
# Behaviour: An element whose child is named "file" and holds a file becomes that file, as in forms of HTML: all other members are gone. Named
# "document", it stays beside them. The types are read by to_i and Date.parse: "20,000" is 20, "01/02/2026" is 1 February. Of
# "Pay <b>20</b> an hour" the 20 is missing.
#
# Why it matters: Rails' clients and sites write and read such types by themselves. A job arrives without title and reference, or with a
# thousandth of its salary, and no validation fails that has not been written for it.
#
# Seen:
#   <document>: title, document
#   <file>: a StringIO
#   integer 20,000: 20
#   date 01/02/2026: 2026-02-01
#   Pay <b>20</b> an hour: "Pay  an hour"

source "$(dirname "$0")/support/prepare.sh"
debian ruby-activesupport=2:6.1.7.10+dfsg-1~deb12u4 ruby-concurrent=1.1.6+dfsg-5 ruby-i18n=1.10.0-2 ruby-tzinfo=2.0.5-1 ruby-zeitwerk=2.6.1-1
cat >program.rb <<'RUBY'
require 'active_support/all'
%w[document file].each do |name|
  job = Hash.from_xml(%(<job><title>Nurse</title><#{name} type="file" name="a.txt">SGk=</#{name}></job>))['job']
  puts "<#{name}>: #{job.is_a?(Hash) ? job.keys.join(', ') : "a #{job.class}"}"
end
puts "integer 20,000: #{Hash.from_xml('<job><salary type="integer">20,000</salary></job>')['job']['salary']}"
puts "date 01/02/2026: #{Hash.from_xml('<job><posted type="date">01/02/2026</posted></job>')['job']['posted']}"
puts "Pay <b>20</b> an hour: #{Hash.from_xml('<job><pay>Pay <b>20</b> an hour</pay></job>')['job']['pay'].inspect}"
RUBY
libraries="$(printf -- '-I %s ' "$root"/usr/share/rubygems-integration/*/gems/*/lib "$root"/usr/lib/ruby/vendor_ruby)"
# shellcheck disable=SC2086
ruby -W0 $libraries program.rb | expect_seen
