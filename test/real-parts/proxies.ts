// Real proxies from Debian's packages, unpacked below a temporary folder, each started in front of one server.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { unpackPackages } from './packages.ts';

/** Where packages are unpacked. */
export const ROOT = join(tmpdir(), 'jobmirror-real-parts');

/** What a proxy does besides passing on. With limits, it takes bodies of 100 KB, and waits a second for the rest of one. */
export type ProxyMode = 'plain' | 'gzip' | 'cache' | 'limits';

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly upstream: number;
  readonly mode: ProxyMode;
}

interface ProxyKind {
  readonly package: string;
  /** In front of a feed. Its cache needs another setup in some kinds, which are not asked for it. */
  readonly modes: readonly ProxyMode[];
  readonly conf: (place: Place) => string;
  readonly command: (place: Place) => readonly string[];
}

const ALL = ['plain', 'gzip', 'cache'] as const;
const TYPES = 'text/csv application/xml';

const KINDS = {
  nginx: {
    package: 'nginx-light',
    modes: ALL,
    conf: ({
      folder,
      port,
      upstream,
      mode,
    }) => `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/log;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  proxy_cache_path ${folder}/cache keys_zone=kept:1m;
  upstream one { server 127.0.0.1:${upstream}; keepalive 4; }
  server {
    listen 127.0.0.1:${port};
    ${mode === 'gzip' ? `gzip on; gzip_types ${TYPES}; gzip_min_length 1; gzip_proxied any;` : ''}
    ${mode === 'cache' ? 'proxy_cache kept; proxy_cache_valid 200 1h;' : ''}
    ${mode === 'limits' ? 'client_max_body_size 100k; client_body_timeout 1s;' : ''}
    location / { proxy_pass http://one; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; }
  }
}`,
    command: ({ folder }) => ['nginx', '-e', `${folder}/log`, '-c', `${folder}/conf`],
  },
  Apache: {
    package: 'apache2-bin',
    modes: ALL,
    // LimitRequestBody does not hold for what mod_proxy passes on.
    conf: ({ folder, port, upstream, mode }) => `ServerRoot ${folder}
PidFile ${folder}/pid
ErrorLog ${folder}/log
Listen 127.0.0.1:${port}
ServerName localhost
User www-data
Mutex file:${folder}
${['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'deflate', 'filter', 'cache', 'cache_disk', 'alias', 'reqtimeout']
  .map((name) => `LoadModule ${name}_module ${ROOT}/usr/lib/apache2/modules/mod_${name}.so`)
  .join('\n')}
ProxyPass / http://127.0.0.1:${upstream}/
${mode === 'gzip' ? 'SetOutputFilter DEFLATE' : ''}
${mode === 'limits' ? `<If "%{HTTP:Content-Length} -gt 102400">\nRedirect 413 /\n</If>\nRequestReadTimeout body=1` : ''}
${mode === 'cache' ? `CacheRoot ${folder}/cache\nCacheEnable disk /\nCacheDefaultExpire 3600\nCacheIgnoreNoLastMod On` : ''}`,
    command: ({ folder }) => ['apache2', '-X', '-f', `${folder}/conf`],
  },
  HAProxy: {
    package: 'haproxy',
    modes: ALL,
    conf: ({ port, upstream, mode }) => `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
cache kept
  total-max-size 4
  max-age 3600
frontend in
  bind 127.0.0.1:${port}
  ${mode === 'gzip' ? `compression algo gzip\n  compression type ${TYPES}` : ''}
  ${mode === 'cache' ? 'http-request cache-use kept\n  http-response cache-store kept' : ''}
  ${mode === 'limits' ? 'option http-buffer-request\n  timeout http-request 1s\n  http-request deny deny_status 413 if { req.body_size gt 102400 }' : ''}
  default_backend out
backend out
  server one 127.0.0.1:${upstream}`,
    command: ({ folder }) => ['haproxy', '-f', `${folder}/conf`],
  },
  Varnish: {
    package: 'varnish',
    modes: ALL,
    conf: ({ upstream, mode }) => `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${upstream}"; }
${mode === 'limits' ? 'sub vcl_recv { if (req.http.Content-Length ~ "^[0-9]{6,}$") { return (synth(413)); } }' : ''}
${mode === 'cache' ? '' : 'sub vcl_recv { return (pass); }'}
sub vcl_backend_response {
  ${mode === 'gzip' ? 'set beresp.do_gzip = true;' : ''}
  ${mode === 'cache' ? 'if (beresp.status == 200 && beresp.http.Cache-Control !~ "no-store") { set beresp.ttl = 1h; }' : ''}
}`,
    command: ({ folder, port, mode }) => [
      'varnishd',
      ...['-F', '-f', `${folder}/conf`, '-a', `127.0.0.1:${port}`, '-n', `${folder}/work`, '-s', 'malloc,16m'],
      ...(mode === 'limits' ? ['-p', 'timeout_idle=1'] : []),
    ],
  },
  Caddy: {
    package: 'caddy',
    modes: ['plain', 'gzip'],
    conf: ({ port, upstream, mode, folder }) => `{
  admin off
  auto_https off
  storage file_system ${folder}/storage
  ${mode === 'limits' ? 'servers {\n timeouts {\n read_body 1s\n }\n }' : ''}
}
http://:${port} {
  bind 127.0.0.1
  ${mode === 'gzip' ? 'encode {\n gzip\n minimum_length 1\n match {\n header Content-Type text/*\n }\n }' : ''}
  ${mode === 'limits' ? 'request_body {\n max_size 100KB\n }' : ''}
  reverse_proxy 127.0.0.1:${upstream}
}
`,
    command: ({ folder }) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', `${folder}/conf`],
  },
  Squid: {
    package: 'squid',
    modes: ['plain', 'cache'],
    conf: ({ folder, port, upstream, mode }) => `http_port 127.0.0.1:${port} accel defaultsite=localhost no-vhost
cache_peer 127.0.0.1 parent ${upstream} 0 no-query originserver login=PASSTHRU
http_access allow all
never_direct allow all
pid_filename ${folder}/pid
access_log none
cache_log ${folder}/log
coredump_dir ${folder}
netdb_filename none
pinger_enable off
unlinkd_program /bin/true
icon_directory ${ROOT}/usr/share/squid/icons
mime_table ${ROOT}/usr/share/squid/mime.conf
error_directory ${ROOT}/usr/share/squid-langpack/en
shutdown_lifetime 0 seconds
${mode === 'limits' ? 'request_body_max_size 100 KB\nrequest_timeout 1 second\nread_timeout 1 second' : ''}
${mode === 'cache' ? 'refresh_pattern . 60 100% 60' : 'cache deny all'}`,
    command: ({ folder }) => ['squid', '-N', '-f', `${folder}/conf`],
  },
  lighttpd: {
    package: 'lighttpd',
    modes: ['plain'],
    conf: ({ folder, port, upstream, mode }) => `server.document-root = "${folder}"
server.bind = "127.0.0.1"
server.port = ${port}
server.errorlog = "${folder}/log"
server.modules = ("mod_proxy")
proxy.server = ("" => (("host" => "127.0.0.1", "port" => ${upstream})))
${mode === 'limits' ? 'server.max-request-size = 100\nserver.max-read-idle = 1' : ''}
`,
    command: ({ folder }) => ['lighttpd', '-D', '-m', `${ROOT}/usr/lib/lighttpd`, '-f', `${folder}/conf`],
  },
  h2o: {
    package: 'h2o',
    modes: ['plain', 'gzip'],
    conf: ({ folder, port, upstream, mode }) => `listen:
  host: 127.0.0.1
  port: ${port}
user: root
num-threads: 1
${mode === 'gzip' ? 'compress: [gzip]' : ''}
${mode === 'limits' ? 'limit-request-body: 102400\nhttp1-request-timeout: 1' : ''}
hosts:
  default:
    paths:
      "/":
        proxy.reverse.url: "http://127.0.0.1:${upstream}/"
        proxy.preserve-host: ON
error-log: ${folder}/log
`,
    command: ({ folder }) => ['h2o', '-m', 'worker', '-c', `${folder}/conf`],
  },
} as const satisfies Readonly<Record<string, ProxyKind>>;

