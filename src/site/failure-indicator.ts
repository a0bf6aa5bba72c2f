// Finds what a success answer says against the request in any form other than an errors document.
import type { Problem } from '../posting/posting.ts';
import { JOB, type Resource } from './http/job-address.ts';
import { isJobLike } from './xml/decode.ts';
import { firstOf, isMessage, isPlural, readErrorElement, readMessages, saysNothingIsWrong } from './xml/problems.ts';
import { foldName, type XmlElement } from './xml/xml-events.ts';
import { childrenOf, isNamed, legibleText, MAX_LEGIBLE } from './xml/xml-tree.ts';

// Neither the answer to an update nor the form of errors is described (site-interface.md, section 4, rule 5; section 7,
// rule 3), so a site may report a failure under 200 in its own words:
//
// | XML                                                                 | failure shown by                         |
// |---------------------------------------------------------------------|------------------------------------------|
// | <Envelope><Body><Fault><faultstring>…</faultstring></Fault>…        | a non-empty element named after a failure |
// | <failure/>                                                          | a root so named, even if it is empty     |
// | <job error="…"/>                                                    | an attribute so named                    |
// | <validation-result valid="false">…, <result><ok>0</ok>…             | success denied                           |
// | <result><status>error</status>…, <response code="422">…             | a status that is a failure               |
// | <saved>false</saved>                                                | nothing but "false" or "no"              |

const MAX_DEPTH = 3;

/** `default` does not count as a fault. */
const failureName = /error|(?<!de)fault|failure|exception|invalid|^problems?$/;
const successNames = ['valid', 'is-valid', 'success', 'is-success', 'successful', 'succeeded', 'ok', 'is-ok'];
const statusNames = ['status', 'status-code', 'result', 'result-code', 'response-code', 'outcome', 'code', 'type'];
const denial = /^(false|no|n|f|0)$/i;
const failureStatus =
  /^([45]\d\d\b.*|err(or)?s?|fail(ed|ure)?|fault|invalid|reject(ed|ion)|refused|denied|(not|n) ?ok|ko|exception|unsuccessful)$/i;

/**
 * Failures that the answer states by its structure: then the request was not done. Names and markers inside a job
 * belong to the job, except those of a failure. Empty if there are none.
 */
export function readFailureIndicator(root: XmlElement, resource: Resource = JOB): readonly Problem[] {
  if (isNamed(root, 'html')) return [];
  const failures = firstOf(readFailures(findFailures(root, MAX_DEPTH)));
  if (failures.length > 0) return failures;
  if (isNamedAfterFailure(root.name) && !isPlural(root) && isEmpty(root)) return [{ message: foldName(root.name) }];
  const mark = findDenial(root, MAX_DEPTH, resource) ?? denialOfAll(root);
  if (mark === undefined) return [];
  const reasons = readMessages(root);
  return reasons.length > 0 ? reasons : [{ message: mark }];
}

const isNamedAfterFailure = (name: string): boolean => failureName.test(foldName(name).toLowerCase());
const isEmpty = (element: XmlElement): boolean => childrenOf(element).length === 0 && legibleText(element) === '';

interface Failure {
  readonly element: XmlElement;
  /** The value of an attribute; absent: the element itself is the failure. */
  readonly value?: string;
}

function* findFailures(element: XmlElement, depth: number): Generator<Failure> {
  if (isNamedAfterFailure(element.name)) {
    if (!saysNothingIsWrong(legibleText(element))) yield { element };
    return;
  }
  let isMarked = false;
  for (const [name, value] of element.attributes) {
    if (!isNamedAfterFailure(name) || saysNothingIsWrong(value)) continue;
    isMarked = true;
    yield { element, value };
  }
  if (!isMarked && depth > 0) for (const child of childrenOf(element)) yield* findFailures(child, depth - 1);
}

function* readFailures(failures: Iterable<Failure>): Generator<Problem> {
  for (const { element, value } of failures) {
    if (value === undefined) yield* readErrorElement(element);
    else yield { message: value };
  }
}

