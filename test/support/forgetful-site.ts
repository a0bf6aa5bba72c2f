// A site as Rails applications are: it rewrites titles and texts, and may drop the reference without a word.

import { type EditingProxy, openEditingProxy } from './editing-proxy.ts';
import type { Mirror } from './mirror.ts';

export interface ForgetfulSite {
  readonly proxy: EditingProxy;
  /** Whether it drops the reference of the job with this ID; by default of all. */
  drops: (id: string) => boolean;
  /** Titles are shown as `titleize` makes them, and texts without their tags. */
  rewrites: boolean;
}

const FIELD = (name: string) => new RegExp(`(<${name}[^>]*>)([\\s\\S]*?)(</${name}>)`, 'g');

/** `Driver (CDL-A)` → `Driver (Cdl A)`. */
const titleize = (title: string): string =>
  title
    .replace(/[-_]+/g, ' ')
    .toLowerCase()
    .replace(/(^|[\s(])(\p{L})/gu, (_all, before: string, letter: string) => before + letter.toUpperCase());

export async function openForgetfulSite(): Promise<ForgetfulSite> {
  const proxy = await openEditingProxy();
  const site: ForgetfulSite = { proxy, drops: () => true, rewrites: true };
  proxy.edit = (_path, _method, answer) => ({
    ...answer,
    body: answer.body.replace(/<job>[\s\S]*?<\/job>/g, (job) => {
      const id = /<id[^>]*>([^<]*)</.exec(job)?.[1] ?? '';
      const shown = site.drops(id) ? job.replace(/\s*<number[^>]*>[\s\S]*?<\/number>/g, '') : job;
      if (!site.rewrites) return shown;
      return shown
        .replace(FIELD('title'), (_all, open, title, close) => open + titleize(title) + close)
        .replace(FIELD('description'), (_all, open, text: string, close) => {
          return open + text.replace(/&lt;\/?[a-z][^&]*&gt;/gi, '') + close;
        });
    }),
  });
  return site;
}

/** What a lost database no longer knows. The feed's postings are not read anew unless their file changes. */
export async function loseMappings(mirror: Mirror, feed?: string): Promise<void> {
  for (const table of ['mapping', 'document', 'change', 'request', 'site_reference'])
    await mirror.query(
      table === 'site_reference'
        ? 'delete from site_reference'
        : `delete from ${table} where $1::text is null or feed = $1`,
      table === 'site_reference' ? [] : [feed ?? null],
    );
  await mirror.query(`update installation set place = 'another'`);
  await mirror.stopEngine();
}
