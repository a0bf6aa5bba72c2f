// The classification, rule by rule: each row is an answer and its only valid outcome.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { siteJobId } from '../../src/posting/identifiers.ts';
import type { SiteRequest } from '../../src/site/exchange.ts';
import { gatherFacts, type Reply } from '../../src/site/facts.ts';
import { judge, outcomeRules } from '../../src/site/outcome.ts';

const answer = (status: number, more: Partial<Reply> = {}): Reply => ({
  url: new URL('https://site.test/jobs.xml'),
  sent: true,
  status,
  contentType: 'application/xml',
  body: '',
  ...more,
});
const notSent: Reply = { ...answer(0), sent: false, trouble: 'refused' };
const noAnswer: Reply = { ...answer(0), trouble: 'reset' };

const job = '<job><id>12</id><title>Cook</title></job>';
const errors = '<errors><error field="title">is blank</error></errors>';
const generic = '<error>Internal Server Error</error>';
const rails500 = '<hash><status>500</status><error>Internal Server Error</error></hash>';
const page = '<!DOCTYPE html><html><body>Log in</body></html>';
const guru =
  '<!DOCTYPE html><html><body><h1>Error 503 Backend fetch failed</h1><h3>Guru Meditation:</h3></body></html>';
const soapFault =
  '<s:Envelope xmlns:s="u"><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>Title is blank</faultstring></s:Fault></s:Body></s:Envelope>';
const location = '/jobs/12';
const cut = 'closed';

const expected = { fields: { title: 'Cook', number: 'n1' }, referenceField: 'number' };
const twoIds = '<job><id>99</id><title>Cook</title></job>';
const otherReference = '<job><title>Cook</title><number>n2</number></job>';
const otherTitle = '<job><title>Nurse</title><number>n1</number></job>';
const ofAnyName = '<root><id>12</id><number>n1</number><description>You must find every error</description></root>';
const respelled = '<job><title>COOK </title><number>N1</number></job>';

type Row = readonly [name: string, reply: Reply, create: string, update: string, remove: string];
const same = (name: string, reply: Reply, kind: string): Row => [name, reply, kind, kind, kind];

