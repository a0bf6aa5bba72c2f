// Finds fields that a site requires but a feed's mapping never fills: all of its postings would be rejected.

import { nearest } from '../posting/nearest-name.ts';
import { mergeFields } from './feed-config.ts';
import type { WrittenFeed } from './schema/feed-schema.ts';
import type { WrittenFormat } from './schema/format-schema.ts';
import type { WrittenSite } from './schema/site-schema.ts';

export interface MappingFindings {
  /** `path` is relative to the feed's settings. */
  readonly faults: readonly { readonly path: readonly string[]; readonly message: string }[];
  readonly warnings: readonly string[];
}

/** Checks the combined fields of a feed and its format against what its site requires. */
export function checkRequiredFields(feed: WrittenFeed, format: WrittenFormat, site: WrittenSite): MappingFindings {
  const fields = Object.keys(mergeFields(format.fields, feed.fields));
  const needed = new Set([...site.required, site.state_field.name]);
  const unfilled = [...needed].filter((field) => !fields.includes(field));
  const faults = unfilled.map((field) => ({
    path: ['fields'],
    message: `nothing fills ${field}, which the site ${feed.site} needs; add ${field}: and the path in the record`,
  }));
  for (const [field, rule] of Object.entries(feed.fields)) {
    if (rule !== null || Object.hasOwn(format.fields, field)) continue;
    const guess = nearest(field, Object.keys(format.fields));
    const message = `null takes away a field of the format, and it has no ${field}`;
    faults.push({
      path: ['fields', field],
      message: guess === undefined ? message : `${message}; did you mean ${guess}?`,
    });
  }
  for (const field of feed.places?.use === 'each' ? feed.places.fields : []) {
    if (fields.includes(field)) continue;
    const message = `nothing fills ${field}, which should tell places apart; name the site's fields that hold the place`;
    faults.push({ path: ['places', 'fields'], message });
  }
  const reference = site.reference_field;
  const warnings =
    reference === undefined || fields.includes(reference)
      ? []
      : [
          `nothing fills ${reference}, the reference_field of the site ${feed.site}; creates in doubt are resolved by comparing all fields`,
        ];
  return { faults, warnings };
}
