// The schemas of answers that no operation describes.
import { z } from 'zod';

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.looseObject({
    items: z.array(item),
    next_cursor: z.string().nullable().describe('`null`: nothing follows.'),
  });

export const problemAnswer = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    errors: z.array(z.looseObject({ where: z.string(), message: z.string() })).optional(),
  })
  .meta({ title: 'Problem' });
