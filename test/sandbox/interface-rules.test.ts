// Every rule of site-interface.md, tested over HTTP. settings.test.ts tests the variants that the interface leaves open.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, jobOf, nurse, openTestSandbox, rootOf, type TestSandbox, textOf } from './test-sandbox.ts';

let site: TestSandbox;
let token: string;
let foreign: string;

beforeAll(async () => {
  site = await openTestSandbox();
  token = site.token;
  foreign = (await site.sandbox.ensureUser('bob@example.com', 'battery staple')).token;
});
afterAll(() => site.end());

describe('section 1: what the service does', () => {
  it('accepts all four verbs with XML bodies', async () => {
    const id = await site.create(nurse);
    const put = await site.send('PUT', `/jobs/${id}.xml`, { token, body: jobOf({ title: 'Head nurse' }) });
    const get = await site.send('GET', `/jobs/${id}.xml`, { token });
    const gone = await site.send('DELETE', `/jobs/${id}.xml`, { token });
    expect([put.status, get.status, gone.status]).toEqual([200, 200, 200]);
    expect(textOf(rootOf(get), 'title')).toBe('Head nurse');
  });

  it.each([
    ['/', 'home'],
    ['/jobs', 'jobs'],
    ['/states', 'states'],
    ['/states/ohio', 'jobs'],
    ['/account/jobs', 'jobs'],
  ])('gives the page %s as XML when .xml is appended, and as HTML without', async (path, root) => {
    const xml = await site.send('GET', `${path}.xml`, { token });
    expect(xml.headers['content-type']).toMatch(/^application\/xml/);
    expect(rootOf(xml).name).toBe(root);
    const page = await site.send('GET', path, { token });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
  });

  it('gives one job as XML and as HTML', async () => {
    const id = await site.create(nurse);
    expect(rootOf(await site.send('GET', `/jobs/${id}.xml`)).name).toBe('job');
    expect((await site.send('GET', `/jobs/${id}`)).text).toContain('<h1>Nurse</h1>');
  });

  it('has several list actions: all, by state, by search, one’s own', async () => {
    const id = await site.create({ number: 'A-77', title: 'Glazier', 'location-state': 'Vermont' });
    const idsIn = async (path: string): Promise<unknown[]> =>
      rootOf(await site.send('GET', path, { token })).children.map((job) => textOf(job, 'id'));
    for (const path of [
      '/jobs.xml',
      '/states/vermont.xml',
      '/jobs.xml?q=glazi',
      '/jobs.xml?q=A-77',
      '/account/jobs.xml',
    ]) {
      expect(await idsIn(path)).toContain(id);
    }
    expect(await idsIn('/states/texas.xml')).not.toContain(id);
    expect(await idsIn('/jobs.xml?q=plumber')).not.toContain(id);
  });
});

describe('section 2: the job', () => {
  it('accepts a subset of the attributes and answers with the complete resource', async () => {
    const answer = await site.send('POST', '/jobs.xml', { token, body: jobOf(nurse) });
    const job = rootOf(answer);
    expect(job.name).toBe('job');
    expect(textOf(job, 'title')).toBe('Nurse');
    expect(textOf(job, 'location-state')).toBe('Ohio');
    expect(textOf(job, 'id')).toMatch(/^\d+$/);
    expect(new Date(textOf(job, 'created_at') ?? '').getTime()).toBeGreaterThan(Date.now() - 60_000);
    expect(textOf(job, 'updated_at')).toBe(textOf(job, 'created_at'));
  });

  it('keeps every field exactly as it was sent', async () => {
    const body =
      '<job><title> A &lt;b&gt; &amp; &quot;c&quot;\n&#13;\t&#x1F600; ]]&gt; </title><location_state>Ohio</location_state><odd.name><![CDATA[<p>x</p>]]>y</odd.name><empty/></job>';
    const created = await site.send('POST', '/jobs.xml', { token, body });
    const shown = rootOf(await site.send('GET', `/jobs/${textOf(rootOf(created), 'id')}.xml`));
    expect(textOf(shown, 'title')).toBe(' A <b> & "c"\n\r\t😀 ]]> ');
    expect(textOf(shown, 'location-state')).toBe('Ohio');
    expect(textOf(shown, 'odd.name')).toBe('<p>x</p>y');
    expect(textOf(shown, 'empty')).toBe('');
  });

  it.each([
    ['no state', { title: 'Nurse' }, ["Location state can't be blank"]],
    ['an invalid state', { ...nurse, 'location-state': 'Jalisco' }, ['Location state is not a valid U.S. state']],
    ['a state in small letters', { ...nurse, 'location-state': 'ohio' }, ['Location state is not a valid U.S. state']],
    ['no title', { 'location-state': 'Ohio' }, ["Title can't be blank"]],
    ['a blank title', { title: ' ', 'location-state': 'Ohio' }, ["Title can't be blank"]],
    ['nothing', {}, ["Title can't be blank", "Location state can't be blank"]],
    ['a field with elements', { ...nurse, city: '<b>x</b>' }, ['City must be text, without elements in it']],
    ['an odd field name', { ...nurse, _proto_: 'x' }, [' proto  is not a field of a job']],
  ])('refuses a job with %s', async (_, fields, sentences) => {
    const before = await site.sandbox.inspect.count();
    const answer = await site.send('POST', '/jobs.xml', { token, body: jobOf(fields) });
    expect(answer.status).toBe(422);
    expect(rootOf(answer).children.map((error) => error.text)).toEqual(sentences);
    expect(await site.sandbox.inspect.count()).toBe(before);
  });

  it('refuses a field that is given twice', async () => {
    const body = '<job><title>A</title><title>B</title><location-state>Ohio</location-state></job>';
    expect((await site.send('POST', '/jobs.xml', { token, body })).text).toContain('Title is given twice');
  });

  it('sets id and timestamps itself, whatever a client sends', async () => {
    const body = jobOf({ ...nurse, id: '7', created_at: '1999-01-01', 'updated-at': '1999-01-01' });
    const answer = await site.send('POST', '/jobs.xml', { token, body });
    expect(answer.status).toBe(201);
    expect(answer.text).not.toContain('1999');
  });
});

