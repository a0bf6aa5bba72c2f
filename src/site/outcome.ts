// Classifies what the network and the site did with one request as exactly one outcome, by an ordered table of rules.
import type { Problem } from '../posting/posting.ts';
import type { Outcome, SiteRequest } from './exchange.ts';
import { gatherFacts, namesIn, type Reply, type ReplyFacts } from './facts.ts';
import { readSetUpFault, type SetUpFault } from './set-up-fault.ts';
import { problemAttribution } from './xml/problems.ts';

/** One line of the classification. The first rule that applies decides. */
export interface OutcomeRule {
  /** The answers that the rule is about; appears in docs/outcomes.md. */
  readonly answer: string;
  readonly requests: readonly SiteRequest['kind'][];
  readonly outcome: Outcome['kind'];
  /** The reason; appears in docs/outcomes.md. */
  readonly because: string;
  /** The outcome, or nothing if the rule does not apply. */
  readonly conclude: (facts: ReplyFacts) => Outcome | false | undefined;
}

const all: OutcomeRule['requests'] = ['create', 'update', 'delete'];
const create: OutcomeRule['requests'] = ['create'];
const updateOrDelete: OutcomeRule['requests'] = ['update', 'delete'];

const is = (facts: ReplyFacts, ...statuses: readonly number[]): boolean => statuses.includes(facts.status);
const success = (facts: ReplyFacts): boolean => Math.floor(facts.status / 100) === 2;
const redirect = (facts: ReplyFacts): boolean => Math.floor(facts.status / 100) === 3;
const refusal = (facts: ReplyFacts): boolean => Math.floor(facts.status / 100) === 4;
const failure = (facts: ReplyFacts): boolean => Math.floor(facts.status / 100) === 5;

/**
 * The classification, in order (docs/outcomes.md; site-interface.md, sections 4, 5 and 7). The interface leaves the
 * status of failures open. So statuses come first only if they concern the connection, the credentials or the server
 * itself; then the body; then the remaining statuses. Whenever a job may or may not have been made, the outcome is
 * `unknown`.
 */
