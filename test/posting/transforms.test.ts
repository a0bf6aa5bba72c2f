import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  accepted,
  refused,
  TRANSFORM_NAMES,
  TRANSFORMS,
  type TransformName,
} from '../../src/posting/steps/transforms.ts';
import { anyCharacter } from '../support/any-character.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

const readState = (text: string) =>
  text === 'MA' || text === 'Massachusetts' ? accepted('Massachusetts') : refused('is no state');
const apply = (name: TransformName, text: string) => {
  const result = TRANSFORMS[name].apply(text, readState);
  return result.kind === 'value' ? result.value : undefined;
};

const cases: [name: TransformName, text: string, result: string | undefined][] = [
  ['text', '<p>One</p><p>Two<br/>Three</p>', 'One\n\nTwo\nThree'],
  ['text', '<ul><li>a</li>\n<LI>b</LI></ul>after', '- a\n- b\n\nafter'],
  ['text', 'salary < 50k & > 10k', 'salary < 50k & > 10k'],
  ['text', 'AT&amp;T &lt;b&gt; &amp;lt;', 'AT&T <b> &lt;'],
  ['text', 'a<!-- <p>not this</p> -->b<script>alert("<p>")</script>c<STYLE>p{}</style >d', 'abcd'],
  ['text', 'one\n  two\t three', 'one two three'],
  ['text', '<a href="x">link</a> and <b>bold</b>', 'link and bold'],
  ['text', 'cut <b', 'cut'],
  ['text', '<table><tr><td>1</td><td>2</td></tr></table>', '1 2'],
  ['html', '&lt;p&gt;One &amp;amp; two&lt;/p&gt;', '<p>One &amp; two</p>'],
  ['html', '&eacute;&rsquo;&#233;&#xE9;&euro;&hellip;', 'é’éé€…'],
  ['html', '&unknown; &amp &#0; &#xD800; &#x110000; &;', '&unknown; &amp &#0; &#xD800; &#x110000; &;'],
  ['html', '&yuml;&nbsp;&szlig;', 'ÿ\u00A0ß'],
  ['html', 'It&#146;s &#150; &#x80;9&#x9F;&#160;&#129;&#127;', 'It’s – €9Ÿ\u00A0\x81\x7f'],
  ['first_line', 'one\ntwo', 'one'],
  ['upper', 'straße', 'STRASSE'],
  ['lower', 'ÉCOLE', 'école'],
  ['us_state', 'MA', 'Massachusetts'],
  ['us_state', 'Jalisco', undefined],
  ['date', '2026-03-20', '2026-03-20'],
  ['date', 'Fri, 20 Mar 2026 19:18:39 +0000', '2026-03-20T19:18:39Z'],
  ['date', 'Fri, 20 Mar 2026 19:18:39 -0500', '2026-03-21T00:18:39Z'],
  ['date', 'Fri, 20 Mar 2026 19:18:39 EST', '2026-03-21T00:18:39Z'],
  ['date', 'Fri, 12 Apr 2013', '2013-04-12'],
  ['date', 'Mon, 31 Jan 2022 23:59:00', '2022-01-31T23:59:00'],
  ['date', '1 December 2020', '2020-12-01'],
  ['date', '2021-12-21 09:18:24', '2021-12-21T09:18:24'],
  ['date', '2013-04-12 15:52:34.19', '2013-04-12T15:52:34'],
  ['date', '2026-08-05 10:10:39 UTC', '2026-08-05T10:10:39Z'],
  ['date', '2012-12-29T00:09:56', '2012-12-29T00:09:56'],
  ['date', '2012-12-29T23:30:00.123+02:00', '2012-12-29T21:30:00Z'],
  ['date', '1585865712345', '2020-04-02T22:15:12Z'],
  ['date', '2026-02-31', undefined],
  ['date', '2026-02-28 25:00', undefined],
  ['date', '2026-02-28 10:00 XYZ', undefined],
  ['date', '0099-01-01', undefined],
  ['date', '9999-12-31 23:59:59 -0500', undefined],
  ['date', '4/8/2012', undefined],
  ['date', '2026-11-02 13:00:00+01', '2026-11-02T12:00:00Z'],
  ['date', '2026-11-02T13:00+01', '2026-11-02T12:00:00Z'],
  ['date', '2026-11-02t13:00:00z', '2026-11-02T13:00:00Z'],
  ['date', '2026-11-02  13:00', '2026-11-02T13:00:00'],
  ['date', '2026-11-02T24:00:00Z', '2026-11-03T00:00:00Z'],
  ['date', '2026-11-02T24:00:01Z', undefined],
  ['date', '20261102T130000Z', '2026-11-02T13:00:00Z'],
  ['date', '20261102T1300+0100', '2026-11-02T12:00:00Z'],
  ['date', '20261102', '2026-11-02'],
  ['date', '20261302', undefined],
  ['date', 'Mon, 02 Nov 26 13:00:00 GMT', '2026-11-02T13:00:00Z'],
  ['date', 'Mon, 02 Nov 98 13:00:00 GMT', '1998-11-02T13:00:00Z'],
  ['date', 'Mon,02 Nov 2026', '2026-11-02'],
  ['date', 'Mon,  02  Nov  2026  13:00:00  +0100', '2026-11-02T12:00:00Z'],
  ['date', 'Mon, 02 Nov 2026 13:00:00 +0100 (CET)', '2026-11-02T12:00:00Z'],
  ['date', 'Mon, 02 Nov 2026 13:00:00 CET', undefined],
  ['date', '2026-11-02 13:00 JST', undefined],
  ['date', 'Continuous', undefined],
  ['date', 'Posted Yesterday', undefined],
  ['date_mdy', '4/8/2012', '2012-04-08'],
  ['date_mdy', '4/8/2012 1:30 PM', '2012-04-08T13:30:00'],
  ['date_mdy', '4/8/2012 12:30 AM', '2012-04-08T00:30:00'],
  ['date_mdy', '13/8/2012', undefined],
  ['date_dmy', '31.12.2012', '2012-12-31'],
  ['date_dmy', '4/8/2012', '2012-08-04'],
  ['date_dmy', '2012-08-04', '2012-08-04'],
  ['number', '$20.00', '20.00'],
  ['number', '59,334', '59334'],
  ['number', 'USD 1,234,567.5', '1234567.5'],
  ['number', '-3', '-3'],
  ['number', '1.234,56', '1234.56'],
  ['number', '62.500,00', '62500.00'],
  ['number', '62.500,00 €', '62500.00'],
  ['number', '1.234.567', '1234567'],
  ['number', '1,234,567', '1234567'],
  ['number', '3,5', '3.5'],
  ['number', '1 234,50', '1234.50'],
  ['number', "1'234.50", '1234.50'],
  ['number', '0.125', '0.125'],
  ['number', '1234.567', '1234.567'],
  ['number', '3.000', undefined],
  ['number', '1,2,3', undefined],
  ['number', '1.2.3', undefined],
  ['number', '1,234.567,8', undefined],
  ['number', '12.34.567', undefined],
  ['number_point', '3.000', '3.000'],
  ['number_point', '59,334', '59334'],
  ['number_point', '62.500,00', undefined],
  ['number_comma', '3.000', '3000'],
  ['number_comma', '62.500,00', '62500.00'],
  ['number_comma', '3,5', '3.5'],
  ['number_comma', '3.5', undefined],
  ['number', '$20-22/hr', undefined],
  ['number', '1e5', undefined],
  ['url', 'https://example.com/a?b=c&d=%20', 'https://example.com/a?b=c&d=%20'],
  ['url', 'HTTP://example.com', 'HTTP://example.com'],
  ['url', 'www.example.com', undefined],
  ['url', 'javascript:alert(1)', undefined],
  ['url', 'https://example.com/a b', undefined],
  ['url', 'https://', undefined],
  ['email', 'jobs@example.com', 'jobs@example.com'],
  ['email', 'mailto:jobs@example.com', 'jobs@example.com'],
  ['email', 'a@b.co, c@d.co', undefined],
  ['email', 'jobs at example.com', undefined],
];

