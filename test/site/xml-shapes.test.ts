// What the reader makes of the shapes that site-interface.md leaves open, and what it refuses.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBodyText } from '../../src/site/xml/body-text.ts';
import type { XmlElement } from '../../src/site/xml/xml-events.ts';
import { openXml } from '../../src/site/xml/xml-events.ts';
import { readXml } from '../../src/site/xml/xml-tree.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

/** `<name attribute="value">["text" <child>[]]`, with attributes as they are folded. */
function show(node: XmlElement | string): string {
  if (typeof node === 'string') return JSON.stringify(node);
  const attributes = [...node.attributes].map(([name, value]) => ` ${name}=${JSON.stringify(value)}`).join('');
  return `<${node.name}${attributes}>[${node.content.map(show).join(' ')}]`;
}

/** As the parser of lists and of long documents reads it. */
function readAsStream(xml: string): XmlElement | undefined {
  const reading = openXml({ elements: 2_000, characters: 2 << 20 });
  try {
    for (const character of xml) reading.write(character);
    return reading.end();
  } catch {
    return undefined;
  }
}

const nested = (depth: number, inner = ''): string => `${'<a>'.repeat(depth)}${inner}${'</a>'.repeat(depth)}`;
const withAttributes = (count: number): string =>
  `<a ${Array.from({ length: count }, (_, at) => `a${at}=""`).join(' ')}/>`;

