// The key of an unreadable record is recovered if it is certain, and never guessed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileKeyRecovery } from '../../src/feed/format/xml/recover-key.ts';
import { parseRecord } from '../../src/feed/format/xml/xml-format.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

const bytesOf = (record: string | readonly (string | number)[]): Buffer =>
  typeof record === 'string'
    ? Buffer.from(record)
    : Buffer.concat(record.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))));

const recovered = (record: string | readonly (string | number)[], paths: readonly string[] = ['id']) => {
  const bytes = bytesOf(record);
  expect(parseRecord(bytes).kind).toBe('unreadable');
  return compileKeyRecovery({ paths })(bytes);
};

describe('a recovered key', () => {
  const cases: Record<string, [record: string | (string | number)[], paths?: string[]]> = {
    'before a bare ampersand': ['<job><id>7</id><title>R & D</title></job>'],
    'after a bare ampersand': ['<job><title>R&D</title><id> 7 </id></job>'],
    'after an ampersand in the record’s own text': ['<job>R & D<id>7</id></job>'],
    'after an unknown entity': ['<job><title>&company;</title><id>7</id></job>'],
    'after a bare <': ['<job><title>1 < 2</title><id>7</id></job>'],
    'after a < before a letter': ['<job><title>a <b </title><id>7</id></job>'],
    'after an unclosed br': ['<job><text>a<br>b<p>c</text><id>7</id></job>'],
    'after an end tag without a start': ['<job><text>a</p></text><id>7</id></job>'],
    'after crossed tags': ['<job><text><b><i>x</b></i></text><id>7</id></job>'],
    'after attributes without quotes': ['<job><text><p align=center>x</p></text><id>7</id></job>'],
    'after a repeated attribute': ['<job><text a="1" a="2">x</text><id>7</id></job>'],
    'after undecodable bytes': [['<job><title>caf', 0xe9, '</title><id>7</id></job>']],
    'before an element without an end': ['<job><id>7</id><title>x</job>'],
    'in a record without an end': ['<job><id>7</id><title>x</title>'],
    'before CDATA without an end': ['<job><id>7</id><text><![CDATA[x</text></job>'],
    'before a comment without an end': ['<job><id>7</id><!-- x</job>'],
    'in CDATA': ['<job><title>R & D</title><id><![CDATA[7]]></id></job>'],
    'with entities': ['<job><title>R & D</title><id>&#55;</id></job>'],
    'with a comment in it': ['<job><title>R & D</title><id><!-- x -->7</id></job>'],
    'twice with the same value': ['<job><id>7</id><title>R & D</title><id>7</id></job>'],
    'after a comment with an element whose name begins with the record’s': [
      '<job><!-- <jobtitle>x</jobtitle> --><title>R & D</title><id>7</id></job>',
    ],
    'with a prefix': ['<h:job><h:title>R & D</h:title><h:id>7</h:id></h:job>'],
    'in a nested path': ['<job><title>R & D</title><a><id>7</id></a></job>', ['a/id']],
    'next to the same name elsewhere': ['<job><title>R & D</title><b><id>8</id></b><id>7</id></job>'],
    'in an attribute of the record': ['<job id="7">R < D</job>', ['@id']],
    'in an attribute of the record, whatever follows': ['<job id="7"></a></b><c></job>', ['@id']],
    'in an attribute below': ['<job><title>R & D</title><a n="7"/></job>', ['a/@n']],
    'by a condition': ['<job><t>R & D</t><a k="x">8</a><a k="y">7</a></job>', ['a[@k=y]']],
    'by a condition on an element': [
      '<job><t>R & D</t><a><k>y</k><v>7</v></a><a><k>x</k><v>8</v></a></job>',
      ['a[k=y]/v'],
    ],
  };
  it.each(Object.entries(cases))('%s', (_, [record, paths]) => {
    expect(recovered(record, paths)).toBe('7');
  });

  it('has several paths', () => {
    expect(recovered('<job><a>1|2</a><title>R & D</title><b>3</b></job>', ['a', 'b'])).toBe('1%7C2|3');
  });

  it('is read from the beginning of an oversized record', () => {
    const head = Buffer.from('<job><id>7</id><text>é').subarray(0, -1);
    expect(compileKeyRecovery({ paths: ['id'] })(head)).toBe('7');
    expect(compileKeyRecovery({ paths: ['id'] })(Buffer.from('<job><title>x</title><id>7</i'))).toBeUndefined();
  });
});

it('is recovered in linear time', () => {
  expect(recovered(`<job><id>7</id><d>${'<a '.repeat(1_500_000)}</d></job>`)).toBe('7');
});

