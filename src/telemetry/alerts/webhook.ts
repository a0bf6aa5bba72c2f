// Posts messages to HTTP endpoints: signed as the Standard Webhooks specification asks, or as Slack and its likes take them.
import { Webhook } from 'standardwebhooks';
import { request } from 'undici';
import { type AlertMessage, type Delivery, textOfAlert } from './alert-message.ts';

/** The specification asks receivers to answer within 15 seconds. */
const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 << 10;
/** Answers about what was sent (RFC 9110, 15.5), not about the address, its credentials or its load. */
const REFUSALS: ReadonlySet<number> = new Set([400, 409, 413, 415, 422]);

interface PostLimits {
  readonly timeoutMs?: number;
  /** Ends the attempt. */
  readonly cutOff?: AbortSignal | undefined;
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
export const postSlack = (
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
  { timeoutMs = TIMEOUT_MS, cutOff }: PostLimits,
): Promise<Delivery> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'jobmirror', ...headers },
    body,
    // In all, also for an endpoint that answers slowly and for ever.
    signal: cutOff === undefined ? timeout : AbortSignal.any([timeout, cutOff]),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  // What the endpoint says does not matter, and may be endless.
  await answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => undefined);
  const { statusCode: status } = answer;
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
