# A job site as the Rails scaffold makes it: Ruby on Rails 6.1 and Puma from Debian's packages, on loopback, with SQLite.
#
#   ruby rails-board.rb
#
# Loads Rails once. For each line of JSON that it then reads, { folder, port, settings }, it forks a process that serves a site, which
# prints { folder, pid } once it listens; when that process ends, this one prints { folder, ended: its status }. The sites end with
# this process, which ends when its standard input does. The folder keeps the database and the log of requests. What sites of this kind
# do differently is set by these settings; the first value is the default:
#
#   TOKEN            the token of the mirror's user
#   KEYS             dashed | underscored: the names of fields in answers
#   PAGING           none | link (Link header) | totals (attributes of the list) | silent (?page=2, unannounced)
#   PAGE_SIZE        jobs on a page
#   REWRITE          title:titleize,description:sanitize+simple_format: what happens to a field before it is stored
#   TIME_ZONE        UTC | any zone of Rails, such as Hawaii: in which times are shown
#   UNPERMITTED      fields that the controller does not permit: number,salary
#   STRICT           drop | raise (400): what happens to them
#   LOCKING          1: jobs have a lock_version
#   DELETED          gone | 404 | 410 | flag: a deleted row is removed, kept and answered so, or shown with deleted-at
#   ERRORS           to_xml | messages | details | full_messages | hash | response | text: the form of errors
#   UPDATED          204 | 200 | 302: the answer to an update, without or with the job, or as to a browser; to a delete then, too
#   CSRF             1: protect_from_forgery is left on
#   PUBLIC           1: everybody may read, also with a wrong token
#   MODERATED        1: a new job is left out of lists until somebody publishes it
#
# /-/… looks at the site from within, as JSON and without the application: see Inside.
ENV['RAILS_ENV'] = 'production'
require 'rails'
require 'action_controller/railtie'
require 'active_record/railtie'
require 'active_record/connection_adapters/sqlite3_adapter'
require 'activemodel-serializers-xml'
require 'action_pack/xml_parser'
require 'puma'
require 'puma/server'
require 'sqlite3'
require 'json'
# Rails loads it during the first answer in XML, and a request at the same moment fails with a NameError after its commit.
require 'builder'

# Loading takes four fifths of the processor time that a site needs until it listens.
[ActiveSupport, ActionDispatch, ActionController, ActionView, ActiveRecord, ActiveModel].each(&:eager_load!)

$stdout.sync = true
# Nothing is written to it: reading it ends when this process does, however that happens.
LIFE, LIFE_OF_THIS_PROCESS = IO.pipe
order = nil
while (line = $stdin.gets)
  order = JSON.parse(line)
  site = fork
  break if site.nil?

  Thread.new(site, order['folder']) do |pid, folder|
    status = Process.wait2(pid).last
    $stdout.write("#{{ folder: folder, ended: status.to_s }.to_json}\n")
  end
end
exit!(0) if line.nil?

# From here on, this is the process of one site.
LIFE_OF_THIS_PROCESS.close
FOLDER, PORT = order.values_at('folder', 'port')
Dir.chdir(FOLDER)
DATABASE = File.join(FOLDER, 'board.sqlite3')
SETTINGS = Hash.new('').merge(order['settings'])
ON = ->(name) { SETTINGS[name] == '1' }
IS = ->(name, value) { SETTINGS[name] == value }
REWRITES = SETTINGS['REWRITE'].split(',').to_h { |rule| rule.split(':') }.transform_values { |names| names.split('+') }
FIELDS = %w[number title category_name description location_city location_state contact_email_address contact_web_address
            salary starts_at remote openings].freeze
PERMITTED = FIELDS - SETTINGS['UNPERMITTED'].split(',')
STATES = <<~NAMES.lines(chomp: true).freeze
  Alabama\nAlaska\nArizona\nArkansas\nCalifornia\nColorado\nConnecticut\nDelaware\nFlorida\nGeorgia\nHawaii\nIdaho\nIllinois
  Indiana\nIowa\nKansas\nKentucky\nLouisiana\nMaine\nMaryland\nMassachusetts\nMichigan\nMinnesota\nMississippi\nMissouri
  Montana\nNebraska\nNevada\nNew Hampshire\nNew Jersey\nNew Mexico\nNew York\nNorth Carolina\nNorth Dakota\nOhio\nOklahoma
  Oregon\nPennsylvania\nRhode Island\nSouth Carolina\nSouth Dakota\nTennessee\nTexas\nUtah\nVermont\nVirginia\nWashington
  West Virginia\nWisconsin\nWyoming
