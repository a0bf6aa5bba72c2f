// A record becomes a tree of plain text, or one clear reason why it can't be read.
import { describe, expect, it } from 'vitest';
import { parseRecord } from '../../src/feed/format/xml/xml-format.ts';

const tree = (xml: string) => {
  const parsed = parseRecord(Buffer.from(xml));
  return parsed.kind === 'tree' ? parsed.tree : parsed.problems;
};

const withoutMarkup = (read: unknown) =>
  JSON.parse(JSON.stringify(read), (key, value) => (key === '#markup' ? undefined : value));

describe('a readable record', () => {
  const cases: Record<string, [string, unknown]> = {
    'text is never converted': [
      '<job><a>007</a><b>1e5</b><c>0x10</c><d>true</d></job>',
      { a: '007', b: '1e5', c: '0x10', d: 'true' },
    ],
    'white space is kept in text': ['<job><a> x\n </a></job>', { a: ' x\n ' }],
    'white space between children is layout': ['<job>\n  <a/>\n</job>', { a: '' }],
    'line ends are normalised': ['<job>a\r\nb\rc</job>', 'a\nb\nc'],
    'a record of text alone': ['<job>x</job>', 'x'],
    'an empty record': ['<job/>', ''],
    'repeated elements become a list': ['<job><a>1</a><b/><a>2</a><a>3</a></job>', { a: ['1', '2', '3'], b: '' }],
    'attributes, with text and without': [
      '<job id="1"><a b=\'2\'>x</a><c d="3"/></job>',
      { '@id': '1', a: { '@b': '2', '#text': 'x' }, c: { '@d': '3' } },
    ],
    'white space in attributes': ['<job a="1\n\t2"/>', { '@a': '1  2' }],
    'CDATA and text are joined': ['<job>a<![CDATA[<b>&amp;]]]]><![CDATA[>]]>&lt;</job>', 'a<b>&amp;]]><'],
    'entities are decoded once': ['<job>&amp;lt; &#38;lt; &quot;&apos;&gt;</job>', `&lt; &lt; "'>`],
    'character references': ['<job>&#8212;&#x1F680;&#xe9;</job>', '—🚀é'],
    'named characters of HTML': ['<job>a&nbsp;b&eacute;&mdash;&hearts;&thetasym;&yuml;</job>', 'a\u00a0bé—♥ϑÿ'],
    'comments and instructions are left out': ['<job>a<!-- <b> -- -->b<?x </job>?>c</job>', 'abc'],
    'a comment with another one and an element whose name begins with the record’s': [
      '<job><!-- <job-title>a</job-title> <!-- b --><a>c</a></job>',
      { a: 'c' },
    ],
    'control characters are kept, to be removed later with a note': ['<job>a\u0001b&#11;c</job>', 'a\u0001b\u000bc'],
    'prefixes stay': ['<h:job h:id="1"><h:a>x</h:a></h:job>', { '@h:id': '1', 'h:a': 'x' }],
    'names of object properties are ordinary names': [
      '<job constructor="1"><__proto__>x</__proto__><toString/><constructor>y</constructor></job>',
      { '@constructor': '1', ['__proto__']: 'x', toString: '', constructor: 'y' },
    ],
  };
  it.each(Object.entries(cases))('%s', (_, [xml, expected]) => {
    expect(withoutMarkup(tree(xml))).toEqual(expected);
  });

  it('keeps the verbatim content of an element with children', () => {
    expect(tree('<job>a <b>x<!-- y --></b>\r\n<c d="&amp;"/> &lt;<![CDATA[z]]></job>')).toEqual({
      b: 'x',
      c: { '@d': '&' },
      '#markup': 'a <b>x<!-- y --></b>\n<c d="&amp;"/> &lt;<![CDATA[z]]>',
    });
  });

  it('has no prototype at any depth', () => {
    const read = tree('<job __proto__="1"><a><__proto__><polluted>yes</polluted></__proto__></a></job>') as Record<
      string,
      object
    >;
    expect(Object.getPrototypeOf(read)).toBeNull();
    expect(Object.getPrototypeOf(read.a)).toBeNull();
    expect(Object.keys(read.a ?? {})).toEqual(['__proto__', '#markup']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('may have ten thousand attributes and a name of ten thousand letters', () => {
    const attributes = Array.from({ length: 10_000 }, (_, index) => ` a${index}="${index}"`).join('');
    const name = 'n'.repeat(10_000);
    const read = tree(`<job${attributes}><${name}/></job>`) as Record<string, unknown>;
    expect(Object.keys(read)).toHaveLength(10_002);
    expect(read[name]).toBe('');
  });
});

describe('an unreadable record', () => {
  const cases: Record<string, [string | Buffer, RegExp]> = {
    'a bare ampersand': [
      '<job>\n<a>R&D</a></job>',
      /unknown entity &D|bare "&" must be written as &amp; \(line 2 of the record\)/,
    ],
    'an ampersand before a space': ['<job>a & b</job>', /a bare "&" must be written as &amp; \(line 1/],
    'an unknown entity': ['<job>&company;</job>', /unknown entity &company;/],
    'an entity named like an object property': ['<job>&constructor;</job>', /unknown entity &constructor;/],
    'a reference to a lone surrogate': ['<job>&#xD800;</job>', /&#xD800; is not a character/],
    'a reference beyond Unicode': ['<job>&#99999999;</job>', /&#99999999; is not a character/],
    'an unclosed tag': ['<job>a<br>b</job>', /"<\/job>" where "<\/br>" is expected/],
    'crossed tags': ['<job><a><b></a></b></job>', /"<\/a><\/b><\/job>" where "<\/b>" is expected/],
    'a bare <': ['<job>1 < 2</job>', /a bare "<" must be written as &lt;/],
    'a missing end tag': ['<job><a/>', /"<\/job>" is missing/],
    'a second element': ['<job/><job/>', /a second element follows/],
    'text after the element': ['<job/>x', /text outside the element/],
    'an attribute without quotes': ['<job a=1/>', /not well-formed at " a=1\/>"/],
    'an attribute twice': ['<job a="1" a="2"/>', /attribute "a" appears twice/],
    'an attribute with <': ['<job a="<b>"/>', /not well-formed/],
    ']]> in text': ['<job>a]]>b</job>', /"\]\]>" is not allowed in text/],
    'an unclosed CDATA section': ['<job><![CDATA[a</job>', /is not closed/],
    'a CDATA section that goes on into another record': [
      '<job><a><![CDATA[b</a></job><job><a><![CDATA[c]]></a></job>',
      /a CDATA section, a comment or a processing instruction seems to lack its end, and contains another record/,
    ],
    'a comment that goes on into another record': [
      '<job><!-- a <b/></job><job><!-- c --></job>',
      /a CDATA section, a comment or a processing instruction seems to lack its end, and contains another record/,
    ],
    'a processing instruction that goes on into another record': [
      '<job><a>b <?c /></a></job><job><a>d <?e ?></a></job>',
      /a CDATA section, a comment or a processing instruction seems to lack its end, and contains another record/,
    ],
    'an unclosed comment': ['<job><!-- a</job>', /is not closed/],
    'a document type': ['<!DOCTYPE job [<!ENTITY a "b">]><job>&a;</job>', /"<!DOCTYPE job .* is not allowed here/],
    'endless depth': [`${'<a>'.repeat(100_000)}`, /nested deeper than 64/],
    'bytes that are not UTF-8': [
      Buffer.from('<job>caf\xe9</job>', 'latin1'),
      /not valid in the encoding of the feed; .*windows-1252/,
    ],
    nothing: ['', /it has no element/],
  };
  it.each(Object.entries(cases))('%s', (_, [xml, message]) => {
    const parsed = parseRecord(Buffer.from(xml));
    expect(parsed).toEqual({ kind: 'unreadable', problems: [{ message: expect.stringMatching(message) }] });
  });
});
