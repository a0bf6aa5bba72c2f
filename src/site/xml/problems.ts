// Reads the site's validation errors: which field, and what is wrong with it.
import type { Problem } from '../../posting/posting.ts';
import { expandReferences } from './references.ts';
import { foldName, type XmlElement } from './xml-events.ts';
import { childrenOf, elementText, isNamed, legibleText } from './xml-tree.ts';

// The interface does not describe the structure of validation errors (site-interface.md, section 7, rule 3), so every
// reasonable one is read:
//
// | XML                                                             | field   | message       |
// |-----------------------------------------------------------------|---------|---------------|
// | <errors><error>Title can't be blank</error></errors>            |         | the text      |
// | <errors><error field="title">can't be blank</error></errors>    | title   | the text      |
// | <errors><error field="title" message="can't be blank"/></errors>| title   | the attribute |
// | <error><field>title</field><message>…</message></error>         | title   | each message  |
// | <errors><title>can't be blank</title></errors>                  | title   | the text      |
// | <errors><title><error>can't be blank</error></title></errors>   | title   | each text     |
// | <response><errors>…</errors></response>, <hash><error>…</error> | as above | as above     |
// | <salary><error>not_a_number</error><value>a lot</value></salary> | salary | "is not a number (a lot)" |
// | <hash><title type="array"><title>is too long</title></title>…   | title   | each text     |
// | <strings type="array"><string>Title is too long</string>…       |         | each text     |
// | <response><status>error</status><message>…</message></response> |         | the message   |
// | <root><title><list-item>is too long</list-item></title></root>  | title   | each text     |
//
// Under another status than a success, the last four are errors too; the last needs the name of a field that was sent. Such a name further
// inside counts before one that is none: `<errors><children><title>…`. A message that begins with one is attributed to it: see
// `problemAttribution`.

/** A problem as the site says it. */
interface SaidProblem extends Problem {
  /** The site says that it is about the record as a whole, so its words name no field. */
  readonly ofWhole?: true;
}

/** What is known where an element is read. */
interface Context extends Omit<SaidProblem, 'message'> {
  /** Whether a text names a field that was sent or is mapped. */
  readonly isField?: IsField | undefined;
}

export type IsField = (name: string) => boolean;

const MAX_PROBLEMS = 100;
const MAX_MESSAGE_LENGTH = 1000;
const MAX_VALUE_LENGTH = 200;
const MAX_DEPTH_OF_ERRORS = 3;

const errorName = /^((validation|field|model|form|mvc)-?)?errors?(-?(messages?|list|details?))?$/;
const messageNames = ['message', 'messages', 'msg', 'full-message', 'full-messages', 'defaultmessage', 'faultstring'];
const detailNames = [...messageNames, 'description', 'detail', 'details', 'reason', 'text'];
const fieldNames = [
  'field',
  'attribute',
  'attr',
  'property',
  'propertypath',
  'path',
  'name',
  'element',
  'param',
  'on',
  'key',
];
/** What many sites put beside the reason, or in its place. */
const STATUS_NAME =
  /^(\d{3}|(\d{3} )?(bad (request|gateway)|unprocessable (entity|content)|conflict|forbidden|not (acceptable|found)|precondition failed|internal server error|service unavailable|gateway time-?out))\.?$/i;
const remarkNames = ['code', 'status', 'type', 'id', 'faultcode', 'faultactor'];
const failureNames = ['failure', 'fault', 'exception', 'problem'];

/**
 * Reads the problems from an answer's body; `root` is the body parsed as XML, absent if it is not XML. If that is no readable
 * errors document, the body's text, without markup and cut to 1,000 characters, is the only message; an empty body gives no
 * problem. Never throws.
 */
export function tellProblems(body: string, root: XmlElement | undefined, isField?: IsField): readonly Problem[] {
  if (root === undefined || isNamed(root, 'html'))
    return [problem({ message: withoutMarkup(body) })].filter((one) => one.message !== '');
  const problems = [readErrors(root, isField), firstOf(readLists(root))].find((found) => found.length > 0);
  return problems ?? readMessages(root, isField);
}

/** A dictionary of fields, as frameworks write it; what has an ID, a status or the like is none. */
function* readDictionary(element: XmlElement, isField: IsField): Generator<Problem> {
  const children = childrenOf(element);
  if (children.some((child) => isNamed(child, ...remarkNames))) return;
  for (const child of children) {
    if (isField(child.name)) yield* readTexts(child, { ...subjectOf(child.name), isField });
    else if (childrenOf(child).some(({ name }) => isField(name))) yield* readDictionary(child, isField);
    else yield problem({ message: legibleText(child) });
  }
}

