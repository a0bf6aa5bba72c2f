// What an alert destination is told: the payload of a message, in the form of the Standard Webhooks specification.

/** What an alert is about. */
export const ALERT_KINDS = [
  'paused',
  'unreachable',
  'held',
  'escalation',
  'in_doubt',
  'feed_failed',
  'overdue',
  'rejected_share',
  'new_group',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** What can become of a posting, for systems that want to know of each. */
export const POSTING_EVENTS = ['posting.mirrored', 'posting.rejected', 'posting.removed'] as const;
export type PostingEvent = (typeof POSTING_EVENTS)[number];

/** What a posting event says; triggers of the database write it. */
export interface PostingPayload {
  readonly type: PostingEvent;
  readonly timestamp: string;
  readonly data: { readonly feed: string; readonly key: string; readonly site: string };
}

/** The body of a message (https://www.standardwebhooks.com, "Payload"). */
export interface AlertPayload {
  /** `alert.updated`: it is still open, and about far more than was told. */
  readonly type: 'alert.opened' | 'alert.updated' | 'alert.recovered' | 'alert.test';
  /** When the state changed, as ISO 8601. */
  readonly timestamp: string;
  readonly data: AlertData;
}

export interface AlertData {
  readonly alert: AlertKind | 'test';
  readonly site: string | null;
  readonly feed: string | null;
  /** One sentence with what to do, for a person. */
  readonly message: string;
  /** What the site or source said, in one line. */
  readonly detail: string | null;
  /** How many changes it is about, for alerts that count some. */
  readonly count: number | null;
  /** When the alert was opened. */
  readonly since: string;
  /** The page that shows it; absent without `web.public_url`. */
  readonly link?: string;
}

/** A message to send. Its ID stays the same however often it is sent, so that the receiver recognises repetitions. */
export interface AlertMessage {
  readonly id: string;
  readonly payload: AlertPayload | PostingPayload;
}

/** What became of one attempt to send a message. */
export type Delivery =
  /** `note`: what a person should know all the same. */
  | { readonly kind: 'delivered'; readonly note?: string }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly retryAfterMs?: number;
      /** The destination wants nothing more. */
      readonly isFinal?: boolean;
      /** The destination works, but refuses this message: others may be accepted. */
      readonly isRefused?: boolean;
      /** The recipients of a mail that have not got it yet, if others have. */
      readonly left?: readonly string[];
    };

/** The message as lines of text, for people. */
export function textOfAlert(payload: AlertPayload | PostingPayload): string {
  if (isPostingEvent(payload)) return `${payload.type}: posting ${payload.data.key} of feed ${payload.data.feed}`;
  const { type, data } = payload;
  const prefix = type === 'alert.recovered' ? 'Recovered: ' : type === 'alert.updated' ? 'Update: ' : '';
  const head = `${prefix}${data.message}`;
  return data.detail === null ? head : `${head}\n${data.detail}`;
}

const isPostingEvent = (payload: AlertPayload | PostingPayload): payload is PostingPayload =>
  POSTING_EVENTS.some((event) => event === payload.type);
