// The tree of one row of a table.
import type { RecordTree } from '../../../posting/posting.ts';

/** Name of a column → its cell; the list of the cells of all columns with that name. Missing cells are empty. */
export function treeOf(names: readonly string[], cells: readonly string[]): RecordTree {
  // Names come from the feed, so the object has no prototype: `__proto__` and `constructor` are ordinary names.
  const tree: { [name: string]: string | string[] } = Object.create(null);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const cell = cells[index] ?? '';
    const before = tree[name];
    if (before === undefined) tree[name] = cell;
    else if (typeof before === 'string') tree[name] = [before, cell];
    else before.push(cell);
  }
  return tree;
}
