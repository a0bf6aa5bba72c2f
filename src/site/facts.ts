// Extracts from an answer the facts by which it is classified: status, job, errors, page or document.
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Problem } from '../posting/posting.ts';
import { areOfTwoJobs, type Expectation, explainOtherContent, tellOtherReference } from './contradiction.ts';
import type { SiteJob } from './exchange.ts';
import { isInDoubt, readFailureIndicator, saysClosed } from './failure-indicator.ts';
import { type JobAddress, type Resource, readJobUrl, redirectAfterWrite } from './http/job-address.ts';
import { findJob, type ReadJob, readJobElement } from './xml/decode.ts';
import { fieldRecognition, readErrors, tellProblems } from './xml/problems.ts';
import type { XmlElement } from './xml/xml-events.ts';
import { readXml } from './xml/xml-tree.ts';

/** What came back for one request, possibly incomplete. */
export interface Reply {
  /** What the site calls its jobs; absent: `job`, below `/jobs`. */
  readonly resource?: Resource;
  /** The request's own URL: `Location` is relative to it. */
  readonly url: URL;
  /** Whether any byte of the request may have been sent. */
  readonly sent: boolean;
  /** 0: no status line arrived. */
  readonly status: number;
  readonly location?: string;
  /** Another `Location` header that differs from the first. */
  readonly otherLocation?: string;
  /** What the request was about. */
  readonly expected?: Expectation;
  /** The job that the request was about; absent for a create. */
  readonly siteJobId?: SiteJobId;
  readonly contentType: string;
  readonly retryAfterMs?: number;
  /** The header `Server`. */
  readonly server?: string;
  /** Decoded; empty if there was none or it cannot be read. */
  readonly body: string;
  /** The body as XML, if it was parsed already; without `root` it is not XML. */
  readonly document?: { readonly root?: XmlElement };
  /** Why the answer is missing or incomplete; absent: it is complete. */
  readonly trouble?: string;
}

/** What must be known about a reply to classify it. Functions are evaluated only when called. */
export interface ReplyFacts extends Pick<Reply, 'sent' | 'status' | 'retryAfterMs' | 'trouble'> {
  /** The job named in `Location` or in the body. */
  readonly siteJob?: SiteJob;
  /** Evidence that the answer is about another job than the request, or about two jobs. */
  readonly otherJob: () => string | undefined;
  /** Evidence that the new job is not the one that was sent. */
  readonly otherContent: () => string | undefined;
  /** Evidence that the job to change belongs to another posting. */
  readonly otherPosting: () => string | undefined;
  /** The problems of an errors document; empty: the body is not one. */
  readonly problems: readonly Problem[];
  /** Failures that the body states in another form than an errors document. */
  readonly failureIndicators: () => readonly Problem[];
  /** Whether the body contains a failure word outside of any job. */
  readonly isInDoubt: () => boolean;
  /** Whether it says, outside of any job, that the site is closed for a while. */
  readonly saysClosed: () => boolean;
  /** What the body says: the problems, or else its text. */
  readonly reasons: () => readonly Problem[];
  readonly isHtml: boolean;
  /** Whether it is a page that asks for a password. */
  readonly isSignIn: boolean;
  /** Whether a proxy that could not read the site's answer made this one: it states Retry-After, although the site may have done all. */
  readonly isFailedFetch: () => boolean;
  /** Target of `Location`, origin and path only, for messages. */
  readonly redirectTarget: () => string | undefined;
  /** Where `Location` leads: to the job of the request, or to another page of the site, as after submitting a form. */
  readonly redirectsOn: () => 'job' | 'page' | undefined;
}

/**
 * Gathers the facts. The ID in `Location` (`/jobs/<id>`) takes precedence over the one in the body: the interface
 * promises it as the URL of the new job, and later requests use that ID. A `Location` on another host still yields its
 * ID; nothing is ever sent there. A `Location` of another form counts only under 201 and if the body has no ID.
 */