const shapes: readonly [shape: string, xml: string, read: string][] = [
  [
    'names with - and _',
    '<job><location-state>MA</location-state><location_state>OH</location_state></job>',
    '<job>[<location-state>["MA"] <location_state>["OH"]]',
  ],
  ['names with other letters', '<größe><日本.1>x</日本.1><_a/><a-/></größe>', '<größe>[<日本.1>["x"] <_a>[] <a->[]]'],
  [
    'names of prototypes',
    '<constructor a="1"><__proto__ __proto__="x">y</__proto__><toString/><hasOwnProperty>z</hasOwnProperty></constructor>',
    '<constructor a="1">[<__proto__ --proto--="x">["y"] <toString>[] <hasOwnProperty>["z"]]',
  ],
  ['capital letters in names', '<Job Type="A"><Title>x</Title></Job>', '<Job type="A">[<Title>["x"]]'],
  [
    'nil',
    '<job><a nil="true"/><b nil="true"></b><c nil="false">x</c><d xsi:nil="1"/></job>',
    '<job>[<a nil="true">[] <b nil="true">[] <c nil="false">["x"] <d nil="1">[]]',
  ],
  [
    'types',
    '<job><id type="integer">7</id><at type="dateTime">x</at><n xsi:type="xs:decimal">1.50</n></job>',
    '<job>[<id type="integer">["7"] <at type="dateTime">["x"] <n type="xs:decimal">["1.50"]]',
  ],
  [
    'an array',
    '<jobs type="array"><job><id>1</id></job><job><id>2</id></job></jobs>',
    '<jobs type="array">[<job>[<id>["1"]] <job>[<id>["2"]]]',
  ],
  ['an empty array', '<jobs type="array"/>', '<jobs type="array">[]'],
  [
    'numbers and booleans',
    '<job><a>007</a><b>1e5</b><c>0x1F</c><d>true</d><e>1.50</e><f>null</f></job>',
    '<job>[<a>["007"] <b>["1e5"] <c>["0x1F"] <d>["true"] <e>["1.50"] <f>["null"]]',
  ],
  ['CDATA alone', '<a><![CDATA[<p>R&D &amp; more</p>]]></a>', '<a>["<p>R&D &amp; more</p>"]'],
  ['CDATA in text', '<title>Senior <![CDATA[R&D]]> Engineer</title>', '<title>["Senior R&D Engineer"]'],
  ['CDATA sections side by side', '<a><![CDATA[x]]><![CDATA[]]><![CDATA[ ]]]]><![CDATA[>]]></a>', '<a>["x ]]>"]'],
  ['an empty CDATA section', '<a><![CDATA[]]></a>', '<a>[""]'],
  ['white space in a text', '<a>  two  words\n\tand a line </a>', '<a>["  two  words\\n\\tand a line "]'],
  ['white space alone', '<a> \n </a>', '<a>[" \\n "]'],
  ['white space between elements', '<a>\n  <b/>\n  <c/>\n</a>\n', '<a>["\\n  " <b>[] "\\n  " <c>[] "\\n"]'],
  ['line ends', '<a>x\r\ny\rz&#13;</a>', '<a>["x\\ny\\nz\\r"]'],
  ['a no-break space', '<a>\u00a0x\u00a0</a>', '<a>["\u00a0x\u00a0"]'],
  ['an empty element', '<a></a>', '<a>[]'],
  ['an empty element without end tag', '<a />', '<a>[]'],
  ['numeric references', '<a>&#65;&#x42;&#x1F600;&#xe9;&#9;&#13;&#X41;</a>', '<a>["AB😀é\\t\\rA"]'],
  [
    'references of no character',
    '<a>&#0;&#xD800;&#x110000;&#xFFFE;&#1;&#99999999999;</a>',
    '<a>["\ufffd\ufffd\ufffd\ufffe\\u0001&#99999999999;"]',
  ],
  [
    'the five entities',
    '<a b="&quot;&apos;&lt;&gt;&amp;">&lt;p&gt;&amp;amp;&quot;&apos;</a>',
    `<a b="\\"'<>&">["<p>&amp;\\"'"]`,
  ],
  [
    'entities of HTML',
    '<a b="&nbsp;&eacute;">&nbsp;&eacute;&euro;&mdash;&copy;&inr;&AMP;</a>',
    '<a b="&nbsp;&eacute;">["&nbsp;&eacute;&euro;&mdash;&copy;&inr;&AMP;"]',
  ],
  [
    'ampersands that begin no reference',
    '<a b="R&D">R&D & more; &; &#; &#x; &amp &lt</a>',
    '<a b="R&D">["R&D & more; &; &#; &#x; &amp &lt"]',
  ],
  ['a reference of a reference', '<a>&amp;#65; &#38;amp; &#x26;lt;</a>', '<a>["&#65; &amp; &lt;"]'],
  ['comments', '<!-- a --><a>x<!-- <b> & -->y<!----><b/><!-- c --></a><!-- d -->', '<a>["xy" <b>[]]'],
  ['processing instructions', '<?xml-stylesheet href="a"?><a>x<?php echo 1 > 0; ?>y</a><?end?>', '<a>["xy"]'],
  ['an XML declaration', '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<a/>', '<a>[]'],
  ['an XML declaration of version 1.1', `<?xml version='1.1'?><a>x</a>`, '<a>["x"]'],
  ['a byte order mark and lines before the document', '\ufeff\n\n<?xml version="1.0"?><a/>', '<a>[]'],
  [
    'namespaces',
    '<s:Envelope xmlns:s="urn:s" xmlns="urn:d"><s:Body s:id="1" x:type="a"><x:job/></s:Body></s:Envelope>',
    '<Envelope xmlns="urn:d">[<Body id="1" type="a">[<job>[]]]',
  ],
  ['a name with two colons', '<a:b:c d:e:f="1"/>', '<b:c e:f="1">[]'],
  ['the same attribute with two prefixes', '<a x:b="1" y:b="2" b_c="3"/>', '<a b="2" b-c="3">[]'],
  [
    'attributes in single quotes, with space',
    `<a b = 'say "x"' c="it's"\n d="1>0" />`,
    `<a b="say \\"x\\"" c="it's" d="1>0">[]`,
  ],
  ['line breaks and tabs in attributes', '<a b="x\n\ty&#10;&#9;z"/>', '<a b="x  y\\n\\tz">[]'],
  ['white space around attribute values', '<a b=" x  y "/>', '<a b=" x  y ">[]'],
  ['slashes in an attribute', '<a href="/jobs/7/"></a>', '<a href="/jobs/7/">[]'],
  [
    'repeated elements',
    '<e><error>x</error><error>y</error><error>x</error></e>',
    '<e>[<error>["x"] <error>["y"] <error>["x"]]',
  ],
  ['text between elements', '<a>one <b>two</b> three <b/>four</a>', '<a>["one " <b>["two"] " three " <b>[] "four"]'],
  ['a DOCTYPE', '<!DOCTYPE a><a>x</a>', '<a>["x"]'],
  ['a DOCTYPE of a file', '<!DOCTYPE a PUBLIC "-//X//EN" "http://x.test/a>b.dtd"><a>x</a>', '<a>["x"]'],
  [
    'entities that a DOCTYPE declares',
    '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d SYSTEM "e.txt"> <!ELEMENT a ANY> <!-- ] > " --> <?p ]?>] ><a b="&b;">&b;&d;</a>',
    '<a b="&b;">["&b;&d;"]',
  ],
  ['a DOCTYPE in a text', '<a><![CDATA[<!DOCTYPE a [ ]>]]></a>', '<a>["<!DOCTYPE a [ ]>"]'],
  [
    'a web page that is XML',
    '<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Log in</title></head><body>x<br/></body></html>',
    '<html xmlns="http://www.w3.org/1999/xhtml">[<head>[<title>["Log in"]] <body>["x" <br>[]]]',
  ],
  [
    'control characters',
    '<a b="\u0001">x\u0000\b\u000b\u007f\u0085\ufffe\ufdd0</a>',
    '<a b="\ufffd">["x\ufffd\ufffd\ufffd\u007f\u0085\ufffd\ufffd"]',
  ],
  ['characters beyond the first plane', '<a b="😀">😀𝒳</a>', '<a b="😀">["😀𝒳"]'],
];