NAMES

ENV['DATABASE_URL'] = "sqlite3:#{DATABASE}?pool=10"

# A statement waits for another one that writes. The scaffold's `timeout: 5000` waits within SQLite, where no thread of Ruby runs, not even the
# one that holds the lock: a slow machine would fail at random. This waits in Ruby.
module WaitsForLocks
  def wait_for_locks = busy_handler { sleep 0.002 }
end
SQLite3::Database.include(WaitsForLocks)
ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(
  Module.new do
    private

    def configure_connection
      super
      @connection.wait_for_locks
    end
  end
)

class Board < Rails::Application
  config.root = FOLDER
  config.eager_load = true
  config.consider_all_requests_local = false
  config.logger = Logger.new(File.join(FOLDER, 'board.log'))
  config.log_level = :error
  config.secret_key_base = 'not secret'
  config.hosts.clear
  config.time_zone = SETTINGS['TIME_ZONE'].presence || 'UTC'
  config.action_controller.action_on_unpermitted_parameters = :raise if IS['STRICT', 'raise']
  config.active_record.lock_optimistically = ON['LOCKING']
end
ActionPack::XmlParser.register

Board.initialize!
Board.routes.draw { resources :jobs }

class User < ActiveRecord::Base
end

class Job < ActiveRecord::Base
  belongs_to :user
  before_validation :rewrite
  validates :title, presence: true, length: { maximum: 200 }
  validates :category_name, length: { maximum: 60 }
  validates :location_state, inclusion: { in: STATES, message: 'must be a U.S. state' }
  validates :salary, numericality: true, allow_nil: true
  validates :openings, numericality: { only_integer: true, greater_than: 0 }, allow_nil: true

  def rewrite
    REWRITES.each do |name, rules|
      self[name] = rules.reduce(self[name]) { |text, rule| rewritten(text, rule) } if self[name] && changes.key?(name)
    end
  end

  def rewritten(text, rule)
    case rule
    when 'sanitize', 'simple_format', 'strip_tags' then ApplicationController.helpers.public_send(rule, text).to_str
    when /\Atruncate(\d+)\z/ then text.truncate($1.to_i)
    else text.public_send(rule)
    end
  end
end

class ApplicationController < ActionController::Base
  protect_from_forgery with: :exception if ON['CSRF']
  before_action :authenticate, unless: -> { ON['PUBLIC'] && request.get? }
  rescue_from(ActionController::UnpermittedParameters) { |error| render_failure(error, :bad_request) }

  private

  def authenticate
    current_user || request_http_basic_authentication('Jobs')
  end

  def current_user
    @current_user ||= authenticate_with_http_basic { |token, _| User.find_by(token: token) if token.present? }
  end

  def render_failure(error, status)
    render xml: { error: error.message }.to_xml, status: status
  end
end

