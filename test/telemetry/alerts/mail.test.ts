// Mail through a real SMTP server: what it receives, and what its refusals mean.
// @module-tag slow
// @module-tag every-node
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, expect, it } from 'vitest';
import { Secret } from '../../../src/config/read-secret.ts';
import { openChannel } from '../../../src/runtime/run-alerts.ts';
import type { AlertPayload } from '../../../src/telemetry/alert-message.ts';
import { type Channel, deliverAlert, sendMail } from '../../../src/telemetry/deliver.ts';

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly content: string;
}

let server: SMTPServer | undefined;
afterEach(async () => {
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  server = undefined;
});

const PASSWORD = 'p/ss:word@1';

async function startServer(
  options: SMTPServerOptions = {},
): Promise<{ readonly port: number; readonly mails: Mail[] }> {
  const mails: Mail[] = [];
  server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'jim' && password === PASSWORD ? done(null, { user: 'jim' }) : done(new Error('wrong password')),
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('gone@') ? new Error('no such user') : null),
    async onData(stream, { envelope }, done) {
      const content = await text(stream);
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
      mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), content });
      done();
    },
    ...options,
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return { port: (listening.address() as AddressInfo).port, mails };
}

const at = '2026-03-20T10:00:00.000Z';
const message: { readonly id: string; readonly payload: AlertPayload } = {
  id: 'msg_1',
  payload: {
    type: 'alert.opened',
    timestamp: at,
    data: {
      alert: 'held',
      site: null,
      feed: 'acme',
      message: 'feed acme: 3 changes are held',
      detail: 'Zürich',
      count: null,
      since: at,
    },
  },
};

const mailTo = (smtp: string, ...to: string[]) =>
  openChannel({ kind: 'email', smtp: new Secret(smtp), from: 'jobmirror@example.com', to }) as Extract<
    Channel,
    { kind: 'email' }
  >;

it.each([
  ['127.0.0.1', true],
  ['[::1]', true],
  ['LOCALHOST', true],
  ['127.mail.example.com', false],
  ['mail.example.com', false],
  ['[::2]', false],
])('a password may travel unencrypted to %s: %s', (host, isLocal) => {
  expect(mailTo(`smtp://jim:secret@${host}`, 'ops@example.com').isLocal).toBe(isLocal);
});

it('sends no password to another machine without encryption', async () => {
  const { port, mails } = await startServer();
  const channel = { ...mailTo(`smtp://jim:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`, 'ops@example.com') };
  expect(await deliverAlert({ ...channel, isLocal: false }, message)).toMatchObject({ kind: 'failed' });
  expect(mails).toEqual([]);
});

it('sends one mail to all recipients, with the same ID at each attempt', async () => {
  const { port, mails } = await startServer();
  const channel = mailTo(
    `smtp://jim:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`,
    'ops@example.com',
    'hr@example.com',
  );
  expect(await deliverAlert(channel, message)).toEqual({ kind: 'delivered' });
  expect(await deliverAlert(channel, message)).toEqual({ kind: 'delivered' });
  const [mail, again] = mails;
  expect([mail?.from, mail?.to]).toEqual(['jobmirror@example.com', ['ops@example.com', 'hr@example.com']]);
  for (const { content = '' } of [mail ?? { content: '' }, again ?? { content: '' }]) {
    expect(content).toMatch(/^Message-ID: <msg_1@jobmirror>\r$/m);
    expect(content).toMatch(/^Subject: \[jobmirror\] feed acme: 3 changes are held\r$/m);
    expect(content).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(content).toMatch(/Z=C3=BCrich|Zürich/);
  }
});

it('no text of a feed adds a header', async () => {
  const { port, mails } = await startServer();
  const { payload } = message;
  const text = 'feed acme\r\nBcc: all@example.com\r\n\r\nhello';
  const odd = { id: 'msg_2', payload: { ...payload, data: { ...payload.data, message: text } } };
  expect(await deliverAlert(mailTo(`smtp://127.0.0.1:${port}`, 'ops@example.com'), odd)).toEqual({ kind: 'delivered' });
  expect(mails[0]?.to).toEqual(['ops@example.com']);
  expect(mails[0]?.content.split('\r\n\r\n')[0]).not.toContain('Bcc');
});

it.each([
  [
    'a wrong password',
    () => 'smtp://jim:wrong-password@127.0.0.1',
    ['ops@example.com'],
    {},
    /^not sent: EAUTH, the server answered 535$/,
  ],
  [
    'a refused recipient',
    () => 'smtp://127.0.0.1',
    ['gone@example.com'],
    {},
    /^not sent: EENVELOPE, the server answered 550$/,
  ],
])('says why it was not sent: %s', async (_name, smtp, to, options, reason) => {
  const { port } = await startServer(options);
  const end = await deliverAlert(mailTo(`${smtp()}:${port}`, ...to), message);
  expect(end).toEqual({ kind: 'failed', reason: expect.stringMatching(reason) });
});

