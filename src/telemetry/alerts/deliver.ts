// Sends one message to a destination, and says what became of it. Throws nothing.
import type { AlertMessage, Delivery } from './alert-message.ts';
import { sendMail } from './mail.ts';
import { postSlack, postWebhook } from './webhook.ts';

/** How a destination is reached. Secrets are plain here: keep it out of logs. */
export type Channel =
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string }
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'email'; readonly smtp: string; readonly from: string; readonly to: readonly string[] };

/** @param cutOff ends the attempt, of which the destination may know by then. */
export async function deliverAlert(channel: Channel, message: AlertMessage, cutOff?: AbortSignal): Promise<Delivery> {
  try {
    switch (channel.kind) {
      case 'webhook':
        return await postWebhook(channel, message, { cutOff });
      case 'slack':
        return await postSlack(channel, message, { cutOff });
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
  const { code, name, cause } = error as { code?: unknown; name?: unknown; cause?: { code?: unknown } };
  const shown = [code, cause?.code, name].find((text) => typeof text === 'string' && text !== '');
  return shown === 'TimeoutError' ? 'no answer in time' : `not sent: ${String(shown ?? 'unknown error')}`;
}
