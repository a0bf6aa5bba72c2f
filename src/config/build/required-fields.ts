// Finds fields that settings name but a feed's mapping never fills: those that a site requires would reject all of its postings.
import { nearestName } from '../../posting/nearest-name.ts';
import type { WrittenFeed } from '../schema/feed-schema.ts';
import type { WrittenFormat } from '../schema/format-schema.ts';
import type { WrittenSite } from '../schema/site-schema.ts';
import { constantsOf, mergeFields } from './feed-config.ts';

interface Fault {
  readonly path: readonly string[];
  readonly message: string;
}

interface MappingFindings {
  /** `path` is relative to the feed's settings. */
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
}

/** Checks the combined fields of a feed and its format against what its site requires. */
export function checkRequiredFields(feed: WrittenFeed, format: WrittenFormat, site: WrittenSite): MappingFindings {
  const fields = Object.keys(mergeFields(format.fields, feed.fields, constantsOf(feed, site)));
  const needed = new Set([...site.required, site.state_field.name]);
  const unfilled = [...needed].filter((field) => !fields.includes(field));
  const faults: Fault[] = unfilled.map((field) => ({
    path: ['fields'],
    message: `nothing fills ${field}, which the site ${feed.site} needs; add ${field}: and the path in the record`,
  }));
  for (const [field, rule] of Object.entries(feed.fields)) {
    if (rule !== null || Object.hasOwn(format.fields, field)) continue;
    const guess = nearestName(field, Object.keys(format.fields));
    const message = `null takes away a field of the format, and it has no ${field}`;
    faults.push({
      path: ['fields', field],
      message: guess === undefined ? message : `${message}; did you mean ${guess}?`,
    });
  }
  const places = feed.places ?? format.places;
  for (const field of places?.use === 'each' ? places.fields : []) {
    if (fields.includes(field)) continue;
    const message = `nothing fills ${field}, which should tell places apart; name the site's fields that hold the place`;
    faults.push({ path: ['places', 'fields'], message });
  }
  faults.push(...faultsOfCreateOnly(feed, fields, site));
  const reference = site.reference_field;
  const warnings =
    reference === undefined || fields.includes(reference)
      ? []
      : [
          `nothing fills ${reference}, the reference_field of the site ${feed.site}; creates in doubt are resolved by comparing all fields`,
        ];
  return { faults, warnings };
}

function faultsOfCreateOnly(
  { create_only_fields: names }: WrittenFeed,
  fields: readonly string[],
  site: WrittenSite,
): readonly Fault[] {
  const path = ['create_only_fields'];
  const faults: Fault[] = names.flatMap((name) => {
    if (name === site.reference_field)
      return [{ path, message: `${name} is the reference_field of the site, which tells whose job it is` }];
    if (fields.includes(name)) return [];
    const guess = nearestName(name, fields);
    return [{ path, message: `nothing fills ${name}${guess === undefined ? '' : `; did you mean ${guess}?`}` }];
  });
  if (fields.every((name) => names.includes(name)))
    faults.push({ path, message: 'leaves no field to update; use policy: create_only' });
  return faults;
}