export const outcomeRules: readonly OutcomeRule[] = [
  {
    answer: 'the request was never started: refused, no such host, no TLS, no connection in time, past its deadline',
    requests: all,
    outcome: 'unreachable',
    because: 'nothing was sent, so it is safe to send again',
    conclude: (facts) => !facts.sent && { kind: 'unreachable', message: `Not sent: ${facts.trouble}` },
  },
  {
    answer: 'the request was started and no status came back: reset, closed, timeout',
    requests: all,
    outcome: 'unknown',
    because: 'the site may have read all of it before the connection broke',
    conclude: (facts) => is(facts, 0) && { kind: 'unknown', message: `No answer: ${facts.trouble}` },
  },
  {
    answer: '401',
    requests: all,
    outcome: 'unauthorized',
    because: 'the token is not accepted, and the body is about that (section 5)',
    conclude: (facts) => is(facts, 401) && { kind: 'unauthorized' },
  },
  {
    answer: '403, or a failure that the body states under 2xx or 4xx, that says that the credentials are not valid',
    requests: all,
    outcome: 'unauthorized',
    because: 'so do Django REST framework, by default, and sites that answer errors with 200',
    conclude: (facts) =>
      (is(facts, 403) || (facts.siteJob === undefined && (success(facts) || refusal(facts)) && statesFailure(facts))) &&
      facts.reasons().some(({ field, message }) => field === undefined && badCredentials.test(message)) && {
        kind: 'unauthorized',
      },
  },
  {
    answer: '429; 503 with a readable Retry-After, unless Varnish made it because it got no answer from the site',
    requests: all,
    outcome: 'throttled',
    because: 'the site did not process it and asks to come back later',
    conclude: (facts) =>
      (is(facts, 429) || (is(facts, 503) && facts.retryAfterMs !== undefined && !facts.isFailedFetch())) && {
        kind: 'throttled',
        retryAfterMs: facts.retryAfterMs,
      },
  },
  {
    answer: '403',
    requests: all,
    outcome: 'forbidden',
    because: 'this user is not allowed to do this (section 4, rule 4)',
    conclude: (facts) => is(facts, 403) && { kind: 'forbidden', problems: tell(facts) },
  },
  {
    answer: '302 or 303 to a page that looks like one job, or to another page of the site other than a sign-in page',
    requests: create,
    outcome: 'unknown',
    because:
      'sites redirect to what they made, or to their list: a new job with the reference that was sent is `created`, one that is not shown waits',
    conclude: (facts) =>
      redirectsOn(facts) && {
        kind: 'unknown',
        message: `${redirected(facts)}, as sites do after creating a job`,
        ...(redirectsOn(facts) === 'job' && facts.siteJob !== undefined
          ? { perhapsMade: facts.siteJob.siteJobId }
          : {}),
      },
  },
  {
    answer: '302 or 303 to the page of the job',
    requests: updateOrDelete,
    outcome: 'unknown',
    because:
      'sites do so after a change, or to refuse it: the job is read, and a change that it shows is `accepted`, a deletion `gone`',
    conclude: (facts) =>
      redirectsOn(facts) === 'job' && { kind: 'unknown', message: redirected(facts), perhapsDone: true },
  },
  {
    answer: '301, 302, 303 or 308 to another page of the site other than a sign-in page',
    requests: updateOrDelete,
    outcome: 'misconfigured',
    because: 'it may also be a refusal, or the answer to all requests for a job that has expired',
    conclude: (facts) =>
      is(facts, 301, 302, 303, 308) && facts.redirectsOn() === 'page' && { ...notFollowed(facts), perhapsDone: true },
  },
  {
    answer: 'any other 3xx',
    requests: all,
    outcome: 'misconfigured',
    because: 'redirects are never followed, because the token would go along; base_url should name the target',
    conclude: (facts) => redirect(facts) && notFollowed(facts),
  },
  {
    answer: '404 or 410',
    requests: updateOrDelete,
    outcome: 'gone',
    because:
      'the job is no longer there; where its ID is made of its title, the list, or else a person, tells whether it has another address',
    conclude: (facts) => is(facts, 404, 410) && { kind: 'gone' },
  },
  {
    answer: '404 or 410',
    requests: create,
    outcome: 'misconfigured',
    because: 'the address has no create action',
    conclude: (facts) =>
      is(facts, 404, 410) && misconfigured(facts, 'There is no create action at this address; check base_url'),
  },
  {
    answer: '405, 407, 414, 415, 421, 426, 431, 501, 505, 511',
    requests: all,
    outcome: 'misconfigured',
    because: 'the method, type, address, proxy or protocol is refused, regardless of the job',
    conclude: (facts) =>
      is(facts, 405, 407, 414, 415, 421, 426, 431, 501, 505, 511) &&
      misconfigured(facts, 'The site or a proxy in front of it does not accept such requests; check base_url'),
  },
  {
    answer: '408, 425, 502, 503, 504',
    requests: all,
    outcome: 'unknown',
    because: 'it comes from a gateway or a timeout, which cannot know what the site did',
    conclude: (facts) => is(facts, 408, 425, 502, 503, 504) && unknown(facts),
  },
  {
    answer: '5xx, unless an errors document says what is wrong with the job',
    requests: all,
    outcome: 'unknown',
    because: 'the site may have failed after doing the work; "internal error" as XML is not a validation error',
    conclude: (facts) => failure(facts) && !facts.problems.some(isAboutJob) && unknown(facts),
  },
  {
    answer: '2xx that names a new job and also reports a failure, in one of the two ways below',
    requests: create,
    outcome: 'unknown',
    because: 'the answer contradicts itself',
    conclude: (facts) =>
      success(facts) &&
      facts.siteJob !== undefined &&
      (facts.problems.length > 0 || facts.failureIndicators().length > 0) &&
      unknown(facts),
  },
  {
    answer:
      '2xx that names two jobs (in Location and the body, in two Location headers or in two IDs), or a job with another ' +
      'reference or title than was sent',
    requests: create,
    outcome: 'unknown',
    because: 'it may answer another request; changes that sites usually make to values are not a contradiction',
    conclude: (facts) =>
      success(facts) && facts.siteJob !== undefined && contradicted(facts.otherJob() ?? facts.otherContent()),
  },
  {
    answer: 'an errors document under any other status',
    requests: all,
    outcome: 'rejected',
    because: 'validation errors are returned in XML, under a status that is not specified (section 7, rules 1 to 3)',
    conclude: (facts) => facts.problems.length > 0 && { kind: 'rejected', problems: facts.problems },
  },
  {
    answer:
      '2xx with XML that reports a failure in another form: a SOAP fault, `valid="false"`, `<status>error</status>`, a ' +
      'non-empty element or attribute named after an error, failure, fault or exception',
    requests: all,
    outcome: 'rejected',
    because: "a reported failure is a failure even under 200; a status inside a job is the job's own",
    conclude: (facts) => {
      const failureIndicators = success(facts) && !facts.isHtml ? facts.failureIndicators() : [];
      return failureIndicators.length > 0 && { kind: 'rejected', problems: failureIndicators };
    },
  },
  {
    answer: '2xx with the ID of the new job in Location or in the body',
    requests: create,
    outcome: 'created',
    because: '201 with Location and the complete XML is promised (section 4); the ID alone proves the job',
    conclude: (facts) => success(facts) && facts.siteJob && { kind: 'created', siteJob: facts.siteJob },
  },
  {
    answer: '2xx without an ID: empty, HTML, malformed, cut off, plain text',
    requests: create,
    outcome: 'unknown',
    because: 'it looks like a success, but does not tell which job was made, if any',
    conclude: (facts) => success(facts) && unknown(facts),
  },
  {
    answer: '2xx that names a job other than the one requested',
    requests: updateOrDelete,
    outcome: 'unknown',
    because: 'it may answer another request, so the result of this one is not known',
    conclude: (facts) => success(facts) && contradicted(facts.otherJob()),
  },
  {
    answer: '2xx with a job that shows the reference of another posting',
    requests: updateOrDelete,
    outcome: 'foreign',
    because: 'the job does not belong to this posting, or no longer does; it is left alone, and a person decides',
    conclude: (facts) => {
      const message = success(facts) ? facts.otherPosting() : undefined;
      return message !== undefined && { kind: 'foreign', message };
    },
  },
  {
    answer: '2xx whose body broke off or was too large',
    requests: updateOrDelete,
    outcome: 'unknown',
    because: 'the missing part may report a failure; sending again does no harm',
    conclude: (facts) => success(facts) && facts.trouble !== undefined && unknown(facts),
  },
  {
    answer: '2xx with an HTML page',
    requests: updateOrDelete,
    outcome: 'misconfigured',
    because:
      'a portal or the website answered instead of the interface. Unless it is a page to sign in, the job is read, as the page may confirm that ' +
      'the change was made',
    conclude: (facts) =>
      success(facts) &&
      facts.isHtml &&
      (facts.isSignIn
        ? misconfigured(facts, 'The answer is a page to sign in, not XML; check the token and base_url')
        : { ...misconfigured(facts, 'The answer is an HTML page, not XML; check base_url'), perhapsDone: true }),
  },
  {
    answer:
      '2xx that says that the site is closed for a while ("maintenance", "unavailable", "back soon" and the like)',
    requests: updateOrDelete,
    outcome: 'misconfigured',
    because: 'nothing was done as long as the job does not show it; the site is paused until it answers otherwise',
    conclude: (facts) =>
      success(facts) &&
      facts.saysClosed() && {
        ...misconfigured(facts, 'The site seems to be closed for a while'),
        perhapsDone: true,
      },
  },
  {
    answer:
      '2xx with a failure word in its text ("error", "failed", "could not", "must" and the like), or with too much text ' +
      '(64 Ki characters) to tell; jobs, warnings and "no errors" do not count',
    requests: updateOrDelete,
    outcome: 'rejected',
    because: 'it may not have been done, and a change wrongly taken for done is never repaired',
    conclude: (facts) =>
      success(facts) && facts.isInDoubt() && { kind: 'rejected', problems: facts.reasons(), perhapsDone: true },
  },
  {
    answer: 'any other 2xx: empty, blank, a job, `<ok/>`, any XML or text without a failure word',
    requests: updateOrDelete,
    outcome: 'accepted',
    because: 'the body of an update is not specified, and delete is 200 or 204 (section 4, rules 3 and 5)',
    conclude: (facts) => success(facts) && { kind: 'accepted' },
  },
  {
    answer: 'any other 4xx: 400, 406, 409, 413, 422 and so on',
    requests: all,
    outcome: 'rejected',
    because: 'the site refused it; the body is kept as the reason',
    conclude: (facts) => refusal(facts) && { kind: 'rejected', problems: tell(facts) },
  },
];

