// Turns what may hold the site's token into what does not (design, law 7): only what is stored and shown, never what is read.
import { credentialPattern, SHORT_SECRET, secretReplacer } from '../posting/secret-pattern.ts';
import { cutText } from './body-text.ts';
import type { Outcome, SiteJob } from './exchange.ts';

/** What stands in the place of the token. */
export const REMOVED = '[token removed]';

/** A part of the token that is cut off at the end of a text is removed, too, if it is this long. */
const MIN_PART = 6;
/** Longer than any form of a token is. */
const MARGIN = 16 << 10;

/** Removes the token from a text in each form in which a site or a proxy may echo it: see `secretReplacer`. */
export function createScrubber(token: string): (text: string) => string {
  const replace = secretReplacer(token, REMOVED);
  const ends = token.length < SHORT_SECRET ? [] : [token, Buffer.from(`${token}:X`).toString('base64')];
  return (text) => withoutPart(replace(text), ends);
}

function withoutPart(text: string, ends: readonly string[]): string {
  const whole = text.endsWith('…') ? text.slice(0, -1) : text;
  for (const end of ends) {
    for (let length = Math.min(end.length - 1, whole.length); length >= MIN_PART; length--) {
      if (whole.endsWith(end.slice(0, length))) return whole.slice(0, -length) + REMOVED + text.slice(whole.length);
    }
  }
  return text;
}

/** The client's ways to take the token out of what it hands over. */
export interface Cleaner {
  readonly text: (text: string) => string;
  /** A body as it is recorded: `maxBytes` of UTF-8 at most. */
  readonly body: (text: string, maxBytes: number) => string;
  /** A URL. A short token stays in its path, where it is part of an ID. */
  readonly address: (url: string) => string;
  /** Its ID stays as it is, and its fields unless they hold a token that can't be there by accident. */
  readonly siteJob: (siteJob: SiteJob) => SiteJob;
  readonly outcome: (outcome: Outcome) => Outcome;
  /** Whether the site gives the token back in place of an ID. */
  readonly isToken: (id: string | undefined) => boolean;
}

export function createCleaner(token: string): Cleaner {
  const isShort = token.length < SHORT_SECRET;
  const text = createScrubber(token);
  const credential = credentialPattern(token);
  const address = (url: string): string =>
    isShort ? withoutParameters(url.replace(credential, REMOVED), token) : text(url);
  const isToken = (id: string | undefined): boolean => !isShort && id === token;
  const siteJob = (job: SiteJob): SiteJob => ({
    ...job,
    url: job.url === undefined ? undefined : address(job.url),
    fields: isShort
      ? job.fields
      : Object.fromEntries(Object.entries(job.fields).map(([name, value]) => [name, text(value)])),
  });
  return {
    text,
    body(body, maxBytes) {
      if (body.length <= maxBytes + MARGIN) return cutText(text(body), maxBytes);
      // Half a token may stand at the end of what is looked at, and what is removed before makes the rest move up.
      const looked = text(body.slice(0, maxBytes + MARGIN));
      return cutText(looked.slice(0, Math.max(0, looked.length - MARGIN)), maxBytes, Buffer.byteLength(body));
    },
    address,
    siteJob,
    isToken,
    outcome(outcome) {
      if (outcome.kind !== 'created') return cleanTexts(outcome, text) as Outcome;
      if (!isToken(outcome.siteJob.siteJobId)) return { ...outcome, siteJob: siteJob(outcome.siteJob) };
      return { kind: 'unknown', message: 'The site returned the token in place of the ID of a new job' };
    },
  };
}

function withoutParameters(url: string, token: string): string {
  return url.replace(/([?&#;][^=&#;]*=)([^&#;]*)/g, (whole, name: string, value: string) =>
    decode(value) === token ? name + REMOVED : whole,
  );
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The texts in it, but for the kind of a union, and IDs. */
function cleanTexts(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((one) => cleanTexts(one, clean));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'kind' || name === 'siteJobId' ? inner : cleanTexts(inner, clean),
    ]),
  );
}
