// Validation errors in the forms in which Rails writes them, and which field each is about. `rails-errors.txt` is what Rails 6.1 (Debian 12)
// with activemodel-serializers-xml 1.0.2 wrote for one record that breaks five rules, a form after each line with `==`.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Fields, Problem } from '../../src/posting/posting.ts';
import { judge } from '../../src/site/outcome.ts';

const written = await readFile(new URL('rails-errors.txt', import.meta.url), 'utf8');
const forms = written
  .split(/^== /m)
  .slice(1)
  .map((form) => [form.slice(0, form.indexOf('\n')), form.slice(form.indexOf('\n') + 1)] as const);

const SENT = { title: 'Too long title', salary: 'a lot', 'category-name': '', number: '7' };

function problemsOf(body: string, fields: Fields = SENT, fieldNames: readonly string[] = [], status = 422) {
  const reply = {
    url: new URL('https://site.test/jobs.xml'),
    sent: true,
    status,
    contentType: 'application/xml',
    body,
  };
  const outcome = judge('create', { ...reply, expected: { fields, fieldNames } });
  return outcome.kind === 'rejected' ? outcome.problems : outcome;
}

const said = (problems: unknown) =>
  (problems as readonly Problem[]).map(({ field, message }) => `${field ?? 'the job'}: ${message}`);

describe('what Rails writes', () => {
  it('has so many forms', () => expect(forms).toHaveLength(16));

  it.each(forms)('%s', (name, body) => {
    const value = name.includes('details') ? ' (a lot)' : '';
    expect(said(problemsOf(body, SENT, ['employer_id']))).toEqual([
      'title: is too long (maximum is 5 characters)',
      `salary: is not a number${value}`,
      "category-name: can't be blank",
      "employer_id: can't be blank",
      'the job: This board is full',
    ]);
  });

  it('keeps the value that a detail names', () => {
    const details =
      '<errors><salary type="array"><salary><error type="symbol">not_a_number</error><value>a lot</value></salary></salary></errors>';
    expect(problemsOf(details)).toEqual([{ field: 'salary', value: 'a lot', message: 'is not a number (a lot)' }]);
  });

  it.each([
    ['less_than', '<count type="integer">9</count><value>12</value>', 'must be less than 9 (12)'],
    ['too_short', '', 'is too short'],
    ['not_hiring_now', '', 'not hiring now'],
    ['constructor', '', 'constructor'],
  ])('says the detail %s in words', (error, more, message) => {
    const body = `<errors><title type="array"><title><error type="symbol">${error}</error>${more}</title></title></errors>`;
    expect(said(problemsOf(body))).toEqual([`title: ${message}`]);
  });
});

describe('the field of a message', () => {
  const fields = {
    title: '',
    category: '',
    'category-name': '',
    location_state: '',
    startsAt: '',
    number: '',
    'company-id': '',
    Größe: '',
  };
  const cases: readonly [message: string, problem: string][] = [
    ['Category name is too long', 'category-name: is too long'],
    ['Category is unknown', 'category: is unknown'],
    ['Category names are too long', 'category: names are too long'],
    ['category_name is too long', 'category-name: is too long'],
    ['CATEGORY NAME IS TOO LONG', 'category-name: IS TOO LONG'],
    ['Location state is not included in the list', 'location_state: is not included in the list'],
    ['Location-state: not in the list', 'location_state: not in the list'],
    ['Starts at is in the past', 'startsAt: is in the past'],
    ['Company must exist', 'company-id: must exist'],
    ['Title: zu lang', 'title: zu lang'],
    ['„Title“ ist zu lang', 'title: ist zu lang'],
    ['« Title » : est trop long', 'title: est trop long'],
    ['Title：太長', 'title: 太長'],
    ['[title] is too long', 'title: is too long'],
    ['Größe muss ausgefüllt werden', 'Größe: muss ausgefüllt werden'],
    ['Title', 'title: Title'],
    ['Validation failed: Title is too long', 'title: is too long'],
    ['Titles are too long', 'the job: Titles are too long'],
    ['Title-case words are not allowed', 'the job: Title-case words are not allowed'],
    ['Number of postings exceeded', 'the job: Number of postings exceeded'],
    ['Number and title are missing', 'the job: Number and title are missing'],
    ['Title or number is missing', 'the job: Title or number is missing'],
    ['Number range too wide', 'the job: Number range too wide'],
    ['The title is too long', 'the job: The title is too long'],
    ['This board is full', 'the job: This board is full'],
    ['Validation failed: This board is full', 'the job: Validation failed: This board is full'],
    ['Title is too long and must be changed', 'title: is too long and must be changed'],
  ];
  it.each(cases)('%s', (message, problem) =>
    expect(said(problemsOf(`<errors><error>${message}</error></errors>`, fields))).toEqual([problem]),
  );

  it.each(['job[location_state]', 'job.location_state', '/job/location_state', 'Location State', 'location-state'])(
    'is the one that was sent, if the site names it %s',
    (named) =>
      expect(said(problemsOf(`<errors><error field="${named}">is bad</error></errors>`, fields))).toEqual([
        'location_state: is bad',
      ]),
  );

  it.each([
    '<errors><base>Title of this board is taken</base></errors>',
    '<errors><base>Title is too long</base></errors>',
    '<errors><base type="array"><base>Title is too long</base></base></errors>',
    '<errors><error field="base">Title is too long</error></errors>',
  ])('is none, if the site says that it is about the record as a whole: %s', (body) =>
    expect(said(problemsOf(body, fields))).toEqual([expect.stringMatching(/^the job: Title /)]),
  );

  it('may not have been sent, if it is mapped', () => {
    const body = "<errors><error>Salary can't be blank</error></errors>";
    expect(said(problemsOf(body, { title: 'Cook' }))).toEqual(["the job: Salary can't be blank"]);
    expect(said(problemsOf(body, { title: 'Cook' }, ['salary']))).toEqual(["salary: can't be blank"]);
  });

  it('proves nothing about the site when it fails: the job may have been made', () => {
    const body = '<errors><error>Title could not be saved: database deadlock</error></errors>';
    expect(problemsOf(body, SENT, [], 500)).toMatchObject({ kind: 'unknown' });
  });
});

