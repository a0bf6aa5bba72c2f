// The schema of `places`: what becomes of a posting in several places.
import { z } from 'zod';
import { OWN_PLACE } from '../../posting/places.ts';
import { fieldNameSchema, pathSchema } from './scalars.ts';

export const placesSchema = z.strictObject({
  path: z
    .union([pathSchema, z.array(z.union([z.literal(OWN_PLACE), pathSchema])).min(1)])
    .describe(
      'The path of the places in the record, which lists them: `locations/location`. Several paths if places are in several parts: `[location, otherLocations/location]`; `.` stands for the record without its other places.',
    ),
  split: z
    .string()
    .min(1)
    .optional()
    .describe('Separates several places in one text: `"; "` for `Boston, MA; Chicago, IL`.'),
  use: z
    .enum(['first', 'each', 'review'])
    .describe(
      '`first`: the first place in a state that the site accepts. `each`: a posting for each place, whose key ends with the place. `review`: a person chooses, if the fields of the places differ.',
    ),
  fields: z
    .array(fieldNameSchema)
    .min(1)
    .default(['location-city', 'location-state'])
    .describe(
      'For `each`: the site fields that tell the places of a posting apart. A change of them changes all keys.',
    ),
});
