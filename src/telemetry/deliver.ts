// Sends one message to a destination, by webhook, to Slack or by e-mail, and says what became of it. Throws nothing.
import { domainToASCII } from 'node:url';
import { createTransport } from 'nodemailer';
import { Webhook } from 'standardwebhooks';
import { Client, type Dispatcher, request } from 'undici';
import { connectorOf, ProxyFailure, type ProxySettings, routeTo } from '../flow/proxy.ts';
import { type AlertMessage, type Delivery, textOfAlert } from './alert-message.ts';

/** How a destination is reached. Secrets are plain here: keep it out of logs. */
export type Channel =
  | {
      readonly kind: 'webhook';
      readonly url: string;
      readonly secret: string;
      readonly proxy?: ProxySettings | undefined;
    }
  | { readonly kind: 'slack'; readonly url: string; readonly proxy?: ProxySettings | undefined }
  | ({ readonly kind: 'email' } & MailChannel);

/** @param cutOff ends the attempt, of which the destination may know by then. */
export async function deliverAlert(channel: Channel, message: AlertMessage, cutOff?: AbortSignal): Promise<Delivery> {
  try {
    switch (channel.kind) {
      case 'webhook':
        return await postWebhook(channel, message, { cutOff, proxy: channel.proxy });
      case 'slack':
        return await postSlack(channel, message, { cutOff, proxy: channel.proxy });
      case 'email':
        return await sendMail(channel, message, { cutOff });
      default:
        return channel satisfies never;
    }
  } catch (error) {
    return { kind: 'failed', reason: cutOff?.aborted === true ? 'the process was stopped' : reasonOf(error) };
  }
}

/** Messages of errors may quote addresses with their secrets, so only codes are shown, where there are any. */
function reasonOf(error: unknown): string {
  if (error instanceof ProxyFailure) return `not sent: ${error.message}`;
  const { code, name, cause, responseCode } = error as {
    code?: unknown;
    name?: unknown;
    cause?: { code?: unknown };
    /** Of a mail server. */
    responseCode?: unknown;
  };
  const shown = [code, cause?.code, name].find((text) => typeof text === 'string' && text !== '');
  if (shown === 'TimeoutError') return 'no answer in time';
  const answer = typeof responseCode === 'number' ? `, the server answered ${responseCode}` : '';
  return `not sent: ${String(shown ?? 'unknown error')}${answer}`;
}

// Posts messages to HTTP endpoints: signed as the Standard Webhooks specification asks, or as Slack and its likes take them.

/** The specification asks receivers to answer within 15 seconds. */
const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 << 10;
/** Answers about what was sent (RFC 9110, 15.5), not about the address, its credentials or its load. */
const REFUSALS: ReadonlySet<number> = new Set([400, 409, 413, 415, 422]);

interface PostLimits {
  readonly timeoutMs?: number;
  /** Ends the attempt. */
  readonly cutOff?: AbortSignal | undefined;
  /** Absent: directly. */
  readonly proxy?: ProxySettings | undefined;
}

export function postWebhook(
  { url, secret }: { readonly url: string; readonly secret: string },
  { id, payload }: AlertMessage,
  limits: PostLimits = {},
): Promise<Delivery> {
  const body = JSON.stringify(payload);
  // The time of this attempt: receivers refuse old ones, which could be replayed.
  const now = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
  };
  return post(url, body, headers, limits);
}

/** Slack, Mattermost, Rocket.Chat, and Discord's address that ends in /slack. */
const postSlack = (
  { url }: { readonly url: string },
  { payload }: AlertMessage,
  limits: PostLimits = {},
): Promise<Delivery> => post(url, JSON.stringify({ text: escapeSlack(textOfAlert(payload)) }), {}, limits);