/** Rails' `errors.details` without a name for errors. */
const isHashOfDetails = (root: XmlElement): boolean =>
  isHashOfLists(root) &&
  childrenOf(root).every((list) =>
    childrenOf(list).every((item) => childrenOf(item).some((part) => isNamed(part, 'error'))),
  );

/** Lists directly below the root, or as the root, that have no name for errors: Rails' `errors.messages` and `full_messages`. */
function* readLists(root: XmlElement): Generator<Problem> {
  if (isList(root, 'string')) yield* readTexts(root, {});
  else if (isHashOfLists(root)) for (const child of childrenOf(root)) yield* readTexts(child, subjectOf(child.name));
}

const isHashOfLists = (root: XmlElement): boolean =>
  childrenOf(root).length > 0 && childrenOf(root).every((child) => isList(child, foldName(child.name)));

const isList = (element: XmlElement, of: string): boolean =>
  element.attributes.get('type') === 'array' &&
  childrenOf(element).length > 0 &&
  childrenOf(element).every((child) => foldName(child.name) === of);

/**
 * The problems of an `errors` or `error` document, whose elements are at its root or slightly deeper; otherwise none.
 */
export function readErrors(root: XmlElement, isField?: IsField): readonly Problem[] {
  if (isNamed(root, 'html')) return [];
  const details = isHashOfDetails(root) ? firstOf(readLists(root)) : [];
  if (details.length > 0) return details;
  const problems = firstOf(readErrorElements(findErrors(root, MAX_DEPTH_OF_ERRORS), isField));
  const reasons = problems.filter(({ message }) => !STATUS_NAME.test(message));
  return reasons.length > 0 ? reasons : problems;
}

function* readErrorElements(elements: Iterable<XmlElement>, isField?: IsField): Generator<Problem> {
  for (const element of elements) yield* readErrorElement(element, isField);
}

/** Keeps the first {@link MAX_PROBLEMS}: nobody reads more, and each costs time. */
export function firstOf(problems: Iterable<Problem>): readonly Problem[] {
  const first: Problem[] = [];
  for (const one of problems) {
    first.push(one);
    if (first.length >= MAX_PROBLEMS) break;
  }
  return first;
}

/** The problems in one element such as `error` or `errors`; none if it says that nothing is wrong. */
export function* readErrorElement(element: XmlElement, isField?: IsField): Generator<Problem> {
  for (const one of readElement(element, { isField })) if (!saysNothingIsWrong(one.message)) yield one;
}

/** Whether a text says that nothing is wrong, as in `<errors>0</errors>`. */
export const saysNothingIsWrong = (text: string): boolean =>
  /^(0*|false|no|none|null|nil|ok|success|n\/a|-)$/i.test(text.trim());

/** Whether an element holds a message in words. */
export const isMessage = (element: XmlElement): boolean =>
  isNamed(element, ...messageNames, 'detail', 'details', 'reason');

/** The texts of message elements anywhere in the document; if there are none, those of fields, the title of a problem, or all of its text. */
export function readMessages(root: XmlElement, isField: IsField = () => false): readonly Problem[] {
  const messages = firstOf(readMessageTexts(root, isField)).filter((one) => one.message !== '');
  if (messages.length > 0) return messages;
  const entries = firstOf(readDictionary(root, isField)).filter((one) => one.message !== '');
  if (entries.some(({ field }) => field !== undefined)) return entries;
  const title = isNamed(root, 'problem') ? childrenOf(root).find((child) => isNamed(child, 'title')) : undefined;
  return [problem({ message: legibleText(title ?? root) })].filter((one) => one.message !== '');
}

// A field beside a message is the message's: `<name>title</name><reason>is too long</reason>` (RFC 7807, `invalid-params`).
function* readMessageTexts(element: XmlElement, isField: IsField): Generator<Problem> {
  const children = childrenOf(element);
  if (isMessage(element)) return yield* readTexts(element, { isField });
  const field = children.find((child) => childrenOf(child).length === 0 && isNamed(child, ...fieldNames));
  const context = { ...subjectOf(field && elementText(field)), isField };
  for (const child of children) yield* isMessage(child) ? readTexts(child, context) : readMessageTexts(child, isField);
}

const isError = (element: XmlElement): boolean => errorName.test(foldName(element.name).toLowerCase());

