#!/usr/bin/env bash
# Ox reads a job into a Hash without what is in CDATA, and an element with an attribute into a list.
#
# Version: Ox 2.14.9 (Debian 12: ruby-ox 2.14.9-1+b2), Ruby 3.1.2.
#
# Expected: CDATA is text like any other; Element#text returns it, and so does the mode :hash.
#
# Behaviour: In the modes :hash and :hash_no_attrs the value is nil, and text around CDATA is all there is. Element#text skips CDATA, too.
# Ox.dump of the parsed document puts CDATA on a line of its own, so that line breaks and blanks become part of the text.
#
# Why it matters: The same feed with its markup escaped has all descriptions; once its producer uses CDATA, all of them are nil, without an error, and
# all jobs are updated to have none.
#
# Seen:
#   escaped: hash "<p>Nights</p>", text "<p>Nights</p>"
#   CDATA: hash nil, text nil
#   mixed: hash "Cook ", text "Cook "
#   attribute: hash [{:format=>"html"}, "Nights"], text "Nights"
#   dumped and read by REXML: "\n  <p>Nights</p>\n"

source "$(dirname "$0")/support/prepare.sh"
debian ruby-ox=2.14.9-1+b2
cat >program.rb <<'RUBY'
require 'ox'
require 'rexml/document'
{
  'escaped' => '<text>&lt;p>Nights&lt;/p></text>',
  'CDATA' => '<text><![CDATA[<p>Nights</p>]]></text>',
  'mixed' => '<text>Cook <![CDATA[& baker]]></text>',
  'attribute' => '<text format="html">Nights</text>',
}.each { |name, xml| puts "#{name}: hash #{Ox.load(xml, mode: :hash)[:text].inspect}, text #{Ox.parse(xml).text.inspect}" }
dumped = Ox.dump(Ox.parse('<text><![CDATA[<p>Nights</p>]]></text>'))
puts "dumped and read by REXML: #{REXML::Document.new(dumped).root.texts.join.inspect}"
RUBY
libraries="$(printf -- '-I %s ' "$root"/usr/share/rubygems-integration/*/gems/*/lib "$root"/usr/lib/ruby/vendor_ruby "$root"/usr/lib/x86_64-linux-gnu/ruby/vendor_ruby/3.1.0)"
# shellcheck disable=SC2086
ruby -W0 $libraries program.rb | expect_seen
