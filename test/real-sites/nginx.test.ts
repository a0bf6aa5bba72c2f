// The real nginx in front of a source that breaks off: with its defaults, its compression and its cache it ends half a feed cleanly.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const NGINX = '/usr/sbin/nginx';
const available = existsSync(NGINX);
const note = available ? '' : ` (skipped: there is no ${NGINX})`;

const PLACES = {
  plain: '',
  compressed: 'gzip on; gzip_types text/csv application/xml; gzip_min_length 1; gzip_proxied any;',
  cached: 'proxy_cache kept; proxy_cache_valid 200 1h;',
  both: 'proxy_cache kept; proxy_cache_valid 200 1h; gzip on; gzip_types text/csv; gzip_min_length 1; gzip_proxied any;',
} as const;

const configOf = (folder: string, port: number, upstream: number): string => `
daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/log;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  proxy_cache_path ${folder}/cache keys_zone=kept:1m;
  server {
    listen 127.0.0.1:${port};
    ${Object.entries(PLACES)
      .map(
        ([place, settings]) =>
          `location /${place}/ { ${settings} proxy_cache_key $request_uri; proxy_pass http://127.0.0.1:${upstream}/; }`,
      )
      .join('\n    ')}
  }
}`;

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `j${at + 1}`);
const table = (count: number): string =>
  `id,title,state\n${ids(count)
    .map((id) => `${id},Nurse ${id},MA\n`)
    .join('')}`;
const xml = (count: number): string =>
  `<jobs>${ids(count)
    .map((id) => `<job><id>${id}</id><title>Nurse ${id}</title><state>MA</state></job>`)
    .join('\n')}</jobs>`;
const FIELDS = 'fields: { number: id, title: title, location-state: { from: state, as: us_state } }';

describe.skipIf(!available)(`behind nginx${note}`, () => {
  let folder: string;
  let port: number;
  let nginx: ChildProcess;
  let application: Server;
  let hits = 0;
  /** What the application sends before it closes the connection. */
  let sent = '';
  let mirror: Mirror;
  let feeds = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jobmirror-nginx-'));
    await chmod(folder, 0o777);
    application = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        hits++;
        socket.end(sent);
      });
    }).listen(0, '127.0.0.1');
    await once(application, 'listening');
    port = await freePort();
    await writeFile(join(folder, 'conf'), configOf(folder, port, (application.address() as { port: number }).port));
    nginx = spawn(NGINX, ['-e', join(folder, 'log'), '-c', join(folder, 'conf')], { stdio: 'ignore' });
    await untilListening(port);
  });
  afterAll(async () => {
    if (nginx.exitCode === null) {
      nginx.kill('SIGTERM');
      await once(nginx, 'exit');
    }
    application.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    hits = 0;
  });
  afterEach(() => mirror.close());

  const open = async (place: keyof typeof PLACES, format: string): Promise<void> => {
    mirror = await openMirror({
      feed: {
        source: `http://127.0.0.1:${port}/${place}/${feeds++}`,
        format,
        delete_guard: '{ percent: 100, count: 100 }',
      },
    });
  };
  /** As an application without a length, which HTTP/1.0 allows: the end of the connection ends the body. */
  const send = (body: string, headers = 'Content-Type: text/csv'): void => {
    sent = `HTTP/1.0 200 OK\r\n${headers}\r\n\r\n${body}`;
  };
  const CSV = `{ type: csv, key: id, ${FIELDS} }`;

  it.each(['plain', 'compressed'] as const)('half a table, %s, deletes nothing', async (place) => {
    await open(place, CSV);
    send(table(8));
    expect(await mirror.sync()).toMatchObject({ created: 8, complete: true, weak: expect.stringMatching(/a proxy/) });
    send(table(4));
    expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 4 });
    expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 4 });
    send(table(8));
    expect(await mirror.sync()).toMatchObject({ deleted: 0, gone: 0, unchanged: 8 });
  });

  it.each(['cached', 'both'] as const)(
    'half a table, %s, deletes nothing for as long as it is repeated',
    async (place) => {
      await open(place, CSV);
      send(table(8), 'Content-Type: text/csv\r\nCache-Control: no-store');
      expect(await mirror.sync()).toMatchObject({ created: 8 });
      // The cache repeats the validators of the application with its half.
      send(table(4), 'Content-Type: text/csv\r\nETag: "v2"\r\nLast-Modified: Mon, 02 Nov 2026 13:00:00 GMT');
      hits = 0;
      for (let pull = 0; pull < 3; pull++) {
        expect(await mirror.sync()).toMatchObject({ complete: true, deleted: 0, grace: 4 });
      }
      expect(hits).toBe(1);
    },
  );

  it('half an XML feed is not complete', async () => {
    await open('compressed', `{ type: xml, records: jobs/job, key: id, ${FIELDS} }`);
    send(xml(8), 'Content-Type: application/xml');
    const whole = await mirror.sync();
    expect(whole).toMatchObject({ created: 8, complete: true });
    expect(whole).not.toHaveProperty('weak');
    send(xml(8).slice(0, 300), 'Content-Type: application/xml');
    expect(await mirror.sync()).toMatchObject({ complete: false, deleted: 0, gone: 0 });
  });

  it('the length that the application announces comes through, and proves the end', async () => {
    await open('plain', CSV);
    send(table(8), `Content-Type: text/csv\r\nContent-Length: ${table(8).length}`);
    expect(await mirror.sync()).toMatchObject({ created: 8, complete: true });
    send(table(4), `Content-Type: text/csv\r\nContent-Length: ${table(8).length}`);
    expect(await mirror.sync()).toMatchObject({ complete: false, deleted: 0 });
    send(table(7), `Content-Type: text/csv\r\nContent-Length: ${table(7).length}`);
    expect(await mirror.sync()).toMatchObject({ complete: true, deleted: 1 });
  });
});

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await pause(50);
  }
  throw new Error('nginx does not listen');
}
