// Finds out which of the known fields a message is about: sites write "Category name is too long", not `category-name`.
import type { Problem } from '../../posting/posting.ts';
import type { SaidProblem } from './problems.ts';

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
export function attributeTo(fields: Iterable<string>): (problem: SaidProblem) => readonly Problem[] {
  const names = knownNames(fields);
  return ({ ofWhole, ...problem }) => {
    if (names.length === 0 || ofWhole === true) return [problem];
    if (problem.field !== undefined) {
      const known = nameOfPath(problem.field, names);
      if (known === undefined) return [problem];
      const found = attribute(
        problem.message,
        names.filter(({ field }) => field === known.field),
      );
      return [{ ...problem, field: known.field, message: found?.message || problem.message }];
    }
    const sentences = sentencesOf(problem.message.replace(PREAMBLE, ''), names);
    return sentences.every(({ field }) => field === undefined)
      ? [problem]
      : sentences.map((sentence) => ({ ...problem, ...sentence }));
  };
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