const refused: readonly [what: string, xml: string][] = [
  ['nothing', ''],
  ['white space', ' \n'],
  ['a byte order mark', '\ufeff'],
  ['words', 'OK'],
  ['a number', '7'],
  ['JSON', '{"id":7}'],
  ['only a declaration', '<?xml version="1.0"?>'],
  ['only a comment', '<!-- a -->'],
  ['only a DOCTYPE', '<!DOCTYPE a>'],
  [
    'a web page',
    '<!DOCTYPE html><html><head><meta charset="utf-8"><title>Log in</title></head><body><p>x<br>y</body></html>',
  ],
  ['text before the root', 'a<b/>'],
  ['text after the root', '<a></a>b'],
  ['text after a root without end tag', '<a/>b'],
  ['a bracket after the root', '<a/> >'],
  ['CDATA after the root', '<a/><![CDATA[b]]>'],
  ['a reference after the root', '<a/>&#65;'],
  ['two roots', '<a></a><b></b>'],
  ['two roots without end tags', '<a/><b/>'],
  ['two documents', '<?xml version="1.0"?><a/><?xml version="1.0"?><b/>'],
  ['crossed elements', '<a><b></a></b>'],
  ['an end tag with an attribute', '<a></a b="c">'],
  ['another case in the end tag', '<a></A>'],
  ['another prefix in the end tag', '<x:a></y:a>'],
  ['an attribute without a value', '<a b/>'],
  ['an attribute without quotes', '<a b=c/>'],
  ['an attribute that ends nowhere', '<a b="c/>'],
  ['an attribute given twice', '<a b="1" b="2"/>'],
  ['attributes without space', '<a b="1"c="2"/>'],
  ['a bracket in an attribute', '<a b="<"/>'],
  ['a name that begins with a digit', '<1/>'],
  ['a space before the name', '< a/>'],
  ['a bracket in a text', '<a>1 < 2</a>'],
  ['an ampersand in a name', '<a&b/>'],
  ['the end of CDATA in a text', '<a>x]]>y</a>'],
  ['CDATA that ends nowhere', '<a><![CDATA[x</a>'],
  ['CDATA in small letters', '<a><![cdata[x]]></a>'],
  ['a comment that ends nowhere', '<a/><!-- x'],
  ['two hyphens in a comment', '<a><!-- x -- y --></a>'],
  ['three hyphens at the end of a comment', '<a><!-- x ---></a>'],
  ['a processing instruction that ends nowhere', '<a/><?x >'],
  ['a declaration in the root', '<a><?xml version="1.0"?></a>'],
  ['a declaration after a comment', '<!-- a --><?xml version="1.0"?><a/>'],
  ['a declaration of another version', '<?xml version="2.0"?><a/>'],
  ['a declaration with a value that it may not have', '<?xml version="1.0" standalone="true"?><a/>'],
  ['a declaration without a version', '<?xml encoding="UTF-8"?><a/>'],
  ['a DOCTYPE in the root', '<a><!DOCTYPE b></a>'],
  ['a DOCTYPE after the root', '<a/><!DOCTYPE a>'],
  ['two DOCTYPEs', '<!DOCTYPE a><!DOCTYPE a><a/>'],
  ['an entity outside a DOCTYPE', '<a><!ENTITY b "c"></a>'],
  ['a DOCTYPE that ends nowhere', '<!DOCTYPE a [<!ENTITY b "c"><a/>'],
];