class JobsController < ApplicationController
  around_action :with_fault
  before_action :set_job, only: %i[show update destroy]
  respond_to_xml = { dasherize: !IS['KEYS', 'underscored'] }
  define_method(:xml_options) { respond_to_xml }

  def index
    jobs = visible.order(:id)
    return respond_to { |format| format.xml { render xml: list(jobs) } } unless paged?

    page = [params[:page].to_i, 1].max
    total = jobs.count
    last = [(total.to_f / page_size).ceil, 1].max
    announce(page, last) if IS['PAGING', 'link']
    attributes = IS['PAGING', 'totals'] ? { 'total' => total, 'page' => page, 'per-page' => page_size } : {}
    respond_to { |format| format.xml { render xml: list(jobs.limit(page_size).offset((page - 1) * page_size), attributes) } }
  end

  def show
    respond_to { |format| format.xml { render xml: xml(@job) } }
  end

  def new
    respond_to { |format| format.xml { render xml: xml(Job.new) } }
  end

  def create
    @job = Job.new(job_params)
    @job.user = current_user
    @job.published = false if ON['MODERATED']
    respond_to do |format|
      format.xml do
        if @job.save
          render xml: xml(@job), status: :created, location: job_url(@job)
        else
          render_errors
        end
      end
    end
  end

  def update
    respond_to do |format|
      format.xml do
        if !@job.update(job_params) then render_errors
        elsif IS['UPDATED', '200'] then render xml: xml(@job)
        elsif IS['UPDATED', '302'] then redirect_to @job
        else head :no_content
        end
      end
    end
  end

  def destroy
    keeps_row? ? @job.update_columns(deleted_at: Time.current) : @job.destroy
    respond_to { |format| format.xml { IS['UPDATED', '302'] ? redirect_to(jobs_url) : head(:no_content) } }
  end

  private

  def paged? = SETTINGS['PAGING'].present? && !IS['PAGING', 'none']
  def page_size = (SETTINGS['PAGE_SIZE'].presence || '25').to_i
  def keeps_row? = %w[404 410 flag].include?(SETTINGS['DELETED'])

  def visible
    jobs = IS['DELETED', 'flag'] ? Job.all : Job.where(deleted_at: nil)
    ON['MODERATED'] ? jobs.where(published: true) : jobs
  end

  def set_job
    @job = Job.find(params[:id])
    return head :gone if @job.deleted_at && IS['DELETED', '410']

    hidden = ON['MODERATED'] && !@job.published && current_user != @job.user
    raise ActiveRecord::RecordNotFound if hidden || (@job.deleted_at && !IS['DELETED', 'flag'])
    head :forbidden if !request.get? && @job.user != current_user
  end

  def job_params
    params.require(:job).permit(PERMITTED)
  end

  def xml(job)
    job.to_xml(**xml_options, except: hidden)
  end

  def hidden
    ['user_id', *(['deleted_at'] unless IS['DELETED', 'flag']), *(['published'] unless ON['MODERATED'])]
  end

  def list(jobs, attributes = {})
    document = jobs.to_a.to_xml(**xml_options, except: hidden, root: 'jobs')
    document.sub('<jobs', "<jobs#{attributes.map { |name, value| %( #{name}="#{value}") }.join}")
  end

  def announce(page, last)
    pages = { first: 1, prev: page - 1, next: page + 1, last: last }.select { |_, number| number.between?(1, last) }
    links = pages.map { |rel, number| %(<#{jobs_url(format: :xml, page: number)}>; rel="#{rel}") }
    response.headers['Link'] = links.join(', ')
  end

  def render_errors
    errors = @job.errors
    return render plain: errors.full_messages.join("\n"), status: :unprocessable_entity if IS['ERRORS', 'text']

    document =
      case SETTINGS['ERRORS']
      when 'messages' then errors.messages.to_xml(root: 'errors')
      when 'details' then errors.details.to_xml(root: 'errors')
      when 'full_messages' then errors.full_messages.to_xml(root: 'errors')
      when 'hash' then { errors: errors.full_messages }.to_xml
      when 'response' then { status: 'error', message: errors.full_messages.to_sentence }.to_xml(root: 'response')
      else errors.to_xml
      end
    render xml: document, status: :unprocessable_entity
  end

  # What happens to this request by accident: see Inside.
  def with_fault
    fault = Inside.fault_for(action_name, request.raw_post)
    case fault && fault['name']
    when nil then yield
    when 'before' then raise 'an exception before the commit'
    when 'after'
      yield
      raise 'an exception after the commit'
    when 'slow'
      sleep fault['seconds']
      yield
    when 'slow-after'
      yield
      sleep fault['seconds']
    when 'lost'
      yield
      request.env['rack.hijack'].call.close
    when 'die-before' then Process.kill(:KILL, Process.pid)
    when 'die'
      yield
      Process.kill(:KILL, Process.pid)
    when 'busy' then while_locked { yield }
    when 'stale'
      # Another request changes the job between the reading and the writing of this one.
      set_job
      Job.where(id: @job.id).update_all('lock_version = lock_version + 1')
      yield
    end
  end

  # Another process writes for longer than this one waits.
  def while_locked
    ours = Job.connection.raw_connection
    ours.busy_timeout = 20
    other = SQLite3::Database.new(DATABASE)
    other.wait_for_locks
    other.execute('BEGIN IMMEDIATE')
    yield
  ensure
    other.close
    ours.wait_for_locks
  end
end

# For the tests: looks at and changes the rows, sets faults, and logs each request to FOLDER/requests.log as it arrives.
#
#   GET /-/jobs            every row, also those that the site hides
#   PUT /-/jobs/ID         sets columns of a row, as a person on the website does; DELETE removes it
#   POST /-/jobs           makes a row of another user
#   POST /-/stored         what the site makes of these fields, as in `jobs`
#   PUT /-/token           replaces the user's token
#   PUT /-/faults          a list of { name, on: [actions], count, every, matching: a text of the body, seconds }
class Inside
  @faults = []
  @seen = Hash.new(0)
  @lock = Mutex.new
  LOG = File.open(File.join(FOLDER, 'requests.log'), 'a').tap { |log| log.sync = true }

  class << self
    attr_writer :faults

    def fault_for(action, body)
      @lock.synchronize do
        fault = @faults.find do |each|
          each.fetch('on', %w[create]).include?(action) && each.fetch('count', 1).positive? &&
            body.include?(each.fetch('matching', '')) && ((@seen[each] += 1) % each.fetch('every', 1)).zero?
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
    path = env['PATH_INFO']
    return inside(Rack::Request.new(env), path.delete_prefix('/-/')) if path.start_with?('/-/')

    LOG.write("#{{ at: Time.now.to_f, method: env['REQUEST_METHOD'], path: path, query: env['QUERY_STRING'] }.to_json}\n")
    @application.call(env)
  end

  private

  def inside(request, path)
    body = request.body.read
    input = body.empty? ? nil : JSON.parse(body)
    row = Job.find_by(id: path[%r{\Ajobs/(\d+)\z}, 1])
    case [request.request_method, path.delete_suffix("/#{row&.id}")]
    when %w[GET jobs] then nil
    when %w[POST jobs] then Job.create!(input.merge(user: User.find_by!(name: 'somebody else')))
    when %w[PUT jobs] then row.update_columns(input.merge(updated_at: Time.current))
    when %w[DELETE jobs] then row.delete
    when %w[PUT token] then User.find_by!(name: 'mirror').update!(token: input['token'])
    when %w[PUT faults] then Inside.faults = input
    when %w[POST stored] then return answer(shown(Job.new(input.slice(*PERMITTED)).tap(&:rewrite))[:fields])
    else return [404, {}, []]
    end
    answer(Job.order(:id).map { |job| shown(job) })
  ensure
    ActiveRecord::Base.clear_active_connections!
  end

  def answer(value)
    [200, { 'content-type' => 'application/json' }, [value.to_json]]
  end

  def shown(job)
    { id: job.id.to_s, owner: job.user&.name, deleted: !job.deleted_at.nil?, published: job.published,
      created_at: job.created_at, updated_at: job.updated_at, fields: job.attributes.slice(*FIELDS).compact.transform_values(&:to_s) }
  end
end

unless ActiveRecord::Base.connection.table_exists?(:jobs)
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:users) { |t| t.string(:name) && t.string(:token) }
    create_table :jobs do |t|
      t.references :user
      t.string :number, :title, :category_name, :location_city, :location_state, :contact_email_address, :contact_web_address
      t.text :description
      t.decimal :salary, precision: 12, scale: 2
      t.datetime :starts_at
      t.boolean :remote
      t.integer :openings
      t.boolean :published, default: true
      t.datetime :deleted_at
      t.integer :lock_version, default: 0 if ON['LOCKING']
      t.timestamps
    end
  end
  User.create!(name: 'mirror', token: SETTINGS['TOKEN'])
  User.create!(name: 'somebody else', token: SecureRandom.hex(20))
end

# What is loaded at the first request is loaded before it.
Board.call(Rack::MockRequest.env_for('/jobs/new.xml'))

server = Puma::Server.new(Inside.new(Board), Puma::Events.strings, min_threads: 0, max_threads: 8)
server.add_tcp_listener('127.0.0.1', PORT)
server.run
$stdout.write("#{{ folder: FOLDER, pid: Process.pid }.to_json}\n")
LIFE.read
exit!
