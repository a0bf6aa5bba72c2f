// Documents that state an error, with status 200: never an empty feed, in any format; the error is shown.
import { describe, expect, it } from 'vitest';
import type { SplitOptions } from '../../src/feed/format/format.ts';
import type { FormatName } from '../../src/feed/format/format-kinds.ts';
import { splitAs } from './collect.ts';

interface Case {
  readonly format: FormatName;
  readonly path?: string;
  readonly document: string;
  /** What is shown. */
  readonly says: RegExp;
  readonly options?: Partial<SplitOptions>;
}

const table = {
  skipRows: 0,
  allowMissingCells: true,
  keyPaths: ['id'],
};

const errors: Record<string, Case> = {
  'an error element as the root, under any root': {
    format: 'xml',
    path: '*/job',
    document: '<?xml version="1.0"?><error><message>Invalid API key</message></error>',
    says: /states an error.*"Invalid API key"/,
  },
  'an error element as the root, under another root': {
    format: 'xml',
    path: 'source/job',
    document: '<error><message>Invalid API key</message></error>',
    says: /states an error.*"Invalid API key"/,
  },
  'a list of errors': {
    format: 'xml',
    path: '*/job',
    document: '<errors><error code="401">Not allowed</error><error code="402">Pay first</error></errors>',
    says: /states an error.*"Not allowed".*"Pay first"/,
  },
  'an error in attributes': {
    format: 'xml',
    path: '*/job',
    document: '<rsp stat="fail"><err code="100" msg="Bad key"/></rsp>',
    says: /states an error.*"Bad key"/,
  },
  'a status': {
    format: 'xml',
    path: 'response/job',
    document: '<response><status>error</status><message>The quota is used up</message></response>',
    says: /states an error.*"The quota is used up"/,
  },
  'a status of maintenance': {
    format: 'json',
    path: 'jobs',
    document: '{"status":"maintenance","message":"Back soon","jobs":[]}',
    says: /states an error.*"Back soon"/,
  },
  'a status with a number': {
    format: 'xml',
    path: 'response/job',
    document: '<response><code>503</code><description>Back soon</description></response>',
    says: /states an error.*"Back soon"/,
  },
  'failed shards beside records': {
    format: 'json',
    path: 'hits/hits',
    document: '{"timed_out":false,"_shards":{"total":2,"failed":1},"hits":{"total":{"value":1},"hits":[{"_id":1}]}}',
    says: /states an error: "failed: 1"$/,
    options: { totalPaths: ['hits/total/value'] },
  },
  'a search that was given up': {
    format: 'json',
    path: 'hits/hits',
    document: '{"timed_out":true,"_shards":{"total":2,"failed":0,"failures":[]},"hits":{"hits":[{"_id":1}]}}',
    says: /states an error: "timed_out: true"$/,
  },
  'partial results': {
    format: 'json',
    path: 'response/docs',
    document: '{"responseHeader":{"status":0,"partialResults":true},"response":{"numFound":1,"docs":[{"id":1}]}}',
    says: /states an error: "partialResults: true"$/,
  },
  'an error beside the total': {
    format: 'json',
    path: 'jobs',
    document: '{"meta":{"total":0,"status":"error","message":"half of it"},"jobs":[]}',
    says: /states an error.*"half of it"$/,
    options: { totalPaths: ['meta/total'] },
  },
  'a part beside the total': {
    format: 'json',
    path: 'jobs',
    document: '{"meta":{"total":1,"timed_out":true},"jobs":[{"id":1}]}',
    says: /states an error: "timed_out: true"$/,
    options: { totalPaths: ['meta/total'] },
  },
  'no success': {
    format: 'xml',
    path: 'response/job',
    document: '<response success="false"><reason><![CDATA[No such account]]></reason></response>',
    says: /states an error.*"No such account"/,
  },
  'an OAuth error': {
    format: 'xml',
    path: '*/job',
    document:
      '<oauth><error_description>The access token expired</error_description><error>invalid_token</error></oauth>',
    says: /states an error.*"The access token expired".*"invalid_token"/,
  },
  'an error of a storage service': {
    format: 'xml',
    path: '*/job',
    document: '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
    says: /states an error.*"AccessDenied".*"Access Denied"/,
  },
  'a SOAP fault': {
    format: 'xml',
    path: '*/DataArea/PositionOpening',
    document:
      '<s:Envelope xmlns:s="x"><s:Body><s:Fault><faultcode>s:Server</faultcode><faultstring>Timeout</faultstring></s:Fault></s:Body></s:Envelope>',
    says: /states an error.*"Timeout"/,
  },
  'only a text': {
    format: 'xml',
    path: '*/job',
    document: '<string>Unauthorized request</string>',
    says: /has only a text.*"Unauthorized request"/,
  },
  'an empty root that names an error': {
    format: 'xml',
    path: '*/job',
    document: '<AccessDenied/>',
    says: /the root element is "AccessDenied"/,
  },
  'no container of the records': {
    format: 'xml',
    path: '*/channel/item',
    document: '<rss version="2.0"></rss>',
    says: /the document has no "rss\/channel", where the records are expected/,
  },
  'an error in the right root': {
    format: 'xml',
    path: 'jobs/job',
    document: '<jobs><error>Database is down</error></jobs>',
    says: /states an error.*"Database is down"/,
  },
  'an error after records': {
    format: 'xml',
    path: 'jobs/job',
    document: '<jobs><job/><job/><error>Lost connection to MySQL server during query</error></jobs>',
    says: /states an error.*"Lost connection to MySQL server during query"/,
  },
  'an error beside an empty list in JSON': {
    format: 'json',
    path: 'jobs',
    document: '{"status":"error","message":"Invalid API key","jobs":[]}',
    says: /states an error.*"Invalid API key"/,
  },
  'an error object beside an empty list in JSON': {
    format: 'json',
    path: 'data/jobs',
    document: '{"data":{"jobs":[]},"errors":[{"message":"Timeout \\u0041fter 5 s","code":7}]}',
    says: /states an error.*"Timeout After 5 s"/,
  },
  'an error after records in JSON': {
    format: 'json',
    path: 'jobs',
    document: '{"jobs":[{"id":1}],"error":"page 3 timed out"}',
    says: /states an error.*"page 3 timed out"/,
  },
  'an error in an object about the answer': {
    format: 'json',
    path: 'jobs',
    document: '{"meta":{"error":"Search index is down"},"jobs":[{"id":1}]}',
    says: /states an error.*"Search index is down"/,
  },
  'a status in an object beside an empty list': {
    format: 'json',
    path: 'data/jobs',
    document: '{"data":{"responseStatus":{"code":500,"message":"Try again"},"jobs":[]}}',
    says: /states an error.*"500".*"Try again"/,
  },
  'errors in an object about the answer': {
    format: 'json',
    path: 'jobs',
    document: '{"jobs":[],"meta":{"a":{"error":"of another thing"},"errors":[{"message":"Timeout"}]}}',
    says: /states an error: "Timeout"$/,
  },
  'a very long error in JSON': {
    format: 'json',
    path: 'jobs',
    document: JSON.stringify({ jobs: [], error: 'x '.repeat(5_000) }),
    says: /states an error.*"x x x/,
  },
  'an error in place of JSON-LD': {
    format: 'json-ld',
    document: '{"error":"invalid_token","error_description":"The access token expired"}',
    says: /states an error.*"The access token expired"/,
    options: { acceptsEmptyPages: true },
  },
  'an error in XML in place of a page': {
    format: 'json-ld',
    document: '<?xml version="1.0"?><error><message>Rate limit</message></error>',
    says: /XML where an HTML feed was expected.*Rate limit/,
    options: { acceptsEmptyPages: true },
  },
  'an error line in a table': {
    format: 'csv',
    document: 'id,title\n1,Nurse\nERROR 2006 (HY000): MySQL server has gone away\n',
    says: /states an error.*"ERROR 2006 \(HY000\): MySQL server has gone away"/,
    options: { table },
  },
  'a warning of PHP in a table': {
    format: 'csv',
    document: 'id,title\n1,Nurse\n<b>Fatal error</b>:  Allowed memory size exhausted in /srv/jobs.php on line 3\n',
    says: /states an error.*Allowed memory size exhausted/,
    options: { table },
  },
  'an error in place of the last rows': {
    format: 'csv',
    document: 'id,title\nError: no connection to the database',
    says: /states an error.*"Error: no connection to the database"/,
    options: { table },
  },
  'an error line of several cells': {
    format: 'csv',
    document: 'id,title\n1,Nurse\nException: timeout, try again later\n',
    says: /states an error.*"Exception: timeout, try again later"/,
    options: { table },
  },
};