const rows: readonly Row[] = [
  same('not sent', notSent, 'unreachable'),
  same('no answer', noAnswer, 'unknown'),
  same('401', answer(401), 'unauthorized'),
  same('401 with errors', answer(401, { body: '<error>Unauthorized</error>' }), 'unauthorized'),
  same('429', answer(429), 'throttled'),
  same('429 with errors', answer(429, { body: errors, retryAfterMs: 5 }), 'throttled'),
  same('503 with Retry-After', answer(503, { retryAfterMs: 0, body: errors }), 'throttled'),
  same('503 without', answer(503), 'unknown'),
  same(
    '503 of Varnish with Retry-After',
    answer(503, { retryAfterMs: 5000, server: 'Varnish', body: page }),
    'unknown',
  ),
  same('503 that Varnish made without its name', answer(503, { retryAfterMs: 5000, body: guru }), 'unknown'),
  same('503 with Retry-After through Varnish', answer(503, { retryAfterMs: 5000, server: 'nginx' }), 'throttled'),
  same('403', answer(403), 'forbidden'),
  same('403 with errors', answer(403, { body: '<error>Forbidden</error>' }), 'forbidden'),
  same(
    '403 because of the token',
    answer(403, { body: '<root><detail>Invalid username/password.</detail></root>' }),
    'unauthorized',
  ),
  same('403 because of the key', answer(403, { body: '<error>Invalid API key</error>' }), 'unauthorized'),
  same(
    '200 because of the key',
    answer(200, { body: '<response><status>error</status><message>Invalid API key</message></response>' }),
    'unauthorized',
  ),
  same(
    '422 about an invalid token of a text',
    answer(422, { body: '<errors><error>Invalid token "{{" in the text</error></errors>' }),
    'rejected',
  ),
  same(
    '422 about credentials of a nurse',
    answer(422, { body: '<errors><error>Missing credentials for this position</error></errors>' }),
    'rejected',
  ),
  same('403 for an author', answer(403, { body: '<error>Invalid author for this job</error>' }), 'forbidden'),
  same('301', answer(301, { location: 'https://site.test/jobs.xml' }), 'misconfigured'),
  same('302 to a login', answer(302, { location: '/login' }), 'misconfigured'),
  same('302 to the job', answer(302, { location }), 'unknown'),
  same('303 to the job on another host', answer(303, { location: 'https://www.site.test/jobs/12-cook' }), 'unknown'),
  [
    '302 to another job',
    answer(302, { location: '/jobs/13', siteJobId: siteJobId('12') }),
    'unknown',
    'misconfigured',
    'misconfigured',
  ],
  ['302 to a form of the job', answer(302, { location: '/jobs/12/edit' }), 'unknown', 'misconfigured', 'misconfigured'],
  ['302 back to the list', answer(302, { location: '/jobs' }), 'unknown', 'misconfigured', 'misconfigured'],
  [
    '303 to another page',
    answer(303, { location: '/my/postings?done=1' }),
    'unknown',
    'misconfigured',
    'misconfigured',
  ],
  same('302 to a page to sign in', answer(302, { location: '/users/sign_in' }), 'misconfigured'),
  same('303 to another site', answer(303, { location: 'https://elsewhere.test/' }), 'misconfigured'),
  same('301 of a job to another page', answer(301, { location: '/jobs', siteJobId: siteJobId('12') }), 'misconfigured'),
  same('307 to a job', answer(307, { location }), 'misconfigured'),
  same('304 without Location', answer(304), 'misconfigured'),
  ['404', answer(404), 'misconfigured', 'gone', 'gone'],
  ['404 with errors', answer(404, { body: '<error>Not found</error>' }), 'misconfigured', 'gone', 'gone'],
  ['410', answer(410), 'misconfigured', 'gone', 'gone'],
  ...[405, 407, 414, 415, 421, 426, 431, 501, 505, 511].map((status) =>
    same(`${status}`, answer(status, { body: errors }), 'misconfigured'),
  ),
  ...[408, 425, 502, 503, 504].map((status) => same(`${status}`, answer(status, { body: errors }), 'unknown')),
  same('500', answer(500), 'unknown'),
  same('500 with a page', answer(500, { body: page }), 'unknown'),
  same('500 with a generic error', answer(500, { body: generic }), 'unknown'),
  same('500 as from Rails', answer(500, { body: rails500 }), 'unknown'),
  same('500 with a job', answer(500, { body: job, location }), 'unknown'),
  same('500 with errors of a field', answer(500, { body: errors }), 'rejected'),
  same(
    '500 with a validation message',
    answer(500, { body: "<errors><error>Title can't be blank</error></errors>" }),
    'rejected',
  ),
  ...[200, 201, 400, 406, 409, 422, 418].map((status) =>
    same(`${status} with errors`, answer(status, { body: errors }), 'rejected'),
  ),
  same('422 with an error root', answer(422, { body: '<error>Title is blank</error>' }), 'rejected'),
  ['201 with Location and errors', answer(201, { location, body: errors }), 'unknown', 'rejected', 'rejected'],
  ['201 with all', answer(201, { location, body: job }), 'created', 'accepted', 'accepted'],
  ['201 with two IDs', answer(201, { location, body: twoIds }), 'unknown', 'unknown', 'unknown'],
  ['201 with two Locations', answer(201, { location, otherLocation: '/jobs/13' }), 'unknown', 'unknown', 'unknown'],
  [
    '201 with another reference',
    answer(201, { location, body: otherReference, expected }),
    'unknown',
    'foreign',
    'foreign',
  ],
  ['201 with another title', answer(201, { location, body: otherTitle, expected }), 'unknown', 'accepted', 'accepted'],
  ['201 with other spelling', answer(201, { location, body: respelled, expected }), 'created', 'accepted', 'accepted'],
  ['201 with Location only', answer(201, { location }), 'created', 'accepted', 'accepted'],
  ['201 with body only', answer(201, { body: job }), 'created', 'accepted', 'accepted'],
  [
    '201 with Location and a body cut off',
    answer(201, { location, body: '<job><id>', trouble: cut }),
    'created',
    'unknown',
    'unknown',
  ],
  ['201 with a Location of another form', answer(201, { location: '/postings/12' }), 'created', 'accepted', 'accepted'],
  ['200 with a Location of another form', answer(200, { location: '/postings/12' }), 'unknown', 'accepted', 'accepted'],
  ['200 with job', answer(200, { body: job }), 'created', 'accepted', 'accepted'],
  ['202 with Location', answer(202, { location }), 'created', 'accepted', 'accepted'],
  ['201 without an ID', answer(201), 'unknown', 'accepted', 'accepted'],
  ['204', answer(204), 'unknown', 'accepted', 'accepted'],
  ['200 blank', answer(200, { body: ' \n', contentType: 'text/html' }), 'unknown', 'accepted', 'accepted'],
  ['200 odd', answer(200, { body: 'OK', contentType: 'text/plain' }), 'unknown', 'accepted', 'accepted'],
  ['200 with other XML', answer(200, { body: '<ok/>' }), 'unknown', 'accepted', 'accepted'],
  ['200 malformed', answer(200, { body: '<job><id>12' }), 'unknown', 'accepted', 'accepted'],
  [
    '200 with an empty list of errors',
    answer(200, { body: '<errors type="array"/>' }),
    'unknown',
    'accepted',
    'accepted',
  ],
  ['201 with Location and a SOAP fault', answer(201, { location, body: soapFault }), 'unknown', 'rejected', 'rejected'],
  ...(
    [
      ['a SOAP fault', soapFault],
      ['a job that holds errors', '<job><title>x</title><errors><title>is blank</title></errors></job>'],
      ['a job with an error', '<job error="Title is blank"><title>x</title></job>'],
      ['valid="false"', '<validation-result valid="false"><message>Title is blank</message></validation-result>'],
      ['success denied', '<result><ok>0</ok></result>'],
      ['a failed status', '<result><status>error</status><message>Title is blank</message></result>'],
      ['a failed status next to a title', '<result><title>Sorry</title><status>error</status></result>'],
      ['a failed status deep inside', '<r><head><status>Failed</status></head></r>'],
      ['a status by number', '<response code="422 Unprocessable Entity"/>'],
      ['a failure', '<validation-failure><field>title</field><message>is blank</message></validation-failure>'],
      ['an empty failure', '<failure/>'],
      ['an error code element', '<result><error-code>17</error-code></result>'],
      ['just "false"', '<saved>false</saved>'],
      ['a problem document', '<problem xmlns="urn:ietf:rfc:7807"><title>Bad job</title><detail>x</detail></problem>'],
      ['a title outside a job', '<r><title>Sorry</title><status>error</status><message>x</message></r>'],
    ] as const
  ).flatMap(([name, body]) =>
    [200, 201].map((status) => same(`${status} with ${name}`, answer(status, { body }), 'rejected')),
  ),
  ...(
    [
      ['a failure word in XML', '<result><message>Title is required</message></result>'],
      ['a failure word in text', 'ERROR: title is blank'],
      ['a failure word in JSON', '{"ok":false,"error":"title"}'],
      ['a failure word next to a job', '<r><note>could not be saved</note><job><title>x</title></job></r>'],
      ['a failure word in broken XML', '<r><note>could not be saved</r>'],
    ] as const
  ).map(([name, body]): Row => [`200 with ${name}`, answer(200, { body }), 'unknown', 'rejected', 'rejected']),
  ...(
    [
      ['a status', '<status>updated</status>'],
      ['a status by number', '<hash><status>200</status><code>0</code></hash>'],
      ['a hash', '<hash><id type="integer">12</id><updated-at>2026-01-01T00:00:00Z</updated-at></hash>'],
      ['unknown XML', '<foo bar="1"><baz/></foo>'],
      ['just "true"', '<success>true</success>'],
      ['no errors', '<result><message>Saved, 0 errors</message><errors>0</errors><error-code>0</error-code></result>'],
      ['an empty failure', '<result><ok>yes</ok><failure/><failures type="array"/></result>'],
      ['only an empty list of failures', '<failures type="array"/>'],
      ['a warning', '<result><warning>The field salary is missing here and was rejected</warning></result>'],
      ['a default', '<default>1</default>'],
      ['a job under another name', '<posting><title>x</title><text>You must handle errors.</text></posting>'],
      ['a job with a status', '<r><job><title>Chef</title><status>rejected</status><text>must fail</text></job></r>'],
      ['a truncated job', '<?xml version="1.0"?>\n<job><text>errors'],
      ['counts', '<result><created>0</created><updated>1</updated></result>'],
    ] as const
  ).map(([name, body]): Row => [`200 with ${name}`, answer(200, { body }), 'unknown', 'accepted', 'accepted']),
  same('500 with a SOAP fault', answer(500, { body: soapFault }), 'unknown'),
  ['200 cut off', answer(200, { body: '', trouble: cut }), 'unknown', 'unknown', 'unknown'],
  [
    '200 with a page',
    answer(200, { body: page, contentType: 'text/html' }),
    'unknown',
    'misconfigured',
    'misconfigured',
  ],
  ['200 with a page labelled as XML', answer(200, { body: page }), 'unknown', 'misconfigured', 'misconfigured'],
  [
    '200 with a fragment of a page',
    answer(200, { body: '<div>Log in</div>', contentType: 'text/html; charset=utf-8' }),
    'unknown',
    'misconfigured',
    'misconfigured',
  ],
  [
    '200 with a job labelled as HTML',
    answer(200, { body: job, contentType: 'text/html' }),
    'created',
    'accepted',
    'accepted',
  ],
  [
    '200 with the job under a root of another name, whose text has the word "error"',
    answer(200, { body: ofAnyName }),
    'created',
    'accepted',
    'accepted',
  ],
  ...[
    '<maintenance><message>We will be back at 5 pm</message></maintenance>',
    '<maintenance/>',
    '<status>Temporarily unavailable</status>',
    'Down for scheduled maintenance, please try again later',
    '<m>The job board is offline</m>',
  ].map((body): Row => [`200 with ${body}`, answer(200, { body }), 'unknown', 'misconfigured', 'misconfigured']),
  ...[
    '<response><message>Job 12 taken offline</message></response>',
    '<ok>The posting is now unavailable</ok>',
    '<ok>Job #A-12 has been set to offline</ok>',
  ].map((body): Row => [`200 with ${body}`, answer(200, { body }), 'unknown', 'accepted', 'accepted']),
  [
    '200 with a job in maintenance',
    answer(200, {
      body: `<response>${job.replace('<id>', '<description>Offline maintenance</description><id>')}</response>`,
    }),
    'created',
    'accepted',
    'accepted',
  ],
  same('400 with text', answer(400, { body: 'no' }), 'rejected'),
  same('413', answer(413), 'rejected'),
  same('422 with a page', answer(422, { body: page }), 'rejected'),
  same('600', answer(600), 'unknown'),
  same('199', answer(199), 'unknown'),
];

