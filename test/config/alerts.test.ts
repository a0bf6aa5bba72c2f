// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// Alert destinations in the configuration: their kinds, defaults and secrets, and what is refused.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { ALERT_KINDS } from '../../src/telemetry/alert-message.ts';

const ENV = {
  BOARD_TOKEN: 'board-token-0123456789',
  OPS_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  CHAT_URL: 'https://hooks.example.com/services/T0/B0/secret-path',
  SMTP_URL: 'smtps://jim:secret%40word@mail.example.com:465',
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-config-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function load(ops: string, env: Record<string, string> = {}) {
  const text = [
    'sites: { board: { base_url: https://jobs.example.com, token: "${BOARD_TOKEN}" } }',
    'feeds: { acme: { source: feed.xml, format: indeed, site: board } }',
    `alerts: { ops: ${ops} }`,
  ];
  await writeFile(join(folder, 'jobmirror.yaml'), `${text.join('\n')}\n`);
  const { alerts } = await loadConfig({ cwd: folder, env: { ...ENV, ...env } });
  return alerts.get('ops');
}

it('a webhook tells everything by default', async () => {
  const ops = await load('{ url: https://ops.example.com/hook, secret: "${OPS_SECRET}" }');
  expect(ops).toMatchObject({ name: 'ops', rejectedPercent: 10 });
  expect([...(ops?.kinds ?? [])]).toEqual([...ALERT_KINDS]);
  expect(ops?.channel.kind === 'webhook' && ops.channel.secret.reveal()).toBe(ENV.OPS_SECRET);
  expect(ops?.channel.kind === 'webhook' && ops.channel.url.reveal()).toBe('https://ops.example.com/hook');
});

it('the secret of a webhook may be in a file', async () => {
  await writeFile(join(folder, 'ops.secret'), `${ENV.OPS_SECRET}\n`, { mode: 0o600 });
  const ops = await load('{ url: https://ops.example.com/hook, secret_file: ops.secret }');
  expect(ops?.channel.kind === 'webhook' && ops.channel.secret.reveal()).toBe(ENV.OPS_SECRET);
});

it('addresses with secrets come from the environment, and no dump shows them', async () => {
  const chat = await load('{ url: "${CHAT_URL}", format: slack }');
  expect(chat?.channel.kind === 'slack' && chat.channel.url.reveal()).toBe(ENV.CHAT_URL);
  const mail = await load('{ email: { to: [a@example.com], from: b@example.com, smtp: "${SMTP_URL}" }, on: [held] }');
  expect(mail?.channel.kind === 'email' && mail.channel.smtp.reveal()).toBe(ENV.SMTP_URL);
  const shown = inspect([chat, mail], { depth: 9 }) + JSON.stringify([chat, mail]);
  expect(shown).not.toMatch(/secret-path|secret%40word|secret@word/);
});

const HOOK = 'url: https://ops.example.com/hook';

it.each([
  ['nothing to send to', '{ on: [held] }', {}, 'alerts.ops.url: needs exactly one of url and email'],
  ['a webhook without a secret', `{ ${HOOK} }`, {}, 'alerts.ops.secret: a webhook needs exactly one of secret'],
  ['a secret in the file', `{ ${HOOK}, secret: ${ENV.OPS_SECRET} }`, {}, 'alerts.ops.secret: must be exactly ${NAME}'],
  [
    'a secret that is none',
    `{ ${HOOK}, secret: "\${OPS_SECRET}" }`,
    { OPS_SECRET: 'whsec_short' },
    'alerts.ops.secret: must have 24 to 64 bytes in Base64; make one with: openssl rand -base64 32',
  ],
  [
    'a secret that signs nothing',
    `{ ${HOOK}, format: slack, secret: "\${OPS_SECRET}" }`,
    {},
    'alerts.ops.secret: signs only messages to a webhook',
  ],
  ['another scheme', '{ url: "ftp://ops.example.com", format: slack }', {}, 'alerts.ops.url: must be an address that'],
  [
    'another scheme in the environment',
    '{ url: "${CHAT_URL}", format: slack }',
    { CHAT_URL: 'file:///secret-path' },
    'alerts.ops.url: must be an address such as https://host/path',
  ],
  [
    'an unknown alert',
    `{ ${HOOK}, secret: "\${OPS_SECRET}", on: [heldd] }`,
    {},
    'alerts.ops.on.0: must be one of paused',
  ],
  [
    'a password in the file',
    '{ email: { to: [a@example.com], from: b@example.com, smtp: "smtp://jim:secret%40word@mail" } }',
    {},
    'alerts.ops.email.smtp: must be smtp://host:587',
  ],
  [
    'a recipient that would be two',
    '{ email: { to: ["a@example.com, c@example.com"], from: b@example.com, smtp: "smtp://mail" } }',
    {},
    'alerts.ops.email.to.0: must be a mail address',
  ],
])('is refused: %s', async (_name, ops, env, message) => {
  const error = await load(ops, env).catch((thrown: Error) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toContain(message);
  expect((error as Error).message.split('\n')).toHaveLength(1);
  expect((error as Error).message).not.toMatch(/secret-path|secret%40word|LaLaSw|whsec_short/);
});

it('posting events are for webhooks that ask for them', async () => {
  const hr = await load(`{ ${HOOK}, secret: "\${OPS_SECRET}", on: [held, posting.rejected], feeds: [acme] }`);
  expect([[...(hr?.kinds ?? [])], hr?.events, [...(hr?.feeds ?? [])]]).toEqual([
    ['held'],
    ['posting.rejected'],
    ['acme'],
  ]);
  const chat = load('{ url: "${CHAT_URL}", format: slack, on: [posting.rejected] }');
  await expect(chat).rejects.toThrow('alerts.ops.on: posting events go to a webhook of format standard only');
});
