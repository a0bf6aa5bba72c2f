// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// The token that protects /metrics: where it may come from, and what is refused.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';

const TOKEN = 'metrics-token-0123456789';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-config-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function load(metrics: string, env: Record<string, string> = { METRICS_TOKEN: TOKEN }) {
  const text = [
    'sites: { board: { base_url: https://jobs.example.com, token: "${BOARD_TOKEN}" } }',
    'feeds: { acme: { source: feed.xml, format: indeed, site: board } }',
    `metrics: ${metrics}`,
  ];
  await writeFile(join(folder, 'jobmirror.yaml'), `${text.join('\n')}\n`);
  return loadConfig({ cwd: folder, env: { BOARD_TOKEN: 'board-token-0123456789', ...env } });
}

it('comes from the environment', async () => {
  const { metricsToken } = await load('{ token: "${METRICS_TOKEN}" }');
  expect(metricsToken?.reveal()).toBe(TOKEN);
  expect(JSON.stringify({ metricsToken })).not.toContain(TOKEN);
});

it('comes from a file', async () => {
  await writeFile(join(folder, 'metrics.token'), `${TOKEN}\n`);
  await chmod(join(folder, 'metrics.token'), 0o600);
  expect((await load('{ token_file: metrics.token }')).metricsToken?.reveal()).toBe(TOKEN);
});

it('may be absent', async () => {
  expect((await load('{}')).metricsToken).toBeUndefined();
});

it.each([
  ['a token in the file', `{ token: ${TOKEN} }`, {}, 'jobmirror.yaml:3:19 metrics.token: must be exactly ${NAME}'],
  [
    'an unset variable',
    '{ token: "${METRICS_TOKEN}" }',
    {},
    'metrics.token: the environment variable METRICS_TOKEN is',
  ],
  ['a short token', '{ token: "${METRICS_TOKEN}" }', { METRICS_TOKEN: 'short' }, 'must have at least 16 characters'],
  [
    'a token that no header can carry',
    '{ token: "${METRICS_TOKEN}" }',
    { METRICS_TOKEN: `${TOKEN} ü` },
    'must have at least 16 characters, of A-Z',
  ],
  [
    'two tokens',
    '{ token: "${METRICS_TOKEN}", token_file: a }',
    { METRICS_TOKEN: TOKEN },
    'has both token and token_file',
  ],
  ['a missing file', '{ token_file: nowhere }', {}, 'metrics.token_file: '],
])('is refused: %s', async (_name, metrics, env, message) => {
  const error = await load(metrics, env).catch((thrown: Error) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toContain(message);
  expect((error as Error).message).not.toContain(TOKEN);
  expect((error as Error).message.split('\n')).toHaveLength(1);
});
