// Evaluates the expressions of a mapping before a record is read: JSONata evaluates asynchronously, and reading does not.
import { compileExpression, type Evaluated } from './expressions.ts';
import type { FieldMapping } from './field-mapping.ts';
import type { RecordTree } from './posting.ts';

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
