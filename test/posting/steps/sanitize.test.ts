// The step `sanitize`: what stays of HTML, and that no HTML takes long.
import { expect, test } from 'vitest';
import { compileReader } from '../../../src/posting/reader.ts';
import { compileStateField } from '../../../src/posting/site-rules.ts';
import { compileSanitize, DEFAULT_ELEMENTS } from '../../../src/posting/steps/sanitize.ts';
import { sampleSpec, stateTable } from '../sample-spec.ts';

const readState = compileStateField(sampleSpec().stateField, stateTable);
const usual = compileSanitize({ kind: 'sanitize', elements: DEFAULT_ELEMENTS });
const sanitize = (html: string) => usual.apply(html, readState);

test.each([
  ['<p class="x">One</p>', '<p>One</p>'],
  ['One & two < three', 'One &amp; two &lt; three'],
  ['<img src=x onerror=spy()>One', 'One'],
  ['<style>p { }</style><script>spy()</script>One', 'One'],
  ['<svg><script>spy()</script></svg><iframe src="x">y</iframe>One', 'One'],
  ['<a href="/jobs">One</a>', '<a href="/jobs">One</a>'],
  ['<a href="//evil.example">One</a>', '<a>One</a>'],
  ['<a href=" jAvAscript:spy()">One</a>', '<a>One</a>'],
  ['<table><tr><td>One</td><td>Two</td></tr></table>', 'One<br />Two<br />'],
  ['<p>One', '<p>One</p>'],
  ['<b', ''],
])('%j', (html, expected) => {
  const result = sanitize(html);
  expect(result.kind === 'value' && result.value.trim()).toBe(expected);
});

test.each([
  ['<'.repeat(200_000)],
  ['<a "'.repeat(50_000)],
  ['<!--'.repeat(50_000)],
  ['&'.repeat(200_000)],
  ['<p>'.repeat(50_000)],
  ['</b>'.repeat(50_000)],
  [' '.repeat(100_000)],
  ['x </div'.repeat(50_000)],
])('takes no long time', (html) => {
  expect(sanitize(html).kind).toBe('value');
});

test.each([['<b>'.repeat(50_000)], ['<x><p>'.repeat(50_000)]])(
  'refuses elements inside each other without end',
  (html) => {
    const message = 'has more than 200 HTML elements inside each other';
    expect(sanitize(html)).toEqual({ kind: 'refused', message });
  },
);

test('keeps the elements inside an XML element', () => {
  const spec = sampleSpec();
  const rule = { source: { kind: 'paths', paths: ['a'] }, as: [{ kind: 'sanitize', elements: ['p'] }] } as const;
  const reader = compileReader({ ...spec, fields: { ...spec.fields, about: rule } });
  const record = {
    id: '1',
    title: 'Nurse',
    state: 'MA',
    a: { p: 'x', '#markup': '<p id="1">One &amp; <b>two</b></p>' },
  };
  expect(reader.read(record)).toMatchObject({ posting: { fields: { about: '<p>One &amp; two</p>' } } });
});