export function gatherFacts(reply: Reply): ReplyFacts {
  const { root } = reply.document ?? { root: readXml(reply.body) };
  const address = reply.location === undefined ? {} : readJobUrl(reply.location, reply.url, reply.resource);
  const element = root && findJob(root, reply.resource);
  const job: ReadJob = element ? readJobElement(element, reply.url, reply.resource) : { fields: {} };
  const siteJob = readSiteJob(reply, address, job);
  const hasJobRoot = root !== undefined && element === root;
  const isPage = !hasJobRoot && isHtml(reply.body, reply.contentType);
  const isField = fieldRecognition(() => namesIn(reply.expected));
  return {
    sent: reply.sent,
    status: reply.status,
    retryAfterMs: reply.retryAfterMs,
    trouble: reply.trouble,
    siteJob,
    otherJob: () => tellOtherJob(reply, address, job),
    otherContent: () => explainOtherContent(job, reply.expected ?? {}),
    otherPosting: () => tellOtherReference(job, reply.expected ?? {}),
    problems: root ? readErrors(root, isField) : [],
    failureIndicators: once(() => (root ? readFailureIndicator(root, reply.resource) : [])),
    isInDoubt: () => isInDoubt(root, reply.body, reply.resource),
    saysClosed: () => saysClosed(root, reply.body, reply.resource),
    reasons: once(() => tellProblems(reply.body, root, hasJobRoot ? undefined : isField)),
    isHtml: isPage,
    isSignIn: isPage && /<input\b[^<>]*\btype=["']?password/i.test(reply.body),
    isFailedFetch: () => isFailedFetch(reply),
    redirectTarget: () => targetOf(reply.location, reply.url),
    redirectsOn: () => redirectOf(reply, address),
  };
}

/** The fields that an answer may be about. */
export const namesIn = ({ fields, before, fieldNames }: Expectation = {}): readonly string[] => [
  ...Object.keys(fields ?? {}),
  ...Object.keys(before ?? {}),
  ...(fieldNames ?? []),
];

/** Caches the value, because several rules need it. */
function once<T>(read: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: read() };
    return known.value;
  };
}

function readSiteJob(reply: Reply, address: JobAddress, job: ReadJob): SiteJob | undefined {
  const guessedId = reply.status === 201 ? address.guessedId : undefined;
  const siteJobId = address.siteJobId ?? job.siteJobId ?? guessedId;
  return siteJobId === undefined ? undefined : { ...job, siteJobId, url: address.url ?? job.url };
}

function tellOtherJob(reply: Reply, address: JobAddress, job: ReadJob): string | undefined {
  if (reply.otherLocation !== undefined) {
    return `the answer has two Location headers, ${reply.location} and ${reply.otherLocation}`;
  }
  const named = [reply.siteJobId, address.siteJobId, job.siteJobId, job.otherId].filter((id) => id !== undefined);
  for (const [at, id] of named.entries()) {
    const other = named.slice(at + 1).find((candidate) => areOfTwoJobs(id, candidate));
    if (other === undefined) continue;
    if (id === job.siteJobId) return `the answer names two jobs, ${id} and ${other}`;
    return reply.siteJobId === undefined
      ? `the answer names two jobs, ${id} in Location and ${other} in its body`
      : `the answer names job ${other}, but the request was about job ${reply.siteJobId}`;
  }
  return undefined;
}

function redirectOf(reply: Reply, address: JobAddress): 'job' | 'page' | undefined {
  if (reply.location === undefined) return undefined;
  const isOther =
    reply.siteJobId !== undefined &&
    address.siteJobId !== undefined &&
    areOfTwoJobs(reply.siteJobId, address.siteJobId);
  const leads = redirectAfterWrite(reply.location, reply.url, reply.resource);
  return leads === 'job' && isOther ? 'page' : leads;
}

/**
 * Whether a body is an HTML page. Its content type alone proves nothing: frameworks label even empty answers
 * `text/html`.
 */
export function isHtml(body: string, contentType: string): boolean {
  const start = body.slice(0, 4096).replace(/^\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*/, '');
  if (/^<(!doctype\s+html|html|head|body)\b/i.test(start)) return true;
  return /^(text\/html|application\/xhtml\+xml)\b/i.test(contentType.trim()) && start.startsWith('<');
}

/**
 * Varnish 7.1, and services made of it, answer 503 with Retry-After also where they had sent the whole request (`vcl_backend_error` of
 * its built-in configuration). A 503 of the site itself passes through with the site's `Server` and body.
 */
const isFailedFetch = ({ server = '', body }: Reply): boolean =>
  /^varnish\b/i.test(server) || /<h3>\s*Guru Medi(?:t)?ation:/i.test(body);

/** Where a `Location` leads, origin and path only; `undefined`: there is none, or it is no URL. */
export function targetOf(location: string | undefined, base: URL): string | undefined {
  if (!location || !URL.canParse(location, base.href)) return undefined;
  const { origin, pathname } = new URL(location, base.href);
  return `${origin}${pathname}`;
}

// Finds the ID of a job that a person named by another one: under two IDs, a job could get two postings.

/**
 * The ID to use for the job that the site showed for this one; `undefined`: this one. Some sites put an internal number into a job's
 * XML and find no job by it, so the site is asked.
 * @param show fetches a job; throws if the site gave no clear answer
 */
export async function idInPlaceOfSlug(
  id: SiteJobId,
  { ownId }: SiteJob,
  show: (id: SiteJobId) => Promise<SiteJob | undefined>,
): Promise<SiteJobId | undefined> {
  if (ownId === undefined || areOfTwoJobs(id, ownId)) return ownId;
  return (await show(ownId)) === undefined ? undefined : ownId;
}

export const describeIdInstead = (id: SiteJobId, instead: SiteJobId): string =>
  `the site shows job ${instead} for the ID ${id}: use the ID ${instead}`;
