import { describe, expect, test } from 'vitest';
import { compileReader } from '../../../src/posting/reader.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { readPresets } from '../formats-page.ts';
import { feedWith } from './read-preset.ts';

const folder = temporaryFolder();

const FIELDS = [
  ...['number', 'title', 'category-name', 'description', 'location-city', 'location-state'],
  ...['contact-email-address', 'contact-web-address'],
];

const presets = readPresets();

test('there are at least 40', () => expect(presets.length).toBeGreaterThanOrEqual(40));

describe.each(presets)('$name', ({ name, quirks, settings }) => {
  test('says what it is, and what to know about it', () => {
    expect(settings.description).toMatch(/^\S.*[^.]$/);
    expect(settings.documentation).toMatch(/^https?:\/\//);
    expect(quirks.length).toBeGreaterThan(0);
    for (const quirk of quirks) expect(quirk).toMatch(/^\S.*\.$/);
  });

  test('says what its system does at its limits, with the source and the date, and what jobmirror does', () => {
    const [limits = '', ...others] = quirks.filter((quirk) => quirk.startsWith('Limits: '));
    expect(others).toEqual([]);
    const sources = limits.match(/https:\/\/|github\.com\//g) ?? [];
    if (sources.length === 0) expect(limits).toMatch(/^Limits: (?:none|not documented|the feed decides)/);
    else expect(limits).toMatch(/\b20\d\d\b|\b[0-9a-f]{8}\b|WordPress 3\.8|sitemaps\.org/);
    expect(limits).toMatch(/jobmirror (?:does|waits)|fails the pull/);
  });

  test('fills the usual fields, in their order', () => {
    const fields = Object.keys(settings.fields);
    expect(fields).toEqual(FIELDS.filter((field) => fields.includes(field)));
    expect(fields).toEqual(expect.arrayContaining(['number', 'title', 'location-state']));
  });

  test('has a sample configuration that loads, and fills a contact', async () => {
    const feed = await feedWith(folder, { ...settings.example, format: name });
    expect(compileReader(feed.mapping).fingerprint).toMatch(/^[0-9a-f]{64}$/);
    const contacts = Object.keys(feed.mapping.fields).filter((field) => field.startsWith('contact-'));
    expect(contacts).not.toEqual([]);
    const { from } = feed.source;
    if (settings.pages !== undefined || settings.example.pages !== undefined) expect(from.kind).toBe('pages');
  });
});
