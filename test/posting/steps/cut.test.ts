// The step `max_length`: whole words, whole characters, and HTML that stays closed.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileStateField } from '../../../src/posting/site-rules.ts';
import { compileCut } from '../../../src/posting/steps/cut.ts';
import { sampleSpec, stateTable } from '../sample-spec.ts';

const readState = compileStateField(sampleSpec().stateField, stateTable);

function cut(text: string, most: number): string {
  const result = compileCut({ kind: 'max_length', most }).apply(text, readState);
  return result.kind === 'value' ? result.value : expect.fail(result.message);
}

test.each([
  ['Registered Nurse', 16, 'Registered Nurse'],
  ['Registered Nurse', 15, 'Registered'],
  ['Registered Nurse', 10, 'Registered'],
  ['Registered Nurse', 11, 'Registered'],
  ['Registered Nurse', 4, 'Regi'],
  ['one two\nthree', 9, 'one two'],
  ['😀😀😀', 3, '😀😀😀'],
  ['😀😀😀😀', 3, '😀'],
  ['pay < 50 and more', 9, 'pay < 50'],
])('%j to %d', (text, most, expected) => {
  expect(cut(text, most)).toBe(expected);
});

describe('HTML', () => {
  test.each([
    ['<p>One two</p><p>Three four</p>', 31, '<p>One two</p><p>Three four</p>'],
    ['<p>One two</p><p>Three four</p>', 30, '<p>One two</p><p>Three</p>'],
    ['<p>One two</p><p>Three four</p>', 27, '<p>One two</p>'],
    ['<p>One two three four</p>', 20, '<p>One two three</p>'],
    ['<p>One <b>two three</b></p>', 22, '<p>One <b>two</b></p>'],
    ['<ul><li>One</li><li>Two</li><li>Three</li></ul>', 35, '<ul><li>One</li><li>Two</li></ul>'],
    ['<ul><li>One<li>Two<li>Three</ul>', 30, '<ul><li>One<li>Two</li></ul>'],
    ['One<br>two<br>three four five', 20, 'One<br>two<br>'],
    ['One two three <b>four', 16, 'One two three'],
    ['<a title="a > b">One</a> two', 25, '<a title="a > b">One</a>'],
    ['<!-- a comment -->One two three four', 25, '<!-- a comment -->One two'],
    ['<p>Unbreakable</p>', 12, ''],
    ['a <b', 3, 'a'],
  ])('%j to %d', (html, most, expected) => {
    expect(cut(html, most)).toBe(expected);
  });

  const piece = fc.constantFrom(
    '<p>',
    '</p>',
    '<b>',
    '</b>',
    '<ul>',
    '<li>',
    '</ul>',
    '<br>',
    'word ',
    ' more',
    'x',
    '<',
    '&amp;',
  );

  test('is never longer, begins as the text does, and leaves no element open that it did not begin with', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.integer({ min: 1, max: 120 }), (pieces, most) => {
        const html = pieces.join('');
        const result = cut(html, most);
        expect(result.length).toBeLessThanOrEqual(Math.max(most, html.length <= most ? html.length : 0));
        if (html.length <= most || !/<\/?[a-z]/.test(html)) return;
        const [kept = ''] = /^.*?(?=(?:<\/[a-z]+>)*$)/s.exec(result) ?? [];
        expect(html.startsWith(kept)).toBe(true);
        expect(openIn(result)).toEqual([]);
      }),
    );
  });

  test('takes linear time', () => {
    for (const html of [
      '<a "'.repeat(100_000),
      '<b>'.repeat(100_000),
      `<p>${'x'.repeat(500_000)}`,
      '<'.repeat(400_000),
    ]) {
      expect(cut(html, 50_000).length).toBeLessThanOrEqual(50_000);
    }
  });
});

/** The elements that are open at the end, with those that other tags end by themselves left out. */
function openIn(html: string): string[] {
  const open: string[] = [];
  for (const [, slash, name = ''] of html.matchAll(/<(\/?)([a-z]+)>/g)) {
    if (name === 'br') continue;
    if (slash === '') {
      if ((name === 'p' || name === 'li') && open.at(-1) === name) open.pop();
      open.push(name);
    } else if (open.includes(name)) open.length = open.lastIndexOf(name);
  }
  return open;
}