describe('an uncertain key', () => {
  const cases: Record<string, [record: string | (string | number)[], paths?: string[]]> = {
    'is broken itself': ['<job><id>7&8</id></job>'],
    'contains a bare <': ['<job><id>7<8</id></job>'],
    'contains undecodable bytes': [['<job><id>7', 0xff, '</id></job>']],
    'contains an unclosed element': ['<job><id>7<br></id></job>'],
    'has no end tag': ['<job><id>7<title>x</title></job>'],
    'has a broken name': [['<job><i', 0xff, 'd>7</id><title>x</title></job>']],
    'appears twice with different values': ['<job><id>7</id><title>R & D</title><id>8</id></job>'],
    'is missing': ['<job><title>R & D</title></job>'],
    'is empty': ['<job><title>R & D</title><id> </id></job>'],
    'is too long': [`<job><title>R & D</title><id>${'7'.repeat(501)}</id></job>`],
    'is in an element without an end tag': ['<job><a>x<id>7</id></job>'],
    'is inside what may have been another element': ['<job>< a><id>7</id>< /a></job>'],
    'is in an element whose tags are broken': [['<job><a', 0xff, '><id>7</id></a', 0xff, '></job>']],
    'is in an element whose start tag is lost': ['<job><id>7</id></a></job>'],
    'is after CDATA without a start': ['<job><t>x</t><id>7</id>]]></t></job>'],
    'is in a comment': ['<job><!-- <id>7</id> --><title>R & D</title></job>'],
    'is in CDATA of another element': ['<job><t><![CDATA[<id>7</id>]]></t><title>R & D</title></job>'],
    'is after CDATA without an end': ['<job><t><![CDATA[x</t><id>7</id></job>'],
    'is that of the first of two records': [
      '<job id="7"><a><![CDATA[x</a></job><job id="8"><b><![CDATA[y]]></b></job>',
      ['@id'],
    ],
    'is that of the first of two records, one of which is in a comment': [
      '<job id="7"><!-- x</job><job id="8"><!-- y -->&</job>',
      ['@id'],
    ],
    'is nested in a path that is broken': ['<job><a><id>7</id></job>', ['a/id']],
    'is an attribute without quotes': ['<job id=7><title>x</title></job>', ['@id']],
    'is an attribute with an unknown entity': ['<job id="7&x;"/>', ['@id']],
    'is a repeated attribute': ['<job id="7" id="7"/>', ['@id']],
    'depends on a broken condition': ['<job><a><k>x&</k><v>7</v></a><a><k>y</k><v>8</v></a></job>', ['a[k=y]/v']],
    'is one of several parts, one of them broken': ['<job><a>7</a><b>R & D</b></job>', ['a', 'b']],
  };
  it.each(Object.entries(cases))('%s', (_, [record, paths]) => {
    expect(recovered(record, paths)).toBeUndefined();
  });
});

it('whatever is broken outside the key, recovery returns the key of the intact record or none', () => {
  const before = '<job n="1">\n<title>Nurse &amp; <![CDATA[R&D]]></title><a><id>8</id><x>y</x></a>';
  const key = '<id>7</id>';
  const after = '<text>x<br/><p>y</p><!-- z --></text><b><id>9</id></b>\n</job>';
  const edit = fc.record({
    at: fc.double({ min: 0, max: 0.9999, noNaN: true }),
    inFront: fc.boolean(),
    remove: fc.integer({ min: 0, max: 4 }),
    insert: fc.constantFrom(
      '',
      '<',
      '>',
      '&',
      '/',
      '"',
      ']]>',
      '<![CDATA[',
      '<!--',
      '<br>',
      '</a>',
      '<a>',
      '</p>',
      '</job>',
      '\uffff',
    ),
  });
  const recover = compileKeyRecovery({ paths: ['id'] });
  const found = { none: 0, key: 0 };
  const numRuns = generated(10_000);
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      const parts = { before, after };
      for (const { at, inFront, remove, insert } of edits) {
        const part = inFront ? 'before' : 'after';
        const text = parts[part];
        const start = Math.floor(at * text.length);
        parts[part] = text.slice(0, start) + insert + text.slice(start + remove);
      }
      const bytes = Buffer.from(`${parts.before}${key}${parts.after}`);
      if (parseRecord(bytes).kind === 'tree') return;
      const result = recover(bytes);
      if (result === undefined) found.none++;
      else found.key++;
      if (result !== undefined) expectEqual(result, '7', bytes.toString());
    }),
    { numRuns },
  );
  expect(found.key).toBeGreaterThan(numRuns / 50);
});
