// Lenient feeds have common faults of their records repaired, and no repair swallows other elements.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRecord } from '../../src/feed/format/xml/xml-format.ts';
import { textsAt } from '../../src/posting/paths/value-path.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

const read = (xml: string) => {
  const bytes = Buffer.from(xml);
  expect(parseRecord(bytes).kind).toBe('unreadable');
  const parsed = parseRecord(bytes, true);
  if (parsed.kind === 'unreadable') return parsed.problems[0]?.message;
  const [text] = textsAt([{ name: 't', conditions: [] }], parsed.tree);
  return { text, repairs: parsed.repairs };
};

describe('a repaired record', () => {
  const cases: Record<string, [xml: string, text: string, repairs: string[]]> = {
    'a bare &': ['<t>R & D, Q&A</t>', 'R & D, Q&A', ['2 bare "&"']],
    'an unknown entity': ['<t>&company; &nbsp;&amp;x;</t>', '&company; \u00a0&x;', ['1 unknown entity']],
    'a reference to no character': ['<t>&#99999999;&#xD800;</t>', '&#99999999;&#xD800;', ['2 unknown entity']],
    'a & in an attribute': ['<t>x</t><u a="b&c">y</u>', 'x', ['1 bare "&"']],
    'a bare <': ['<t>1 < 2 <3</t>', '1 < 2 <3', ['2 bare "<"']],
    'a bare < before a letter': ['<t>a <b</t>', 'a <b', ['1 bare "<"']],
    'a bare < with a quote': ['<t>5 <a href="x</t><u v="w"/>', '5 <a href="x', ['1 bare "<"']],
    'an unclosed br': ['<t>a<br>b<BR>c</t>', 'a\nb\nc', ['2 unclosed <br>']],
    'other elements without an end': [
      '<t>a<hr/>b<img src="x">c<wbr>d</t>',
      'a\n\nbcd',
      ['1 unclosed <wbr>', '1 unclosed <img>'],
    ],
    'an unclosed br in another element': ['<t><b>a<br>b</b> c</t>', 'a\nb c', ['1 unclosed <br>']],
    'all of them at once': ['<t>R&D < <br>x</t>', 'R&D <\nx', ['1 bare "&"', '1 bare "<"', '1 unclosed <br>']],
    'CDATA next to it is left alone': ['<t>&x; <![CDATA[R & D <br>]]></t>', '&x; R & D <br>', ['1 unknown entity']],
  };
  it.each(Object.entries(cases))('%s', (_, [xml, text, repairs]) => {
    expect(read(`<job><id>1</id>${xml}<end>z</end></job>`)).toEqual({ text, repairs });
  });

  it('is not changed if it is well-formed', () => {
    const parsed = parseRecord(Buffer.from('<job><t>a<br></br>b</t></job>'), true);
    expect(parsed).toMatchObject({ kind: 'tree' });
    expect(parsed).not.toHaveProperty('repairs');
  });
});

describe('a record that stays unreadable', () => {
  it.each([false, true])('is reported with the fault that no repair removes (lenient: %s)', (lenient) => {
    const xml = '<job>\n<t>R&D</t>\n<u>A & B <b>bold</i></u>\n</job>';
    expect(parseRecord(Buffer.from(xml), lenient)).toMatchObject({
      problems: [{ message: expect.stringMatching(/"<\/i>.*where "<\/b>" is expected \(line 3 of the record\)$/) }],
    });
  });

  const cases: Record<string, string> = {
    'an element without an end': '<t>a<u>b</u>',
    'an unclosed element of HTML that holds text': '<t>a<p>b</t>',
    'an unclosed br directly in the record': '<br><t>x</t>',
    'an unclosed link, which may be a field of the feed': '<t>a<link>b</t>',
    'a bare < directly in the record': '< u><id>2</id>< /u><t>x</t>',
    'crossed tags': '<t><b>a<br><i>b</b></i></t>',
    'CDATA without an end': '<t>R & D <![CDATA[x</t>',
    'CDATA that would swallow an element': '<t>R & D <![CDATA[x</t><u>y</u><v><![CDATA[z]]></v>',
    'a comment that would swallow an element': '<t>R & D <!-- x</t><u>y</u><v><!-- z --></v>',
    'attributes without quotes around an element': '<t><p align=center>R & D</p></t>',
    ']]> in text': '<t>R & D ]]></t>',
  };
  it.each(Object.entries(cases))('%s', (_, xml) => {
    expect(read(`<job><id>1</id>${xml}</job>`)).toMatch(/^the record can't be read: it is not well-formed XML/);
  });

  it('undecodable bytes', () => {
    expect(parseRecord(Buffer.from('<job><t>R & D \xe9</t></job>', 'latin1'), true).kind).toBe('unreadable');
  });
});

it('whatever a value contains, repairs leave the other values as they are', () => {
  const noise = fc.string({
    unit: fc.constantFrom(
      'a',
      ' ',
      '&',
      '<',
      '>',
      '"',
      "'",
      '=',
      '/',
      '<br>',
      '<b>',
      '</b>',
      '&x;',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '</v>',
      '<w>',
    ),
    maxLength: 12,
  });
  let repaired = 0;
  const numRuns = generated(20_000);
  fc.assert(
    fc.property(noise, (text) => {
      const parsed = parseRecord(Buffer.from(`<job><u>1</u><v>${text}</v><w>2</w><x a="3">4</x></job>`), true);
      if (parsed.kind === 'unreadable') return;
      if (parsed.repairs !== undefined) repaired++;
      const at = (name: string) => textsAt([{ name, conditions: [] }], parsed.tree);
      // An end tag within the value ends it, so more elements may follow.
      if (text.includes('</v>') || text.includes('<w>')) return;
      expectEqual([at('u'), at('w'), at('x')], [['1'], ['2'], ['4']], text);
    }),
    { numRuns },
  );
  expect(repaired).toBeGreaterThan(numRuns / 20);
});
