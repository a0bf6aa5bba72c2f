// Handles create, update and delete requests (site-interface.md, section 4).
import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { checkJob, type JobError } from '../job-rules.ts';
import type { JobSite, SiteEnv } from '../job-site.ts';
import type { SandboxSettings } from '../settings.ts';
import type { IdPlan, JobFields } from '../store/jobs.ts';
import { storedFields } from '../stored-values.ts';
import { readJob } from '../xml/read-job.ts';
import { jobXml, validationErrorBody } from '../xml/write-xml.ts';
import { failure, notThere, notYours, unauthorized, xmlAnswer } from './answers.ts';
import { readBody } from './request-body.ts';

/** POST `/jobs.xml`: 201, with Location and the complete XML. */
export async function createJob(c: Context<SiteEnv>, site: JobSite): Promise<Response> {
  const settings = site.settings();
  const account = c.get('account');
  if (!account) return unauthorized();
  const fields = await fieldsOf(c, site);
  if (fields instanceof Response) return fields;
  const checked = checkJob(fields, true, settings);
  if (checked.kind === 'invalid') return refused(checked.errors, settings);
  const stored = storedFields(fields, settings);
  const job = await site.jobs.create(account.id, planId(fields, settings), checked.state ?? '', stored);
  return xmlAnswer(jobXml(job, settings), 201, { location: locationOf(c, job.id, settings) });
}

/** PUT, and as in Rails PATCH, `/jobs/<id>.xml`: 200; sets the given fields, and keeps or clears the others. */
export async function updateJob(c: Context<SiteEnv>, site: JobSite, id: string): Promise<Response> {
  const settings = site.settings();
  const account = c.get('account');
  if (!account) return unauthorized();
  const job = await site.jobs.find(id);
  if (!job) return notThere(await site.jobs.findDeleted(id));
  if (job.ownerId !== account.id) return notYours();
  const fields = await fieldsOf(c, site);
  if (fields instanceof Response) return fields;
  const replaces = settings.omittedFields === 'clear';
  const checked = checkJob(fields, replaces, settings);
  if (checked.kind === 'invalid') return refused(checked.errors, settings);
  const changed = await site.jobs.update(account.id, id, storedFields(fields, settings), checked.state, replaces);
  if (changed.kind === 'missing') return notThere(await site.jobs.findDeleted(id));
  if (changed.kind === 'foreign') return notYours();
  if (settings.updateBody === 'job') return xmlAnswer(jobXml(changed.job, settings));
  if (settings.updateBody === 'none') return new Response(null, { status: 204 });
  // Rule 5 leaves the body open. Older versions of Rails send a blank one for "no content".
  return new Response(settings.updateBody === 'blank' ? ' ' : '', { headers: { 'content-type': 'application/xml' } });
}

/** DELETE `/jobs/<id>.xml`: 200 or 204 (rule 3), if the account may delete it (rule 4). */
export async function deleteJob(c: Context<SiteEnv>, site: JobSite, id: string): Promise<Response> {
  const account = c.get('account');
  if (!account) return unauthorized();
  const deleted = await site.jobs.delete(account.id, id, site.settings().deletedJobs !== 'no');
  if (deleted.kind === 'missing') return notThere(await site.jobs.findDeleted(id));
  if (deleted.kind === 'foreign') return notYours();
  return new Response(null, { status: site.settings().deleteStatus });
}

/** What Rails takes for XML. */
const XML_TYPES = new Set(['application/xml', 'application/x-xml', 'text/xml']);

/** The fields of the body, or an error response. */
async function fieldsOf(c: Context<SiteEnv>, site: JobSite): Promise<JobFields | Response> {
  const [, type = '', charset] = /^([^;]*)(?:;.*charset="?([\w-]+))?/i.exec(c.req.header('content-type') ?? '') ?? [];
  if (!XML_TYPES.has(type.trim().toLowerCase())) {
    return failure(415, 'The body must be XML: send the header Content-Type: application/xml.');
  }
  if (charset && charset.toLowerCase() !== 'utf-8') return failure(415, 'The body must be UTF-8.');
  const body = await readBody(c, site);
  if (body === 'too-large') {
    return failure(413, `The body is larger than ${site.settings().maxBodyBytes} bytes.`, { connection: 'close' });
  }
  const read = readJob(body);
  if (read.kind === 'unreadable') return failure(400, read.message);
  return read.kind === 'invalid' ? refused(read.errors, site.settings()) : read.fields;
}

function refused(errors: readonly JobError[], settings: SandboxSettings): Response {
  const body = validationErrorBody(errors, settings);
  return new Response(body.text, {
    status: settings.validationStatus,
    headers: { 'content-type': `${body.type}; charset=utf-8` },
  });
}

function locationOf(c: Context<SiteEnv>, id: string, settings: SandboxSettings): string {
  const [form, extension] = settings.location.split('-');
  const path = `/jobs/${encodeURIComponent(id)}${extension ? `.${extension}` : ''}`;
  return form === 'absolute' ? new URL(path, c.req.url).href : path;
}

/** How the ID of a new job is formed. */
export function planId(fields: JobFields, settings: Pick<SandboxSettings, 'idForm' | 'idReuse'>): IdPlan {
  if (settings.idForm === 'uuid') return { prefix: randomUUID(), numbered: false, reused: false };
  if (settings.idForm === 'number') return { prefix: '', numbered: true, reused: settings.idReuse };
  const words = (fields.title ?? '').toLowerCase().match(/[a-z0-9]+/g) ?? ['job'];
  return { prefix: `${words.join('-').slice(0, 60)}-`, numbered: true, reused: false };
}
