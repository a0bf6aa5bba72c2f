// Lists of an id and a name in JSON, as Odoo writes a reference to another record.
import { describe, expect, it } from 'vitest';
import { formatOf } from '../../src/feed/format/formats.ts';
import type { FieldMapping, FieldRules } from '../../src/posting/field-mapping.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { fromPaths, sampleSpec } from './sample-spec.ts';

function treeOf(json: string): RecordTree {
  const parsed = formatOf('json').parseRecord(Buffer.from(json), {});
  if (parsed.kind !== 'tree') throw new Error(JSON.stringify(parsed.problems));
  return parsed.tree;
}

function postingOf(json: string, changes: Partial<FieldMapping>) {
  const read = compileReader(sampleSpec({ requiredFields: [], ...changes })).read(treeOf(json));
  if (!('posting' in read)) throw new Error(read.kind);
  return read.posting;
}

function valueAt(field: string, path: string, json: string, rules: FieldRules = fromPaths(path)) {
  const { fields, named } = postingOf(`{"id": "1", "${path}": ${json}}`, { fields: { [field]: rules } });
  return { value: fields[field], isNamed: named?.includes(field) === true };
}

describe('a field of words or places gets the name', () => {
  it.each([
    ['location-city', 'city', '[7, "Austin"]', 'Austin'],
    ['location_state', 'state_id', '[52, "Texas"]', 'Texas'],
    ['category-name', 'department', ' [ 4 ,\n "Nursing" ] ', 'Nursing'],
    ['title', 'job_id', '[11, "Nurse 2"]', 'Nurse 2'],
    ['company', 'company', '[1, "Acme"]', 'Acme'],
    ['employment-type', 'contract', '[1, "Full-time"]', 'Full-time'],
    ['description', 'text', '[1, "Cares"]', 'Cares'],
  ])('%s of %s: %s', (field, path, json, value) => {
    expect(valueAt(field, path, json)).toEqual({ value, isNamed: true });
  });

  it('through a state, a template, sections and a joined list', () => {
    const state = valueAt('location-state', 'state_id', '[52, "Texas (US)"]', fromPaths('state_id', 'us_state'));
    expect(state).toEqual({ value: 'Texas', isNamed: true });
    const template: FieldRules = { source: { kind: 'template', template: 'In {state_id}' }, as: [] };
    expect(valueAt('location-city', 'state_id', '[52, "Texas"]', template).value).toBe('In Texas');
    const sections: FieldRules = {
      source: { kind: 'sections', sections: [{ templates: ['<p>{state_id}</p>'] }], join: '' },
      as: [],
    };
    expect(valueAt('description', 'state_id', '[52, "Texas"]', sections).value).toBe('<p>Texas</p>');
    const joined: FieldRules = { source: { kind: 'paths', paths: ['tag_ids'], join: ', ' }, as: [] };
    expect(valueAt('category-name', 'tag_ids', '[[5, "Night"], [6, "Ward"]]', joined).value).toBe('Night, Ward');
  });

  it('at a place of its own', () => {
    const { fields } = postingOf('{"id": "1", "address_id": [3, "Austin, TX"]}', {
      places: { path: 'address_id', use: 'first' },
      fields: {
        'location-city': {
          source: { kind: 'paths', paths: ['address_id'] },
          as: [{ kind: 'us_place', part: 'city', otherwise: 'default' }],
        } satisfies FieldRules,
      },
    });
    expect(fields['location-city']).toBe('Austin');
  });
});

describe('another field gets the name of a reference, and the number of an amount', () => {
  it.each([
    ['shift', 'shift_id', '[2, "Night"]', 'Night', true],
    ['shift', 'x_studio_shift', '[2, "Night"]', 'Night', true],
    ['salary', 'pay', '[50000, "USD"]', '50000', false],
    ['experience', 'experience', '[3, "years"]', '3', false],
  ])('%s of %s: %s', (field, path, json, value, isNamed) => {
    expect(valueAt(field, path, json)).toEqual({ value, isNamed });
  });
});

describe('a list of two values stays one', () => {
  it.each([
    '[52, 53]',
    '["52", "Texas"]',
    '["52", 53]',
    '[52, "53"]',
    '[52, "Texas", "Ohio"]',
    '[5.5, "Texas"]',
    '[-1, "Texas"]',
  ])('%s', (json) => {
    const joined: FieldRules = { source: { kind: 'paths', paths: ['state_id'], join: '|' }, as: [] };
    const values = (JSON.parse(json) as unknown[]).join('|');
    expect(valueAt('location-city', 'state_id', json, joined)).toEqual({ value: values, isNamed: false });
  });
});

describe('the id counts', () => {
  const json = '{"id": [11, "Nurse"], "state": "Texas", "state_id": [52, "Texas"]}';

  it('in the key and the reference', () => {
    const { key, fields } = postingOf(json, { fields: { number: fromPaths('id'), title: fromPaths('id') } });
    expect({ key, fields }).toEqual({ key: '11', fields: { number: '11', title: 'Nurse' } });
  });

  it.each(['52', 'Texas'])('in conditions, as the name does: %s', (text) => {
    const when = [[{ path: 'state_id', is: [text] }]];
    const { fields } = postingOf(json, { fields: { title: { ...fromPaths('id'), when } } });
    expect(fields.title).toBe('Nurse');
  });
});
