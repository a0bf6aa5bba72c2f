// Jobs that a person made on the sandbox site, without jobmirror.

import { request } from 'undici';
import { expect } from 'vitest';
import type { TestPosting } from './indeed-feed.ts';
import type { Mirror } from './mirror.ts';

type Site = Pick<Mirror, 'env' | 'sandbox'>;

/** The job that a sync would create for the posting. */
export const jobOf = ({ key, title, city, description }: TestPosting): Record<string, string> => ({
  number: key,
  title: title ?? `Nurse ${key}`,
  'category-name': 'Health',
  description: description ?? `<p>Work ${key}</p>`,
  'location-city': city ?? 'Boston',
  'location-state': 'Massachusetts',
  'contact-web-address': `https://jobs.example.com/${key}`,
});

export const without = (fields: Readonly<Record<string, string>>, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

const headers = ({ env }: Site) => ({
  authorization: `Basic ${Buffer.from(`${env.BOARD_TOKEN}:X`).toString('base64')}`,
  'content-type': 'application/xml',
});

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Creates a job by hand; returns its ID. */
export async function makeJob(site: Site, fields: Readonly<Record<string, string>>): Promise<string> {
  const before = new Set((await site.sandbox.inspect.jobs()).map(({ id }) => id));
  const elements = Object.entries(fields).map(([name, value]) => `<${name}>${escaped(value)}</${name}>`);
  const body = `<job>${elements.join('')}</job>`;
  const answer = await request(`${site.sandbox.url}/jobs.xml`, { method: 'POST', headers: headers(site), body });
  await answer.body.dump();
  expect(answer.statusCode).toBe(201);
  return (await site.sandbox.inspect.jobs()).find(({ id }) => !before.has(id))?.id ?? '';
}

export async function removeJob(site: Site, id: string): Promise<void> {
  const answer = await request(`${site.sandbox.url}/jobs/${id}.xml`, { method: 'DELETE', headers: headers(site) });
  await answer.body.dump();
}

export async function changeJob(site: Site, id: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const elements = Object.entries(fields).map(([name, value]) => `<${name}>${escaped(value)}</${name}>`);
  const body = `<job>${elements.join('')}</job>`;
  const answer = await request(`${site.sandbox.url}/jobs/${id}.xml`, { method: 'PUT', headers: headers(site), body });
  await answer.body.dump();
  expect(answer.statusCode).toBe(200);
}
