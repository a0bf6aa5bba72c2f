// The schema of one site's settings.
import { z } from 'zod';
import { STATE_GROUPS } from '../../posting/places.ts';
import {
  constantsSchema,
  countSchema,
  fieldNameSchema,
  outgoingProxySchema,
  percentSchema,
  positiveSchema,
  secondsSchema,
  secretSettings,
} from './scalars.ts';

const baseUrlSchema = z
  .string()
  .refine(
    isBaseUrl,
    'must be an address such as https://jobs.example.com, without user name, password, query or fragment',
  );

function isBaseUrl(text: string): boolean {
  return /^https?:\/\/[^/?#@\\]+(\/[^?#@\\]*)?$/i.test(text) && URL.canParse(text);
}

const stateFieldSchema = z.strictObject({
  name: fieldNameSchema.default('location-state').describe('The field that carries the U.S. state.'),
  values: z
    .enum(['name', 'abbreviation'])
    .default('name')
    .describe('What the site accepts: `name` (Massachusetts) or `abbreviation` (MA).'),
  allow: z
    .array(z.enum(STATE_GROUPS))
    .min(1)
    .default(['states', 'dc'])
    // The site's own list is not published (site-interface.md, section 2), so this is a choice: feeds write D.C. as a state
    // and sites list it among them; a territory that a site does not know costs a rejected request for every posting.
    .describe(
      'What counts as a state: `states` (the 50), `dc`, `territories`. Most sites list D.C. with the states; add `territories` if yours accepts them.',
    ),
});

const resourceSchema = z.strictObject({
  element: fieldNameSchema.default('job').describe('The XML element of one job, in requests and answers.'),
  path: z
    .string()
    .regex(
      /^(\/[^/?#\\\s]+)+$/,
      'must be a path on the site that begins with one / and has none at its end, such as /postings',
    )
    .refine((path) => !path.endsWith('.xml'), 'must be without .xml: jobmirror appends it')
    .default('/jobs')
    .describe(
      'Where jobs are created, at this path with `.xml`, and below which each is, at `/ID.xml`. Another path is another address, as another `base_url` is.',
    ),
});

const limitsSchema = z.strictObject({
  requests_per_second: z
    .number()
    .positive()
    .max(100_000)
    .default(10)
    .describe(
      'Requests a second, over all workers together. After a site asks to wait (429), jobmirror sends at a lower rate for a while; `status` shows it. Reading the list to resolve doubts counts towards the rate of the process that reads it.',
    ),
  concurrency: z.int().min(1).max(256).default(4).describe('Requests at the same time, in each worker.'),
  timeout_seconds: secondsSchema
    .max(600)
    .default(30)
    .describe('From opening the connection to the last byte of the response.'),
});

const retrySchema = z.strictObject({
  attempts: z
    .int()
    .min(1)
    .max(100)
    .default(8)
    .describe('How many times a request is tried before the change goes to review.'),
  first_delay_seconds: secondsSchema
    .default(2)
    .describe('Delay before the second try; doubles with each try, with some jitter.'),
  max_delay_seconds: secondsSchema.default(300).describe('Longest delay between two tries.'),
});

const listChecksSchema = z.int().min(1).max(100);

const doubtsSchema = z.strictObject({
  resolve_after_seconds: secondsSchema
    .optional()
    .describe(
      'How long a create whose outcome is unknown waits before the site is searched for its job. By default twice `timeout_seconds`, at least 15.',
    ),
  list_checks: listChecksSchema
    .optional()
    .describe("How many times the site's list is read without the job before it counts as not created. By default 2."),
  looks: listChecksSchema.optional().describe('The former name of `list_checks`, still accepted.'),
  settle_after_seconds: secondsSchema
    .optional()
    .describe('The former name of `resolve_after_seconds`, still accepted.'),
  escalate_after_minutes: positiveSchema
    .default(60)
    .describe('A doubt of this age is escalated in `status` and `review`.'),
});

const canarySchema = z.strictObject({
  requests: countSchema
    .default(20)
    .describe(
      'After this many requests of a pull, jobmirror checks how many failed; requests that the site asked to send later do not count. The check ends after twice as many requests, or after `concurrency` × 4 more if that comes later. Refusals that say nothing about their posting, such as a missing CSRF token, pause the site sooner: after ten, or when no other posting is left to try. 0: never.',
    ),
  percent: percentSchema.default(50).describe('The site is paused if more than this share of them fails.'),
});

/** With a query, if any. */
const PATH = /^\/(?!\/)[^?#\\]*(\?[^#\\]*)?$/;

export const siteSchema = z
  .strictObject({
    base_url: baseUrlSchema.describe(
      'Address of the site; its path, if any, is prefixed to every path of the interface. Once the site has jobs, jobmirror uses another address (another port is one too) only after `resume SITE --moved`.',
    ),
    ...secretSettings('token', `The authentication token of the user to act as: \`\${NAME}\`, from the environment.`),
    state_field: stateFieldSchema
      .prefault({})
      .describe('The field that carries the U.S. state, which the site requires.'),
    resource: resourceSchema.prefault({}).describe('What the site calls its jobs.'),
    constants: constantsSchema.describe(
      'Field: a value that is the same for all jobs, such as `project_id: 3`. They are sent with each create, and with an update only where `omitted_fields: clear` needs it. A field that should also be updated belongs in the `fields` of the feed, which count before a constant.',
    ),
    required: z.array(fieldNameSchema).default(['title']).describe('Fields that the site requires besides the state.'),
    max_lengths: z
      .record(fieldNameSchema, positiveSchema)
      .default({})
      .describe('Field: maximum number of characters. A posting with a longer text is rejected before it is sent.'),
    reference_field: fieldNameSchema
      .optional()
      .describe('A field that the site stores and returns, used to find a job in doubt.'),
    list_path: z
      .string()
      .regex(PATH, 'must be a path on the site that begins with one /, such as /jobs.xml')
      .optional()
      .describe('A list action of the site, to find jobs in doubt: `/jobs.xml`.'),
    account_path: z
      .string()
      .regex(PATH, 'must be a path on the site that begins with one /, such as /users/current.xml')
      .optional()
      .describe(
        'A page that the site shows as XML to the user of the token and to nobody else: `/users/current.xml`. Where everybody may read jobs, it proves that the site accepts the token; without it only an accepted change does, and creates in doubt wait for one.',
      ),
    limits: limitsSchema.prefault({}).describe('Limits on requests to the site.'),
    proxy: outgoingProxySchema.optional().describe('The proxy to this site, instead of that at the top of the file.'),
    retry: retrySchema.prefault({}).describe('What happens when the site cannot be reached or cannot respond.'),
    doubts: doubtsSchema.prefault({}).describe('What happens to creates whose outcome is unknown.'),
    canary: canarySchema.prefault({}).describe('When a pull stops because the site refuses too much.'),
    omitted_fields: z
      .enum(['keep', 'clear'])
      .optional()
      .describe(
        'What the site does to fields that an update omits. `keep`: updates send only the fields that changed. `clear`: they send all of them, and the present values of `create_only_fields`, for which each update of such a feed reads its job first. By default as with `keep`, until an update clears fields that it omits: then the site is paused.',
      ),
    on_missing: z
      .enum(['create', 'leave'])
      .default('create')
      .describe('When a job to update is gone from the site: `create` it again, or `leave` it gone.'),
  })
  .refine((site) => (site.token === undefined) !== (site.token_file === undefined), {
    error: `needs exactly one of token: \${NAME} and token_file: PATH`,
    path: ['token'],
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .superRefine(({ doubts, limits }, context) => {
    for (const name of ['resolve_after_seconds', 'settle_after_seconds'] as const) {
      if ((doubts[name] ?? Number.POSITIVE_INFINITY) > limits.timeout_seconds) continue;
      context.addIssue({
        code: 'custom',
        message: 'must be longer than limits.timeout_seconds: until then the request itself may still make the job',
        path: ['doubts', name],
      });
    }
  });

export type WrittenSite = z.output<typeof siteSchema>;
