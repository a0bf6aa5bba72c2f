// `jobmirror start` as a process: if it can't start, it says why and exits, and its supervisor can restart it.
import { appendFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listen } from '../support/listen.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { runProgram } from './run-program.ts';

let mirror: Mirror;
const taken = createServer();
beforeEach(async () => {
  await listen(taken);
});
afterEach(async () => {
  taken.close();
  await mirror.close();
});

const CASES = [
  {
    name: 'an unreachable queue',
    queue: 'redis://:a-password@127.0.0.1:1',
    listen: () => 0,
    says: /^jobmirror: queue: Redis at redis:\/\/127\.0\.0\.1:1 can't be used: connect ECONNREFUSED .*\n$/,
  },
  {
    name: 'a port in use',
    queue: 'database',
    listen: () => (taken.address() as AddressInfo).port,
    says: /^jobmirror: listen: 127\.0\.0\.1:\d+ is not available: another process uses it\. Set another one, .*\n$/,
  },
];

it.each(CASES)(
  'exits with the reason, without a stack: $name',
  { timeout: 180_000 },
  async ({ queue, listen, says }) => {
    mirror = await openMirror({ queue });
    await appendFile(mirror.configPath, `listen: { port: ${listen()} }\n`);
    const { status, out, errors } = await runProgram(mirror, 'start');
    expect(errors).toMatch(says);
    expect([status, out]).toEqual([1, '']);
  },
);
