// The document that creates or updates a job: its exact text, and how a conforming parser reads it.
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { encodeSiteJob } from '../../src/site/xml/encode.ts';
import { elementText, readXml } from '../../src/site/xml/xml-tree.ts';
import { anyCharacter } from '../support/any-character.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

describe('encodeSiteJob (site-interface.md, sections 2 and 4: root job, one child per field)', () => {
  const cases: readonly [name: string, fields: Record<string, string>, xml: string][] = [
    ['no fields', {}, '<job/>'],
    ['fields in their order', { title: 'Cook', number: '007' }, '<job><title>Cook</title><number>007</number></job>'],
    ['an empty field is an empty element', { title: '' }, '<job><title></title></job>'],
    ['markup is text', { a: '<b>&amp;</b>' }, '<job><a>&lt;b&gt;&amp;amp;&lt;/b&gt;</a></job>'],
    [
      'what looks like a reference is text',
      { a: '&nbsp; &#13; &#x41; &' },
      '<job><a>&amp;nbsp; &amp;#13; &amp;#x41; &amp;</a></job>',
    ],
    ['the end of a CDATA section is text', { a: '<![CDATA[x]]>' }, '<job><a>&lt;![CDATA[x]]&gt;</a></job>'],
    ['a comment is text', { a: '<!-- x -->' }, '<job><a>&lt;!-- x --&gt;</a></job>'],
    ['CR is preserved', { a: 'x\r\ny\rz\n' }, '<job><a>x&#13;\ny&#13;z\n</a></job>'],
    ['white space is preserved', { a: ' \t x ' }, '<job><a> \t x </a></job>'],
    ['all planes', { a: 'ü – 日本 😀 \u0085 \u2028' }, '<job><a>ü – 日本 😀 \u0085 \u2028</a></job>'],
  ];
  it.each(cases)('%s', (_name, fields, xml) => {
    expect(encodeSiteJob(fields)).toEqual({ xml: declaration + xml, removed: [] });
  });

  it('removes characters that XML 1.0 cannot carry, and reports them by field', () => {
    const { xml, removed } = encodeSiteJob({ title: 'a\u0000b\u0008c\uFFFE', city: 'x\uD800y', state: 'Ohio' });
    expect(xml).toBe(`${declaration}<job><title>abc</title><city>xy</city><state>Ohio</state></job>`);
    expect(removed).toEqual([
      { field: 'title', message: "Removed characters that XML can't carry: 3 × U+0000, U+0008, U+FFFE" },
      { field: 'city', message: "Removed characters that XML can't carry: 1 × U+D800" },
    ]);
  });

  it.each(['', 'a b', 'a:b', '1a', '-a', 'xmlfoo', 'XML', 'a>', 'ä', 'a\n'])('refuses the field name %j', (name) => {
    expect(() => encodeSiteJob({ [name]: 'x' })).toThrow(/can't be the name of an XML element/);
  });

  // XML 1.0, production 2 [Char], restated by code points, so encoder and test do not share a mistake.
  const canBeCarried = (character: string): boolean => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return code === 9 || code === 10 || code === 13;
    return (code < 0xd8_00 || code > 0xdf_ff) && code !== 0xff_fe && code !== 0xff_ff;
  };
  const nastyText = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 50 }),
    fc.string({
      unit: fc.constantFrom('\r', '\n', ']', '>', '<', '&', '\uD800', '\uDC00', '\0', ' ', '#13;'),
      maxLength: 50,
    }),
  );

  it('a conforming parser returns any string unchanged, except for characters that XML cannot carry', () => {
    fc.assert(
      fc.property(nastyText, nastyText, (title, description) => {
        const { xml } = encodeSiteJob({ title, description });
        const expected = [title, description].map((text) => [...text].filter(canBeCarried).join(''));
        expectEqual(saxesTexts(xml), expected);
        // Our own reader of answers conforms in this respect too.
        const ours = readXml(xml)?.content.map((node) => (typeof node === 'string' ? node : elementText(node)));
        expectEqual(ours, expected);
      }),
      { numRuns: generated(500) },
    );
  });
});

function saxesTexts(xml: string): string[] {
  const texts: string[] = [];
  let current = '';
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', () => {
    current = '';
  });
  parser.on('text', (text) => {
    current += text;
  });
  parser.on('closetag', (tag) => {
    if (tag.name !== 'job') texts.push(current);
  });
  parser.write(xml).close();
  return texts;
}
