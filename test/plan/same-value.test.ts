import { describe, expect, it } from 'vitest';
import { compareReferences, compareValues, referenceForm } from '../../src/plan/same-meaning.ts';

describe('compareValues', () => {
  it.each([
    ['the same', 'Nurse', 'Nurse', []],
    ['trimmed', ' Nurse ', 'Nurse', ['space']],
    ['collapsed', 'Head  nurse\t(m/f)', 'Head nurse (m/f)', ['space']],
    ['other line ends', 'a\r\nb', 'a\nb', ['space']],
    ['NFD instead of NFC', 'Caf\u00e9', 'Cafe\u0301', ['unicode']],
    ['NFKC', 'ﬁle Ⅳ', 'file IV', ['unicode']],
    ['accents dropped', 'José', 'Jose', ['unicode']],
    ['emoji dropped', 'Cook 🍳!', 'Cook !', ['unicode']],
    ['emoji replaced', 'Cook 🍳!', 'Cook ?!', ['unicode']],
    ['typographic quotes made plain', 'the “best”', 'the "best"', ['unicode']],
    ['upper case', 'Straße 1', 'STRASSE 1', ['case']],
    ['tags stripped', '<p>Care for <b>all</b></p>', 'Care for all', ['space', 'markup']],
    ['tags stripped, ends run together', '<p>one</p><p>two</p>', 'onetwo', ['space', 'markup']],
    ['entity-encoded', 'R&D', 'R&amp;D', ['markup']],
    ['encoded twice', 'R&D', 'R&amp;amp;D', ['markup']],
    ['cut', 'Senior registered nurse', 'Senior reg', ['cut']],
    ['cut, with dots', 'Senior registered nurse', 'Senior regis...', ['cut']],
    ['cut and upper-cased', 'Senior registered nurse', 'SENIOR REG', ['case', 'cut']],
    ['another value', 'Nurse', 'Cook', undefined],
    ['nothing left', 'Nurse', '', undefined],
    ['only its first letter', 'Nurse practitioner', 'N', undefined],
    ['longer than sent', 'Nurse', 'Nurses', undefined],
    ['a less-than sign that is not a tag', 'pay < 50k', 'pay > 50k', undefined],
  ] as const)('%s', (_name, sent, shown, expected) => {
    expect(compareValues(sent, shown)).toEqual(expected);
  });

  it('compares only the beginning of a long text and ignores its end', () => {
    const long = 'care '.repeat(20_000);
    expect(compareValues(`<p>${long}</p>`, `${long}`)).not.toContain('cut');
    expect(compareValues(long, long.slice(0, 200))).toEqual(['cut']);
    expect(compareValues(long, `x${long}`)).toBeUndefined();
  });
});

describe('compareReferences', () => {
  it.each([
    ['ACME-17', 'ACME-17', 'exact'],
    [' ACME  17', 'ACME 17\n', 'exact'],
    ['acme-17', 'ACME-17', 'form'],
    ['ACME-17', 'acme17', 'form'],
    ['ACME/17', 'acme-17', 'form'],
    ['é-1', 'e\u0301-1', 'form'],
    ['0017', '17', 'form'],
    ['ACME-100012', 'ACME-1000', 'cut'],
    ['ACME-100012', 'acme-1000', 'cut'],
    ['ACME-17', 'ACME-18', 'other'],
    ['1', '10', 'other'],
    ['10', '2', 'other'],
    ['ACME-17', '', 'other'],
  ] as const)('%j shown as %j: %s', (sent, shown, expected) => {
    expect(compareReferences(sent, shown)).toBe(expected);
  });

  it('keeps a form for references without letters and digits', () => {
    expect(referenceForm('--')).toBe('--');
    expect(referenceForm('0')).toBe('0');
  });
});
