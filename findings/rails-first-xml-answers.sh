#!/usr/bin/env bash
# Rails raises in the first XML answers that two threads make at once, after it has saved the job.
#
# Version: activemodel-serializers-xml 1.0.2 (Rails' `to_xml`; Debian 12: ruby-activemodel-serializers-xml 1.0.2-3, with ruby-builder 3.2.4-2).
#
# Expected: A threaded server loads what it needs before it answers, or one thread waits for the other.
#
# Behaviour: `to_xml` loads its XML builder with `require 'builder' unless defined? ::Builder`. While one thread is in the middle of that
# `require`, the module Builder exists and its class XmlMarkup does not: a second thread skips the `require` and raises
# NameError, "uninitialized constant Builder::XmlMarkup". No later call fails.
#
# Why it matters: a Rails site with a threaded server (Puma) answers the first XML requests after each start at once. A create is saved
# before its answer is rendered, so a mirror that sends several at a time gets 500 for jobs that exist. Whoever sends these again makes
# second jobs; whoever looks for them first does not. Seen on Rails 6.1 and Puma 5.6: up to 4 of the first 8 creates.
#
# Seen:
#   in a second thread while the builder is loading: NameError: uninitialized constant Builder::XmlMarkup
#   the same call afterwards: <note>

source "$(dirname "$0")/support/prepare.sh"
debian ruby-activemodel-serializers-xml=1.0.2-3 ruby-builder=3.2.4-2 ruby-activemodel=2:6.1.7.10+dfsg-1~deb12u4 \
  ruby-activesupport=2:6.1.7.10+dfsg-1~deb12u4 ruby-concurrent=1.1.6+dfsg-5 ruby-i18n=1.10.0-2 ruby-tzinfo=2.0.5-1 ruby-zeitwerk=2.6.1-1
cat >program.rb <<'RUBY'
require 'active_support/all'
require 'active_model'
require 'active_model/serializers/xml'

class Note
  include ActiveModel::Model
  include ActiveModel::Serializers::Xml
  attr_accessor :text

  def attributes = { 'text' => text }
end

# Stops the first thread where the module Builder is opened for the first time.
opened, go_on = Queue.new, Queue.new
first = Thread.new do
  trace = TracePoint.new(:class) do |point|
    next unless point.self.name == 'Builder'

    trace.disable
    opened << true
    go_on.pop
  end
  trace.enable(target_thread: Thread.current) { Note.new(text: 'one').to_xml }
end
opened.pop
second =
  begin
    Note.new(text: 'two').to_xml
  rescue NameError => error
    "#{error.class}: #{error.message.lines.first.strip}"
  end
go_on << true
first.join
puts "in a second thread while the builder is loading: #{second}"
puts "the same call afterwards: #{Note.new(text: 'two').to_xml[/<note>/]}"
RUBY
libraries="$(printf -- '-I %s ' "$root"/usr/share/rubygems-integration/*/gems/*/lib "$root"/usr/lib/ruby/vendor_ruby)"
# shellcheck disable=SC2086
ruby -W0 $libraries program.rb | expect_seen