it('a mail that some recipients get is not sent again, but says who did not', async () => {
  const { port, mails } = await startServer();
  const channel = mailTo(`smtp://127.0.0.1:${port}`, 'gone@example.com', 'ops@example.com');
  expect(await deliverAlert(channel, message)).toEqual({
    kind: 'delivered',
    note: 'the server refused 1 of 2 recipients',
  });
  expect(mails[0]?.to).toEqual(['ops@example.com']);
});

it('a mail that some recipients get later is sent again, to those only', async () => {
  const later = Object.assign(new Error('listed grey'), { responseCode: 450 });
  const gone = new Error('no such user');
  const answers: Readonly<Record<string, Error>> = { 'new@example.com': later, 'gone@example.com': gone };
  const { port, mails } = await startServer({
    onRcptTo: ({ address }, _session, done) => done(answers[address] ?? null),
  });
  const channel = mailTo(`smtp://127.0.0.1:${port}`, 'new@example.com', 'ops@example.com', 'gone@example.com');
  expect(await deliverAlert(channel, message)).toEqual({
    kind: 'failed',
    reason: 'the server refused 2 of 3 recipients for now',
    left: ['new@example.com'],
  });
  expect(mails.map(({ to }) => to)).toEqual([['ops@example.com']]);
});

it('finds recipients whose domains the mail client writes in another way', async () => {
  const later = Object.assign(new Error('listed grey'), { responseCode: 450 });
  const { port, mails } = await startServer({
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('ops@') ? null : later),
  });
  const to = ['Hr@Example.COM', 'new@bücher.example', 'ops@example.com'];
  const end = await deliverAlert(mailTo(`smtp://127.0.0.1:${port}`, ...to), message);
  expect(end).toMatchObject({ kind: 'failed', left: ['Hr@Example.COM', 'new@bücher.example'] });
  expect(mails).toHaveLength(1);
});

it('of a message that others have, only the recipients are asked that are still configured', async () => {
  const { port, mails } = await startServer();
  const channel = {
    kind: 'email',
    smtp: new Secret(`smtp://127.0.0.1:${port}`),
    from: 'jobmirror@example.com',
  } as const;
  const to = ['ops@example.com', 'new@example.com'];
  expect(await deliverAlert(openChannel({ ...channel, to }, ['new@example.com']), message)).toEqual({
    kind: 'delivered',
  });
  expect(await deliverAlert(openChannel({ ...channel, to }, ['left@example.com']), message)).toEqual({
    kind: 'delivered',
  });
  expect(mails.map((mail) => mail.to)).toEqual([['new@example.com']]);
});

it('a server on this machine may have a certificate of its own, another one must not', async () => {
  const { port, mails } = await startServer({ disabledCommands: [] });
  const channel = mailTo(`smtp://127.0.0.1:${port}`, 'ops@example.com');
  expect(await deliverAlert({ ...channel, isLocal: false }, message)).toMatchObject({ kind: 'failed' });
  expect(mails).toEqual([]);
  expect(await deliverAlert(channel, message)).toEqual({ kind: 'delivered' });
  expect(mails).toHaveLength(1);
});

it('a server that answers slowly and for ever is left at the deadline', async () => {
  const closed: Promise<unknown>[] = [];
  const endless = createServer((socket) => {
    socket.on('error', () => undefined);
    closed.push(new Promise((resolve) => socket.on('close', resolve)));
    socket.write('220 hello\r\n');
    const timer = setInterval(() => socket.write('250-still here\r\n'), 20);
    socket.on('close', () => clearInterval(timer));
  });
  endless.listen(0, '127.0.0.1');
  await once(endless, 'listening');
  const { port } = endless.address() as AddressInfo;
  const end = await sendMail(mailTo(`smtp://127.0.0.1:${port}`, 'ops@example.com'), message, { deadlineMs: 500 });
  expect(end).toEqual({ kind: 'failed', reason: 'no answer in time' });
  await Promise.all(closed);
  endless.close();
});

it('a server that cannot be reached is a failure', async () => {
  const end = await deliverAlert(mailTo('smtp://127.0.0.1:1', 'ops@example.com'), message);
  expect(end).toEqual({ kind: 'failed', reason: expect.stringMatching(/^not sent: E/) });
});