/**
 * Classifies one exchange by the first rule of {@link outcomeRules} that applies, else as unknown. Pure; never throws.
 * Problems are attributed to fields only then: their first words prove nothing about what the site did.
 */
export function judge(request: SiteRequest['kind'], reply: Reply): Outcome {
  const facts = gatherFacts(reply);
  const outcome = classify(request, facts);
  if (!('problems' in outcome) && outcome.kind !== 'unknown') return outcome;
  const names = namesIn(reply.expected);
  const found = 'problems' in outcome ? outcome.problems : facts.status === 0 ? [] : facts.reasons();
  const { status, isSignIn } = facts;
  const setUp = request === 'delete' ? undefined : readSetUpFault(found, { status, isSignIn, fields: names });
  if (outcome.kind === 'unknown') return setUp === undefined ? outcome : { ...outcome, setUp: setUp.looksLike };
  const problems = namedBy(found, setUp).flatMap(problemAttribution(names));
  if (outcome.kind === 'forbidden')
    return setUp?.isCertain === true ? { kind: 'rejected', problems, setUp } : { ...outcome, problems };
  const isDone = outcome.kind !== 'rejected' || outcome.perhapsDone === true;
  return setUp === undefined || isDone ? { ...outcome, problems } : { ...outcome, problems, setUp };
}