describe('judge (docs/outcomes.md)', () => {
  it.each(rows)('%s', (_name, reply, create, update, remove) => {
    expect([judge('create', reply).kind, judge('update', reply).kind, judge('delete', reply).kind]).toEqual([
      create,
      update,
      remove,
    ]);
  });

  it('each rule decides at least one row above, with the outcome it lists', () => {
    const kinds: readonly SiteRequest['kind'][] = ['create', 'update', 'delete'];
    const decided = new Set<number>();
    for (const [, reply] of rows) for (const kind of kinds) decided.add(decidingRule(kind, reply));
    expect([...decided].sort((a, b) => a - b)).toEqual([-1, ...outcomeRules.keys()]);
  });

  function decidingRule(kind: SiteRequest['kind'], reply: Reply): number {
    const outcome = judge(kind, reply);
    const facts = gatherFacts(reply);
    const at = outcomeRules.findIndex((rule) => rule.requests.includes(kind) && rule.conclude(facts));
    expect(outcome.kind).toBe(outcomeRules[at]?.outcome ?? 'unknown');
    return at;
  }

  it('keeps the complete job: the ID of Location before that of the body, an absolute URL', () => {
    const reply = answer(201, {
      location: 'https://www.other.test/jobs/12-cook.xml',
      body: '<job><id>12</id><title>Cook</title></job>',
    });
    expect(judge('create', reply)).toEqual({
      kind: 'created',
      siteJob: {
        siteJobId: '12-cook',
        url: 'https://www.other.test/jobs/12-cook.xml',
        fields: { id: '12', title: 'Cook' },
      },
    });
  });

  it('prefers the ID in the body to a guess', () => {
    expect(judge('create', answer(201, { location: '/account', body: job }))).toMatchObject({
      siteJob: { siteJobId: '12' },
    });
  });

  it('names the target of a redirect, without credentials or query', () => {
    const reply = answer(301, { location: 'https://user:pw@other.test/jobs.xml?key=secret' });
    expect(judge('create', reply)).toEqual({
      kind: 'misconfigured',
      message:
        'The site answered 301 and redirects to https://other.test/jobs.xml. Redirects are not followed; correct base_url',
    });
    expect(judge('create', answer(302, { location: 'http://[' }))).toMatchObject({
      message: expect.stringContaining('redirects to nowhere'),
    });
  });

  it.each([
    ['body text', answer(400, { body: 'Title is missing' }), [{ message: 'Title is missing' }]],
    ['a page', answer(400, { body: page }), [{ message: 'Log in' }]],
    ['no body', answer(400), [{ message: 'The site answered 400 and gave no reason' }]],
    ['errors', answer(403, { body: errors }), [{ field: 'title', message: 'is blank' }]],
    ['a SOAP fault', answer(200, { body: soapFault }), [{ message: 'Title is blank' }]],
    [
      'SOAP 1.2',
      answer(200, {
        body: '<Envelope><Body><Fault><Code><Value>Sender</Value></Code><Reason><Text>Title is blank</Text></Reason></Fault></Body></Envelope>',
      }),
      [{ message: 'Title is blank' }],
    ],
    [
      'a message about a field',
      answer(200, { body: '<v valid="false"><message field="title">is blank</message></v>' }),
      [{ field: 'title', message: 'is blank' }],
    ],
    [
      'failures',
      answer(200, {
        body: '<failures><failure>a</failure><failure><field>title</field><message>b</message></failure></failures>',
      }),
      [{ message: 'a' }, { field: 'title', message: 'b' }],
    ],
    ['only a marker', answer(200, { body: '<result success="false"/>' }), [{ message: 'success: false' }]],
    ['an empty failure', answer(200, { body: '<Failure/>' }), [{ message: 'Failure' }]],
    ['an attribute', answer(200, { body: '<job error="Title is blank"/>' }), [{ message: 'Title is blank' }]],
    [
      'XML of any kind',
      answer(422, { body: '<r><code>17</code><note>no <b>title</b></note></r>' }),
      [{ message: '17; no title' }],
    ],
  ])('gives the reason for a refusal: %s', (_name, reply, problems) => {
    expect(judge('create', reply)).toMatchObject({ problems });
  });

  it.each([
    ['500 with a body', answer(500, { body: generic }), 'The site answered 500: Internal Server Error'],
    ['500 cut off', answer(500, { trouble: cut }), 'The site answered 500 (closed)'],
    ['no answer', noAnswer, 'No answer: reset'],
    ['not sent', notSent, 'Not sent: refused'],
    [
      '405 with a body',
      answer(405, { body: 'no POST' }),
      'The site or a proxy in front of it does not accept such requests; check base_url (status 405: no POST)',
    ],
  ])('says what happened: %s', (_name, reply, message) => expect(judge('create', reply)).toMatchObject({ message }));

  it('passes on how long to wait', () => {
    expect(judge('update', answer(429, { retryAfterMs: 5000 }))).toEqual({ kind: 'throttled', retryAfterMs: 5000 });
  });

  it('never classifies a create that may have been done as certainly not done', () => {
    const safe = ['unreachable', 'unauthorized', 'throttled', 'forbidden', 'misconfigured', 'rejected'];
    fc.assert(
      fc.property(
        fc.constantFrom(500, 502, 503, 504, 200, 201, 202, 204, 0, 408, 302, 303),
        fc.constantFrom('', ' ', job, page, generic, rails500, '<job>', 'OK', '<ok/>'),
        fc.boolean(),
        (status, body, isCut) => {
          // Under any status except 5xx an errors document counts, whatever its words.
          fc.pre(status >= 500 || (body !== generic && body !== rails500));
          const reply = answer(status, {
            body,
            location: status >= 300 && status < 400 ? location : undefined,
            trouble: isCut ? cut : undefined,
          });
          expect(safe).not.toContain(judge('create', reply).kind);
        },
      ),
    );
  });

  it('always returns an outcome, and never throws', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999 }),
        fc.string(),
        fc.string(),
        fc.string(),
        (status, body, contentType, place) => {
          for (const kind of ['create', 'update', 'delete'] as const) {
            expect(judge(kind, answer(status, { body, contentType, location: place })).kind).toBeTypeOf('string');
          }
        },
      ),
    );
  });
});
