// The settings of the embedded server, as arguments of its command line: a new version of ours then needs no edited files.

/** Postgres settings by name. */
export type ServerSettings = Readonly<Record<string, string>>;

/** What fits our load: a few processes, bulk writes, short transactions, on a machine that does other things too. */
const SETTINGS: ServerSettings = {
  listen_addresses: '127.0.0.1',
  // Socket paths may have 107 bytes, which a data folder deep in a tree exceeds.
  unix_socket_directories: '',
  // A command takes some eight, and up to twenty while it works hard; commands of many terminals and timers run at once.
  max_connections: '600',
  shared_buffers: '128MB',
  wal_compression: 'on',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  // Parallel queries share memory in /dev/shm, of which a container has 64 MB; and ours are small.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  jit: 'off',
  log_min_messages: 'warning',
  // A failing statement is logged, but not its text: it may be megabytes long.
  log_min_error_statement: 'panic',
  cluster_name: 'jobmirror',
};

/** The arguments for `postgres`; `overrides` win. */
export function serverArguments(data: string, port: number, overrides: ServerSettings): string[] {
  const settings = Object.entries({ ...SETTINGS, ...overrides, port: String(port) });
  return ['-D', data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
