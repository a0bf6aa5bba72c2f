// Sends requests to the site over HTTP; each becomes a classified, recorded exchange (site-interface.md).
import { performance } from 'node:perf_hooks';
import { pause as sleep } from '../../flow/pause.ts';
import { readRetryAfter } from '../../flow/retry.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';
import {
  type Denial,
  type Exchange,
  NotShownError,
  type Outcome,
  type Readable,
  type SendTiming,
  type SiteClient,
  type SiteJob,
  type SiteOptions,
  type SiteRequest,
  type TokenCheck,
} from '../exchange.ts';
import { isHtml, type Reply } from '../facts.ts';
import { readList } from '../list.ts';
import { type PageAnswer, readPage, type TakeJob } from '../list-page.ts';
import { judge } from '../outcome.ts';
import { judgeAccount, judgeProbe, judgeStranger } from '../probe.ts';
import { type Pause, timeSlices } from '../xml/body-text.ts';
import { findJob, type ReadJob, readJobElement, readSiteJob } from '../xml/decode.ts';
import { encodeSiteJob } from '../xml/encode.ts';
import { readXmlInSlices } from '../xml/xml-tree.ts';
import { createPath, JOB, jobPath, type Resource, unusedIdLike, wordsOfAnswer } from './job-address.ts';
import { createTokenRemover, type TokenRemover } from './scrub-exchange.ts';
import { type Answer, type OutgoingRequest, openTransport } from './transport.ts';

const MAX_ANSWER_BYTES = 1 << 20;
/** A list page is parsed while it arrives, so its size costs time, not memory. */
const MAX_LIST_PAGE_BYTES = 2 ** 30;
const MAX_RECORDED_BYTES = 64 << 10;
const MAX_RECORDED_HTML_BYTES = 8 << 10;

/**
 * Creates the client of one site. Paths are relative to `baseUrl`, whose path is kept as a prefix and whose query is
 * ignored. Throws for invalid options: a scheme other than http(s), or a token that HTTP Basic cannot carry.
 */
