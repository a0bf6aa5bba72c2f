// The JSON Schema of the configuration, and suggestions for mistyped names.
import { describe, expect, test } from 'vitest';
import { configSchema } from '../../src/config/schema/config-schema.ts';
import { inputJsonSchema, knownNames } from '../../src/config/validate.ts';
import { nearestName } from '../../src/posting/id-and-name.ts';
import { configJsonSchemaText } from './schema-file.ts';

test('the JSON Schema is valid JSON, strict, and describes every setting of a feed', () => {
  const schema = JSON.parse(configJsonSchemaText());
  expect(schema.additionalProperties).toBe(false);
  const feed = schema.properties.feeds.additionalProperties;
  expect(feed.required).toEqual(['format', 'site']);
  for (const [name, setting] of Object.entries<{ description?: string }>(feed.properties)) {
    expect([name, setting.description]).toEqual([name, expect.stringMatching(/\.$/)]);
  }
});

test('every setting at any depth has a description', () => {
  const undescribed: string[] = [];
  const walk = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'properties') {
        for (const [setting, schema] of Object.entries(inner)) {
          if (typeof (schema as { description?: string }).description !== 'string')
            undescribed.push(`${path}.${setting}`);
        }
      }
      walk(inner, `${path}.${name}`);
    }
  };
  walk(inputJsonSchema(configSchema), '');
  expect(undescribed).toEqual([]);
});

describe('known names', () => {
  const schema = inputJsonSchema(configSchema);
  test.each<[path: string[], name: string]>([
    [[], 'feeds'],
    [['feeds', 'acme'], 'schedule'],
    [['feeds', 'acme', 'fields', 'title'], 'template'],
    [['feeds', 'acme', 'format'], 'records'],
    [['sites', 'board', 'limits'], 'concurrency'],
  ])('at %j: %s', (path, name) => {
    expect(knownNames(schema, path)).toContain(name);
  });

  test('none below a plain value or a missing setting', () => {
    expect(knownNames(schema, ['database', 'x'])).toEqual([]);
    expect(knownNames(schema, ['constructor'])).toEqual([]);
  });
});

test.each([
  ['shedule', 'schedule'],
  ['Schedule', 'schedule'],
  ['time-zone', 'time_zone'],
  ['feilds', 'fields'],
  ['monster', undefined],
  ['', undefined],
])('nearest to %j: %j', (name, expected) => {
  expect(nearestName(name, ['schedule', 'time_zone', 'fields', 'site'])).toBe(expected);
});
