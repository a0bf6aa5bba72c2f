// The settings of the embedded server, passed as command line arguments: a new jobmirror version needs no edited files.

/** Postgres settings by name. */
export type ServerSettings = Readonly<Record<string, string>>;

/** Tuned for our load: a few processes, bulk writes and short transactions, on a machine shared with other programs. */
const SETTINGS: ServerSettings = {
  listen_addresses: '127.0.0.1',
  // Socket paths are limited to 107 bytes, which a deeply nested data folder exceeds.
  unix_socket_directories: '',
  // A command uses about eight, and up to twenty under load; many terminals and timers may run commands at once.
  max_connections: '600',
  shared_buffers: '128MB',
  wal_compression: 'on',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  // Parallel queries use /dev/shm, which has 64 MB in a container; our queries are small anyway.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  jit: 'off',
  log_min_messages: 'warning',
  // Log failing statements without their text, which may be megabytes long.
  log_min_error_statement: 'panic',
  cluster_name: 'jobmirror',
};

/** The arguments for `postgres`; `overrides` win. */
export function serverArguments(data: string, port: number, overrides: ServerSettings): string[] {
  const settings = Object.entries({ ...SETTINGS, ...overrides, port: String(port) });
  return ['-D', data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
