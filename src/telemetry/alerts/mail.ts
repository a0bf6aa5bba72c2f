// Sends messages by e-mail, through the configured SMTP server.
import { createTransport } from 'nodemailer';
import { type AlertMessage, type Delivery, textOfAlert } from './alert-message.ts';

/** Without any answer. */
const TIMEOUT_MS = 15_000;
/** In all, also for a server that answers slowly and for ever: shorter than the lease of a message (`outbox.ts`). */
const DEADLINE_MS = 45_000;
const LONGEST_SUBJECT = 150;

export interface MailChannel {
  /** `smtp://` or `smtps://`, with user and password if the server wants them. */
  readonly smtp: string;
  readonly from: string;
  readonly to: readonly string[];
}

export async function sendMail(
  { smtp, from, to }: MailChannel,
  { id, payload }: AlertMessage,
  {
    deadlineMs = DEADLINE_MS,
    cutOff,
  }: { readonly deadlineMs?: number; readonly cutOff?: AbortSignal | undefined } = {},
): Promise<Delivery> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const signal = cutOff === undefined ? deadline : AbortSignal.any([deadline, cutOff]);
  const { hostname, port, protocol, username, password } = new URL(smtp);
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (protocol === 'smtps:' ? 465 : 587)),
    // Otherwise STARTTLS, where the server offers it.
    secure: protocol === 'smtps:',
    // A password travels encrypted, except on this machine.
    requireTLS: protocol === 'smtp:' && password !== '' && !isLoopback(hostname),
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // Nothing in a message names a file or an address to load.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const text = textOfAlert(payload);
    const [subject = ''] = text.split('\n');
    const { rejected } = await transport.sendMail({
      from,
      to: [...to],
      // The same for each attempt, so that mail programs show one.
      messageId: `<${id}@jobmirror>`,
      date: new Date(payload.timestamp),
      subject: `[jobmirror] ${subject.slice(0, LONGEST_SUBJECT)}`,
      text: `${text}\n\nSince ${'since' in payload.data ? payload.data.since : payload.timestamp}\n`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal,
    });
    if (rejected.length === 0) return { kind: 'delivered' };
    // Sent again, the others would get it twice.
    return { kind: 'delivered', note: `the server refused ${rejected.length} of ${to.length} recipients` };
  } catch (error) {
    if (deadline.aborted) return { kind: 'failed', reason: 'no answer in time' };
    throw error;
  } finally {
    transport.close();
  }
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || /^127\./.test(host);
