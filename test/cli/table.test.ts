// Tables: aligned by what a terminal draws, and no wider than it.
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { formatTable } from '../../src/cli/table.ts';

const COLUMNS = [{ title: 'ID', align: 'right' }, { title: 'KEY' }, { title: 'REASON' }] as const;

describe('formatTable', () => {
  it('aligns wide characters and cuts nothing without a limit', () => {
    const lines = formatTable(COLUMNS, [
      ['1', '日本', 'x'],
      ['20', 'key', 'y'.repeat(300)],
    ]);
    expect(lines).toEqual(['ID  KEY   REASON', ' 1  日本  x', `20  key   ${'y'.repeat(300)}`]);
  });

  it('cuts the widest columns to the width of the terminal', () => {
    const lines = formatTable(COLUMNS, [['1', 'a'.repeat(60), '日'.repeat(60)]], 50);
    expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(50);
    expect(lines[1]).toMatch(/^ 1 {2}a+… +日+…$/);
  });

  it('keeps a line whose columns are short', () => {
    expect(formatTable(COLUMNS, [['1', 'k', 'r']], 5)).toEqual(['ID  KEY  REASON', ' 1  k    r']);
  });

  it('shows control characters of a cell as their escapes, aligned', () => {
    const lines = formatTable([{ title: 'A' }, { title: 'B' }], [['\u001b[2J', 'x']]);
    expect(lines).toEqual(['A          B', '\\u001b[2J  x']);
  });
});
