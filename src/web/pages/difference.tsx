// One field with two values, cut to where they differ.
import type { PulledDifference } from '../../review/pulled-changes.ts';

export const ShownDifference = ({ field, before, now }: PulledDifference) => (
  <div class="difference">
    <span class="field">{field}</span>
    <del>{before ?? '(no such field)'}</del>
    {' → '}
    <ins>{now ?? '(no such field)'}</ins>
  </div>
);
