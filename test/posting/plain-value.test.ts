// What a field gets of texts that web systems have escaped, or that stand for nothing.
import { describe, expect, it } from 'vitest';
import type { FieldRules } from '../../src/posting/field-mapping.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { fromPaths, sampleSpec } from './sample-spec.ts';

function read(field: string, record: RecordTree, rules: FieldRules = fromPaths('value')) {
  const reader = compileReader(
    sampleSpec({ key: { paths: ['id'] }, fields: { [field]: rules, 'location-state': fromPaths('state') } }),
  );
  const result = reader.read({ id: '1', state: 'Texas', title: 't', ...(record as object) });
  if (!('posting' in result)) throw new Error(result.kind);
  return { value: result.posting.fields[field], unescaped: result.posting.unescaped };
}

describe('an escaped character', () => {
  it.each([
    ['title', 'R&amp;D Nurse &#8211; Night', 'R&D Nurse – Night'],
    ['title', 'R&amp;#038;D', 'R&D'],
    ['title', 'R&#038;D', 'R&D'],
    ['location-city', 'Coeur d&#039;Alene', "Coeur d'Alene"],
    ['category-name', 'Food &amp;amp; Drink', 'Food & Drink'],
    ['contact-web-address', 'https://e.example/?a=1&amp;b=2', 'https://e.example/?a=1&b=2'],
    ['title', 'Learn &lt;b&gt; and &lt;i&gt;', 'Learn <b> and <i>'],
  ])('of %s %j is one', (field, text, expected) => {
    expect(read(field, { value: text })).toEqual({ value: expected, unescaped: [field] });
  });

  it.each([
    ['title', 'AT&T; R&D & more'],
    ['title', '&unknown; stays'],
    ['contact-web-address', 'https://e.example/?a=1&copy=2'],
    ['description', 'Care &amp; cure &lt;b&gt;'],
    ['description', '<p>R&amp;D</p>'],
  ])('of %s %j stays as it is', (field, text) => {
    expect(read(field, { value: text })).toEqual({ value: text, unescaped: undefined });
  });

  it('is unescaped at most twice', () => {
    expect(read('title', { value: 'R&amp;amp;amp;D' }).value).toBe('R&amp;D');
  });
});

describe('a text that stands for nothing', () => {
  it.each(['false', 'true', 'None', 'nan', 'NaN', 'N/A', 'n/a', 'null', 'NULL', 'undefined'])('%s', (text) => {
    for (const field of ['title', 'category-name', 'location-city', 'description', 'contact-email-address']) {
      expect(read(field, { value: text }).value, field).toBeUndefined();
    }
  });

  it('leaves the next path its turn', () => {
    const rules = fromPaths(['value', 'other']);
    expect(read('description', { value: 'false', other: '<p>Care</p>' }, rules).value).toBe('<p>Care</p>');
  });

  it.each(['false', 'true', 'none'])('may be a value of other fields: %s', (text) => {
    expect(read('remote', { value: text }).value).toBe(text);
  });

  it.each(['None of your business', 'Nancy', 'Trueman', 'Falsetto coach', 'Null Island guide'])(
    '%s is text',
    (text) => {
      expect(read('title', { value: text }).value).toBe(text);
    },
  );
});
