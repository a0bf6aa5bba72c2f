// The sandbox's XML: it reads like a conforming parser, and what it writes can be read back unchanged.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { element, writeDocument, type Xml } from '../../src/sandbox/interface/write-xml.ts';
import { NotWellFormed, parseXml, type XmlElement } from '../../src/sandbox/interface/xml-app.ts';
import { anyCharacter } from '../support/any-character.ts';
import { countOf } from '../support/extent.ts';

/** An element as `name(attributes)[text children]`; `undefined`: not well-formed. */
function read(text: string): string | undefined {
  try {
    return show(parseXml(text));
  } catch (error) {
    if (error instanceof NotWellFormed) return undefined;
    throw error;
  }
}

/** Throws whatever is not a refusal. */
const refusalOf = (text: string): string => {
  try {
    parseXml(text);
    return 'read';
  } catch (error) {
    if (error instanceof NotWellFormed) return error.message;
    throw error;
  }
};

const show = ({ name, attributes, children, text }: XmlElement): string =>
  `${name}(${[...attributes].map(([key, value]) => `${key}=${value}`)})[${[JSON.stringify(text), ...children.map(show)].join(' ')}]`;

describe('reads as a conforming parser does', () => {
  it.each([
    ['a declaration', '<?xml version="1.0" encoding="UTF-8" standalone=\'yes\' ?><job/>', 'job()[""]'],
    ['a declaration after a blank', ' <?xml version="1.0"?><job/>', undefined],
    ['a declaration without version', '<?xml encoding="UTF-8"?><job/>', undefined],
    ['comments and instructions around the root', '<!-- a --><?b c?><job/><!-- d --><?e?>\n', 'job()[""]'],
    ['two dashes in a comment', '<job><!-- a -- b --></job>', undefined],
    ['a comment that ends in three dashes', '<job><!-- a ---></job>', undefined],
    ['an empty comment', '<job><!----></job>', 'job()[""]'],
    ['an instruction named xml', '<job><?XML a?></job>', undefined],
    ['a CDATA section with everything', '<job><![CDATA[<a>&amp;]]]]><![CDATA[>]]></job>', 'job()["<a>&amp;]]>"]'],
    ['a CDATA section outside', '<![CDATA[a]]><job/>', undefined],
    ['an open CDATA section', '<job><![CDATA[a]]</job>', undefined],
    ['line ends', '<job a="1\r\n2">\r\n\r</job>', 'job(a=1 2)["\\n\\n"]'],
    ['built-in entities', '<job a="&lt;&#9;">&amp;&lt;&gt;&quot;&apos;</job>', 'job(a=<\t)["&<>\\"\'"]'],
    ['another entity', '<job>&nbsp;</job>', undefined],
    ['an entity named like a property of Object', '<job>&constructor;</job>', undefined],
    ['a bare ampersand', '<job>a & b</job>', undefined],
    ['an ampersand at the end', '<job>a&</job>', undefined],
    ['numeric references', '<job>&#65;&#x1F600;&#13;</job>', 'job()["A😀\\r"]'],
    ['a reference to nothing', '<job>&#0;</job>', undefined],
    ['a reference to a surrogate', '<job>&#xD800;</job>', undefined],
    ['a reference beyond Unicode', '<job>&#x110000;</job>', undefined],
    ['a section end in text', '<job>a]]>b</job>', undefined],
    ['a smaller-than in an attribute', '<job a="<"/>', undefined],
    ['an attribute without quotes', '<job a=b/>', undefined],
    ['an attribute without value', '<job a/>', undefined],
    ['an attribute twice', '<job a="1" a="2"/>', undefined],
    ['attributes that touch', '<job a="1"b="2"/>', undefined],
    ['a greater-than in an attribute', '<job a=">">b</job>', 'job(a=>)["b"]'],
    ['a blank before the name', '< job/>', undefined],
    ['a blank behind the end tag', '<job></job >', 'job()[""]'],
    ['overlap', '<a><b></a></b>', undefined],
    ['a lone end', '</a>', undefined],
    ['two roots', '<a/><b/>', undefined],
    ['text behind the root', '<a/>b', undefined],
    ['no root', '<!-- nothing -->', undefined],
    ['nothing', '', undefined],
    ['an open root', '<a>', undefined],
    ['an open tag', '<a', undefined],
    ['names with colons, dashes, dots, umlauts', '<a:b-c.d ä:ö="1"/>', 'a:b-c.d(ä:ö=1)[""]'],
    ['a name that begins with a digit', '<1a/>', undefined],
    ['nested elements of one name', '<a>1<a>2</a>3<a/></a>', 'a()["13" a()["2"] a()[""]]'],
    ['a control character', '<a>\u0008</a>', undefined],
    ['a lone surrogate', '<a>\ud800</a>', undefined],
    ['U+FFFE', '<a>\ufffe</a>', undefined],
    ['characters beyond the first plane', '<a>😀</a>', 'a()["😀"]'],
  ] as const)('%s', (_, text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it('refuses every document type', () => {
    expect(() => parseXml('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')).toThrow(/document type/);
  });

  it('refuses nesting that is too deep', () => {
    expect(() => parseXml('<a>'.repeat(101) + '</a>'.repeat(101))).toThrow(/more than 100 nested/);
  });

  it('names the line', () => {
    expect(() => parseXml('<a>\n<b>\n</a>')).toThrow(/line 3/);
  });

  it('any soup of markup is read or refused, with the line', () => {
    const piece = fc.constantFrom(
      '<a>',
      '</a>',
      '<b c="d">',
      '</b>',
      '<e/>',
      '&amp;',
      '&',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '-',
      '<?p',
      '?>',
      'x',
      ' ',
      '\r\n',
      '<',
      '>',
      '"',
      '=',
      '&#10;',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        for (const text of [pieces.join(''), `<a>${pieces.join('')}</a>`]) {
          expect(refusalOf(text)).toMatch(/^read$| in line \d+$/);
        }
      }),
      { numRuns: countOf(undefined, 3_000, 1_000) },
    );
  });
});

describe('writes what it can read', () => {
  /** What XML 1.0 can carry (2.2). */
  const allowed = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;
  const text = fc.string({ unit: anyCharacter }).filter((it) => allowed.test(it));

  it('any text and attribute', () => {
    fc.assert(
      fc.property(text, text, (content, value) => {
        const document = writeDocument(element('a', [element('b', content, { c: value })]));
        const [child] = parseXml(document).children;
        expect(child?.text).toBe(content);
        expect(child?.attributes.get('c')).toBe(value);
      }),
    );
  });

  it.each<[string, Xml, string]>([
    ['an empty element', element('a', ''), '<a/>'],
    ['an empty list', element('a', [], { type: 'array' }), '<a type="array"/>'],
    ['markup', element('a', ']]><b>&"'), '<a>]]&gt;&lt;b&gt;&amp;&quot;</a>'],
    ['a carriage return', element('a', '\r\n'), '<a>&#13;\n</a>'],
  ])('%s', (_, xml, expected) => {
    expect(xml.xml).toBe(expected);
  });
});
