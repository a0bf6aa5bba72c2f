// Configures BullMQ to keep its queues in Redis.
import { type ConnectionOptions, createRedisBackend, type RedisQueueBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { backoffMs, type RetryPolicy } from '../flow/retry.ts';
import { passwordForms, reportedError } from './shared-connection.ts';
import type { Wiring } from './wiring.ts';

/** BullMQ's scripts need this version or later. */
const OLDEST_REDIS = [6, 2] as const;
const CONNECT_TIMEOUT_MS = 5000;
const COMMAND_TIMEOUT_MS = 5000;

/** Reconnects within two seconds after the server is back, however long it was away. */
const RECONNECTING: RetryPolicy = { firstDelayMs: 100, maxDelayMs: 2_000 };
const retryStrategy = (attempt: number): number => backoffMs(RECONNECTING, attempt);

/** Connections to a server that has become a replica stay open, while its address may lead to the new primary. */
const isDemoted = ({ message }: Error): boolean => message.startsWith('READONLY');

function readRedisUrl(text: string): URL {
  // The message omits the text, as a mistyped URL may still contain the password.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'redis:' && url.protocol !== 'rediss:')) {
    throw new Error('queue: neither "database" nor a URL such as redis://host:6379');
  }
  return url;
}

/**
 * Connects once and reads the version, so that a wrong address or password is reported at the start. Returns what is wrong with the
 * server's settings, for people.
 * @throws Error without the password.
 */
export async function inspectRedis(text: string): Promise<readonly string[]> {
  const url = readRedisUrl(text);
  const shown = `${url.protocol}//${url.host}`;
  const probe = new Redis(url.href, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
  });
  // The reason arrives here; `connect()` itself only reports a closed connection.
  let reason: unknown;
  probe.on('error', (error) => {
    reason = error;
  });
  let info: string;
  let memory: string;
  try {
    await probe.connect();
    info = await probe.info('server');
    memory = await probe.info('memory');
  } catch (error) {
    const { message } = reportedError(reason ?? error, passwordForms(url));
    throw new Error(
      `queue: Redis at ${shown} can't be used: ${message}. Check the address, the password and the server`,
    );
  } finally {
    probe.disconnect();
  }
  const version = /^redis_version:(\d+)\.(\d+)/m.exec(info);
  const [major, minor] = version === null ? OLDEST_REDIS : [Number(version[1]), Number(version[2])];
  if (major < OLDEST_REDIS[0] || (major === OLDEST_REDIS[0] && minor < OLDEST_REDIS[1])) {
    throw new Error(`queue: Redis at ${shown} is ${major}.${minor}; ${OLDEST_REDIS.join('.')} or later is needed`);
  }
  return memoryFaults(memory, `queue: Redis at ${shown}`);
}

/** @param info of Redis, which tells it also where its command CONFIG is not available */
function memoryFaults(info: string, server: string): string[] {
  const settingOf = (name: string): string => new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1] ?? '';
  const [policy, limit] = [settingOf('maxmemory_policy'), Number(settingOf('maxmemory'))];
  const faults: string[] = [];
  if (policy !== '' && policy !== 'noeviction') {
    faults.push(`${server} may remove parts of the queue: its maxmemory-policy is ${policy}; set it to noeviction`);
  }
  if (limit > 0 && Number(settingOf('used_memory')) >= limit) {
    const help = 'raise maxmemory, or remove other data; nothing is sent until then';
    faults.push(`${server} is full: it has reached its maxmemory of ${limit} bytes; ${help}`);
  }
  return faults;
}

/**
 * Checks the server and returns the connection settings.
 *
 * @param installation part of every key, so that two installations on one Redis do not take each other's jobs.
 * @throws Error without the password.
 */
export async function redisWiring(
  text: string,
  installation: string,
  onWarning: (message: string) => void,
): Promise<Wiring<RedisQueueBackend, ConnectionOptions>> {
  const url = readRedisUrl(text);
  for (const fault of await inspectRedis(text)) onWarning(fault);
  const connection = { url: url.href, connectTimeout: CONNECT_TIMEOUT_MS, retryStrategy, reconnectOnError: isDemoted };
  return {
    kind: 'redis',
    factory: createRedisBackend,
    producer: { ...connection, maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS },
    worker: () => ({ ...connection, maxRetriesPerRequest: null }),
    prefix: `jobmirror-${installation}`,
    addAtOnce: 500,
    secrets: passwordForms(url),
  };
}