// A marker that denies success, such as "valid: false": an attribute or an element without child elements.
function findDenial(element: XmlElement, depth: number, resource: Resource): string | undefined {
  const marks: (readonly [name: string, value: string])[] = [...element.attributes];
  if (childrenOf(element).length === 0) marks.push([foldName(element.name).toLowerCase(), legibleText(element)]);
  const own = looksLikeJob(element, resource);
  for (const [name, value] of marks) {
    const isStatus = !own && statusNames.includes(name) && failureStatus.test(value.trim());
    const denies = successNames.includes(name) && denial.test(value.trim());
    if (isStatus || denies) return `${name}: ${value.trim()}`;
  }
  // A status inside a job is the job's own: an editor may have refused a job that was saved.
  if (own) return childrenOf(element).some(isErrorStatus) ? 'status: error' : undefined;
  if (depth === 0) return undefined;
  for (const child of childrenOf(element)) {
    const mark = findDenial(child, depth - 1, resource);
    if (mark !== undefined) return mark;
  }
  return undefined;
}

const isErrorStatus = (child: XmlElement): boolean => isNamed(child, 'status') && /^error$/i.test(legibleText(child));

function denialOfAll(root: XmlElement): string | undefined {
  const isDenied = childrenOf(root).length === 0 && /^(false|no)$/i.test(legibleText(root));
  return isDenied && !isNamedAfterFailure(root.name) ? `${foldName(root.name)}: ${legibleText(root)}` : undefined;
}

// An element of another name counts as a job if it has a title, which every job has, and no message element.
function looksLikeJob(element: XmlElement, resource: Resource): boolean {
  if (isNamed(element, foldName(resource.element).toLowerCase()) || isJobLike(element, resource)) return true;
  const children = childrenOf(element);
  return children.some((child) => isNamed(child, 'title')) && !children.some(isMessage);
}

const noFailure = /\b(no|0|zero|without( any)?) (errors?|failures?|faults?|exceptions?|problems?)\b/gi;
const failureWords =
  /error|\bfail|\bfault|exception|invalid|reject|refus|denied|forbidden|not (authori[sz]ed|saved|updated|deleted|removed|found|allowed|accepted|valid|permitted|changed|done|ok)\b|unauthori[sz]ed|unable|unsuccessful|unprocessable|\bcan ?not\b|\bcan't\b|\bcould not\b|\bcouldn't\b|\bmissing\b|\brequired\b|\bmust\b|went wrong|\bproblem/i;

/**
 * Whether an answer contains a failure word. Jobs, which may contain any text, and warnings are skipped. `root` is
 * absent if the body is not XML; malformed XML that starts as a job is skipped entirely.
 */
export function isInDoubt(root: XmlElement | undefined, body: string, resource: Resource = JOB): boolean {
  const text = textOf(root, body, resource);
  // The unread part may state a failure.
  return text.length >= MAX_LEGIBLE || failureWords.test(text.replace(noFailure, ''));
}

const closedWords =
  /\bmaintenance\b|\bunavailable\b|\boffline\b|\bdown for\b|\bback (?:soon|shortly|later|at|in|on|online)\b|\bread[- ]only\b|\btry again\b|\btemporar/i;

/** What a site may say of a job that it has taken down. */
const closedJob =
  /\b(?:job|posting|position|vacancy|opening|listing|ad|it)\b(?: #?(?=\S*\d)[\w-]+)?(?: (?:is|was|has|been|now|set|put|taken|to))* (?:offline|unavailable)\b/gi;

/** Whether an answer says that the site is closed for a while; what is skipped is the same. */
export const saysClosed = (root: XmlElement | undefined, body: string, resource: Resource = JOB): boolean =>
  closedWords.test(`${root?.name.replace(/[_.:]/g, ' ') ?? ''} ${textOf(root, body, resource)}`.replace(closedJob, ''));

function textOf(root: XmlElement | undefined, body: string, resource: Resource): string {
  if (root) return textBesideJobs(root, resource);
  const begun = /^\s*(?:<\?[^>]*>\s*)?<([\w.-]+)/.exec(body)?.[1]?.toLowerCase();
  return begun === resource.element.toLowerCase() ? '' : body;
}

function textBesideJobs(root: XmlElement, resource: Resource): string {
  const isLeftOut = (element: XmlElement): boolean =>
    looksLikeJob(element, resource) || isNamed(element, 'warning', 'warnings');
  return isLeftOut(root) ? '' : legibleText(root, isLeftOut);
}
