// docker-compose.yml, read as YAML: what it publishes, which secrets it requires, what it runs, and what persists.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load-config.ts';
import { packageRoot } from '../../src/config/package-root.ts';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly [setting: string]: unknown;
}

const text = readFileSync(join(packageRoot, 'docker-compose.yml'), 'utf8');
const compose: { services: Record<string, Service>; volumes: Record<string, null> } = parse(text, { merge: true });
const config = parse(readFileSync(join(packageRoot, 'config/jobmirror.compose.yaml'), 'utf8'));
const services = Object.entries(compose.services);

function service(name: string): Service {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

it('runs a worker, the sandbox, Redis and Postgres 18', () => {
  expect(services.map(([name]) => name).sort()).toEqual(['postgres', 'redis', 'sandbox', 'worker']);
  expect(service('worker').command?.[0]).toBe('start');
  expect(service('sandbox').command?.[0]).toBe('sandbox');
  expect(service('postgres').image).toBe('postgres:18');
  expect(service('redis').image).toMatch(/^redis:\d/);
});

describe.each(services)('%s', (_name, { ports, environment, volumes, depends_on, ...rest }) => {
  it('publishes ports on loopback only', () => {
    for (const port of ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    expect(rest).not.toHaveProperty('network_mode');
    expect(rest).not.toHaveProperty('privileged');
  });

  it('refuses to start without its secrets, and has none by default', () => {
    for (const [variable, value] of Object.entries(environment ?? {})) {
      if (/PASSWORD|TOKEN/.test(variable)) expect(value).toMatch(/^\$\{[A-Z_]+:\?.+\}$/);
    }
    expect(Object.keys(environment ?? {}).some((variable) => /PASSWORD|TOKEN/.test(variable))).toBe(true);
  });

  it('mounts only declared volumes and files of the repository', () => {
    for (const volume of volumes ?? []) {
      const source = volume.split(':', 1)[0] ?? '';
      if (source.startsWith('./')) expect(existsSync(join(packageRoot, source)), source).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
  });

  it('waits until its dependencies are healthy', () => {
    for (const [other, { condition }] of Object.entries(depends_on ?? {})) {
      expect(condition).toBe('service_healthy');
      // The image of the program has a health check of its own.
      if (other !== 'worker') expect(service(other).healthcheck, other).toBeDefined();
    }
  });
});

it.each([['worker'], ['sandbox']])('%s has no unnecessary rights', (name) => {
  expect(service(name)).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
});

it.each(services)('%s has commands of texts: a colon after a space would make a map of one', (_name, rest) => {
  for (const word of [...(rest.command ?? []), ...(rest.healthcheck?.test ?? [])]) expect(word).toBeTypeOf('string');
});

it('gives the sandbox account the token of the worker, so one start is enough', () => {
  expect(service('sandbox').command).toContain('--account');
  expect(service('sandbox').environment?.JOBMIRROR_SANDBOX_TOKEN).toBe(service('worker').environment?.BOARD_TOKEN);
});

it('contains no secret, and puts none on a command line', () => {
  for (const [, value] of text.matchAll(/^\s*\w*(?:PASSWORD|TOKEN)\w*:\s*(.+)$/gm))
    expect(value).toMatch(/^\$\{\w+:\?/);
  expect(text).not.toMatch(/--requirepass/);
});

describe('Redis', () => {
  const script = service('redis').command?.at(-1) ?? '';

  it.each([['appendonly yes'], ['maxmemory-policy noeviction'], ['requirepass $$REDIS_PASSWORD']])('has %s', (line) => {
    expect(script.split('\n')).toContain(line);
  });

  it('keeps its data on a volume', () => {
    expect(script).toContain('dir /data');
    expect(service('redis').volumes).toEqual(['redis-data:/data']);
  });
});

describe('config/jobmirror.compose.yaml', () => {
  it('is valid, without a warning', async () => {
    const env = { POSTGRES_PASSWORD: 'a1b2c3', REDIS_PASSWORD: 'd4e5f6', BOARD_TOKEN: 'a7b8c9d0e1' };
    const loaded = await loadConfig({ path: 'config/jobmirror.compose.yaml', cwd: packageRoot, env });
    expect(loaded.warnings).toEqual([]);
    expect([loaded.database.kind, loaded.queue.kind]).toEqual(['postgres', 'redis']);
  });

  it('uses the names of the services', () => {
    expect(new URL(config.database.replace(/\$\{\w+\}/, 'x')).hostname).toBe('postgres');
    expect(new URL(config.queue.replace(/\$\{\w+\}/, 'x')).hostname).toBe('redis');
    expect(new URL(config.sites.board.base_url).hostname).toBe('sandbox');
  });

  it('takes its secrets from variables of the worker', () => {
    const desired = [...JSON.stringify(config).matchAll(/\$\{(\w+)\}/g)].map(([, variable]) => variable);
    expect(desired.sort()).toEqual(['BOARD_TOKEN', 'POSTGRES_PASSWORD', 'REDIS_PASSWORD']);
    for (const name of ['worker', 'sandbox'])
      expect(Object.keys(service(name).environment ?? {})).toEqual(expect.arrayContaining(desired));
  });

  it('mirrors a feed that is in the image', () => {
    expect(config.feeds.demo.source.startsWith('/app/')).toBe(true);
    expect(existsSync(join(packageRoot, config.feeds.demo.source.slice('/app/'.length)))).toBe(true);
  });

  it('listens on the ports that are published', () => {
    expect(service('worker').ports).toEqual([expect.stringMatching(new RegExp(`:${config.listen.port}$`))]);
    expect(service('sandbox').ports).toEqual([
      expect.stringMatching(new RegExp(`:${new URL(config.sites.board.base_url).port}$`)),
    ]);
  });
});
