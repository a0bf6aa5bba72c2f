// Compiles the configured source of a value into a function from record to text.
import type { TextSection, ValueSource } from './field-mapping.ts';
import type { NameReader } from './id-and-name.ts';
import type { MarkupForm } from './markup.ts';
import type { RecordTree } from './posting.ts';
import { elementsAt, MalformedPathError, parseValuePath, textsAt } from './value-path.ts';

/** Reads one value of a record; empty text means no value. */
export type ReadValue = (record: RecordTree) => string;

/**
 * Compiles a value source. Throws {@link MalformedPathError}. @param form how elements inside the value are rendered.
 * @param isNothing whether a text stands for no value; by default, only an empty text does.
 * @param names how lists of an id and a name are read; by default both are texts.
 */
export function compileSource(
  source: ValueSource,
  form: MarkupForm = 'plain',
  isNothing = NEVER,
  names?: NameReader,
): ReadValue {
  switch (source.kind) {
    case 'constant':
      return () => source.value;
    case 'template':
      return compileTemplate(source.template, form, isNothing, names);
    case 'jsonata':
      throw new Error('expressions are evaluated by PreparedExpressions');
    case 'sections':
      return compileSections(source.sections, source.join, form, names);
    case 'paths':
      return compilePaths(source.paths, source.join, form, isNothing, names);
  }
}

type IsNothing = (text: string) => boolean;

const NEVER: IsNothing = () => false;

function compilePaths(
  sources: readonly string[],
  join: string | undefined,
  form: MarkupForm,
  isNothing: IsNothing,
  names: NameReader | undefined,
): ReadValue {
  const paths = sources.map(parseValuePath);
  return (record) => {
    for (const path of paths) {
      // Plain loops: this runs for every field of every record that is read.
      let joined = '';
      for (const text of textsAt(path, record, form, names)) {
        const trimmed = text.trim();
        if (trimmed === '' || isNothing(trimmed)) continue;
        if (join === undefined) return trimmed;
        joined = joined === '' ? trimmed : `${joined}${join}${trimmed}`;
      }
      if (joined !== '') return joined;
    }
    return '';
  };
}

/** Splits a template into literal text at even positions and paths at odd ones. */
function compileTemplate(
  template: string,
  form: MarkupForm,
  isNothing: IsNothing,
  names: NameReader | undefined,
): ReadValue {
  const pieces = template.split(/\{([^{}]*)\}/);
  if (pieces.some((piece, index) => index % 2 === 0 && /[{}]/.test(piece))) {
    throw new MalformedPathError(`the template "${template}" has an unmatched brace; write {path} for a value`);
  }
  const reads = pieces.map(
    (piece, index): ReadValue =>
      index % 2 === 0 ? () => piece : compilePaths([piece], undefined, form, isNothing, names),
  );
  return (record) => {
    const texts = reads.map((read) => read(record));
    const isComplete = texts.every((text, index) => index % 2 === 0 || text !== '');
    return isComplete ? texts.join('') : '';
  };
}

function compileSections(
  sections: readonly TextSection[],
  join: string,
  form: MarkupForm,
  names: NameReader | undefined,
): ReadValue {
  const readers = sections.map((section) => compileSection(section, form, names));
  return (record) => readers.flatMap((readTexts) => readTexts(record)).join(join);
}

/** Reads the texts of a section that have a value. */
function compileSection(
  { each, templates }: TextSection,
  form: MarkupForm,
  names: NameReader | undefined,
): (record: RecordTree) => readonly string[] {
  const reads = templates.map((template) => compileTemplate(template, form, NEVER, names));
  const path = each === undefined ? [] : parseValuePath(each);
  return (record) => {
    const elements = each === undefined ? [record] : elementsAt(path, record);
    return elements.flatMap((element) => firstText(reads, element));
  };
}

function firstText(reads: readonly ReadValue[], element: RecordTree): readonly string[] {
  for (const read of reads) {
    const text = read(element);
    if (text !== '') return [text];
  }
  return [];
}
