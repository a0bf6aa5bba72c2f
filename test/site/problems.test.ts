// Reading the site's validation errors, whose structure the interface does not describe.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tellProblems } from '../../src/site/xml/problems.ts';
import { readXml } from '../../src/site/xml/xml-tree.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

const decode = (body: string) => tellProblems(body, readXml(body));

const title = (message: string) => ({ field: 'title', message });

describe('tellProblems (site-interface.md, section 7, rules 1 to 3)', () => {
  const cases: readonly [name: string, body: string, problems: readonly object[]][] = [
    [
      'full messages',
      "<errors><error>Title can't be blank</error><error>State is invalid</error></errors>",
      [{ message: "Title can't be blank" }, { message: 'State is invalid' }],
    ],
    [
      'type="array"',
      '<?xml version="1.0"?>\n<errors type="array">\n  <error>a</error>\n</errors>\n',
      [{ message: 'a' }],
    ],
    ['a field attribute', '<errors><error field="title">is blank</error></errors>', [title('is blank')]],
    [
      'an attribute named attribute',
      '<errors><error attribute="location_state">x</error></errors>',
      [{ field: 'location-state', message: 'x' }],
    ],
    [
      'all in attributes',
      '<errors><error on="title" message="is blank" value="v"/></errors>',
      [{ field: 'title', value: 'v', message: 'is blank' }],
    ],
    [
      'field and message elements',
      '<errors><error><field>title</field><message>is blank</message></error></errors>',
      [title('is blank')],
    ],
    [
      'a value element',
      '<error><field>title</field><value>x</value><message>m</message></error>',
      [{ field: 'title', value: 'x', message: 'm' }],
    ],
    [
      'several messages',
      '<error><field>title</field><messages><message>a</message><message>b</message></messages></error>',
      [title('a'), title('b')],
    ],
    ['an error root', '<error>Title is blank</error>', [{ message: 'Title is blank' }]],
    [
      'an error root with a message',
      '<error><message>Title is blank</message></error>',
      [{ message: 'Title is blank' }],
    ],
    [
      'an error root with code and description',
      '<error><code>12</code><description>bad</description></error>',
      [{ message: 'bad' }],
    ],
    ['only a code', '<error><code>E12</code></error>', [{ message: 'E12' }]],
    [
      'children named after fields',
      '<errors><title>is blank</title><location_state>is bad</location_state></errors>',
      [title('is blank'), { field: 'location-state', message: 'is bad' }],
    ],
    [
      'lists below fields',
      '<errors><title type="array"><title>a</title><title>b</title></title></errors>',
      [title('a'), title('b')],
    ],
    [
      'errors below fields',
      '<errors><title><error>a</error><error>b</error></title></errors>',
      [title('a'), title('b')],
    ],
    [
      'base is the whole job',
      '<errors><base>Too many jobs</base></errors>',
      [{ message: 'Too many jobs', ofWhole: true }],
    ],
    [
      'messages directly below errors',
      '<errors><message>a</message><message>b</message></errors>',
      [{ message: 'a' }, { message: 'b' }],
    ],
    ['text in errors', '<errors>Title is blank</errors>', [{ message: 'Title is blank' }]],
    [
      'a response around it',
      '<response><status>error</status><errors><error>a</error></errors></response>',
      [{ message: 'a' }],
    ],
    ['a hash around it', '<hash><error>a</error></hash>', [{ message: 'a' }]],
    ['the job around it', '<job><title/><errors><error>a</error></errors></job>', [{ message: 'a' }]],
    [
      'nested errors',
      '<errors><error><field>title</field><errors><error>a</error></errors></error></errors>',
      [title('a')],
    ],
    [
      'CDATA, references, comments',
      '<errors><!-- x --><error><![CDATA[<b> ]]>&amp; &#65;&lt;</error></errors>',
      [{ message: '<b> & A<' }],
    ],
    ['a prefix', '<e:errors xmlns:e="urn:x"><e:error e:field="title">a</e:error></e:errors>', [title('a')]],
    ['other cases', '<Errors><Error Field="title">a</Error></Errors>', [title('a')]],
    [
      'validation-errors',
      '<validation_errors><validation_error>a</validation_error></validation_errors>',
      [{ message: 'a' }],
    ],
    [
      'markup in a message',
      '<errors><error>Title <b>must</b> be set</error></errors>',
      [{ message: 'Title must be set' }],
    ],
    ['an empty list', '<errors type="array"/>', []],
    ['no body', '', []],
    ['blank', ' \n ', []],
    ['plain text', 'Title is missing.\r\n', [{ message: 'Title is missing.' }]],
    ['neighbouring elements', '<r><code>17</code>\n<x><y>no</y></x></r>', [{ message: '17; no' }]],
    ['elements in a sentence', '<r>Bad<code>17</code>, <b>really</b>.</r>', [{ message: 'Bad 17, really.' }]],
    ['a count of zero', '<result><errors>0</errors></result>', [{ message: '0' }]],
    ['other XML', '<result>\n<reason>no</reason>\n</result>', [{ message: 'no' }]],
    ['JSON', '{"error":"no"}', [{ message: '{"error":"no"}' }]],
    ['malformed XML', '<errors><error>Title &amp; text</errors>', [{ message: 'Title & text' }]],
    [
      'a page',
      '<!DOCTYPE html><html><head><style>b{}</style><script>1<2</script></head><body><h1>Bad</h1>Request</body></html>',
      [{ message: 'Bad Request' }],
    ],
    ['a page that is XML', '<html><body><p>Bad</p><errors>x</errors></body></html>', [{ message: 'Bad x' }]],
    [
      'a declared entity',
      '<!DOCTYPE errors [<!ENTITY a "boom">]><errors><error>x&a;</error></errors>',
      [{ message: 'x&a;' }],
    ],
    [
      'an external entity',
      '<!DOCTYPE errors [<!ENTITY a SYSTEM "file:///etc/passwd">]><errors><error>x&a;</error></errors>',
      [{ message: 'x&a;' }],
    ],
    ['names of a prototype', '<errors><constructor>a</constructor></errors>', [{ field: 'constructor', message: 'a' }]],
  ];
  it.each(cases)('%s', (_name, body, problems) => expect(decode(body)).toEqual(problems));

  it('limits number and length', () => {
    const problems = decode(
      `<errors>${`<error field="${'f'.repeat(250)}" value="${'v'.repeat(250)}">${'m'.repeat(1050)}</error>`.repeat(150)}</errors>`,
    );
    expect(problems).toHaveLength(100);
    expect([problems[0]?.field?.length, problems[0]?.value?.length, problems[0]?.message.length]).toEqual([
      200, 200, 1000,
    ]);
  });

  it('withstands entity bombs and deep nesting', () => {
    const bomb = `<!DOCTYPE e [<!ENTITY a "${'x'.repeat(1000)}"><!ENTITY b "${'&a;'.repeat(1000)}">]><error>${'&b;'.repeat(300)}</error>`;
    expect(decode(bomb)[0]?.message).toHaveLength(900);
    expect(decode(`${'<a>'.repeat(5000)}deep${'</a>'.repeat(5000)}`)).toEqual([{ message: 'deep' }]);
  });

  it('never throws, and returns tidy messages', () => {
    const piece = fc.constantFrom(
      '<errors>',
      '</errors>',
      '<error',
      ' field="',
      '"',
      '>',
      '</error>',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '&',
      '&#0;',
      '&#x110000;',
      'title',
      '<__proto__>',
      '</__proto__>',
      '<?',
      '?>',
      '<!DOCTYPE ',
      '\0',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 30 }), (pieces) => {
        for (const { message } of decode(pieces.join(''))) {
          expectEqual(message, message.trim());
          if (message === '' || /\p{Cc}/u.test(message)) expect.unreachable(JSON.stringify(message));
        }
      }),
      { numRuns: generated(1_000) },
    );
  });
});