describe('section 4: endpoints', () => {
  it('create answers 201, with Location naming the new job', async () => {
    const answer = await site.send('POST', '/jobs.xml', { token, body: jobOf(nurse) });
    expect(answer.status).toBe(201);
    const location = new URL(String(answer.headers.location));
    expect(location.origin).toBe(site.sandbox.url);
    expect(rootOf(await site.send('GET', `${location.pathname}.xml`))).toEqual(rootOf(answer));
  });

  it.each([
    ['form-encoded data', 'application/x-www-form-urlencoded', 415],
    ['JSON', 'application/json', 415],
    ['text/xml', 'text/xml', 201],
    ['text/xml with its character set', 'Text/XML; charset=utf-8', 201],
    ['application/x-xml', 'application/x-xml', 201],
    ['another character set', 'application/xml; charset=iso-8859-1', 415],
    ['XML with its character set', 'application/xml; charset="UTF-8"', 201],
  ])('rule 1: a body declared as %s', async (_, type, status) => {
    const answer = await site.send('POST', '/jobs.xml', { token, body: jobOf(nurse), type });
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toMatch(/^application\/xml/);
    expect(rootOf(answer).name).toBe(status === 201 ? 'job' : 'error');
  });

  it('updates by PATCH as by PUT, like Rails', async () => {
    const id = await site.create({ ...nurse, number: 'p-1' });
    const answer = await site.send('PATCH', `/jobs/${id}.xml`, {
      token,
      body: jobOf({ title: 'Chef' }),
      type: 'text/xml',
    });
    expect(answer.status).toBe(200);
    const job = rootOf(await site.send('GET', `/jobs/${id}.xml`));
    expect([textOf(job, 'title'), textOf(job, 'number')]).toEqual(['Chef', 'p-1']);
    expect((await site.send('PATCH', `/jobs/${id}.xml`, { token: foreign, body: jobOf({ title: 'x' }) })).status).toBe(
      403,
    );
    expect((await site.send('PATCH', `/jobs/${id}.xml`, { body: jobOf({ title: 'x' }) })).status).toBe(401);
  });

  it('shows an empty job for a form, as Rails does', async () => {
    const answer = await site.send('GET', '/jobs/new.xml');
    expect(answer.status).toBe(200);
    const job = rootOf(answer);
    expect(job.name).toBe('job');
    expect(job.children.map(({ name, text, attributes }) => [name, text, attributes.get('nil')])).toEqual(
      [
        'id',
        'number',
        'title',
        'category-name',
        'description',
        'location-city',
        'location-state',
        'contact-email-address',
        'contact-web-address',
      ].map((name) => [name, '', 'true']),
    );
    expect((await site.send('PUT', '/jobs/new.xml', { token, body: jobOf(nurse) })).status).toBe(404);
  });

  it('states types as Rails does', async () => {
    const id = await site.create({
      ...nurse,
      salary: '20.50',
      openings: '3',
      remote: 'true',
      'ends-on': '2027-01-01',
      number: '007',
    });
    const { children } = rootOf(await site.send('GET', `/jobs/${id}.xml`));
    expect(Object.fromEntries(children.map(({ name, attributes }) => [name, attributes.get('type')]))).toEqual({
      id: 'integer',
      number: undefined,
      title: undefined,
      'location-state': undefined,
      salary: 'decimal',
      openings: 'integer',
      remote: 'boolean',
      'ends-on': 'date',
      created_at: 'dateTime',
      updated_at: 'dateTime',
    });
  });

  it('rule 1: a body without any Content-Type', async () => {
    const answer = await fetch(`${site.sandbox.url}/jobs.xml`, {
      method: 'POST',
      body: Buffer.from(jobOf(nurse)),
      headers: { authorization: basic(token) },
    });
    expect(answer.status).toBe(415);
  });

  it('rule 2: a successful GET answers 200 with XML', async () => {
    const answer = await site.send('GET', '/jobs.xml');
    expect(answer.status).toBe(200);
    expect(rootOf(answer).name).toBe('jobs');
  });

  it('update sets only the given fields', async () => {
    const id = await site.create({ number: '1', ...nurse, description: 'old' });
    const answer = await site.send('PUT', `/jobs/${id}.xml`, { token, body: jobOf({ description: 'new', wage: '9' }) });
    expect(answer.status).toBe(200);
    const [job] = (await site.sandbox.inspect.jobs()).filter((candidate) => candidate.id === id);
    expect(job?.fields).toEqual({ number: '1', ...nurse, description: 'new', wage: '9' });
    expect(job?.updatedAt.getTime()).toBeGreaterThanOrEqual(job?.createdAt.getTime() ?? Number.NaN);
  });

  it('update moves the job to the list of its new state', async () => {
    const id = await site.create(nurse);
    await site.send('PUT', `/jobs/${id}.xml`, { token, body: jobOf({ 'location-state': 'Idaho' }) });
    expect((await site.send('GET', '/states/idaho.xml')).text).toContain(`<id type="integer">${id}</id>`);
  });

  it.each([
    ['a blank title', { title: '' }],
    ['a state that is not one', { 'location-state': 'Jalisco' }],
    ['a blank state', { 'location-state': '' }],
  ])('update refuses %s and changes nothing', async (_, fields) => {
    const id = await site.create(nurse);
    const answer = await site.send('PUT', `/jobs/${id}.xml`, { token, body: jobOf({ description: 'new', ...fields }) });
    expect(answer.status).toBe(422);
    const shown = rootOf(await site.send('GET', `/jobs/${id}.xml`));
    expect([textOf(shown, 'title'), textOf(shown, 'description')]).toEqual(['Nurse', undefined]);
  });

  it('rule 3: delete needs no body and no content type, and the job is gone', async () => {
    const id = await site.create(nurse);
    expect((await site.send('DELETE', `/jobs/${id}.xml`, { token })).status).toBe(200);
    expect((await site.send('GET', `/jobs/${id}.xml`)).status).toBe(404);
    expect((await site.send('DELETE', `/jobs/${id}.xml`, { token })).status).toBe(404);
  });

  it.each(['PUT', 'DELETE'])(
    'rule 4: %s on a job of another account is forbidden, reading it is not',
    async (method) => {
      const id = await site.create(nurse);
      const body = method === 'PUT' ? jobOf({ title: 'Mine now' }) : undefined;
      const answer = await site.send(method, `/jobs/${id}.xml`, { token: foreign, body });
      expect(answer.status).toBe(403);
      expect(rootOf(answer).name).toBe('error');
      expect(textOf(rootOf(await site.send('GET', `/jobs/${id}.xml`, { token: foreign })), 'title')).toBe('Nurse');
    },
  );
});

