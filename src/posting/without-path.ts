// Leaves out a part of a record.
import type { RecordTree } from './posting.ts';
import { holdsConditions, namesAt, type ValuePath } from './value-path.ts';

/** The record without what is at a path: exactly what `elementsAt` finds there. */
export function withoutPath(tree: RecordTree, path: ValuePath): RecordTree {
  const [step, ...rest] = path;
  if (step === undefined || typeof tree === 'string') return tree;
  if (isList(tree)) return tree.map((each) => withoutPath(each, path));
  const names = new Set(namesAt(tree, step.name));
  /** What remains of a child: nothing or one, or fewer elements of a list. */
  const left = (child: RecordTree): readonly RecordTree[] => {
    if (isList(child)) return [child.flatMap(left)];
    if (!holdsConditions(step, child)) return [child];
    return rest.length === 0 ? [] : [withoutPath(child, rest)];
  };
  const parts = Object.entries(tree).flatMap(([name, child]) => {
    if (!names.has(name)) return [[name, child] as const];
    return left(child).map((remaining) => [name, remaining] as const);
  });
  return Object.fromEntries(parts);
}

const isList = (tree: RecordTree): tree is readonly RecordTree[] => Array.isArray(tree);