export function createSiteClient(options: SiteOptions): SiteClient {
  checkOptions(options);
  const clean = createTokenRemover(options.token.reveal());
  const transport = openTransport(options);
  const prefix = options.baseUrl.pathname.replace(/\/+$/, '');
  const urlOf = (path: string): URL => new URL(`${prefix}${path}`, options.baseUrl.origin);
  const urlAt = (path: string | undefined) => (path === undefined ? undefined : urlOf(path.replace(/^\/*/, '/')));
  const [listUrl, accountUrl] = [options.listPath, options.accountPath].map(urlAt);
  const { maxListPageBytes = MAX_LIST_PAGE_BYTES, referenceField } = options;
  const resource = { ...(options.resource ?? JOB), fields: options.fieldNames };
  const get = (url: URL, maxBytes: number, signal?: AbortSignal): Promise<Answer> =>
    transport.exchange({ method: 'GET', url, maxBytes, signal });
  const getPage = async (url: URL, take: TakeJob, signal?: AbortSignal): Promise<PageAnswer> =>
    readPage(await transport.stream({ url, maxBytes: maxListPageBytes, signal }), url, take, resource);

  return {
    async send(request, timing) {
      const startedAt = performance.now();
      const { notAfter, signal, expected } = timing;
      const wire: OutgoingRequest = {
        ...encode(request, urlOf, resource),
        notAfter,
        signal,
        maxBytes: MAX_ANSWER_BYTES,
      };
      const answer = await transport.exchange(wire);
      const pause = timeSlices();
      const root = await readXmlInSlices(answer.body, pause);
      const reply: Reply = {
        resource,
        url: wire.url,
        sent: answer.sent,
        status: answer.status,
        location: answer.header('location') || undefined,
        otherLocation: answer.otherLocation,
        expected: {
          fields: expected?.fields ?? ('fields' in request ? request.fields : undefined),
          before: expected?.before,
          referenceField,
          fieldNames: options.fieldNames,
        },
        siteJobId: 'siteJobId' in request ? request.siteJobId : undefined,
        contentType: answer.header('content-type'),
        retryAfterMs: readRetryAfter(answer.header('retry-after'), answer.header('date'), Date.now()),
        server: answer.header('server'),
        body: answer.body,
        document: { root },
        trouble: answer.trouble,
      };
      const outcome = await judgeKnowing(request.kind, reply, timing.learnt, pause);
      // After an answer to another request, every later answer on that connection would be misassigned too.
      if (outcome.kind === 'unknown' && outcome.contradicts === true) transport.renew();
      const isUpdated = outcome.kind === 'accepted' && request.kind === 'update';
      const element = isUpdated && root !== undefined ? findJob(root, resource) : undefined;
      const siteJob =
        isUpdated && element !== undefined
          ? { ...readJobElement(element, options.baseUrl, resource), siteJobId: request.siteJobId }
          : undefined;
      return {
        outcome: await clean.outcome(outcome, pause),
        ...(siteJob === undefined ? {} : { siteJob: await clean.largeJob(siteJob, pause) }),
        ...(timing.isBriefIfDone === true && isDone(outcome, request.kind)
          ? { request: { method: wire.method, url: '' }, response: { status: answer.status, body: '' } }
          : await record(wire, answer, clean, pause)),
        durationMs: Math.round(performance.now() - startedAt),
      };
    },
    async show(id, signal) {
      const answer = await get(urlOf(jobPath(id, resource)), MAX_ANSWER_BYTES, signal);
      const pause = timeSlices();
      const shown = await readShown(id, answer, options.baseUrl, { clean, pause, resource });
      return shown && clean.largeJob(shown, pause);
    },
    async readDenial(id, signal) {
      const read = async (asked: SiteJobId): Promise<Denial | undefined> => {
        const { status, trouble, body } = await get(urlOf(jobPath(asked, resource)), MAX_ANSWER_BYTES, signal);
        if (SAYS_NOTHING.has(status) || trouble !== undefined) return undefined;
        const root = status === 200 ? await readXmlInSlices(body, timeSlices()) : undefined;
        const isShown = root !== undefined && readSiteJob(root, options.baseUrl, { resource }) !== undefined;
        return isShown ? undefined : { status, words: wordsOfAnswer(body, asked) };
      };
      const unusedId = unusedIdLike(id);
      const own = unusedId === id ? undefined : await read(id);
      const unused = own && (await read(unusedId));
      return unused?.status === own?.status && unused?.words === own?.words ? own : undefined;
    },
    async list(take, signal, beforePage, maxAgeMs = 0, once = false, whyCopy = async () => undefined, onThrottled) {
      if (!listUrl)
        return {
          kind: 'unreadable',
          message: 'No list action is configured for this site (list_path)',
          changed: false,
        };
      let isBegun = false;
      const getRateLimited = async (url: URL, takeJob: TakeJob): Promise<PageAnswer> => {
        const takeReal = (job: ReadJob): void | Promise<void> =>
          takeJob(clean.isToken(job.siteJobId) ? { ...job, siteJobId: undefined } : job);
        let leftMs = LONGEST_LIST_WAIT_MS;
        for (let tries = 1; ; tries++) {
          await beforePage?.(signal);
          const sentAt = performance.now();
          const page = await getPage(url, takeReal, signal);
          const waitMs = waitForPage(page, tries);
          if (waitMs === undefined || signal?.aborted === true) {
            isBegun = true;
            return page;
          }
          const status = page.status === 503 ? 503 : 429;
          await onThrottled?.({ status, waitMs, sentMsAgo: performance.now() - sentAt });
          if (!isBegun || waitMs > leftMs) return page;
          leftMs -= Math.max(waitMs, LEAST_LIST_WAIT_MS);
          await sleep(waitMs, signal);
        }
      };
      const pause = timeSlices();
      const takeClean = (siteJob: SiteJob): void | Promise<void> =>
        isLarge(siteJob) ? clean.largeJob(siteJob, pause).then(take) : take(clean.siteJob(siteJob));
      const listing = await readList(listUrl, getRateLimited, takeClean, maxAgeMs, once ? undefined : whyCopy);
      return listing.kind === 'listed' ? listing : { ...listing, message: clean.text(listing.message) };
    },
    async probe(signal) {
      const probed = { url: listUrl ?? urlOf(createPath(resource)), isList: listUrl !== undefined };
      const probe = judgeProbe(await getPage(probed.url, () => {}, signal), probed);
      return { ...probe, message: clean.text(probe.message) };
    },
    async checkToken(of, signal) {
      const check = await checkToken(of, signal);
      return { ...check, message: clean.text(check.message) };
    },
    close: () => transport.close(),
  };

  async function checkToken(of: Readable, signal?: AbortSignal): Promise<TokenCheck> {
    if (accountUrl !== undefined) return judgeAccount(await get(accountUrl, MAX_ANSWER_BYTES, signal), accountUrl);
    const url = of === 'list' ? (listUrl ?? urlOf(createPath(resource))) : urlOf(jobPath(of, resource));
    const answer = await transport.stream({ url, maxBytes: MAX_ANSWER_BYTES, signal }, 'stranger');
    // The status is enough, and a list may be long.
    answer.close();
    return judgeStranger(answer, url);
  }
}

/** A list begun anew would be refused at the same page again, so that a page is waited for. */
const LONGEST_LIST_WAIT_MS = 5 * 60_000;
const LEAST_LIST_WAIT_MS = 1_000;

/** How long the site asks to wait before it gives the page; `undefined`: it does not. */
function waitForPage({ status, header }: Answer, tries: number): number | undefined {
  const askedMs = readRetryAfter(header('retry-after'), header('date'), Date.now());
  if (status === 429) return askedMs ?? LEAST_LIST_WAIT_MS * 2 ** (tries - 1);
  return status === 503 ? askedMs : undefined;
}

/** Answers of a site in trouble, or that refuses whoever asks: they say nothing about a job. */
const SAYS_NOTHING: ReadonlySet<number> = new Set([0, 401, 403, 408, 425, 429, 502, 503, 504]);

/** A create that is accepted without an ID may have been done. */
const isDone = (outcome: Outcome, request: SiteRequest['kind']): boolean =>
  outcome.kind === 'created' || (outcome.kind === 'accepted' && request !== 'create');

/** Above this many characters, a job is searched for the token in slices. */
const LARGE_JOB = 32 << 10;

const isLarge = ({ fields }: SiteJob): boolean =>
  Object.values(fields).reduce((length, value) => length + value.length, 0) > LARGE_JOB;

/**
 * An apparent job of another posting may be this posting's, rewritten by the site in a known way: then classify it
 * again.
 */
async function judgeKnowing(
  kind: SiteRequest['kind'],
  reply: Reply,
  ask: SendTiming['learnt'],
  pause: Pause,
): Promise<Outcome> {
  const outcome = judge(kind, reply);
  await pause();
  const contradicts = outcome.kind === 'foreign' || (outcome.kind === 'unknown' && outcome.contradicts === true);
  const learnt = contradicts ? await ask?.() : undefined;
  return learnt === undefined || learnt.size === 0
    ? outcome
    : judge(kind, { ...reply, expected: { ...reply.expected, learnt } });
}

function checkOptions({ baseUrl, token }: SiteOptions): void {
  if (baseUrl.protocol !== 'http:' && baseUrl.protocol !== 'https:') {
    throw new Error(`The site's base_url must begin with http:// or https://, not with ${baseUrl.protocol}`);
  }
  // RFC 7617, 2: a user-id with a colon cannot be told apart from its password; control characters are not allowed.
  if (!/^[^:\p{Cc}]+$/u.test(token.reveal())) {
    throw new Error("The site's token is empty, or holds a colon or control characters, which HTTP Basic can't carry.");
  }
}

// One job per document, one request per job (site-interface.md, section 1).
function encode(
  request: SiteRequest,
  urlOf: (path: string) => URL,
  resource: Resource,
): Pick<OutgoingRequest, 'method' | 'url' | 'body'> {
  const { element } = resource;
  switch (request.kind) {
    case 'create':
      return { method: 'POST', url: urlOf(createPath(resource)), body: encodeSiteJob(request.fields, element).xml };
    case 'update':
      return {
        method: 'PUT',
        url: urlOf(jobPath(request.siteJobId, resource)),
        body: encodeSiteJob(request.fields, element).xml,
      };
    case 'delete':
      return { method: 'DELETE', url: urlOf(jobPath(request.siteJobId, resource)) };
    default:
      return request satisfies never;
  }
}

/** Removes the token only when recording: parsing needs exactly what the site sent. */
async function record(
  wire: OutgoingRequest,
  answer: Answer,
  clean: TokenRemover,
  pause: Pause,
): Promise<Pick<Exchange, 'request' | 'response'>> {
  const body = wire.body === undefined ? undefined : await clean.body(wire.body, MAX_RECORDED_BYTES, pause);
  const request = { method: wire.method, url: clean.address(wire.url.href), body };
  if (answer.status === 0) return { request };
  const limit = isHtml(answer.body, answer.header('content-type')) ? MAX_RECORDED_HTML_BYTES : MAX_RECORDED_BYTES;
  const response = {
    status: answer.status,
    location: clean.address(answer.header('location')) || undefined,
    body: await clean.body(answer.body, limit, pause),
  };
  return { request, response };
}

async function readShown(
  id: SiteJobId,
  answer: Answer,
  baseUrl: URL,
  { clean, pause, resource }: { readonly clean: TokenRemover; readonly pause: Pause; readonly resource: Resource },
): Promise<SiteJob | undefined> {
  if (answer.status === 404 || answer.status === 410) return undefined;
  if (answer.status !== 200) {
    const message = clean.text(`The site did not show job ${id}: ${answer.trouble ?? `it answered ${answer.status}`}`);
    const retryAfterMs = readRetryAfter(answer.header('retry-after'), answer.header('date'), Date.now());
    throw new NotShownError(message, answer.status, retryAfterMs);
  }
  const root = answer.trouble === undefined ? await readXmlInSlices(answer.body, pause) : undefined;
  const siteJob = root && readSiteJob(root, baseUrl, { resource, asked: id });
  if (!siteJob) throw new Error(clean.text(`The site's answer for job ${id} is not the XML of a job`));
  const { siteJobId: own } = siteJob;
  return { ...siteJob, siteJobId: id, ...(own === id || clean.isToken(own) ? {} : { ownId: own }) };
}