export type ProxyName = keyof typeof KINDS;
export const PROXIES = Object.keys(KINDS) as readonly ProxyName[];
export const modesOf = (name: ProxyName): readonly ProxyMode[] => KINDS[name].modes;

/** @returns the version of each. */
export function preparePackages(): Readonly<Record<ProxyName, string>> {
  const versions = unpackPackages(
    ROOT,
    PROXIES.map((name) => KINDS[name].package),
  );
  return Object.fromEntries(PROXIES.map((name) => [name, versions[KINDS[name].package]])) as Record<ProxyName, string>;
}

export interface RunningProxy {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export const startProxy = (name: ProxyName, upstream: number, mode: ProxyMode = 'plain'): Promise<RunningProxy> =>
  startConfigured(name, { upstream, mode }, KINDS[name].conf);

export type Failover = 'first that listens' | 'Redis that may be written';
const IS_PRIMARY = ['PING', 'info replication'].map((text) => `  tcp-check send ${text.replace(' ', '\\ ')}\\r\\n`);

/** HAProxy before two servers of another protocol: the second one gets connections while the first one may not. */
export const startFailover = (first: number, second: number, failover: Failover): Promise<RunningProxy> =>
  startConfigured(
    'HAProxy',
    { upstream: first, mode: 'plain' },
    ({ port }) => `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen both
  bind 127.0.0.1:${port}
${
  failover === 'first that listens'
    ? '  default-server on-marked-down shutdown-sessions'
    : `  option tcp-check
  tcp-check connect
${IS_PRIMARY[0]}
  tcp-check expect string +PONG
${IS_PRIMARY[1]}
  tcp-check expect string role:master`
}
  default-server check inter 200ms fall 1 rise 1
  server first 127.0.0.1:${first}
  server second 127.0.0.1:${second} backup`,
  );

async function startConfigured(
  name: ProxyName,
  { upstream, mode }: Pick<Place, 'upstream' | 'mode'>,
  confOf: (place: Place) => string,
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), `jobmirror-${name.toLowerCase()}-`));
  for (const each of [folder, join(folder, 'cache')]) {
    mkdirSync(each, { recursive: true });
    chmodSync(each, 0o777);
  }
  const place = { folder, port: await freePort(), upstream, mode };
  // HAProxy refuses a last line without its end.
  writeFileSync(join(folder, 'conf'), `${confOf(place)}\n`);
  const [command = '', ...options] = KINDS[name].command(place);
  const libraries = `${ROOT}/usr/lib/x86_64-linux-gnu`;
  const server = spawn(command, options, {
    cwd: folder,
    stdio: 'ignore',
    env: {
      ...process.env,
      HOME: folder,
      LD_LIBRARY_PATH: `${libraries}:${libraries}/varnish`,
      PATH: `${ROOT}/usr/sbin:${ROOT}/usr/bin:${process.env.PATH}`,
    },
  });
  await untilListening(server, name, place.port);
  return {
    url: `http://127.0.0.1:${place.port}`,
    port: place.port,
    async close() {
      const ended = server.exitCode === null ? once(server, 'exit') : undefined;
      server.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function untilListening(server: ChildProcess, name: string, port: number): Promise<void> {
  while (server.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const listens = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (listens) return;
    await pause(50);
  }
  throw new Error(`${name} ended with status ${server.exitCode}`);
}