// Beside the error, Rails in development shows the exception, which says more than the name of the status.
function* findErrors(element: XmlElement, depth: number): Generator<XmlElement> {
  if (isError(element)) return yield element;
  if (depth === 0) return;
  const children = childrenOf(element);
  const exception = children.find((child) => isNamed(child, 'exception') && childrenOf(child).length === 0);
  const isSaidByException = (child: XmlElement) => exception !== undefined && isNamed(child, 'error');
  if (children.some(isSaidByException) && exception !== undefined) yield exception;
  if (children.some((child) => isNamed(child, 'error') && STATUS_NAME.test(legibleText(child))))
    yield* children.filter((child) => isNamed(child, ...messageNames));
  for (const child of children) if (!isSaidByException(child)) yield* findErrors(child, depth - 1);
}

// Reads an `error` or `errors` element. `context` is the field and value given by the surrounding elements.
function* readElement(element: XmlElement, context: Context): Generator<Problem> {
  const children = childrenOf(element);
  const plural = isPlural(element) && !isOneError(children, context);
  // In `<errors>` children are named after fields, and a job may have a `name` or a `path`; in `<error>` they are parts.
  const parts = plural ? [] : children.filter((child) => childrenOf(child).length === 0);
  const part = (names: readonly string[]): string | undefined => {
    const child = parts.find((candidate) => isNamed(candidate, ...names));
    const attribute = names.find((name) => element.attributes.has(name));
    return child ? elementText(child) : attribute && element.attributes.get(attribute);
  };
  const inner = { ...context, ...subjectOf(part(fieldNames)), value: part(['value']) ?? context.value };
  const textNames = plural ? messageNames : detailNames;
  const isText = children.length === 0 || (!plural && hasOwnText(element));
  if (isText) return yield problem({ ...inner, message: legibleText(element) || (part(textNames) ?? '') });
  let saysSomething = false;
  for (const child of children) {
    for (const one of readPart(child)) {
      saysSomething = true;
      yield one;
    }
  }
  if (!saysSomething)
    yield problem({ ...inner, message: part(textNames) ?? part(remarkNames) ?? legibleText(element) });

  function readPart(child: XmlElement): Iterable<Problem> {
    if (isNamed(child, ...textNames)) return readTexts(child, inner);
    if (isError(child) || isNamed(child, ...failureNames)) return readElement(child, inner);
    if (!plural && isNamed(child, 'value', ...fieldNames, ...remarkNames)) return [];
    return readTexts(child, isKnown(inner) ? inner : { ...subjectOf(child.name), isField: context.isField });
  }
}

// Text next to elements is a sentence with markup in it.
const hasOwnText = (element: XmlElement): boolean =>
  element.content.some((node) => typeof node === 'string' && node.trim() !== '');

export const isPlural = (element: XmlElement): boolean => /s$/i.test(element.name);

// Each nested text is one message: `<messages><message>a</message><message>b</message></messages>`.
function* readTexts(element: XmlElement, context: Context): Generator<Problem> {
  const children = childrenOf(element);
  const named = fieldNames.find((name) => element.attributes.has(name));
  const own = { ...context, ...subjectOf(named && element.attributes.get(named)) };
  const subject = isKnown(own) && !isKnown(context) ? own : { ...own, ...context };
  if (children.length === 0) yield problem({ ...subject, message: elementText(element) });
  const detail = readDetail(children);
  if (detail !== undefined) return yield problem({ ...context, ...detail });
  const outer = isKnown(subject) ? subject : context;
  for (const child of children) {
    const inner = namesField(child, outer) ? { ...outer, ...subjectOf(child.name) } : outer;
    yield* isError(child) ? readElement(child, inner) : readTexts(child, inner);
  }
}

const isKnown = ({ field, isField }: Context): boolean => field !== undefined && isField?.(field) === true;

/** Whether an element is named after a field, and not after a part of the message about one. */
const namesField = (child: XmlElement, outer: Context): boolean =>
  !isKnown(outer) &&
  outer.isField?.(child.name) === true &&
  (childrenOf(child).length > 0 || !isNamed(child, ...detailNames));

/** `<errors><msg>is too long</msg><path>title</path></errors>`, once for each problem. */
const isOneError = (children: readonly XmlElement[], { isField }: Context): boolean =>
  children.some((child) => isNamed(child, ...messageNames)) &&
  children.some((child) => isNamed(child, ...fieldNames) && isField?.(elementText(child)) === true);

