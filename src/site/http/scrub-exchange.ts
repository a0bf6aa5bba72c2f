// Removes the site's token from everything that is stored or shown (docs/reliability.md, law 7), but not from what is parsed.
import { credentialPattern, SHORT_SECRET, secretReplacer, secretSearch } from '../../posting/secret-pattern.ts';
import type { Outcome, SiteJob } from '../exchange.ts';
import type { Pause } from '../xml/body-text.ts';
import { cutText } from '../xml/body-text.ts';

/** Replaces the token. */
export const REMOVED = '[token removed]';

/** A partial token at the end of a cut text is removed too if it is at least this long. */
const MIN_PART = 6;
/** Longer than any form of a token. */
const MARGIN = 16 << 10;
/** Characters searched between yields to the event loop, and the context before them that identifies a short token. */
const WINDOW = 8 << 10;
const CONTEXT = 64;

/** Removes the token from a text in every form in which a site or a proxy may echo it: see `secretReplacer`. */
export function createScrubber(token: string): (text: string) => string {
  const replace = secretReplacer(token, REMOVED);
  const ends = endsOf(token);
  return (text) => withoutPart(replace(text), ends);
}

/** The same for texts of any length; yields to the event loop between parts. */
function createSlicedScrubber(token: string): (text: string, pause: Pause) => Promise<string> {
  const findPatterns = secretSearch(token);
  const ends = endsOf(token);
  return async (text, pause) => {
    const parts: string[] = [];
    for (let at = 0; at < text.length; ) {
      const start = Math.max(0, at - CONTEXT);
      const window = text.slice(start, at + WINDOW + MARGIN);
      let kept = at;
      for (const [from, to] of matchesIn(window, at - start, findPatterns(window))) {
        // A match that begins further on may end outside the window.
        if (start + from >= at + WINDOW) break;
        parts.push(text.slice(kept, Math.max(kept, start + from)), REMOVED);
        kept = start + to;
      }
      const next = Math.max(kept, Math.min(at + WINDOW, text.length));
      parts.push(text.slice(kept, next));
      at = next;
      await pause();
    }
    return withoutPart(parts.join(''), ends);
  };
}

/** Positions of the token from `from` on, in order and without overlaps. */
function matchesIn(text: string, from: number, patterns: readonly RegExp[]): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      if (match.index >= from) found.push([match.index, match.index + match[0].length]);
    }
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let end = from;
  return found.filter(([, stop]) => {
    if (stop <= end) return false;
    end = stop;
    return true;
  });
}

const endsOf = (token: string): readonly string[] =>
  token.length < SHORT_SECRET ? [] : [token, Buffer.from(`${token}:X`).toString('base64')];

function withoutPart(text: string, ends: readonly string[]): string {
  const whole = text.endsWith('…') ? text.slice(0, -1) : text;
  for (const end of ends) {
    for (let length = Math.min(end.length - 1, whole.length); length >= MIN_PART; length--) {
      if (whole.endsWith(end.slice(0, length))) return whole.slice(0, -length) + REMOVED + text.slice(whole.length);
    }
  }
  return text;
}

/** How the client removes the token from what it hands over. */
export interface TokenRemover {
  readonly text: (text: string) => string;
  /** A body as it is recorded: at most `maxBytes` of UTF-8. */
  readonly body: (text: string, maxBytes: number, pause: Pause) => Promise<string>;
  /** A URL. A short token stays in the path, where it is part of an ID. */
  readonly address: (url: string) => string;
  /**
   * The ID stays unchanged, and so do the fields unless they hold a token too long to match by chance; the original
   * fields are revealed for comparisons only.
   */
  readonly siteJob: (siteJob: SiteJob) => SiteJob;
  readonly outcome: (outcome: Outcome, pause: Pause) => Promise<Outcome>;
  /** Like `siteJob`, for a job of any size. */
  readonly largeJob: (siteJob: SiteJob, pause: Pause) => Promise<SiteJob>;
  /** Whether the site returned the token in place of an ID. */
  readonly isToken: (id: string | undefined) => boolean;
}

export function createTokenRemover(token: string): TokenRemover {
  const isShort = token.length < SHORT_SECRET;
  const text = createScrubber(token);
  const credential = credentialPattern(token);
  const address = (url: string): string =>
    isShort ? withoutParameters(url.replace(credential, REMOVED), token) : text(url);
  const isToken = (id: string | undefined): boolean => !isShort && id === token;
  const siteJob = (job: SiteJob): SiteJob => ({
    ...job,
    url: job.url === undefined ? undefined : address(job.url),
    ...(isShort
      ? {}
      : hiding(
          job,
          Object.entries(job.fields).map(([name, value]) => [name, text(value)]),
        )),
  });
  const cleanSlowly = createSlicedScrubber(token);
  const largeJob = async (job: SiteJob, pause: Pause): Promise<SiteJob> => {
    if (isShort) return siteJob(job);
    const fields: [string, string][] = [];
    for (const [name, value] of Object.entries(job.fields)) fields.push([name, await cleanSlowly(value, pause)]);
    return { ...job, url: job.url === undefined ? undefined : address(job.url), ...hiding(job, fields) };
  };
  return {
    text,
    async body(body, maxBytes, pause) {
      if (body.length <= maxBytes + MARGIN) return cutText(await cleanSlowly(body, pause), maxBytes);
      // Half a token may be at the end of the checked part, and each removal before it shifts the rest forward.
      const checked = await cleanSlowly(body.slice(0, maxBytes + MARGIN), pause);
      return cutText(checked.slice(0, Math.max(0, checked.length - MARGIN)), maxBytes, Buffer.byteLength(body));
    },
    address,
    siteJob,
    largeJob,
    isToken,
    async outcome(outcome, pause) {
      if (outcome.kind !== 'created') {
        return (await cleanTexts(outcome, (value) => cleanSlowly(value, pause))) as Outcome;
      }
      if (!isToken(outcome.siteJob.siteJobId)) return { ...outcome, siteJob: await largeJob(outcome.siteJob, pause) };
      return { kind: 'unknown', message: 'The site returned the token in place of the ID of a new job' };
    },
  };
}

/** The cleaned fields; if cleaning changed any, the originals remain available through `revealFields`. */
function hiding({ fields }: SiteJob, cleaned: readonly (readonly [string, string])[]): Partial<SiteJob> {
  const isSame = cleaned.every(([name, value]) => fields[name] === value);
  return isSame ? {} : { fields: Object.fromEntries(cleaned), revealFields: () => fields };
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

/** Cleans all texts of a value except the kind of a union and IDs. */
async function cleanTexts(value: unknown, clean: (text: string) => Promise<string>): Promise<unknown> {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const cleaned: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const isKept = name === 'kind' || name === 'siteJobId';
    cleaned.push([name, isKept ? inner : await cleanTexts(inner, clean)]);
  }
  return Array.isArray(value) ? cleaned.map(([, inner]) => inner) : Object.fromEntries(cleaned);
}
