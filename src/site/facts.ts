// Turns one answer of the site into the facts by which it is judged: status, job, errors, page or document.
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Problem } from '../posting/posting.ts';
import { areOfTwoJobs, type Expectation, tellOtherContent, tellOtherReference } from './contradiction.ts';
import type { SiteJob } from './exchange.ts';
import { isInDoubt, readFailureIndicator } from './failure-indicator.ts';
import { type JobAddress, mayFollowCreate, pointsAtJob, readJobUrl } from './http/job-address.ts';
import { findJob, type ReadJob, readJobElement } from './xml/decode.ts';
import { readErrors, tellProblems } from './xml/problems.ts';
import { readXml, type XmlElement } from './xml/xml-tree.ts';

/** What came back for one request, as far as anything did. */
export interface Reply {
  /** The request's own URL: `Location` is relative to it. */
  readonly url: URL;
  /** Whether any byte of the request may have left. */
  readonly sent: boolean;
  /** 0: no status line arrived. */
  readonly status: number;
  readonly location?: string;
  /** `Location` came several times, and not always the same. */
  readonly otherLocation?: string;
  /** What the request was about. */
  readonly expected?: Expectation;
  /** The job that the request was about; absent for a create. */
  readonly siteJobId?: SiteJobId;
  readonly contentType: string;
  readonly retryAfterMs?: number;
  /** Decoded; empty where there was none or it can't be read. */
  readonly body: string;
  /** The body as XML, where it has been read already; without `root` it is none. */
  readonly document?: { readonly root?: XmlElement };
  /** Why the answer is missing or not complete, in words; absent: it is complete. */
  readonly trouble?: string;
}

/** What is to be known of a reply to judge it. */
export interface Facts extends Pick<Reply, 'sent' | 'status' | 'retryAfterMs' | 'trouble'> {
  /** The job that the answer names, in `Location` or in the body. */
  readonly siteJob?: SiteJob;
  /** What says that the answer is about another job than the request, or about two. Read only where it is asked for. */
  readonly otherJob: () => string | undefined;
  /** What says that the new job is not the one that was sent. Read only where it is asked for. */
  readonly otherContent: () => string | undefined;
  /** What says that the job which was to change is another posting's. Read only where it is asked for. */
  readonly otherPosting: () => string | undefined;
  /** What an errors document says; empty: the body is none. */
  readonly problems: readonly Problem[];
  /** What the body says against the request in another form than an errors document. Read only where it is asked for. */
  readonly failureIndicators: () => readonly Problem[];
  /** Whether a word of failure stands in the body, beside any job. Read only where it is asked for. */
  readonly isInDoubt: () => boolean;
  /** What the body says, whatever it is: the problems, or else its text. Read only where it is asked for. */
  readonly reasons: () => readonly Problem[];
  readonly isHtml: boolean;
  /** Where `Location` leads: origin and path only, for people. Read only where it is asked for. */
  readonly redirectTarget: () => string | undefined;
  /** Whether `Location` leads to one job. Read only where it is asked for. */
  readonly redirectsToJob: () => boolean;
  /** Whether `Location` leads to another page of the site, as after a form. Read only where it is asked for. */
  readonly redirectsWithin: () => boolean;
}

/**
 * Gathers the facts. The ID in `Location` (`/jobs/<id>`) stands before the one in the body: the interface promises it as
 * the URL of the new job, and later requests are made with the ID of that URL. A `Location` on another host yields its ID
 * all the same; nothing is ever sent there. One of another form counts only under 201 and where the body has no ID.
 */
export function gatherFacts(reply: Reply): Facts {
  const { root } = reply.document ?? { root: readXml(reply.body) };
  const address = reply.location === undefined ? {} : readJobUrl(reply.location, reply.url);
  const element = root && findJob(root);
  const job: ReadJob = element ? readJobElement(element, reply.url) : { fields: {} };
  const siteJob = readSiteJob(reply, address, job);
  const hasJobRoot = root !== undefined && element === root;
  return {
    sent: reply.sent,
    status: reply.status,
    retryAfterMs: reply.retryAfterMs,
    trouble: reply.trouble,
    siteJob,
    otherJob: () => tellOtherJob(reply, address, job),
    otherContent: () => tellOtherContent(job, reply.expected ?? {}),
    otherPosting: () => tellOtherReference(job, reply.expected ?? {}),
    problems: root ? readErrors(root) : [],
    failureIndicators: once(() => (root ? readFailureIndicator(root) : [])),
    isInDoubt: () => isInDoubt(root, reply.body),
    reasons: once(() => tellProblems(reply.body, root)),
    isHtml: !hasJobRoot && isHtml(reply.body, reply.contentType),
    redirectTarget: () => targetOf(reply),
    redirectsToJob: () => reply.location !== undefined && pointsAtJob(reply.location, reply.url),
    redirectsWithin: () => reply.location !== undefined && mayFollowCreate(reply.location, reply.url),
  };
}

/** Several rules ask for it. */
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
      : `the answer names job ${other}, and the request was about job ${reply.siteJobId}`;
  }
  return undefined;
}

/**
 * Whether a body is a page. Its content type alone proves nothing: frameworks call an empty answer `text/html`, too.
 */
export function isHtml(body: string, contentType: string): boolean {
  const start = body.slice(0, 4096).replace(/^\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*/, '');
  if (/^<(!doctype\s+html|html|head|body)\b/i.test(start)) return true;
  return /^(text\/html|application\/xhtml\+xml)\b/i.test(contentType.trim()) && start.startsWith('<');
}

function targetOf(reply: Reply): string | undefined {
  if (reply.location === undefined || !URL.canParse(reply.location, reply.url.href)) return undefined;
  const { origin, pathname } = new URL(reply.location, reply.url.href);
  return `${origin}${pathname}`;
}