/** What Rails says for the names in `errors.details`, with "…" for the number; others are said as they are. */
const DETAILS: Readonly<Record<string, string>> = {
  accepted: 'must be accepted',
  blank: "can't be blank",
  confirmation: "doesn't match its confirmation",
  empty: "can't be empty",
  equal_to: 'must be equal to …',
  even: 'must be even',
  exclusion: 'is reserved',
  greater_than: 'must be greater than …',
  greater_than_or_equal_to: 'must be greater than or equal to …',
  inclusion: 'is not included in the list',
  invalid: 'is invalid',
  less_than: 'must be less than …',
  less_than_or_equal_to: 'must be less than or equal to …',
  not_a_number: 'is not a number',
  not_an_integer: 'must be an integer',
  odd: 'must be odd',
  other_than: 'must be other than …',
  present: 'must be blank',
  required: 'must exist',
  taken: 'has already been taken',
  too_long: 'is too long (maximum is … characters)',
  too_short: 'is too short (minimum is … characters)',
  wrong_length: 'is the wrong length (should be … characters)',
};

/** One error of Rails' `errors.details`: its name, and beside it what the rule allows and the value that broke it. */
function readDetail(parts: readonly XmlElement[]): Pick<Problem, 'message' | 'value'> | undefined {
  const [error, ...others] = [...parts].sort(
    (one, other) => Number(isNamed(other, 'error')) - Number(isNamed(one, 'error')),
  );
  if (error === undefined || !isNamed(error, 'error') || parts.some((part) => childrenOf(part).length > 0))
    return undefined;
  const part = (name: string) => others.find((candidate) => isNamed(candidate, name));
  const [count, value] = [part('count'), part('value')].map((found) => found && elementText(found).trim());
  const isDetail =
    error.attributes.get('type') === 'symbol' ||
    (others.length > 0 && !others.some((other) => isNamed(other, 'error')));
  if (!isDetail) return undefined;
  const name = elementText(error).trim();
  const known = Object.hasOwn(DETAILS, name) ? DETAILS[name] : undefined;
  const said = known ?? (/^[a-z_]+$/.test(name) ? name.replaceAll('_', ' ') : name);
  const message = count === undefined ? said.replace(/ \(.*….*\)| …/, '') : said.replace('…', count);
  return { message: value ? `${message} (${value.slice(0, MAX_VALUE_LENGTH)})` : message, ...(value ? { value } : {}) };
}

/** What a problem is about. Rails calls the record as a whole `base`. */
function subjectOf(name: string | undefined): Pick<SaidProblem, 'field' | 'ofWhole'> {
  const field = foldName(name?.trim() ?? '').slice(0, MAX_VALUE_LENGTH);
  if (field === 'base') return { ofWhole: true };
  return field === '' ? {} : { field };
}

/** An exception as Ruby shows it. */
const EXCEPTION = /^#<([\w:]+): ([\s\S]+)>$/;

function problem(found: SaidProblem): SaidProblem {
  const [, name, said] = EXCEPTION.exec(found.message.trim()) ?? [];
  const message = tidy(said === undefined || said === name ? found.message : `${said} (${name})`, MAX_MESSAGE_LENGTH);
  const value = found.value === undefined ? undefined : found.value.slice(0, MAX_VALUE_LENGTH);
  return {
    ...(found.field === undefined ? {} : { field: found.field }),
    ...(found.ofWhole === true ? { ofWhole: true } : {}),
    ...(value === undefined ? {} : { value }),
    message,
  };
}

function tidy(text: string, maxLength: number): string {
  const tidied = text
    .slice(0, 65_536)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return tidied.length <= maxLength ? tidied : `${tidied.slice(0, maxLength - 1)}…`;
}

// Only the visible text of a page; the body is cut first, so a few passes over it cost little.
function withoutMarkup(body: string): string {
  const text = body
    .slice(0, 65_536)
    .replace(/<(script|style)\b[^<>]*>[\s\S]*?(<\/\1\s*>|$)/gi, ' ')
    .replace(/<!--[\s\S]*?(-->|$)/g, ' ')
    .replace(/<[^<>]*>/g, ' ');
  return expandReferences(text);
}

// Finds out which of the known fields a message is about: sites write "Category name is too long", not `category-name`.

