// JSONata expressions over a record, limited in steps, depth, lists and output, and without anything that changes from one
// evaluation to the next.
import { createRequire } from 'node:module';
import type jsonata from 'jsonata';
import type { FieldMapping } from './field-mapping.ts';
import { compilePattern, MalformedPatternError, type PatternBudget } from './pattern.ts';
import type { RecordTree } from './posting.ts';

/** The result of one expression for one record: text, empty if there is no value, or why it has none. */
export type Evaluated =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string };

/** The expression can't be used; the message says why. */
export class MalformedExpressionError extends Error {
  override readonly name = 'MalformedExpressionError';
}

/** Ten thousand steps take some ten milliseconds. */
const MAX_STEPS = 20_000;
/** A function takes as long as a step for so many characters or elements, or for so many pairs of elements that it compares. */
const CHARACTERS_PER_STEP = 2_000;
/** The library divides the text into its characters. */
const DIVIDED_PER_STEP = 100;
const PAIRS_PER_STEP = 1_000;
/** Characters that the patterns of one evaluation read: some tenths of a second. */
const MAX_PATTERN_STEPS = 2_000_000;
const MAX_DEPTH = 200;
const MAX_LIST = 10_000;
const MAX_OUTPUT = 1_000_000;
const MAX_PADDING = 10_000;
/** Functions that are refused: the same record must always give the same posting, and every pattern is checked before it is used. */
const REFUSED_FUNCTIONS = new Set(['now', 'millis', 'random', 'shuffle', 'eval']);

/** Loaded for the first expression: few configurations have any. */
let engine: typeof jsonata | undefined;

/** Compiles an expression. Throws {@link MalformedExpressionError}. Evaluating never throws; one evaluation at a time. */
export function compileExpression(source: string): (record: RecordTree) => Promise<Evaluated> {
  engine ??= createRequire(import.meta.url)('jsonata') as typeof jsonata;
  const budget = { steps: MAX_PATTERN_STEPS };
  const expression = parse(engine, source, budget);
  let steps = 0;
  const take = (more: number): void => {
    steps += more;
    if (steps > MAX_STEPS) throw new ExpressionLimit(`takes more than ${MAX_STEPS} steps`);
  };
  let areCounted = false;
  expression.assign(STEP as unknown as string, (_expression: unknown, _input: unknown, frame: Frame) => {
    frame.timestamp = NO_TIME;
    if (!areCounted) countFunctions(expression, frame, take);
    areCounted = true;
    take(1);
  });
  expression.registerFunction('pad', pad, '<s-ns?:s>');
  return async (record) => {
    steps = 0;
    budget.steps = MAX_PATTERN_STEPS;
    try {
      // Plain objects with prototypes, which the library expects.
      return outputOf(await expression.evaluate(JSON.parse(JSON.stringify(record))));
    } catch (error) {
      return { kind: 'failed', message: messageOf(error) };
    }
  };
}

/** Called by the library before each step. */
const STEP = Symbol.for('jsonata.__evaluate_entry');

class ExpressionLimit extends Error {}

/** What the library gives to its functions: `$toMillis` takes what a text lacks, such as the year, from this time. */
interface Frame {
  timestamp: unknown;
  lookup(name: string): unknown;
}

/** Instead of the present time: the same record must always give the same posting. */
const NO_TIME = new Proxy(
  {},
  {
    get() {
      throw new ExpressionLimit(
        '$toMillis would take what the text lacks, such as the year, from the present day, and give another value later',
      );
    },
  },
);

/** Of the library: those that read each character or element of what they are given. */
const COUNTED_FUNCTIONS = (
  'string length substring substringBefore substringAfter uppercase lowercase trim contains match replace split join number ' +
  'formatNumber formatBase toMillis fromMillis base64encode base64decode encodeUrl encodeUrlComponent decodeUrl ' +
  'decodeUrlComponent sum count max min average append reverse sort zip keys lookup spread merge distinct boolean exists'
).split(' ');
const DIVIDING_FUNCTIONS = new Set(['length', 'substring']);
/** Functions that compare each element with each. */
const PAIRING_FUNCTIONS = new Set(['distinct']);

interface LibraryFunction {
  readonly implementation: (...values: unknown[]) => unknown;
}

/** A step of an expression may work on a long text: each function also takes steps for the length of what it is given. */
function countFunctions(expression: jsonata.Expression, frame: Frame, take: (steps: number) => void): void {
  for (const name of COUNTED_FUNCTIONS) {
    const own = frame.lookup(name) as LibraryFunction | undefined;
    if (typeof own?.implementation !== 'function') continue;
    const perStep = DIVIDING_FUNCTIONS.has(name) ? DIVIDED_PER_STEP : CHARACTERS_PER_STEP;
    const costOf = (value: unknown): number => {
      if (typeof value === 'string') return Math.floor(value.length / perStep);
      if (!Array.isArray(value)) return 0;
      return Math.floor(PAIRING_FUNCTIONS.has(name) ? value.length ** 2 / PAIRS_PER_STEP : value.length / perStep);
    };
    const counted = function (this: unknown, ...values: unknown[]): unknown {
      take(values.reduce<number>((sum, value) => sum + costOf(value), 0));
      return own.implementation.apply(this, values);
    };
    // The library reads the parameters of a function that is passed on or applied in part.
    const implementation = Object.defineProperties(counted, {
      length: { value: own.implementation.length },
      toString: { value: () => own.implementation.toString() },
    });
    expression.assign(name, { ...own, implementation } as unknown as string);
  }
}

