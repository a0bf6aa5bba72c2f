// Changes of single settings in the text of a feed: as a person would make them, and nothing else.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  editDraft,
  type FieldChoice,
  fieldChoiceOf,
  fieldsOfDraft,
  settingsOfDraft,
} from '../../src/config/feed-draft.ts';

const PRESET = `# Our largest customer.
source: https://ats.example.com/acme.xml
format: indeed # a preset
site: board
schedule: "*/15 * * * *" # every quarter of an hour
fields: # on top of the preset
  title: jobTitle # they call it so
  # The state is spelt in full.
  location-state: { from: region, as: us_state }
delete_guard: { percent: 20, count: 5 }
`;

const OWN = `source: feed.csv
format:
  type: csv
  key: id # never changes
  fields: # site field: where its value comes from
    number: id
    title: name
    # Paths in the records: place, text
site: board
`;

const fields = (field: string, choice: FieldChoice) => ({ fields: new Map([[field, choice]]) });

describe('what a form says of a field', () => {
  it.each<[string, FieldChoice]>([
    ['title: jobTitle', { kind: 'path', text: 'jobTitle', step: 'none' }],
    ['title: null', { kind: 'none' }],
    ['title: { value: Nurse }', { kind: 'value', text: 'Nurse' }],
    ['title: { template: "{a}, {b}", as: upper }', { kind: 'template', text: '{a}, {b}', step: 'upper' }],
    ['title: { from: a, as: [date_mdy], default: x }', { kind: 'path', text: 'a', step: 'date_mdy', otherwise: 'x' }],
    ['title: { from: a, us_place: city, otherwise: default }', { kind: 'path', text: 'a', step: 'city' }],
    ['title: { from: a, map: { x: y } }', { kind: 'path', text: 'a', step: 'table', table: { x: 'y' } }],
    ['title: { from: [a, b] }', { kind: 'written' }],
    ['title: [a, { from: b }]', { kind: 'written' }],
    ['title: { from: a, when: { b: c } }', { kind: 'written' }],
    ['title: { from: a, as: [text, upper] }', { kind: 'written' }],
    ['title: { from: a, map: codes.csv }', { kind: 'written' }],
    ['title: { from: a, us_place: state, otherwise: keep }', { kind: 'written' }],
    ['other: a', { kind: 'format' }],
  ])('%s', (rule, choice) => {
    expect(fieldChoiceOf(`format: indeed\nfields:\n  ${rule}\n`, 'title')).toEqual(choice);
  });

  it('also in a format of its own', () => {
    expect(fieldChoiceOf(OWN, 'title')).toEqual({ kind: 'path', text: 'name', step: 'none' });
    expect(fieldsOfDraft(OWN)).toEqual(['number', 'title']);
  });
});

describe('editDraft', () => {
  it('returns the very text if nothing differs', () => {
    const edit = {
      ...fields('title', { kind: 'path', text: 'jobTitle', step: 'none' }),
      key: [],
      settings: { site: 'board', delete_guard: { count: 5, percent: 20 } },
    };
    expect(editDraft(PRESET, edit)).toBe(PRESET);
    expect(editDraft(PRESET, fields('title', { kind: 'written' }))).toBe(PRESET);
    expect(editDraft('{ no: [yaml', fields('title', { kind: 'none' }))).toBe('{ no: [yaml');
  });

  it('changes one field, and keeps every comment and all other lines', () => {
    const edited = editDraft(PRESET, fields('title', { kind: 'path', text: 'position', step: 'first_line' }));
    const line = '  title: { from: position, as: first_line } # they call it so';
    expect(edited).toBe(PRESET.replace('  title: jobTitle # they call it so', line));
  });

  it('adds, leaves out and gives back fields of a preset', () => {
    const added = editDraft(PRESET, fields('category-name', { kind: 'value', text: 'Care' }));
    expect(parse(added).fields['category-name']).toEqual({ value: 'Care' });
    expect(added).toContain('  category-name: { value: Care }\n');
    expect(parse(editDraft(PRESET, fields('number', { kind: 'none' }))).fields.number).toBeNull();
    const given = editDraft(PRESET, {
      fields: new Map<string, FieldChoice>([
        ['title', { kind: 'format' }],
        ['location-state', { kind: 'format' }],
      ]),
    });
    expect(parse(given)).not.toHaveProperty('fields');
  });

  it('writes into a format of its own, and its key', () => {
    const edited = editDraft(OWN, {
      ...fields('location-state', { kind: 'path', text: 'place', step: 'state' }),
      key: ['name'],
    });
    expect(parse(edited).format).toEqual({
      type: 'csv',
      key: 'name',
      fields: { number: 'id', title: 'name', 'location-state': { from: 'place', us_place: 'state' } },
    });
    expect(edited).toContain('# Paths in the records: place, text');
    expect(parse(editDraft(OWN, fields('number', { kind: 'none' }))).format.fields).not.toHaveProperty('number');
  });

  it('writes a long look-up table with a line for each entry, and what is chosen comes back as it was', () => {
    const table = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`from ${n}`, `to: ${n}`]));
    const choice: FieldChoice = { kind: 'path', text: 'department', step: 'table', table, otherwise: 'Other' };
    const edited = editDraft(PRESET, fields('category-name', choice));
    expect(edited).toContain('\n      from 3: "to: 3"\n');
    expect(fieldChoiceOf(edited, 'category-name')).toEqual(choice);
  });

  it('changes single members of a group, and keeps the comments of the others', () => {
    const guarded = PRESET.replace(
      'delete_guard: { percent: 20, count: 5 }',
      'delete_guard:\n  # As agreed.\n  percent: 20 # of all\n  count: 5 # small',
    );
    const edited = editDraft(guarded, { settings: { delete_guard: { percent: 20, count: 7, missing_pulls: 2 } } });
    expect(edited).toBe(guarded.replace('count: 5 # small', 'count: 7 # small\n  missing_pulls: 2'));
  });

  it.each(['title: *bold*', `a: &a [${'x,'.repeat(99)}]\nb: &b [${'*a,'.repeat(99)}]\nc: [${'*b,'.repeat(99)}]`])(
    'leaves a text alone whose aliases lead nowhere or repeat too much',
    (text) => {
      expect(settingsOfDraft(text)).toEqual({});
      expect(fieldChoiceOf(text, 'title')).toEqual({ kind: 'format' });
      expect(editDraft(text, { settings: { site: 'board' } })).toBe(text);
    },
  );

  it('sets and removes settings', () => {
    const edited = editDraft(PRESET, {
      settings: { schedule: '0 6 * * *', policy: 'upsert_only', delete_guard: undefined },
    });
    expect(edited).toContain('schedule: 0 6 * * * # every quarter of an hour');
    expect(parse(edited)).toMatchObject({ policy: 'upsert_only' });
    expect(parse(edited)).not.toHaveProperty('delete_guard');
  });
});