/** What Rails puts before the messages of a record that it refused to save. */
const PREAMBLE = /^validation (?:failed|errors?): /i;
/** Quotes and brackets around a name. */
const OPENING = /^[\s"'`«»„“”‘’‹›([*]+/;
/** What may follow a name; a hyphen or an apostrophe would make it part of a longer word. */
const AFTER_NAME = /^["'`«»„“”‘’‹›)\]*]*(?:$|[\s:：,;.!?–—])/u;
/** "Number of postings exceeded" is not about the field `number`, nor are "Name and surname missing" and "Salary range too wide" about one. */
const BELONGS_TO_MORE = /^\s+(?:of|de|von|des|der|d'|di|and|or|nor|und|oder|et|ou|y|range)\b/i;
/** Between the messages of one sentence: Rails' `to_sentence`. */
const BETWEEN = /(, and |, | and )(?=\p{Lu})/u;

interface KnownName {
  readonly field: string;
  readonly words: RegExp;
  readonly length: number;
}

/** Returns the function that attributes problems to the given fields. A problem that names none of them stays as it is. */
export function problemAttribution(fields: Iterable<string>): (problem: SaidProblem) => readonly Problem[] {
  const names = knownNames(fields);
  return ({ ofWhole, ...problem }) => {
    if (names.length === 0 || ofWhole === true) return [problem];
    if (problem.field !== undefined) {
      const known = nameOfPath(problem.field, names);
      if (known === undefined) return bySentence(problem, names) ?? [problem];
      const found = attribute(
        problem.message,
        names.filter(({ field }) => field === known.field),
      );
      return [{ ...problem, field: known.field, message: found?.message || problem.message }];
    }
    return bySentence(problem, names) ?? [problem];
  };
}

/** Whether a text is the name or the path of one of these fields. */
export function fieldRecognition(fieldsOf: () => Iterable<string>): IsField {
  let names: ReturnType<typeof knownNames> | undefined;
  return (name) => {
    // Most answers have no errors, and need no names.
    names ??= knownNames(fieldsOf());
    return nameOfPath(name.trim(), names) !== undefined;
  };
}

function bySentence(problem: Problem, names: readonly KnownName[]): readonly Problem[] | undefined {
  const sentences = sentencesOf(problem.message.replace(PREAMBLE, ''), names);
  return sentences.every(({ field }) => field === undefined)
    ? undefined
    : sentences.map((sentence) => ({ ...problem, ...sentence, field: sentence.field ?? problem.field }));
}

type Sentence = Pick<Problem, 'field' | 'message'>;

/** The messages of a text: several if more than one begins with a known name. */
function sentencesOf(text: string, names: readonly KnownName[]): readonly Sentence[] {
  const parts = text.split(BETWEEN);
  const sentences: Sentence[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const [part = '', between = ''] = [parts[at], parts[at - 1]];
    const found = attribute(part, names);
    const last = sentences.at(-1);
    // Rails puts what is about the record as a whole last; two words rather belong to a list of values.
    const isLast = between !== ' and ' && at === parts.length - 1 && part.split(' ').length > 2;
    const isApart = found?.message || isLast;
    if (last === undefined || isApart) sentences.push(found ?? { message: part });
    else sentences.splice(-1, 1, { ...last, message: `${last.message}${between}${part}` });
  }
  if (sentences.filter(({ field, message }) => field !== undefined && message !== '').length > 1) return sentences;
  const whole = attribute(text, names) ?? { message: text };
  return [{ ...whole, message: whole.message || text }];
}

/** The longest name first: `category-name` before `category`. */
function knownNames(fields: Iterable<string>): readonly KnownName[] {
  const names = new Map<string, KnownName>();
  for (const field of fields) {
    // Rails drops `_id` for people: a missing `employer_id` is "Employer must exist".
    for (const name of [field, field.replace(/[-_]id$/i, '')]) {
      const words = wordsOf(name);
      const spelt = words.join(' ');
      if (words.length === 0 || (name !== field && names.has(spelt))) continue;
      names.set(spelt, { field, words: patternOf(words), length: spelt.length });
    }
  }
  return [...names.values()].sort((one, other) => other.length - one.length);
}

const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** The words of a name in any spelling: `Location state`, `location_state`, `locationState`. */
const patternOf = (words: readonly string[]): RegExp => new RegExp(`^${words.join('[\\s_.-]*')}`, 'iu');

function attribute(text: string, names: readonly KnownName[]): Sentence | undefined {
  const start = text.replace(OPENING, '');
  for (const { field, words } of names) {
    const length = words.exec(start)?.[0].length;
    if (length === undefined) continue;
    const rest = start.slice(length);
    if (!AFTER_NAME.test(rest) || BELONGS_TO_MORE.test(rest)) continue;
    return { field, message: rest.replace(/^["'`«»„“”‘’‹›)\]*\s:：,–—-]+/u, '') };
  }
  return undefined;
}

/** `job[title]`, `job.title` and `/job/title` are `title`. */
function nameOfPath(path: string, names: readonly KnownName[]): KnownName | undefined {
  const last = path.split(/[[\]./:]+/).findLast((part) => part !== '') ?? path;
  const isWhole = ({ words }: KnownName, text: string) => words.exec(text)?.[0].length === text.length;
  return names.find((name) => isWhole(name, path)) ?? names.find((name) => isWhole(name, last));
}
