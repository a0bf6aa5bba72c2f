// Turns an answer that sounds like a success into what it says against the request, in any form but an errors document.
import type { Problem } from '../posting/posting.ts';
import { firstOf, isNothing, isTold, readErrorElement, readTold } from './xml/problems.ts';
import { childrenOf, foldName, isNamed, legibleText, MAX_LEGIBLE, type XmlElement } from './xml/xml-tree.ts';

// Neither the answer to an update nor the form of errors is described (site-interface.md, section 4, rule 5; section 7,
// rule 3), so that a site may say no under 200 in words of its own:
//
// | XML                                                                 | says no by                               |
// |---------------------------------------------------------------------|------------------------------------------|
// | <Envelope><Body><Fault><faultstring>…</faultstring></Fault>…        | an element, not empty, named after a failure |
// | <failure/>                                                          | a root so named, even if it is empty     |
// | <job error="…"/>                                                    | an attribute so named                    |
// | <validation-result valid="false">…, <result><ok>0</ok>…             | success denied                           |
// | <result><status>error</status>…, <response code="422">…             | a status that is a failure               |
// | <saved>false</saved>                                                | nothing but "false" or "no"              |

const MAX_DEPTH = 3;

/** `default` is none. */
const failureName = /error|(?<!de)fault|failure|exception|invalid|^problems?$/;
const successNames = ['valid', 'is-valid', 'success', 'is-success', 'successful', 'succeeded', 'ok', 'is-ok'];
const statusNames = ['status', 'status-code', 'result', 'result-code', 'response-code', 'outcome', 'code', 'type'];
const denial = /^(false|no|n|f|0)$/i;
const failureStatus =
  /^([45]\d\d\b.*|err(or)?s?|fail(ed|ure)?|fault|invalid|reject(ed|ion)|refused|denied|(not|n) ?ok|ko|exception|unsuccessful)$/i;

/**
 * What the answer says against the request by its form: then it was not done. Names and marks inside a job are the job's
 * own, but for those of a failure. Comes back empty where it says nothing of the kind.
 */
export function readFailureIndicator(root: XmlElement): readonly Problem[] {
  if (isNamed(root, 'html')) return [];
  const told = firstOf(readFailures(findFailures(root, MAX_DEPTH)));
  if (told.length > 0) return told;
  if (isNamedAfterFailure(root.name) && !isPlural(root) && isEmpty(root)) return [{ message: foldName(root.name) }];
  const mark = findDenial(root, MAX_DEPTH) ?? denialOfAll(root);
  if (mark === undefined) return [];
  const reasons = readTold(root);
  return reasons.length > 0 ? reasons : [{ message: mark }];
}

const isNamedAfterFailure = (name: string): boolean => failureName.test(foldName(name).toLowerCase());
const isPlural = (element: XmlElement): boolean => /s$/i.test(element.name);
const isEmpty = (element: XmlElement): boolean => childrenOf(element).length === 0 && legibleText(element) === '';

interface Failure {
  readonly element: XmlElement;
  /** What an attribute says; absent: the element itself is the failure. */
  readonly value?: string;
}

function* findFailures(element: XmlElement, depth: number): Generator<Failure> {
  if (isNamedAfterFailure(element.name)) {
    if (!isNothing(legibleText(element))) yield { element };
    return;
  }
  let isMarked = false;
  for (const [name, value] of element.attributes) {
    if (!isNamedAfterFailure(name) || isNothing(value)) continue;
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

// A mark that denies success, as "valid: false"; that of an attribute or of an element without elements.
function findDenial(element: XmlElement, depth: number): string | undefined {
  const marks: (readonly [name: string, value: string])[] = [...element.attributes];
  if (childrenOf(element).length === 0) marks.push([foldName(element.name).toLowerCase(), legibleText(element)]);
  const own = looksLikeJob(element);
  for (const [name, value] of marks) {
    const isStatus = !own && statusNames.includes(name) && failureStatus.test(value.trim());
    const denies = successNames.includes(name) && denial.test(value.trim());
    if (isStatus || denies) return `${name}: ${value.trim()}`;
  }
  // What a job says of its status is about the job: it may be refused by an editor and saved all the same.
  if (own) return childrenOf(element).some(isErrorStatus) ? 'status: error' : undefined;
  if (depth === 0) return undefined;
  for (const child of childrenOf(element)) {
    const mark = findDenial(child, depth - 1);
    if (mark !== undefined) return mark;
  }
  return undefined;
}

const isErrorStatus = (child: XmlElement): boolean => isNamed(child, 'status') && /^error$/i.test(legibleText(child));

function denialOfAll(root: XmlElement): string | undefined {
  const isDenied = childrenOf(root).length === 0 && /^(false|no)$/i.test(legibleText(root));
  return isDenied && !isNamedAfterFailure(root.name) ? `${foldName(root.name)}: ${legibleText(root)}` : undefined;
}

// Under another name than `job` it is known by the one field that every job has, and a message has not alone.
function looksLikeJob(element: XmlElement): boolean {
  if (isNamed(element, 'job')) return true;
  const children = childrenOf(element);
  return children.some((child) => isNamed(child, 'title')) && !children.some(isTold);
}

const noFailure = /\b(no|0|zero|without( any)?) (errors?|failures?|faults?|exceptions?|problems?)\b/gi;
const failureWords =
  /error|\bfail|\bfault|exception|invalid|reject|refus|denied|forbidden|not (authori[sz]ed|saved|updated|deleted|removed|found|allowed|accepted|valid|permitted|changed|done|ok)\b|unauthori[sz]ed|unable|unsuccessful|unprocessable|\bcan ?not\b|\bcan't\b|\bcould not\b|\bcouldn't\b|\bmissing\b|\brequired\b|\bmust\b|went wrong|\bproblem/i;

/**
 * Whether a word of failure stands in an answer. Not looked at are a job, in which anything may stand, and warnings.
 * `root` is absent where the body is not XML; where that is malformed and begins as a job, nothing is looked at.
 */
export function isInDoubt(root: XmlElement | undefined, body: string): boolean {
  const text = root ? textBesideJobs(root) : /^\s*(<\?[^>]*>\s*)?<job\b/i.test(body) ? '' : body;
  // What is not looked at may say no.
  return text.length >= MAX_LEGIBLE || failureWords.test(text.replace(noFailure, ''));
}

function textBesideJobs(root: XmlElement): string {
  const isLeftOut = (element: XmlElement): boolean => looksLikeJob(element) || isNamed(element, 'warning', 'warnings');
  return isLeftOut(root) ? '' : legibleText(root, isLeftOut);
}
