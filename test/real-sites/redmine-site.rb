# Redmine 5.0 from Debian's packages (redmine, redmine-sqlite, puma), on loopback, as an instance of its own below FOLDER.
#
#   ruby redmine-site.rb FOLDER PORT
#
# Prints one line of JSON once it listens, { key: the administrator's API key }, and ends when its standard input does. FOLDER keeps
# config/database.yml, the database and the log of requests.
#
# /-/… shows the site from within, as JSON and without the application: see Inside.
FOLDER, PORT = ARGV
# Debian's Redmine looks for its instances below /usr/share/redmine/instances.
ENV['REDMINE_INSTANCE'] = File.join('../../../..', FOLDER)
ENV['RAILS_ENV'] = 'production'
# Puma is not in Redmine's bundle, which is read next.
require 'puma'
require 'puma/server'
require 'json'
REDMINE = '/usr/share/redmine'
Dir.chdir(REDMINE)
require File.join(REDMINE, 'config/environment')

# For the tests.
#
#   GET /-/issues           every issue, also closed ones
#   PUT /-/issues/ID        sets attributes of an issue, as a person on the website does; DELETE removes it
#   POST /-/projects        makes a public project, and returns its ID: { id }
#   PUT /-/key              replaces the administrator's API key
#   PUT /-/faults           a list of { name, on: [methods], count, every }: what happens to a request by accident:
#                           `after`: 500 after the commit, `before`: 500 before it; `lost`: the connection ends after the commit.
#                           With `key`, that replaces the API key then
#   GET /-/requests         those that arrived since the last DELETE /-/requests
class Inside
  @faults = []
  @requests = []
  @seen = Hash.new(0)
  @lock = Mutex.new

  class << self
    attr_accessor :faults, :requests

    def note(method, path)
      @lock.synchronize { @requests << { method: method, path: path } }
    end

    def fault_for(method)
      @lock.synchronize do
        fault = @faults.find do |each|
          each.fetch('on', %w[POST]).include?(method) && each.fetch('count', 1).positive? &&
            ((@seen[each] += 1) % each.fetch('every', 1)).zero?
        end
        fault['count'] -= 1 if fault&.key?('count')
        fault
      end
    end
  end

  def initialize(application)
    @application = application
  end

  def call(env)
    method, path = env.values_at('REQUEST_METHOD', 'PATH_INFO')
    return inside(Rack::Request.new(env), path.delete_prefix('/-/')) if path.start_with?('/-/')

    Inside.note(method, path)
    fault = Inside.fault_for(method) || {}
    name = fault['name']
    return [500, {}, ['before']] if name == 'before'

    answer = @application.call(env)
    return answer if name.nil?

    answer.last.close if answer.last.respond_to?(:close)
    replace_key(fault['key']) if fault['key']
    env['rack.hijack'].call.close if name == 'lost'
    name == 'lost' ? [-1, {}, []] : [500, {}, ['after']]
  end

  private

  def inside(request, path)
    body = request.body.read
    input = body.empty? ? nil : JSON.parse(body)
    issue = Issue.find_by(id: path[%r{\Aissues/(\d+)\z}, 1])
    case [request.request_method, path.delete_suffix("/#{issue&.id}")]
    when %w[GET issues] then nil
    when %w[PUT issues] then issue.update_columns(input)
    when %w[DELETE issues] then issue.destroy!
    when %w[POST projects] then return answer(id: make_project(input['identifier']).id)
    when %w[PUT key] then replace_key(input['key'])
    when %w[PUT faults] then Inside.faults = input
    when %w[GET requests] then return answer(Inside.requests)
    when %w[DELETE requests] then Inside.requests = []
    else return [404, {}, []]
    end
    answer(Issue.order(:id).map { |each| each.attributes.merge('closed' => each.closed?) })
  ensure
    ActiveRecord::Base.clear_active_connections!
  end

  def answer(value)
    [200, { 'content-type' => 'application/json' }, [value.to_json]]
  end

  def make_project(identifier)
    Project.create!(name: identifier, identifier: identifier, is_public: true, tracker_ids: Tracker.pluck(:id),
                    enabled_module_names: ['issue_tracking'])
  end

  def replace_key(key)
    Token.where(user: User.find_by_login('admin'), action: 'api').update_all(value: key)
  end
end

# A new instance has no tables yet. To make them by `rake db:migrate` would load Redmine once more.
migrations = ActiveRecord::Base.connection.migration_context
if migrations.needs_migration?
  ActiveRecord::Migration.verbose = false
  migrations.migrate
  ActiveRecord::Base.descendants.each(&:reset_column_information)
end

# The trackers, statuses and priorities that Redmine proposes.
Redmine::DefaultData::Loader.load('en') if Redmine::DefaultData::Loader.no_data?
Setting.rest_api_enabled = '1'
Setting.login_required = '0'
admin = User.find_by_login('admin')
admin.must_change_passwd = false
admin.save!(validate: false)
key = admin.api_key

server = Puma::Server.new(Inside.new(Rails.application), Puma::Events.null, min_threads: 0, max_threads: 8)
server.add_tcp_listener('127.0.0.1', PORT.to_i)
server.run
$stdout.puts({ key: key }.to_json)
$stdout.flush
$stdin.read
exit!