describe('a document that states an error', () => {
  for (const [name, { format, path = '', document, says, options }] of Object.entries(errors)) {
    it(name, () => {
      for (const sizes of [[1e9], [1], [7]]) {
        const { shortfalls, refusal } = splitAs(format, document, { recordPath: path, ...options }, sizes);
        expect([...shortfalls, ...(refusal === undefined ? [] : [refusal])].join('\n')).toMatch(says);
      }
    });
  }
});

const honest: Record<string, Omit<Case, 'says'>> = {
  'an empty root of any name': { format: 'xml', path: '*/job', document: '<jobs/>' },
  'an empty feed with a head': {
    format: 'xml',
    path: '*/job',
    document: '<source><publisher>Acme</publisher><status>ok</status><code>200</code></source>',
  },
  'no error': {
    format: 'xml',
    path: 'response/job',
    document: '<response success="true"><error>0</error><errors/><errorMessage></errorMessage></response>',
  },
  'an empty channel': {
    format: 'xml',
    path: '*/channel/item',
    document: '<rss version="2.0"><channel><title>Error Correction Inc.</title></channel></rss>',
  },
  'no error beside records': {
    format: 'xml',
    path: 'jobs/job',
    document: '<jobs><error>false</error><status>error</status><job><error>x</error></job></jobs>',
  },
  'no error in JSON': {
    format: 'json',
    path: 'jobs',
    document: '{"error":null,"errors":[],"status":"success","code":200,"message":"Done","jobs":[]}',
  },
  'no error in JSON, otherwise': {
    format: 'json',
    path: 'jobs',
    document: '{"error":{"code":0,"message":""},"errors":{},"ok":true,"jobs":[]}',
  },
  'no error in an object about the answer': {
    format: 'json',
    path: 'jobs',
    document:
      '{"meta":{"error":null,"errors":[],"status":"ok"},"status":{"code":200},"facets":{"error":"x"},"jobs":[]}',
  },
  'words and numbers for no error': {
    format: 'json',
    path: 'jobs',
    document:
      '{"ErrorCode":"0000","errorMessage":"No error.","header":{"err":"00","error_message":"Successful"},"jobs":[]}',
  },
  'a list without postings in JSON-LD': {
    format: 'json-ld',
    document: '{"@context":"https://schema.org","@type":"ItemList","itemListElement":[]}',
    options: { acceptsEmptyPages: true },
  },
  'rows about errors': {
    format: 'csv',
    document: 'id,title\n1,Error Analyst\nerror-7,Warning Officer\nE3,"Error: none"\n',
    options: { table },
  },
};

describe('a document that states none', () => {
  for (const [name, { format, path = '', document, options }] of Object.entries(honest)) {
    it(name, () => {
      const { shortfalls, refusal } = splitAs(format, document, { recordPath: path, ...options });
      expect({ shortfalls, refusal }).toEqual({ shortfalls: [], refusal: undefined });
    });
  }
});