describe('section 5: authentication', () => {
  it.each(['X', '', 'anything:with:colons'])('rule 3: the password %j does not matter', async (password) => {
    expect((await site.send('GET', '/account/jobs.xml', { token, password })).status).toBe(200);
  });

  it.each([
    ['GET', '/jobs.xml'],
    ['GET', '/.xml'],
    ['POST', '/jobs.xml'],
    ['PUT', '/jobs/1.xml'],
    ['DELETE', '/jobs/1.xml'],
  ])('rules 1 and 2: a wrong token on %s %s is answered with 401', async (method, path) => {
    const answer = await site.send(method, path, { token: 'wrong', body: method === 'GET' ? undefined : jobOf(nurse) });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
    expect(rootOf(answer).name).toBe('error');
  });

  it.each(['Bearer abc', 'Basic', 'Basic !!!', 'nonsense', ''])(
    'rule 1: the Authorization %j is answered with 401',
    async (authorization) => {
      expect((await site.send('GET', '/jobs.xml', { headers: { authorization } })).status).toBe(401);
    },
  );

  it.each([
    ['POST', '/jobs.xml'],
    ['PUT', '/jobs/1.xml'],
    ['DELETE', '/jobs/1.xml'],
    ['GET', '/account/jobs.xml'],
  ])('rule 7: %s %s without credentials is answered with 401', async (method, path) => {
    expect((await site.send(method, path, { body: method === 'GET' ? undefined : jobOf(nurse) })).status).toBe(401);
  });

  it('rule 5: changing the password changes the token, at once', async () => {
    const old = (await site.sandbox.ensureUser('carl@example.com', 'first password')).token;
    expect((await site.send('GET', '/account/jobs.xml', { token: old })).status).toBe(200);
    const { token: next } = await site.sandbox.changePassword('carl@example.com', 'second password');
    expect((await site.send('GET', '/account/jobs.xml', { token: old })).status).toBe(401);
    expect((await site.send('GET', '/account/jobs.xml', { token: next })).status).toBe(200);
  });

  it('rule 7: what is created belongs to the owner of the token', async () => {
    const answer = await site.send('POST', '/jobs.xml', { token: foreign, body: jobOf(nurse) });
    const id = textOf(rootOf(answer), 'id');
    const job = (await site.sandbox.inspect.jobs()).find((candidate) => candidate.id === id);
    expect(job?.owner).toBe('bob@example.com');
    expect((await site.send('GET', '/account/jobs.xml', { token })).text).not.toContain(
      `<id type="integer">${id}</id>`,
    );
  });
});

