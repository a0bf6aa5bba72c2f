// How elements inside a value are rendered.
import { describe, expect, test } from 'vitest';
import { type MarkupForm, renderMarkup } from '../../src/posting/markup.ts';

describe('renderMarkup', () => {
  const cases: [name: string, form: MarkupForm, markup: string, text: string][] = [
    ['text around an element, in order', 'plain', 'Title <b>bold</b> tail', 'Title bold tail'],
    ['paragraphs do not run into each other', 'plain', '<p>One</p><p>Two</p>', 'One\n\nTwo'],
    ['a line break', 'plain', '<div>One<br/>Two <i>it</i></div>', 'One\nTwo it'],
    ['elements that are not HTML', 'plain', '\n <city>Boston</city>\n <state>MA</state>\n', 'Boston MA'],
    ['elements that HTML would hide are shown', 'plain', '<title>Nurse</title><style>plain</style>', 'Nurseplain'],
    ['escaped characters', 'plain', '<b>a &lt; b</b> &amp;amp; &#233;', 'a < b &amp; é'],
    ['a CDATA section is text', 'plain', '<b>x</b> <![CDATA[1 < 2 &amp; <i>]]>', 'x 1 < 2 &amp; <i>'],
    ['comments and instructions are not text', 'plain', 'a<!-- <b> --><?x <c> ?><b/>d', 'ad'],
    ['raised cents', 'plain', '$18<sup><u>50</u></sup> or 20<SUP>.50</SUP> x<sup>2</sup>3', '$18^50 or 20.50 x23'],
    ['other raised text', 'plain', '5<sup>th</sup> 7<sup></sup>5 1<sup> 2</sup>', '5th 75 1 2'],
    ['elements stay elements', 'html', '<p class="x">One &lt; <b>two</b></p>', '<p class="x">One &lt; <b>two</b></p>'],
    ['names lose prefixes', 'html', '<h:div xmlns:h="u" xmlns="v" h:a="1"><h:p/></h:div>', '<div a="1"><p></p></div>'],
    ['void elements get no end tag', 'html', 'One<br/>two<hr />', 'One<br>two<hr>'],
    ['a CDATA section is escaped', 'html', '<b/><![CDATA[1 < 2 & 3]]>', '<b></b>1 &lt; 2 &amp; 3'],
    ['a > in an attribute', 'html', `<a title='a > b' href="/x/">x</a>`, `<a title='a &gt; b' href="/x/">x</a>`],
    ['escaped once more', 'escaped html', '<p>a &lt; b</p>', '<p>a &amp;lt; b</p>'],
  ];
  test.each(cases)('%s (%s)', (_name, form, markup, text) => {
    expect(renderMarkup(markup, form)).toBe(text);
  });

  test('runs in linear time', () => {
    const hostile = `<a b="${'x> '.repeat(250_000)}"/>`;
    expect(renderMarkup(hostile, 'html')).toMatch(/^<a b="x&gt;/);
  });
});
