// Reads the site's validation errors: which field, and what is wrong with it.
import type { Problem } from '../../posting/posting.ts';
import {
  childrenOf,
  elementText,
  expandReferences,
  foldName,
  isNamed,
  legibleText,
  type XmlElement,
} from './xml-tree.ts';

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

const MAX_PROBLEMS = 100;
const MAX_MESSAGE_LENGTH = 1000;
const MAX_VALUE_LENGTH = 200;
const MAX_DEPTH_OF_ERRORS = 3;

const errorName = /^((validation|field|model|form)-?)?errors?(-?(messages?|list|details?))?$/;
const messageNames = ['message', 'messages', 'msg', 'full-message', 'full-messages', 'faultstring'];
const detailNames = [...messageNames, 'description', 'detail', 'details', 'reason', 'text'];
const fieldNames = ['field', 'attribute', 'attr', 'property', 'path', 'name', 'element', 'param', 'on', 'key'];
const remarkNames = ['code', 'status', 'type', 'id', 'faultcode', 'faultactor'];
const failureNames = ['failure', 'fault', 'exception', 'problem'];

/**
 * Reads the problems from an answer's body; `root` is the body parsed as XML, absent if it is not XML. If that is no readable
 * errors document, the body's text, without markup and cut to 1,000 characters, is the only message; an empty body gives no
 * problem. Never throws.
 */
export function tellProblems(body: string, root: XmlElement | undefined): readonly Problem[] {
  const problems = root ? readErrors(root) : [];
  if (problems.length > 0) return problems;
  const text = root && !isNamed(root, 'html') ? legibleText(root) : withoutMarkup(body);
  return [problem({ message: text })].filter((one) => one.message !== '');
}

/**
 * The problems of an `errors` or `error` document, whose elements are at its root or slightly deeper; otherwise none.
 */
export function readErrors(root: XmlElement): readonly Problem[] {
  return isNamed(root, 'html') ? [] : firstOf(readErrorElements(findErrors(root, MAX_DEPTH_OF_ERRORS)));
}

function* readErrorElements(elements: Iterable<XmlElement>): Generator<Problem> {
  for (const element of elements) yield* readErrorElement(element);
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
export function* readErrorElement(element: XmlElement): Generator<Problem> {
  for (const one of readElement(element, {})) if (!isNothing(one.message)) yield one;
}

/** Whether a text says that nothing is wrong, as in `<errors>0</errors>`. */
export const isNothing = (text: string): boolean =>
  /^(0*|false|no|none|null|nil|ok|success|n\/a|-)$/i.test(text.trim());

/** Whether an element holds a message in words. */
export const isMessage = (element: XmlElement): boolean =>
  isNamed(element, ...messageNames, 'detail', 'details', 'reason');

/** The texts of message elements anywhere in the document; if there are none, all of its text. */
export function readMessages(root: XmlElement): readonly Problem[] {
  const messages = firstOf(readMessageTexts(root));
  const all = messages.length > 0 ? messages : [problem({ message: legibleText(root) })];
  return all.filter((one) => one.message !== '');
}

function* readMessageTexts(element: XmlElement): Generator<Problem> {
  if (isMessage(element)) yield* readTexts(element, {});
  else for (const child of childrenOf(element)) yield* readMessageTexts(child);
}

const isError = (element: XmlElement): boolean => errorName.test(foldName(element.name).toLowerCase());

function* findErrors(element: XmlElement, depth: number): Generator<XmlElement> {
  if (isError(element)) yield element;
  else if (depth > 0) for (const child of childrenOf(element)) yield* findErrors(child, depth - 1);
}

// Reads an `error` or `errors` element. `context` is the field and value given by the surrounding elements.
function* readElement(element: XmlElement, context: Omit<Problem, 'message'>): Generator<Problem> {
  const children = childrenOf(element);
  const plural = isPlural(element);
  // In `<errors>` children are named after fields, and a job may have a `name` or a `path`; in `<error>` they are parts.
  const parts = plural ? [] : children.filter((child) => childrenOf(child).length === 0);
  const part = (names: readonly string[]): string | undefined => {
    const child = parts.find((candidate) => isNamed(candidate, ...names));
    const attribute = names.find((name) => element.attributes.has(name));
    return child ? elementText(child) : attribute && element.attributes.get(attribute);
  };
  const inner = { field: readField(part(fieldNames)) ?? context.field, value: part(['value']) ?? context.value };
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
    return readTexts(child, { field: readField(child.name) });
  }
}

// Text next to elements is a sentence with markup in it.
const hasOwnText = (element: XmlElement): boolean =>
  element.content.some((node) => typeof node === 'string' && node.trim() !== '');

const isPlural = (element: XmlElement): boolean => /s$/i.test(element.name);

// Each nested text is one message: `<messages><message>a</message><message>b</message></messages>`.
function* readTexts(element: XmlElement, context: Omit<Problem, 'message'>): Generator<Problem> {
  const children = childrenOf(element);
  const named = fieldNames.find((name) => element.attributes.has(name));
  const field = context.field ?? readField(named && element.attributes.get(named));
  if (children.length === 0) yield problem({ ...context, field, message: elementText(element) });
  for (const child of children) yield* isError(child) ? readElement(child, context) : readTexts(child, context);
}

// Rails calls the record as a whole `base`.
function readField(name: string | undefined): string | undefined {
  const field = foldName(name?.trim() ?? '').slice(0, MAX_VALUE_LENGTH);
  return field === '' || field === 'base' ? undefined : field;
}

function problem(found: Problem): Problem {
  const message = tidy(found.message, MAX_MESSAGE_LENGTH);
  const value = found.value === undefined ? undefined : found.value.slice(0, MAX_VALUE_LENGTH);
  return {
    ...(found.field === undefined ? {} : { field: found.field }),
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
