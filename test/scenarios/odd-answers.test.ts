// Sites that refuse in their own words under 2xx: no such request counts as done, and none is sent over and over.
import type { OutgoingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type Got, openSite, type Reply, type ScriptedSite } from '../site/scripted-site.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror | undefined;
let site: ScriptedSite | undefined;
afterEach(async () => {
  await mirror?.close();
  await site?.[Symbol.asyncDispose]();
});

/** A mirror of a site that makes jobs 1, 2, … unless `answer` responds otherwise. */
async function openOdd(answer: (got: Got) => Reply | undefined): Promise<Mirror> {
  let made = 0;
  const opened = await openSite((got) => {
    const odd = answer(got);
    if (odd !== undefined || got.method !== 'POST') return odd ?? [200, {}, ''];
    made++;
    return [201, { location: `/jobs/${made}` }, `<job><id>${made}</id></job>`];
  });
  site = opened;
  mirror = await openMirror({ site: { base_url: opened.url.href, list_path: undefined, reference_field: undefined } });
  return mirror;
}

async function review(open: Mirror) {
  const { db } = await open.app();
  return db.query<{ state: string; message: string }>(
    `select key, state, reason->>'message' as message from change order by key`,
  );
}

const requests = (method: string) => (site?.got ?? []).filter((got) => got.method === method).length;
const soapFault =
  '<Envelope><Body><Fault><faultcode>Client</faultcode><faultstring>State is invalid</faultstring></Fault></Body></Envelope>';

describe('a create', () => {
  it.each([
    ['a SOAP fault', 200, soapFault],
    ['a job that holds errors and no ID', 201, '<job><title/><errors><error>State is invalid</error></errors></job>'],
    ['an error status', 200, '<result><status>error</status><message>State is invalid</message></result>'],
  ])('answered with %s is rejected with the site’s message, and not sent again', async (_name, status, body) => {
    const open = await openOdd(({ method }) => (method === 'POST' ? [status, {}, body] : undefined));
    await open.writeFeed(feedXml([posting('a')]));
    expect(await open.sync()).toMatchObject({ status: 'review', rejected: 1, in_doubt: 0 });
    expect(await review(open)).toEqual([{ key: 'a', state: 'rejected', message: 'State is invalid' }]);
    expect(await open.sync()).toMatchObject({ rejected: 1, requests: 0 });
    expect(requests('POST')).toBe(1);
  });
});

describe('a create whose response contradicts it', () => {
  it.each([
    ['another title', { location: '/jobs/7' }, '<job><id>7</id><title>Another one</title></job>', 'title'],
    ['another reference', { location: '/jobs/7' }, '<job><title>Nurse a</title><number>z</number></job>', 'number "z"'],
    ['two job IDs', { location: '/jobs/7' }, '<job><id>8</id></job>', 'two jobs, 7 in Location and 8 in its body'],
    ['two IDs in its body', {}, '<job><id>8</id><title>Nurse a</title><id>9</id></job>', 'two jobs, 8 and 9'],
    ['an ID and another attribute', {}, '<job id="9"><id>8</id></job>', 'two jobs, 8 and 9'],
    ['two Locations', { location: ['/jobs/7', '/jobs/8'] }, '', 'two Location headers'],
  ])('with %s is in doubt, with the reason, and maps no job', async (_name, headers, body, reason) => {
    const opened = await openSite((_got, response) => {
      response.writeHead(201, headers as OutgoingHttpHeaders).end(body);
      return undefined;
    });
    site = opened;
    mirror = await openMirror({ site: { base_url: opened.url.href, list_path: undefined } });
    await mirror.writeFeed(feedXml([posting('a')]));
    expect(await mirror.sync()).toMatchObject({ status: 'review', in_doubt: 1, created: 0 });
    expect(await review(mirror)).toEqual([{ key: 'a', state: 'in_doubt', message: expect.stringContaining(reason) }]);
    expect(await (await mirror.app()).db.query('select from mapping')).toEqual([]);
  });
});

describe('an update', () => {
  it.each([
    ['valid="false"', '<validation-result valid="false"><message>State is invalid</message></validation-result>'],
    ['a word of failure', '<answer><text>The job could not be saved</text></answer>'],
  ])('answered with 200 and %s does not count as done', async (_name, body) => {
    const open = await openOdd(({ method }) => (method === 'PUT' ? [200, {}, body] : undefined));
    await open.writeFeed(feedXml([posting('a'), posting('b')]));
    await open.sync();
    await open.writeFeed(feedXml([posting('a', { title: 'Other' }), posting('b')]));
    expect(await open.sync()).toMatchObject({ status: 'review', updated: 0, rejected: 1 });
    expect(await review(open)).toEqual([{ key: 'a', state: 'rejected', message: body.replace(/<[^>]*>/g, '') }]);
  });

  it.each(['<ok/>', '<status>updated</status>', '<posting><title>Other</title></posting>', 'OK', ''])(
    'answered with 200 and %j is done',
    async (body) => {
      const open = await openOdd(({ method }) => (method === 'PUT' ? [200, {}, body] : undefined));
      await open.writeFeed(feedXml([posting('a'), posting('b')]));
      await open.sync();
      await open.writeFeed(feedXml([posting('a', { title: 'Other' }), posting('b')]));
      expect(await open.sync()).toMatchObject({ status: 'mirrored', updated: 1 });
    },
  );

  it('refused only by a word in the response may have been done: a feed that reverts it is sent', async () => {
    let words = '<answer>Saved, but the mail failed</answer>';
    const open = await openOdd(({ method }) => (method === 'PUT' ? [200, {}, words] : undefined));
    await open.writeFeed(feedXml([posting('a'), posting('b')]));
    await open.sync();
    await open.writeFeed(feedXml([posting('a', { title: 'Other' }), posting('b')]));
    expect(await open.sync()).toMatchObject({ rejected: 1 });
    words = '<ok/>';
    await open.writeFeed(feedXml([posting('a'), posting('b')]));
    expect(await open.sync()).toMatchObject({ status: 'mirrored', rejected: 0 });
    const puts = (site?.got ?? []).filter(({ method }) => method === 'PUT').map(({ body }) => body.includes('Other'));
    expect(puts).toEqual([true, false]);
  });
});

it('a delete answered with 200 and a word of failure does not count as done', async () => {
  const open = await openOdd(({ method }) =>
    method === 'DELETE' ? [200, {}, '<r>You must not delete it</r>'] : undefined,
  );
  await open.writeFeed(feedXml([posting('a'), posting('b')]));
  await open.sync();
  await open.writeFeed(feedXml([posting('b')]));
  expect(await open.sync()).toMatchObject({ status: 'review', deleted: 0 });
  expect(await review(open)).toEqual([{ key: 'a', state: 'rejected', message: 'You must not delete it' }]);
});