test.each(cases)('%s of %j is %j', (name, text, result) => {
  expect(apply(name, text)).toBe(result);
});

describe('any text', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '<!--',
    '-->',
    '<p>',
    '</p>',
    '<script>',
    '&',
    '&lt;',
    '&#1;',
    ';',
    ' ',
    '\n',
    '\u0000',
    '\uD800',
    'MA',
    '1',
    '/',
    '.',
    '@',
    ':',
    'http://',
  );
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
  );

  test.each(TRANSFORM_NAMES)('gives a value or a message under %s, which never throws', (name) => {
    fc.assert(
      fc.property(text, (input) => {
        const result = TRANSFORMS[name].apply(input, readState);
        expectEqual(typeof (result.kind === 'value' ? result.value : result.message), 'string');
      }),
    );
  });

  test('is unchanged by a check that it has already passed', () => {
    const samples = fc.oneof(text, fc.constantFrom(...cases.map(([, sample]) => sample)));
    const checks = TRANSFORM_NAMES.filter((name) => TRANSFORMS[name].kind === 'check');
    fc.assert(
      fc.property(fc.constantFrom(...checks), samples, (name, input) => {
        const once = apply(name, input);
        if (once !== undefined) expectEqual(apply(name, once), once);
      }),
      { numRuns: generated(2_000) },
    );
  });

  test('with a date in a page of spaces is not a date', () => {
    expect(apply('date', `1 Jan 2020${' '.repeat(1_000_000)}x\nx`)).toBeUndefined();
  });

  test('of nothing but opening markup is read in linear time', () => {
    const pages = ['<', '<!--', '<p', '<script>', '&'].map((opening) => opening.repeat(1_000_000));
    for (const page of pages) expect(apply('text', page)).toBeDefined();
  });
});

test('a date with an ambiguous zone is refused for its zone', () => {
  const refusal = TRANSFORMS.date.apply('Mon, 02 Nov 2026 13:00:00 CET', () => ({ kind: 'value', value: '' }));
  expect(refusal).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('several time zones are called CET'),
  });
});

test('a number that may have thousands is refused with what to do', () => {
  const refusal = TRANSFORMS.number.apply('3.000', () => ({ kind: 'value', value: '' }));
  expect(refusal).toMatchObject({ kind: 'refused', message: expect.stringContaining('number_point or number_comma') });
});
