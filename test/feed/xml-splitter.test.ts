// The splitter: which bytes form a record, whatever it contains, and what is reported about an incomplete document.
import { describe, expect, it } from 'vitest';
import type { SplitOptions } from '../../src/feed/format/format.ts';
import { split } from './collect.ts';

const inSource = (...inner: string[]) => `<source>${inner.join('\n')}</source>`;

/** Complete documents: exactly their records are handed over. */
const whole: Record<string, { document: string; records: string[]; options?: Partial<SplitOptions> }> = {
  'plain records': {
    document: '<?xml version="1.0"?>\n<source>\n<publisher>p</publisher><job><a>1</a></job>\n<job>2</job></source>\n',
    records: ['<job><a>1</a></job>', '<job>2</job>'],
  },
  'no records': { document: '<source><publisher>p</publisher></source>', records: [] },
  'an empty root': { document: '<source/>', records: [] },
  'tags in CDATA': {
    document: inSource('<job><![CDATA[</job><job></source>]]></job>', '<job>2</job>'),
    records: ['<job><![CDATA[</job><job></source>]]></job>', '<job>2</job>'],
  },
  'brackets before the end of CDATA': {
    document: inSource('<job><![CDATA[a]]]]></job>', '<job><![CDATA[]]]></job>', '<job><![CDATA[]]></job>'),
    records: ['<job><![CDATA[a]]]]></job>', '<job><![CDATA[]]]></job>', '<job><![CDATA[]]></job>'],
  },
  'CDATA longer than the near search': {
    document: inSource(`<job><![CDATA[${'x]>'.repeat(300)}</job>]]></job>`, `<job>${'y'.repeat(500)}</job>`),
    records: [`<job><![CDATA[${'x]>'.repeat(300)}</job>]]></job>`, `<job>${'y'.repeat(500)}</job>`],
  },
  'tags in comments': {
    document: inSource('<!-- <job> -->', '<job><!-- </job> -- ></job> --></job>', '<!--></job>-->', '<job/>'),
    records: ['<job><!-- </job> -- ></job> --></job>', '<job/>'],
  },
  'tags in processing instructions': {
    document: inSource('<?php <job> ?>', '<job><?x </job>?></job>'),
    records: ['<job><?x </job>?></job>'],
  },
  'nested elements of the same name': {
    document: inSource('<job><job><job/></job></job>', '<job>2</job>'),
    records: ['<job><job><job/></job></job>', '<job>2</job>'],
  },
  'nested elements with the parent’s name': {
    document: inSource('<job><source>x</source><source/></job>', '<job>2</job>'),
    records: ['<job><source>x</source><source/></job>', '<job>2</job>'],
  },
  'names that start like the record’s': {
    document: inSource('<jobs><job>no</job></jobs>', '<job><jobtype>x</jobtype><job2/></job>'),
    records: ['<job><jobtype>x</jobtype><job2/></job>'],
  },
  '> in attributes': {
    document: inSource(`<job a="/>" b='"></job>'><job c=">"/></job>`, '<x a="<job>"></x>', '<job a=">"/>'),
    records: [`<job a="/>" b='"></job>'><job c=">"/></job>`, '<job a=">"/>'],
  },
  'self-closing records': {
    document: inSource('<job/>', '<job id="1" />', '<job\n/>'),
    records: ['<job/>', '<job id="1" />', '<job\n/>'],
  },
  'white space in tags': {
    document: inSource('<job\n\ta="1" >x</job\n>', '<job >y</job >'),
    records: ['<job\n\ta="1" >x</job\n>', '<job >y</job >'],
  },
  'unclosed HTML in a record': {
    document: inSource('<job>a<br>b</p></job>', '<job>2</job>'),
    records: ['<job>a<br>b</p></job>', '<job>2</job>'],
  },
  prefixes: {
    document: '<h:source><h:job><job/></h:job><job><h:job/></job></h:source>',
    records: ['<h:job><job/></h:job>', '<job><h:job/></job>'],
  },
  'any root': { document: '<feed><job>1</job></feed>', records: ['<job>1</job>'], options: { recordPath: '*/job' } },
  'any record': {
    document: '<feed><a>1</a><b/></feed>',
    records: ['<a>1</a>', '<b/>'],
    options: { recordPath: 'feed/*' },
  },
  'a deep path': {
    document: '<rss><channel><title>t</title><item>1</item></channel><item>no</item></rss>',
    records: ['<item>1</item>'],
    options: { recordPath: 'rss/channel/item' },
  },
  'a record that is the root': {
    document: '<job><job/></job>',
    records: ['<job><job/></job>'],
    options: { recordPath: 'job' },
  },
  'the record’s name at another depth': {
    document: inSource('<list><job>no</job></list>', '<job>yes</job>'),
    records: ['<job>yes</job>'],
  },
  'comments and instructions around the root': {
    document: '<!-- <source> --><?x <job>?>\n<source><job/></source>\n<!-- cached -->\n<?y?>\n',
    records: ['<job/>'],
  },
  'a document type without a subset': {
    document: '<!DOCTYPE source SYSTEM "feed[1].dtd"><source><job/></source>',
    records: ['<job/>'],
  },
  'letters of several bytes': { document: inSource('<job>Größe 🚀</job>'), records: ['<job>Größe 🚀</job>'] },
  'a bare < in a record': {
    document: inSource('<job>a < b && c <3</job>', '<job/>'),
    records: ['<job>a < b && c <3</job>', '<job/>'],
  },
};