describe('other answers', () => {
  const cases: readonly [name: string, body: string, problems: readonly string[]][] = [
    [
      'a status and a message',
      '<response><status>error</status><message>Title is too long</message></response>',
      ['title: is too long'],
    ],
    [
      'a problem (RFC 7807)',
      '<problem xmlns="urn:ietf:rfc:7807"><type>https://site.test/invalid</type><title>Not valid.</title><status>422</status><detail>Title is too long</detail></problem>',
      ['title: is too long'],
    ],
    [
      'the parameters of a problem',
      '<problem><title>Not valid.</title><invalid-params><i><name>title</name><reason>is too long</reason></i></invalid-params></problem>',
      ['title: is too long'],
    ],
    [
      'a problem without a detail',
      '<problem><type>about:blank</type><title>Not valid.</title></problem>',
      ['the job: Not valid.'],
    ],
    [
      'a code and a message',
      '<error><code>invalid</code><message>Title is too long</message></error>',
      ['title: is too long'],
    ],
    [
      'an exception, as Rails shows it in development',
      '<hash><status type="integer">400</status><error>Bad Request</error><exception>#&lt;ActionController::ParameterMissing: param is missing or the value is empty: job&gt;</exception><traces><Application-Trace type="array"/></traces></hash>',
      ['the job: param is missing or the value is empty: job (ActionController::ParameterMissing)'],
    ],
    [
      'an exception without a message',
      '<hash><status type="integer">422</status><error>Unprocessable Entity</error><exception>#&lt;ActionController::InvalidAuthenticityToken: ActionController::InvalidAuthenticityToken&gt;</exception></hash>',
      ['the job: #<ActionController::InvalidAuthenticityToken: ActionController::InvalidAuthenticityToken>'],
    ],
  ];
  it.each(cases)('%s', (_name, body, problems) => expect(said(problemsOf(body))).toEqual(problems));

  const frameworks: readonly (readonly [name: string, body: string, ofWhole?: string])[] = [
    ['Django REST framework', '<root><title><list-item>is bad</list-item></title></root>'],
    [
      'Django REST framework, of the whole too',
      '<root><title><list-item>is bad</list-item></title><non_field_errors><list-item>no</list-item></non_field_errors></root>',
      'no',
    ],
    ['a map of Spring', '<LinkedHashMap><title>is bad</title></LinkedHashMap>'],
    [
      'Spring',
      '<Map><status>400</status><error>Bad Request</error><errors><errors><defaultMessage>is bad</defaultMessage><field>title</field></errors></errors></Map>',
    ],
    [
      'an exception of Spring',
      '<Map><timestamp>2026-11-30T16:00:00Z</timestamp><status>500</status><error>Internal Server Error</error><message>title is bad</message><path>/jobs</path></Map>',
    ],
    ['NestJS', '<root><statusCode>400</statusCode><message>title is bad</message><error>Bad Request</error></root>'],
    ['express-validator', '<root><errors><msg>is bad</msg><path>title</path></errors></root>'],
    ['ASP.NET Core', '<problem><title>Invalid.</title><MVC-Errors><Title>is bad</Title></MVC-Errors></problem>'],
    ['ASP.NET Web API', '<Error><ModelState><job.Title>is bad</job.Title></ModelState></Error>'],
    [
      'API Platform',
      '<response><violations><propertyPath>title</propertyPath><message>is bad</message></violations></response>',
    ],
    [
      'FOSRestBundle',
      '<result><errors><form name="job"><errors/><form name="title"><errors><entry>is bad</entry></errors></form></form></errors></result>',
    ],
    ['Symfony forms', '<result><errors><children><title><errors>is bad</errors></title></children></errors></result>'],
    [
      'CodeIgniter',
      '<response><status>400</status><error>400</error><messages><title>is bad</title></messages></response>',
    ],
    ['Yii', '<response><name>Data Validation Failed</name><message>Title is bad</message></response>'],
  ];
  it.each(frameworks)('%s', (_name, body = '', ofWhole?: string) =>
    expect(said(problemsOf(body))).toEqual([
      'title: is bad',
      ...(ofWhole === undefined ? [] : [`the job: ${ofWhole}`]),
    ]),
  );

  it('takes the job itself, and what else has an ID, for no errors', () => {
    expect(said(problemsOf('<job><title>Cook</title></job>'))).toEqual(['the job: Cook']);
    expect(said(problemsOf('<root><id>7</id><title>Cook</title></root>'))).toEqual(['the job: 7; Cook']);
  });

  it('the number of a status says nothing about the job', () => {
    const body = '<response><status>500</status><error>500</error></response>';
    expect(problemsOf(body, SENT, [], 500)).toMatchObject({ kind: 'unknown' });
  });

  it('says the same under a success', () => {
    const body = '<response><status>error</status><message>Title is too long</message></response>';
    expect(said(problemsOf(body, SENT, [], 200))).toEqual(['title: is too long']);
  });
});
