// A real receiver of webhooks: each message arrives once as it was, or is listed as not delivered.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AlertDestination } from '../../src/config/config.ts';
import { Secret } from '../../src/config/read-secret.ts';
import { sendMessages } from '../../src/runtime/run-alerts.ts';
import { listUndelivered } from '../../src/store/status/outbox.ts';
import { openDatabaseProxy } from '../support/database-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { unpackPackages } from './packages.ts';
import { untilListening } from './proxies.ts';
import { cellKey, writeSection } from './seen.ts';

const ROOT = join(tmpdir(), 'jobmirror-real-parts/webhook');
const CHANNELS = { 'as Slack takes it': 'slack', signed: 'webhook' } as const;
const ROWS = [
  'taken',
  'markup and line breaks in the text',
  'its command fails once',
  'no hook has this name',
  'the answer is lost',
] as const;
const TEXT = 'R&D <lead>\n"nights" – Zürich';

const cells = new Map<string, string>();
let versions: Readonly<Record<string, string>>;
let folder: string;
let url: string;
let mirror: Mirror;
let end: () => Promise<void>;

beforeAll(async () => {
  versions = unpackPackages(ROOT, ['webhook']);
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-webhook-'));
  // Waits for the command, whose failure it answers.
  const hook = {
    id: 'ops',
    'execute-command': '/bin/sh',
    'command-working-directory': folder,
    'include-command-output-in-response': true,
    'pass-arguments-to-command': [
      { source: 'string', name: '-c' },
      { source: 'string', name: 'if rm fails 2>log; then exit 1; fi; printf "%s\\n" "$1" >>taken' },
      { source: 'string', name: 'sh' },
      { source: 'entire-payload' },
    ],
  };
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify([hook]));
  const port = await freePort();
  const options = ['-hooks', join(folder, 'hooks.json'), '-ip', '127.0.0.1', '-port', String(port)];
  const server = spawn(join(ROOT, 'usr/bin/webhook'), options, { stdio: 'ignore' });
  await untilListening(server, 'webhook', port);
  url = `http://127.0.0.1:${port}/hooks/ops`;
  mirror = await openMirror();
  end = async () => {
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
  };
});
afterAll(async () => {
  await mirror.close();
  await end();
  rmSync(folder, { recursive: true, force: true });
  writeSection({
    title: 'Behind a receiver of webhooks',
    law: "Alerts to Debian's `webhook`, which runs a command for each: no package of Debian or npm has a chat server that takes Slack's incoming webhooks. A message arrives once and as it was, or is listed as not delivered; if the answer to it is lost, it arrives twice, with one ID if it is signed.",
    versions,
    rows: ROWS,
    columns: Object.keys(CHANNELS),
    cells,
  });
});

describe.each(Object.entries(CHANNELS))('%s', (column, kind) => {
  /** The texts of the messages that arrived, each with its ID where it has one. */
  const arrivals = (): string[] => {
    const file = join(folder, 'taken');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line)).map((each) => each.text ?? each.data.message);
  };

  async function send(row: string, message: string, address = url, times = 1): Promise<void> {
    rmSync(join(folder, 'taken'), { force: true });
    const app = await mirror.app();
    const destination = {
      name: `${kind}-${ROWS.indexOf(row as (typeof ROWS)[number])}`,
      channel: {
        kind,
        url: new Secret(address),
        secret: new Secret(`whsec_${Buffer.alloc(24, 7).toString('base64')}`),
      },
      kinds: new Set(),
      events: [],
    } as unknown as AlertDestination;
    const at = new Date().toISOString();
    const data = { alert: 'held', site: null, feed: 'acme', message, detail: null, count: null, since: at };
    const [{ id } = { id: '' }] = await app.db.query<{ id: string }>(
      'insert into alert_message (destination, payload) values ($1, $2) returning id',
      [destination.name, JSON.stringify({ type: 'alert.opened', timestamp: at, data })],
    );
    const said: string[] = [];
    for (let tries = 0; tries < 2 && said.at(-1) !== 'delivered'; tries++) {
      await app.db.query('update alert_message set not_before = now() where id = $1 and state = $2', [id, 'pending']);
      const { delivered } = await sendMessages(app, destination, 'alert', { signal: new AbortController().signal });
      const [undelivered] = (await listUndelivered(app.db, 10)).filter((each) => each.id === id);
      expect(undelivered === undefined).toBe(delivered === 1);
      const text = undelivered?.lastError ?? 'delivered';
      said.push(text === said.at(-1) ? 'the same' : text);
    }
    const isDelivered = said.at(-1) === 'delivered';
    const wanted =
      kind === 'slack' ? message.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;') : message;
    await vi.waitFor(() => expect(arrivals().length).toBe(isDelivered ? times : 0), 10_000);
    for (const each of arrivals()) expect(each).toContain(wanted);
    cells.set(cellKey(row, column), said.join('; then ') + (times === 1 ? '' : `; arrived ${times} times`));
  }

  const [TAKEN, MARKUP, FAILS, UNKNOWN, LOST] = ROWS;
  it(TAKEN, () => send(TAKEN, 'held'));
  it(MARKUP, () => send(MARKUP, TEXT));
  it(FAILS, async () => {
    writeFileSync(join(folder, 'fails'), '');
    await send(FAILS, 'held');
  });
  it(UNKNOWN, () => send(UNKNOWN, 'held', `${url}-of-others`));
  it(LOST, async () => {
    const proxy = await openDatabaseProxy(url);
    proxy.pass = (bytes, to, receiver) => {
      if (receiver === 'server') return void to.write(bytes);
      proxy.pass = (later, next) => void next.write(later);
      to.destroy();
    };
    await send(LOST, 'held', proxy.url, 2);
    await proxy.close();
  });
});