describe('a complete document', () => {
  for (const [name, { document, records, options }] of Object.entries(whole)) {
    for (const sizes of [[1e9], [1], [7, 2, 31]]) {
      it(`${name}, in chunks of ${sizes}`, () => {
        expect(split(document, options, sizes)).toEqual({
          records,
          oversized: [],
          refusal: undefined,
          shortfalls: [],
          declaredTotal: undefined,
        });
      });
    }
  }
});

it.each([[1e9], [100], [8_192], [20_000], [50_000, 3]])(
  'finds records that span several chunks and their joins, in chunks of %s',
  (...sizes) => {
    const records = Array.from(
      { length: 40 },
      (_, index) => `<job>${String(index).repeat(7_000)}<![CDATA[</job>]]></job>`,
    );
    expect(split(inSource(...records), {}, sizes)).toMatchObject({ records, shortfalls: [] });
  },
);

/** Incomplete documents: readable records are handed over, and the reason is reported. */
const broken: Record<string, { document: string; records: string[]; shortfalls: RegExp[] }> = {
  'text before the root': {
    document: 'Saved page <source><job/></source>',
    records: ['<job/>'],
    shortfalls: [/there is text before the root/],
  },
  'text after the root': {
    document: '<source><job/></source>Warning: x',
    records: ['<job/>'],
    shortfalls: [/there is text after the end of the root element "source"/],
  },
  'a second root': {
    document: '<source><job>1</job></source><source><job>2</job></source>',
    records: ['<job>1</job>', '<job>2</job>'],
    shortfalls: [/second root element "source"/],
  },
  'a root that is not closed': {
    document: '<source><job/>',
    records: ['<job/>'],
    shortfalls: [/before its element "source" is closed/],
  },
  'ending in a record': {
    document: '<source><job/><job>x',
    records: ['<job/>'],
    shortfalls: [/inside record 2/, /"source"/],
  },
  'ending in a tag': {
    document: '<source><job/></sour',
    records: ['<job/>'],
    shortfalls: [/inside a tag/, /"source"/],
  },
  'ending in a comment': {
    document: '<source><job/></source><!-- cach',
    records: ['<job/>'],
    shortfalls: [/inside a comment/],
  },
  'a comment without its end, up to the end of another one': {
    document: inSource('<!-- part 1 ->', '<job>1</job>', '<!-- part 2 -->', '<job>2</job>'),
    records: ['<job>2</job>'],
    shortfalls: [/a comment outside the records contains the start of another one/],
  },
  'a processing instruction without its end, up to the end of another one': {
    document: inSource('<?part 1>', '<job>1</job>', '<?part 2?>', '<job>2</job>'),
    records: ['<job>2</job>'],
    shortfalls: [/a processing instruction outside the records contains the start of another one/],
  },
  'a wrong end tag': {
    document: '<source><list><job/></source>',
    records: [],
    shortfalls: [/"<\/source>" matches no start tag/],
  },
  'an end tag without a start tag': {
    document: inSource('</job>', '<job/>'),
    records: ['<job/>'],
    shortfalls: [/"<\/job>" matches no start tag/],
  },
  'another root': {
    document: '<error><message>down</message></error>',
    records: [],
    shortfalls: [/the root element is "error" where "source"/, /states an error: "down"/],
  },
  'records in another place, beside an element of a similar name': {
    document: inSource('<jobs>', '<job><id>1</id></job>', '<job><id>2</id></job>', '</jobs>'),
    records: [],
    shortfalls: [/records: "source\/job" matches nothing; "source\/jobs\/job" occurs 2 times/],
  },
  'a record without its end tag': {
    document: inSource('<job>1', '<job>2</job>', '<job>3</job>'),
    records: ['<job>1\n', '<job>2</job>', '<job>3</job>'],
    shortfalls: [/record 1 seems to contain other records/, /record 1 has no end tag/],
  },
  'the last record without its end tag': {
    document: inSource('<job>1</job>', '<job>2'),
    records: ['<job>1</job>', '<job>2'],
    shortfalls: [/record 2 has no end tag/],
  },
  'a record without its end tag, and no end': {
    document: '<source><job>1 <job>2</job> <job>3',
    records: ['<job>1 ', '<job>2</job>'],
    shortfalls: [/seems to contain/, /record 1 has no end tag/, /inside record 3/, /"source"/],
  },
  'a bare < outside records': {
    document: inSource('<p>a < b</p>', '<job/>'),
    records: ['<job/>'],
    shortfalls: [/bare "<"/],
  },
};

