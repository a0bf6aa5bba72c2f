// The sandbox's XML: it reads like a conforming parser, and what it writes can be read back unchanged.
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { isXmlText, NotWellFormed, parseXml, type XmlElement } from '../../src/sandbox/xml/parse-xml.ts';
import { element, writeDocument, type Xml } from '../../src/sandbox/xml/write-xml.ts';

/** The same tree as {@link parseXml}'s, by saxes; `undefined`: not well-formed. */
function bySaxes(text: string): XmlElement | undefined {
  type Open = { name: string; attributes: Map<string, string>; children: XmlElement[]; text: string };
  const parser = new SaxesParser();
  const open: Open[] = [];
  let root: XmlElement | undefined;
  let failed = false;
  parser.on('error', () => {
    failed = true;
  });
  parser.on('opentag', (tag) => {
    const node: Open = { name: tag.name, attributes: new Map(Object.entries(tag.attributes)), children: [], text: '' };
    open.at(-1)?.children.push(node);
    root ??= node;
    open.push(node);
  });
  parser.on('closetag', () => open.pop());
  const add = (data: string): void => {
    const within = open.at(-1);
    if (within) within.text += data;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.write(text).close();
  return failed ? undefined : root;
}

const byUs = (text: string): XmlElement | undefined => {
  try {
    return parseXml(text);
  } catch (error) {
    if (error instanceof NotWellFormed) return undefined;
    throw error;
  }
};

describe('reads as a conforming parser does', () => {
  it.each([
    ['a declaration', '<?xml version="1.0" encoding="UTF-8" standalone=\'yes\' ?><job/>'],
    ['a declaration after a blank', ' <?xml version="1.0"?><job/>'],
    ['a declaration without version', '<?xml encoding="UTF-8"?><job/>'],
    ['comments and instructions around the root', '<!-- a --><?b c?><job/><!-- d --><?e?>\n'],
    ['two dashes in a comment', '<job><!-- a -- b --></job>'],
    ['a comment that ends in three dashes', '<job><!-- a ---></job>'],
    ['an empty comment', '<job><!----></job>'],
    ['an instruction named xml', '<job><?XML a?></job>'],
    ['a CDATA section with everything', '<job><![CDATA[<a>&amp;]]]]><![CDATA[>]]></job>'],
    ['a CDATA section outside', '<![CDATA[a]]><job/>'],
    ['an open CDATA section', '<job><![CDATA[a]]</job>'],
    ['line ends', '<job a="1\r\n2">\r\n\r</job>'],
    ['built-in entities', '<job a="&lt;&#9;">&amp;&lt;&gt;&quot;&apos;</job>'],
    ['another entity', '<job>&nbsp;</job>'],
    ['an entity named like a property of Object', '<job>&constructor;</job>'],
    ['a bare ampersand', '<job>a & b</job>'],
    ['an ampersand at the end', '<job>a&</job>'],
    ['numeric references', '<job>&#65;&#x1F600;&#13;</job>'],
    ['a reference to nothing', '<job>&#0;</job>'],
    ['a reference to a surrogate', '<job>&#xD800;</job>'],
    ['a reference beyond Unicode', '<job>&#x110000;</job>'],
    ['a section end in text', '<job>a]]>b</job>'],
    ['a smaller-than in an attribute', '<job a="<"/>'],
    ['an attribute without quotes', '<job a=b/>'],
    ['an attribute without value', '<job a/>'],
    ['an attribute twice', '<job a="1" a="2"/>'],
    ['attributes that touch', '<job a="1"b="2"/>'],
    ['a greater-than in an attribute', '<job a=">">b</job>'],
    ['a blank before the name', '< job/>'],
    ['a blank behind the end tag', '<job></job >'],
    ['overlap', '<a><b></a></b>'],
    ['a lone end', '</a>'],
    ['two roots', '<a/><b/>'],
    ['text behind the root', '<a/>b'],
    ['no root', '<!-- nothing -->'],
    ['nothing', ''],
    ['an open root', '<a>'],
    ['an open tag', '<a'],
    ['names with colons, dashes, dots, umlauts', '<a:b-c.d ä:ö="1"/>'],
    ['a name that begins with a digit', '<1a/>'],
    ['nested elements of one name', '<a>1<a>2</a>3<a/></a>'],
    ['a control character', '<a>\u0008</a>'],
    ['a lone surrogate', '<a>\ud800</a>'],
    ['U+FFFE', '<a>\ufffe</a>'],
    ['characters beyond the first plane', '<a>😀</a>'],
  ])('%s', (_, text) => {
    expect(byUs(text)).toEqual(bySaxes(text));
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

  it('any soup of markup', () => {
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
          expect(byUs(text)).toEqual(bySaxes(text));
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('writes what it can read', () => {
  const text = fc.string({ unit: 'grapheme' }).filter(isXmlText);

  it('any text and attribute', () => {
    fc.assert(
      fc.property(text, text, (content, value) => {
        const document = writeDocument(element('a', [element('b', content, { c: value })]));
        for (const root of [parseXml(document), bySaxes(document)]) {
          expect(root?.children[0]?.text).toBe(content);
          expect(root?.children[0]?.attributes.get('c')).toBe(value);
        }
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