describe('section 7: errors', () => {
  it('rule 1: validation errors come as XML', async () => {
    const answer = await site.send('POST', '/jobs.xml', { token, body: '<job/>' });
    expect(answer.headers['content-type']).toMatch(/^application\/xml/);
    expect(rootOf(answer).name).toBe('errors');
  });

  it.each([
    ['cut off', '<job><title>Nurse</title>', 400],
    ['empty', '', 400],
    ['not XML', 'title=Nurse', 400],
    ['HTML', '<html><body><br></body></html>', 400],
    ['with another root', '<jobs><job/></jobs>', 400],
    ['with a document type', '<!DOCTYPE job [<!ENTITY a "b">]><job>&a;</job>', 400],
    ['with a control character', '<job><title>a\u0001</title></job>', 400],
    ['not UTF-8', Buffer.from('<job><title>\xe9</title></job>', 'latin1'), 400],
  ])('rule 4: a body that is %s', async (_, body, status) => {
    const answer = await site.send('POST', '/jobs.xml', { token, body });
    expect(answer.status).toBe(status);
    expect(rootOf(answer).name).toBe('error');
  });

  it.each([
    ['GET', '/jobs/999999.xml'],
    ['PUT', '/jobs/999999.xml'],
    ['DELETE', '/jobs/999999.xml'],
    ['GET', '/states/jalisco.xml'],
    ['GET', '/nothing.xml'],
  ])('rule 4: %s %s is a missing record', async (method, path) => {
    const answer = await site.send(method, path, { token, body: method === 'PUT' ? jobOf(nurse) : undefined });
    expect(answer.status).toBe(404);
    expect(rootOf(answer).name).toBe('error');
  });

  it.each([
    ['PATCH', '/jobs.xml', 'GET, POST'],
    ['POST', '/jobs/1.xml', 'GET, PUT, PATCH, DELETE'],
    ['PUT', '/jobs.xml', 'GET, POST'],
    ['DELETE', '/states.xml', 'GET'],
  ])('rule 4: %s %s is not allowed', async (method, path, allow) => {
    const answer = await site.send(method, path, { token });
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  });
});

describe('section 8: limits', () => {
  const large = jobOf({ ...nurse, description: 'x'.repeat(1_100_000) });

  it('a body above the limit is answered with 413', async () => {
    const answer = await site.send('POST', '/jobs.xml', { token, body: large });
    expect(answer.status).toBe(413);
    expect(rootOf(answer).name).toBe('error');
  });

  it('so is one of undeclared length, even if its client keeps sending', async () => {
    async function* endless(): AsyncGenerator<string> {
      yield large;
      for (;;) yield 'x'.repeat(10_000);
    }
    const answer = await site.send('POST', '/jobs.xml', { token, body: Readable.from(endless()) });
    expect(answer.status).toBe(413);
  });
});