describe('a document of the site', () => {
  it.each(shapes)('with %s', (_shape, xml, read) => {
    expect(show(readXml(xml) ?? 'refused')).toBe(read);
    expect(show(readAsStream(xml) ?? 'refused')).toBe(read);
  });

  it.each(refused)('is refused: %s', (_what, xml) => {
    expect(readXml(xml)).toBeUndefined();
    expect(readAsStream(xml)).toBeUndefined();
  });

  it.each([
    ['elements nested up to the limit', nested(101), nested(102)],
    ['an empty element at the limit of nesting', nested(100, '<b/>'), nested(101, '<b/>')],
    ['attributes of an element', withAttributes(500), withAttributes(501)],
    ['elements', `<a>${'<b/>'.repeat(1_999)}</a>`, `<a>${'<b/>'.repeat(2_000)}</a>`],
    ['elements with attributes', `<a>${'<b c="" d=""/>'.repeat(666)}</a>`, `<a>${'<b c="" d=""/>'.repeat(667)}</a>`],
    ['characters of a name', `<${'a'.repeat(1_000)}/>`, `<${'a'.repeat(1_001)}/>`],
    ['characters of the name of an attribute', `<a ${'a'.repeat(1_000)}=""/>`, `<a ${'a'.repeat(1_001)}=""/>`],
  ])('has a limit: %s', (_what, within, beyond) => {
    expect(readXml(within)).toBeDefined();
    expect(readXml(beyond)).toBeUndefined();
  });

  it.each([
    '<?xml version="1.0"?><!-- a --><job id="7" href="/jobs/7"><title>R&amp;D <![CDATA[<b>]]></title><x/></job>',
    '<!DOCTYPE job [<!ENTITY a "b">]><job id="7" href="/jobs/7.xml"/>',
    '<job/>',
    "<errors><error field='title'>is too long</error><!-- b --><?c d?></errors>",
  ])('is refused wherever it is cut: %s', (xml) => {
    expect(readXml(xml)).toBeDefined();
    for (let length = 0; length < xml.length; length++) expect(readXml(xml.slice(0, length))).toBeUndefined();
  });

  const title = '<?xml version="1.0" encoding="ISO-8859-1"?><job><title>Köchin – 5 €</title></job>';
  it.each([
    ['UTF-8 by default', Buffer.from('<a>ö€</a>'), '', 'ö€'],
    ['UTF-8 with a byte order mark, whatever it declares', Buffer.from(`\uFEFF${title}`), '', 'Köchin – 5 €'],
    [
      'the charset of the header before the declared one',
      Buffer.from(title),
      'text/xml; charset=utf-8',
      'Köchin – 5 €',
    ],
    ['the declared encoding', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xf6</a>', 'latin1'), '', 'ö'],
    ['UTF-16 that is none', Buffer.from('<?xml version="1.0" encoding="utf-16"?><a>ö€</a>'), '', 'ö€'],
    ['UTF-16', Buffer.from('\uFEFF<?xml version="1.0" encoding="UTF-16"?><a>ö€</a>', 'utf16le'), '', 'ö€'],
    ['bytes that are no UTF-8', Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e]), '', '\uFFFD'],
  ])('in %s', async (_encoding, bytes, contentType, text) => {
    const { text: body } = await readBodyText(bytes, '', contentType, 1 << 20);
    expect(show(readXml(body) ?? 'refused')).toContain(JSON.stringify(text));
  });

  const name = fc.constantFrom('a', 'b', 'n:c', 'a-b', 'a_b', 'constructor', 'é');
  const attributes = fc.constantFrom('', '', ' ', ' x="1"', ` y='&lt;"'`, ' n:z="a\n\t&#10;b>"', ' x = ""');
  const harmless = fc.constantFrom(
    ...[
      'text',
      ' ',
      '\n',
      '\t',
      '\r\n',
      '\r',
      '\0',
      '\uFEFF',
      '\u00a0',
      'é😀',
      ';',
      '>',
      "'",
      '"',
      '=',
      '[',
      ']',
      '-',
      '/',
    ],
    ...['<b/>', '<b x="1"/>', '<n:c/>', '<![CDATA[x<y&]]>', '<![CDATA[]]>', '<!-- <c> & -->', '<?p q?>', "<?p it's?>"],
    ...['&', '&amp;', '&lt;', '&#65;', '&nbsp;', '&#0;'],
  );
  const around = fc.constantFrom(
    '\n',
    '<!-- a -->',
    "<?p it's?>",
    '<!DOCTYPE a>',
    '<!DOCTYPE a [<!ENTITY b "c"> <!-- ] -->]>',
  );
  const harmful = fc.constantFrom(
    ...[
      '<a>',
      '</a>',
      '</a >',
      '< a>',
      '<1/>',
      '<',
      ']]>',
      '<![CDATA[',
      '<!--',
      '-->',
      '--',
      '<?',
      '?>',
      '<!DOCTYPE a [',
      ']>',
    ],
    ...['<?xml version="1.0"?>', '<!DOCTYPE a>', '<!ENTITY b "c">', 'text', '<b/>', '<![CDATA[]]>'],
  );
  const { element } = fc.letrec<{ element: string[] }>((tie) => ({
    element: fc
      .tuple(name, attributes, fc.array(fc.oneof({ depthSize: 'small' }, harmless, tie('element')), { maxLength: 5 }))
      .map(([tag, given, inner]) => [`<${tag}${given}>`, ...inner.flat(), `</${tag}>`]),
  }));
  /** Half of them are as they should be. In the others something is cut off, or in the wrong place. */
  const anyDocument = fc
    .record({
      before: fc.array(around, { maxLength: 2 }),
      root: element,
      after: fc.array(
        around.filter((remark) => !remark.startsWith('<!D')),
        { maxLength: 2 },
      ),
      fault: fc.option(fc.record({ piece: fc.option(harmful), place: fc.double({ min: 0, max: 1, noNaN: true }) })),
    })
    .map(({ before, root, after, fault }) => {
      const pieces = [...before, ...root, ...after];
      const xml = pieces.join('');
      if (fault === null) return xml;
      const { piece, place } = fault;
      if (piece === null) return xml.slice(0, Math.floor(xml.length * place));
      return pieces.toSpliced(Math.floor((pieces.length + 1) * place), 0, piece).join('');
    });

  it('is read like a list: both parsers make the same of it', () => {
    fc.assert(
      fc.property(anyDocument, (xml) => expectEqual(readXml(xml), readAsStream(xml))),
      { numRuns: generated(3_000) },
    );
  });
});
