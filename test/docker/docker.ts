// Runs Docker and Compose for the test, with a project and secrets of its own.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/config/package-root.ts';

const run = promisify(execFile);

export const SECRETS = ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'BOARD_TOKEN', 'SANDBOX_PASSWORD'] as const;
export type SecretName = (typeof SECRETS)[number];
export type Environment = Readonly<Record<string, string | undefined>>;

export const makeSecrets = (): Record<SecretName, string> =>
  Object.fromEntries(SECRETS.map((name) => [name, randomBytes(24).toString('hex')])) as Record<SecretName, string>;

/** Runs a command of Docker and returns its standard output. Throws an error with all its output. */
export async function docker(args: readonly string[], env: Environment = {}): Promise<string> {
  const options = { cwd: packageRoot, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  try {
    return (await run('docker', args, options)).stdout;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string };
    throw new Error(`docker ${args.join(' ')} failed:\n${stdout}${stderr}${stderr === '' ? cause : ''}`, { cause });
  }
}

/** The composition with the test's override. Reads no `.env`, which may hold secrets of a real installation. */
export const compose = (args: readonly string[], env: Environment): Promise<string> =>
  docker(
    [
      'compose',
      '--file=docker-compose.yml',
      '--file=test/docker/compose.override.yaml',
      '--env-file=/dev/null',
      ...args,
    ],
    env,
  );

const BASE_IMAGES = ['node:24-slim', 'postgres:18', 'redis:8'];

/**
 * Makes sure that the base images are there. With `JOBMIRROR_LOCAL_BASE_IMAGES=1`, those that cannot be pulled are built
 * from Debian packages (base-images.sh).
 */
export async function prepareBaseImages(): Promise<void> {
  for (const image of BASE_IMAGES) {
    const isThere = await docker(['image', 'inspect', image]).catch(() => undefined);
    if (isThere !== undefined) continue;
    try {
      await docker(['pull', '--quiet', image]);
    } catch (cause) {
      if (process.env.JOBMIRROR_LOCAL_BASE_IMAGES !== '1') {
        const help = 'JOBMIRROR_LOCAL_BASE_IMAGES=1 builds it from Debian packages instead (as root, with debootstrap)';
        throw new Error(`${image} cannot be pulled. ${help}. ${(cause as Error).message}`, { cause });
      }
      await run('test/docker/base-images.sh', [image], { cwd: packageRoot });
    }
  }
}
