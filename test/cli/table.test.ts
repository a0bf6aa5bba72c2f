// Tables: aligned by display width, and no wider than the terminal.
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { formatTable } from '../../src/cli/output/table.ts';

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
    expect(formatTable(COLUMNS, [['1', 'k', 'r']], 15)).toEqual(['ID  KEY  REASON', ' 1  k    r']);
  });

  it.each([20, 40, 80])('writes rows as blocks if the columns do not fit into %i cells', (width) => {
    const columns = Array.from({ length: 12 }, (_, at) => ({ title: `TITLE ${at}` }));
    const row = columns.map((_, at) => (at === 3 ? '日本 '.repeat(30) : at === 4 ? '' : `${'v'.repeat(at * 4)}end`));
    const lines = formatTable(columns, [row, row], width);
    expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
    expect(lines.filter((line) => line.startsWith('TITLE 0 '))).toHaveLength(2);
    expect(lines.join('').match(/日本/gu)).toHaveLength(60);
  });

  it('separates blocks by an empty line and indents the continuation of a long cell', () => {
    expect(
      formatTable(
        COLUMNS,
        [
          ['1', 'first key', 'no state is given'],
          ['2', 'k', ''],
        ],
        20,
      ),
    ).toEqual([
      ...['ID      1', 'KEY     first key', 'REASON  no state is', '        given'],
      ...['', 'ID      2', 'KEY     k', 'REASON'],
    ]);
  });

  it('shows control characters of a cell as their escapes, aligned', () => {
    const lines = formatTable([{ title: 'A' }, { title: 'B' }], [['\u001b[2J', 'x']]);
    expect(lines).toEqual(['A          B', '\\u001b[2J  x']);
  });
});