/** A parameter that the site does not permit is a field of the job. */
const namedBy = (problems: readonly Problem[], setUp: SetUpFault | undefined): readonly Problem[] =>
  setUp?.fields === undefined
    ? problems
    : problems.flatMap((problem) => (setUp.fields ?? []).map((field) => ({ ...problem, field })));

function classify(request: SiteRequest['kind'], facts: ReplyFacts): Outcome {
  for (const rule of outcomeRules) {
    const outcome = rule.requests.includes(request) && rule.conclude(facts);
    if (outcome) return outcome;
  }
  return unknown(facts);
}

// Words found in messages about the server and hardly ever in messages about a job. ASSUMED: every site reports its
// server errors with one of them. If one does not, the posting is rejected and appears in review, where its job, if it
// was made, is found.
const serverTrouble =
  /\b(server|internal|unexpected|unknown|exception|went wrong|try again|unavailable|gateway|database|deadlock|time-?d? ?out)\b|^5\d\d$/i;

const statesFailure = (facts: ReplyFacts): boolean => facts.problems.length > 0 || facts.failureIndicators().length > 0;

/** Not about a field: a posting may lack a nurse's credentials, or have an invalid token in its text. */
const badCredentials =
  /(^|[:.]\s*)((the|your) )?(invalid|incorrect|bad|wrong|unknown|expired|missing) (((user ?name|log ?in)( ?\/ ?| (and|or) )password|authentication credentials|(api|access|auth(entication)?)[ -]?(key|token))\b|(credentials|token)\W*$)|\bcredentials were not provided\b/i;

const isAboutJob = (problem: Problem): boolean => problem.field !== undefined || !serverTrouble.test(problem.message);

function tell(facts: ReplyFacts): readonly Problem[] {
  const reasons = facts.reasons();
  return reasons.length > 0 ? reasons : [{ message: `The site answered ${facts.status} and gave no reason` }];
}

function firstReason(facts: ReplyFacts): string {
  const [reason] = facts.reasons();
  return reason ? `: ${reason.message}` : '';
}

function contradicted(message: string | undefined): Outcome | undefined {
  return message === undefined
    ? undefined
    : { kind: 'unknown', message: `The answer contradicts the request: ${message}`, contradicts: true };
}

function unknown(facts: ReplyFacts): Outcome {
  const trouble = facts.trouble === undefined ? '' : ` (${facts.trouble})`;
  return { kind: 'unknown', message: `The site answered ${facts.status}${trouble}${firstReason(facts)}` };
}

const misconfigured = (facts: ReplyFacts, advice: string): Outcome => ({
  kind: 'misconfigured',
  message: `${advice} (status ${facts.status}${firstReason(facts)})`,
});

const redirectsOn = (facts: ReplyFacts) => (is(facts, 302, 303) ? facts.redirectsOn() : undefined);

const notFollowed = (facts: ReplyFacts) =>
  ({
    kind: 'misconfigured',
    message: `${redirected(facts)}. Redirects are not followed; correct base_url`,
    ...(facts.siteJob === undefined ? {} : { leadsTo: facts.siteJob.siteJobId }),
  }) as const;

const redirected = (facts: ReplyFacts): string =>
  `The site answered ${facts.status} and redirects to ${facts.redirectTarget() ?? 'nowhere'}`;