function parse(library: typeof jsonata, source: string, budget: PatternBudget): jsonata.Expression {
  try {
    const RegexEngine = class extends LinearRegExp {
      constructor(pattern: RegExp) {
        super(pattern, budget);
      }
    } as unknown as RegExpConstructor;
    const options = { RegexEngine, stack: MAX_DEPTH, sequence: MAX_LIST };
    const expression = library(source, options);
    checkNodes(expression.ast());
    return expression;
  } catch (error) {
    throw new MalformedExpressionError(`is not a JSONata expression that can be used: ${messageOf(error)}`);
  }
}

/** Checks all patterns and function names of the syntax tree. */
function checkNodes(root: unknown): void {
  const waiting: unknown[] = [root];
  const seen = new Set<unknown>();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    seen.add(node);
    const { type, value } = node as { readonly type?: unknown; readonly value?: unknown };
    if (type === 'regex' && value instanceof RegExp) new LinearRegExp(value);
    if (type === 'variable' && typeof value === 'string' && REFUSED_FUNCTIONS.has(value)) {
      throw new ExpressionLimit(`$${value} is not available`);
    }
    waiting.push(...Object.values(node).filter((child) => typeof child === 'object' && child !== null));
  }
}

/** What the library uses of a `RegExp`: each match in linear time, all together within a budget. */
class LinearRegExp {
  lastIndex = 0;
  readonly #pattern: ReturnType<typeof compilePattern>;
  readonly #budget: PatternBudget | undefined;

  constructor({ source, flags }: RegExp, budget?: PatternBudget) {
    this.#budget = budget;
    const own = [...flags].filter((flag) => 'im'.includes(flag)).join('');
    this.#pattern = compilePattern(own === '' ? source : `(?${own})${source}`);
  }

  exec(text: string): (string[] & { index: number }) | null {
    const found = this.#pattern.find(text, this.lastIndex, this.#budget);
    if (found.kind === 'over budget')
      throw new ExpressionLimit('its patterns take too long for this text: each match reads much of the rest of it');
    if (found.kind === 'too long') throw new ExpressionLimit('the text is too long for the pattern');
    if (found.kind === 'none') return null;
    this.lastIndex = found.start + (found.texts[0] ?? '').length;
    return Object.assign([...found.texts], { index: found.start });
  }
}

function pad(text: string | undefined, width: number, char = ' '): string | undefined {
  if (Math.abs(width) > MAX_PADDING) throw new ExpressionLimit(`pads to more than ${MAX_PADDING} characters`);
  if (text === undefined) return undefined;
  return width < 0 ? text.padStart(-width, char) : text.padEnd(width, char);
}

function outputOf(value: unknown): Evaluated {
  switch (typeof value) {
    case 'undefined':
      return { kind: 'value', text: '' };
    case 'string':
      if (value.length <= MAX_OUTPUT) return { kind: 'value', text: value };
      return { kind: 'failed', message: `its result has more than ${MAX_OUTPUT} characters` };
    case 'number':
    case 'boolean':
      return { kind: 'value', text: String(value) };
    default:
      if (value === null) return { kind: 'value', text: '' };
      return { kind: 'failed', message: `its result is ${kindOf(value as object)}, not a text; use $join or $string` };
  }
}

const kindOf = (value: object): string => (Array.isArray(value) ? `a list of ${value.length}` : 'an object');

/** The library throws plain objects. */
function messageOf(error: unknown): string {
  if (error instanceof MalformedPatternError) return `a regular expression ${error.message}`;
  const { message, position, code } = error as { message?: unknown; position?: unknown; code?: unknown };
  const text = typeof message === 'string' ? message : `error ${String(code)}`;
  return typeof position === 'number' ? `${text} (character ${position})` : text;
}

// Evaluates the expressions of a mapping before a record is read: JSONata evaluates asynchronously, and reading does not.

export interface PreparedExpressions {
  readonly prepare: (record: RecordTree) => Promise<void>;
  /** `undefined`: the record was not prepared. */
  readonly resultOf: (record: RecordTree, expression: string) => Evaluated | undefined;
}

/** Compiles all expressions of the mapping; `undefined`: it has none. Throws `MalformedExpressionError`. */
export function prepareExpressions({ fields }: FieldMapping): PreparedExpressions | undefined {
  const sources = expressionsIn(fields);
  if (sources.length === 0) return undefined;
  const compiled = sources.map((source) => ({ source, evaluate: compileExpression(source) }));
  // A record without structure is its text, which a WeakMap can't hold.
  const results = new WeakMap<object, ReadonlyMap<string, Evaluated>>();
  return {
    async prepare(record) {
      if (typeof record === 'string') return;
      const found = new Map<string, Evaluated>();
      for (const { source, evaluate } of compiled) found.set(source, await evaluate(record));
      results.set(record, found);
    },
    resultOf: (record, expression) => (typeof record === 'string' ? undefined : results.get(record)?.get(expression)),
  };
}

const expressionsIn = (fields: FieldMapping['fields']): readonly string[] => [
  ...new Set(
    Object.values(fields)
      .flat()
      .flatMap(({ source }) => (source.kind === 'jsonata' ? [source.expression] : [])),
  ),
];