describe('an incomplete document', () => {
  for (const [name, { document, records, shortfalls }] of Object.entries(broken)) {
    for (const sizes of [[1e9], [1], [5, 11]]) {
      it(`${name}, in chunks of ${sizes}`, () => {
        const result = split(document, {}, sizes);
        expect(result.records).toEqual(records);
        expect(result.refusal).toBeUndefined();
        expect(result.shortfalls).toEqual(shortfalls.map((shortfall) => expect.stringMatching(shortfall)));
      });
    }
  }
});

it('reports a second root that is a record as well', () => {
  const result = split('<job>1</job><job>2</job>', { recordPath: 'job' });
  expect(result).toMatchObject({
    records: ['<job>1</job>', '<job>2</job>'],
    shortfalls: [expect.stringMatching(/second root element "job"/)],
  });
});

describe('a document that is not a feed', () => {
  const cases: Record<string, [string, RegExp]> = {
    nothing: ['', /empty/],
    'white space': [' \n ', /empty/],
    'only a declaration': ['<?xml version="1.0"?>', /empty/],
    JSON: ['{"jobs": []}', /JSON where an XML feed was expected; it starts with "\{"jobs"/],
    text: ['Service unavailable', /not an XML feed; it starts with "Service unavailable"/],
    'an HTML page': [
      '<!DOCTYPE html><html><title>Down for now</title></html>',
      /HTML where an XML feed was expected; the page's title is "Down for now"/,
    ],
    'an HTML page without a document type': ['<HTML><body/></HTML>', /HTML where/],
    'an HTML page, lower case': ['<!doctype html>\n<html></html>', /HTML where/],
    'entities of its own': [
      '<!DOCTYPE source [<!ENTITY a "b">]><source><job/></source>',
      /document type declaration with its own entities/,
    ],
    'endless text': ['x'.repeat(70_000), /not an XML feed/],
    'endless depth': ['<a>'.repeat(300), /nested deeper than 256/],
    'an endless tag': [`<source a="${'x'.repeat(1_100_000)}`, /markup of more than 1048576 bytes/],
    'an endless name': [`<${'x'.repeat(2_000)}`, /name of more than/],
  };
  for (const [name, [document, message]] of Object.entries(cases)) {
    it(name, () => {
      const result = split(document, {}, [4_096]);
      expect(result.refusal).toMatch(message);
      expect(result.records).toEqual([]);
    });
  }
});

describe('records above the size limit', () => {
  const document = inSource('<job>1</job>', `<job>${'é'.repeat(5_000)}<job/></job>`, '<job>3</job>');
  for (const sizes of [[1e9], [1], [100], [997]]) {
    it(`are skipped and reported with their length, in chunks of ${sizes}`, () => {
      const result = split(document, { maxRecordBytes: 3_000 }, sizes);
      expect(result.records).toEqual(['<job>1</job>', '<job>3</job>']);
      expect(result.oversized).toEqual([{ head: expect.stringMatching(/^<job>é+/), length: 10_017 }]);
      expect(Buffer.byteLength(result.oversized[0]?.head ?? '')).toBeLessThanOrEqual(2_050);
      expect(result.shortfalls).toEqual([]);
    });
  }

  const long = 'x'.repeat(100);
  it.each([
    ['a CDATA section', `<job><![CDATA[${long}</job>`, `<job><![CDATA[${long}]]></job>`],
    ['a comment', `<job>${long}<!-- a</job>`, `<job>${long}<!-- b --></job>`],
    ['a processing instruction', `<job>${long}<?a></job>`, `<job>${long}<?b ?></job>`],
  ])('hide no others that %s without its end goes on into', (_name, open, other) => {
    for (const size of [1e9, ...Array.from({ length: 60 }, (_, at) => at + 1)]) {
      const whole = split(inSource(other, '<job>2</job>'), { maxRecordBytes: 50 }, [size]);
      expect(whole).toMatchObject({ records: ['<job>2</job>'], oversized: [{ length: other.length }], shortfalls: [] });
      const joined = split(inSource(open, other, '<job>2</job>'), { maxRecordBytes: 150 }, [size]);
      expect(joined).toMatchObject({ records: ['<job>2</job>'], oversized: [{}] });
      expect(joined.shortfalls).toEqual([
        expect.stringMatching(/^record 1 is above the size limit and seems to contain/),
      ]);
    }
  });

  it('do not hide the records after one without its end tag', () => {
    const records = Array.from({ length: 50 }, (_, index) => `<job>${String(index).repeat(100)}</job>`);
    const result = split(inSource('<job>open', ...records), { maxRecordBytes: 1_000 }, [64]);
    expect(result.records).toEqual(['<job>open\n', ...records]);
    expect(result.shortfalls).not.toEqual([]);
  });
});

describe('declared totals', () => {
  const cases: Record<
    string,
    { document: string; totalPaths: string[]; declaredTotal?: number; shortfalls: RegExp[] }
  > = {
    'an element that agrees': {
      document: inSource('<n> 1 </n>', '<job/>'),
      totalPaths: ['source/n'],
      declaredTotal: 1,
      shortfalls: [],
    },
    'an element in CDATA, after the records': {
      document: inSource('<job/>', '<n><![CDATA[1]]></n>'),
      totalPaths: ['source/n'],
      declaredTotal: 1,
      shortfalls: [],
    },
    'an attribute of the root': {
      document: '<source a="x>y" h:jobs=\'2\'><job/><job/></source>',
      totalPaths: ['source/@jobs'],
      declaredTotal: 2,
      shortfalls: [],
    },
    'too few records': {
      document: inSource('<n>3</n>', '<job/>'),
      totalPaths: ['*/n'],
      declaredTotal: 3,
      shortfalls: [/declares 3 records at \*\/n, but 1 were found/],
    },
    'too many records': {
      document: inSource('<n>0</n>', '<job/>'),
      totalPaths: ['source/n'],
      declaredTotal: 0,
      shortfalls: [/declares 0/],
    },
    'not a number': {
      document: inSource('<n>many</n>', '<job/>'),
      totalPaths: ['source/n'],
      shortfalls: [/is not a number: "many"/],
    },
    'missing from this feed': { document: inSource('<job/>'), totalPaths: ['source/n'], shortfalls: [] },
    'ignored inside a record': {
      document: inSource('<job><n>7</n></job>'),
      totalPaths: ['source/job/n'],
      shortfalls: [],
    },
  };
  for (const [name, { document, totalPaths, declaredTotal, shortfalls }] of Object.entries(cases)) {
    for (const sizes of [[1e9], [1]]) {
      it(`${name}, in chunks of ${sizes}`, () => {
        const result = split(document, { totalPaths }, sizes);
        expect(result.declaredTotal).toBe(declaredTotal);
        expect(result.shortfalls).toEqual(shortfalls.map((shortfall) => expect.stringMatching(shortfall)));
      });
    }
  }

  it('are found in linear time', () => {
    // Each character again for every other one would take minutes.
    const document = `<source ${'a'.repeat(500_000)} jobs="1"><job/></source>`;
    expect(split(document, { totalPaths: ['source/@jobs'] })).toMatchObject({ declaredTotal: 1, shortfalls: [] });
  });
});

it.each(['', 'source//job', 'source/@a/job', '/', '@a'])('refuses the record path "%s"', (recordPath) => {
  expect(() => split('<a/>', { recordPath })).toThrow(/is not a valid element path/);
});