/** Slack reads these characters as markup. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Never follows a redirect: the signed message is for this address only. */
async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  { timeoutMs = TIMEOUT_MS, cutOff, proxy }: PostLimits,
): Promise<Delivery> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const target = new URL(url);
  const route = routeTo(target, proxy);
  const sent = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'jobmirror', ...headers, ...route?.headers },
    body,
    // In all, also for an endpoint that answers slowly and for ever.
    signal: cutOff === undefined ? timeout : AbortSignal.any([timeout, cutOff]),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  } as const;
  const client = route && new Client(target.origin, { connect: connectorOf(route, timeoutMs) });
  let answer: Dispatcher.ResponseData;
  try {
    answer = await (client?.request({ ...sent, path: route?.target(target) ?? '' }) ?? request(url, sent));
    // What the endpoint says does not matter, and may be endless.
    await answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => undefined);
  } finally {
    await client?.destroy();
  }
  const { statusCode: status } = answer;
  const refusal = route?.refusalOf(status, answer.headers);
  if (refusal !== undefined) throw refusal;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const retryAfter = Number(answer.headers['retry-after']);
  return {
    kind: 'failed',
    reason: `it answered ${status}`,
    // The specification: 410 asks to send nothing more.
    ...(status === 410 ? { isFinal: true } : {}),
    ...(REFUSALS.has(status) ? { isRefused: true } : {}),
    ...(Number.isFinite(retryAfter) && retryAfter > 0 ? { retryAfterMs: retryAfter * 1000 } : {}),
  };
}

// Sends messages by e-mail, through the configured SMTP server.

/** In all, also for a server that answers slowly and for ever: shorter than the lease of a message (`outbox.ts`). */
const DEADLINE_MS = 45_000;
const LONGEST_SUBJECT = 150;

interface MailChannel {
  /** `smtp://` or `smtps://`, with user and password if the server wants them. */
  readonly smtp: string;
  /** Only this machine reaches the server, so a password needs no encryption. */
  readonly isLocal: boolean;
  readonly from: string;
  readonly to: readonly string[];
}

/** Sent again to all, those that have it would get it twice. A server that lists unknown senders grey refuses a recipient for some minutes. */
function endOfMail(refusals: readonly unknown[], to: readonly string[]): Delivery {
  if (refusals.length === 0) return { kind: 'delivered' };
  const note = `the server refused ${refusals.length} of ${to.length} recipients`;
  const refusedForNow = refusals.flatMap((error) => {
    const { responseCode = 0, recipient } = error as { responseCode?: number; recipient?: string };
    return responseCode >= 400 && responseCode < 500 && recipient !== undefined ? [comparable(recipient)] : [];
  });
  // As they are configured: the mail client writes domains in its own way.
  const left = to.filter((each) => refusedForNow.includes(comparable(each)));
  return left.length === 0 ? { kind: 'delivered', note } : { kind: 'failed', reason: `${note} for now`, left };
}

const comparable = (address: string): string => {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at).toLowerCase());
};

const linkLine = ({ data }: AlertMessage['payload']): string =>
  'link' in data && data.link !== undefined ? `${data.link}\n` : '';

export async function sendMail(
  { smtp, isLocal, from, to }: MailChannel,
  { id, payload }: AlertMessage,
  {
    deadlineMs = DEADLINE_MS,
    cutOff,
  }: { readonly deadlineMs?: number; readonly cutOff?: AbortSignal | undefined } = {},
): Promise<Delivery> {
  // Those that had not got it yet are no recipients any more.
  if (to.length === 0) return { kind: 'delivered' };
  const deadline = AbortSignal.timeout(deadlineMs);
  const signal = cutOff === undefined ? deadline : AbortSignal.any([deadline, cutOff]);
  const { hostname, port, protocol, username, password } = new URL(smtp);
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (protocol === 'smtps:' ? 465 : 587)),
    // Otherwise STARTTLS, where the server offers it.
    secure: protocol === 'smtps:',
    requireTLS: protocol === 'smtp:' && password !== '' && !isLocal,
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // Servers as Debian installs them offer STARTTLS with a certificate that they made themselves. Nobody else is on the way.
    ...(isLocal ? { tls: { rejectUnauthorized: false } } : {}),
    // Nothing in a message names a file or an address to load.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const text = textOfAlert(payload);
    const [subject = ''] = text.split('\n');
    const { rejectedErrors = [] } = await transport.sendMail({
      from,
      to: [...to],
      // Each attempt has the same ID, so that mail programs show one message.
      messageId: `<${id}@jobmirror>`,
      date: new Date(payload.timestamp),
      subject: `[jobmirror] ${subject.slice(0, LONGEST_SUBJECT)}`,
      text: `${text}\n\nSince ${'since' in payload.data ? payload.data.since : payload.timestamp}\n${linkLine(payload)}`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal,
    });
    return endOfMail(rejectedErrors, to);
  } catch (error) {
    if (deadline.aborted) return { kind: 'failed', reason: 'no answer in time' };
    throw error;
  } finally {
    transport.close();
  }
}
