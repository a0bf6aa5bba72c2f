// The configuration of a crossing life: everything that an operator may change about a feed between two runs, and its file.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Installation } from './installation.ts';
import type { Random } from './random.ts';

/** The settings that change. A posting has two identifiers: `referencenumber` and, numbered differently, `requisition`. */
export interface Setup {
  readonly feed: 'acme' | 'globex';
  readonly key: 'referencenumber' | 'requisition';
  /** The preset, or the same format inline; `records` is its records path. */
  readonly format: 'preset' | 'inline';
  readonly records: 'source/job' | 'source/list/job' | 'rss/channel/item' | 'jobs';
  readonly title: 'title' | 'title and city';
  /** `web`: from the web, at the site's proxy; `webs`: from two addresses there. */
  readonly source: 'feed.xml' | 'other.xml' | 'upload://' | 'web' | 'webs';
  readonly onMissing: 'create' | 'leave';
  readonly missingPulls: 1 | 2;
  /** Postings in this city are no postings. */
  readonly skip: 'none' | 'Salem';
  /** What the feed may do to jobs that exist. */
  readonly policy: 'mirror' | 'upsert_only' | 'create_only';
  /** Whether changed keys wait for a person. */
  readonly rekey: '{ percent: 100, count: 100 }' | '{ percent: 20, count: 1 }';
  readonly guard: '{ percent: 20, count: 5' | '{ percent: 100, count: 100' | '{ percent: 5, count: 1';
}

/** Another feed of the site, which never changes: neither do its jobs. */
export const NEIGHBOUR = 'neighbour';

export const FIRST_SETUP: Setup = {
  feed: 'acme',
  key: 'referencenumber',
  format: 'preset',
  records: 'source/job',
  title: 'title',
  source: 'feed.xml',
  onMissing: 'create',
  missingPulls: 1,
  skip: 'none',
  policy: 'mirror',
  rekey: '{ percent: 100, count: 100 }',
  guard: '{ percent: 20, count: 5',
};

/** Feeds from the web that may list only their newest postings, and stay so. */
export const NEWEST = [
  { source: 'web', records: 'rss/channel/item', format: 'inline' },
  { source: 'webs', records: 'rss/channel/item', format: 'inline' },
  { source: 'web', records: 'jobs', format: 'inline' },
] as const;

export const isFromWeb = ({ source }: Setup): boolean => source === 'web' || source === 'webs';

type Changes = { readonly [Name in keyof Setup]: readonly Setup[Name][] };

const CHANGES: Changes = {
  feed: ['acme', 'globex'],
  key: ['referencenumber', 'requisition'],
  format: ['preset', 'inline'],
  records: ['source/job', 'source/list/job'],
  title: ['title', 'title and city'],
  source: ['feed.xml', 'other.xml', 'upload://'],
  onMissing: ['create', 'leave'],
  missingPulls: [1, 2],
  skip: ['none', 'Salem'],
  policy: ['mirror', 'upsert_only', 'create_only'],
  rekey: ['{ percent: 100, count: 100 }', '{ percent: 20, count: 1 }'],
  guard: ['{ percent: 20, count: 5', '{ percent: 100, count: 100', '{ percent: 5, count: 1'],
};

/** Changes one setting. The preset reads the records of any root, but not those of a list inside it. */
export function changeSetup(setup: Setup, random: Random): { readonly setup: Setup; readonly note: string } {
  const names = Object.keys(CHANGES) as (keyof Setup)[];
  const name = random.pick(isFromWeb(setup) ? names.filter((each) => !(each in NEWEST[0])) : names);
  const value = random.pick(CHANGES[name].filter((other) => other !== setup[name]));
  const changed = { ...setup, [name]: value } as Setup;
  const fitting: Setup =
    changed.records === 'source/list/job' && changed.format === 'preset'
      ? name === 'format'
        ? { ...changed, records: 'source/job' }
        : { ...changed, format: 'inline' }
      : changed;
  return { setup: fitting, note: `${name} becomes ${value}` };
}

/** A field of each job that names the key by which its posting was known when the job was made. */
export const categoryOf = (key: Setup['key']): string => `by ${key}`;

const FIELDS = `number: referencenumber
        title: title
        description: description
        location-city: city
        location-state: { from: state, as: us_state }
        contact-web-address: { from: url, as: url }`;

/** Writes the configuration to `file` in the installation's folder. */
export async function writeSetup(
  { folder }: Installation,
  siteUrl: string,
  setup: Setup,
  queue: string,
  tokenFile: string,
  file = 'jobmirror.yaml',
): Promise<void> {
  const web = `${siteUrl}/feed.xml`;
  const sources = { web: `source: ${web}`, webs: `sources: [${web}, ${siteUrl}/rest.xml]` };
  const source = sources[setup.source as 'web'] ?? `source: ${setup.source}`;
  const inline = `${setup.records === 'jobs' ? '\n      type: json' : ''}
      records: ${setup.records}
      key: referencenumber
      fields:
        ${FIELDS}`;
  await writeFile(
    join(folder, file),
    `database: \${DATABASE_URL}
queue: ${queue}
sites:
  board:
    base_url: ${siteUrl}
    token_file: ${tokenFile}
    reference_field: number
    list_path: /jobs.xml
    on_missing: ${setup.onMissing}
    limits: { requests_per_second: 5000, concurrency: 4, timeout_seconds: 0.5 }
    doubts: { resolve_after_seconds: 0.9 }
    retry: { attempts: 3, first_delay_seconds: 0.05, max_delay_seconds: 0.2 }
feeds:
  ${setup.feed}:
    ${source}
    site: board
    policy: ${setup.policy}
    format: ${setup.format === 'preset' ? 'indeed' : inline}
    key: ${setup.key}${setup.skip === 'none' ? '' : `\n    skip: { city: ${setup.skip} }`}
    fields:
      category-name: { value: ${categoryOf(setup.key)} }
      title: ${setup.title === 'title' ? 'title' : '{ template: "{title}, {city}" }'}
    delete_guard: ${setup.guard}, missing_pulls: ${setup.missingPulls} }
    rekey_guard: ${setup.rekey}
  ${NEIGHBOUR}:
    source: ${NEIGHBOUR}.xml
    site: board
    format: indeed
    fields: { category-name: { value: ${NEIGHBOUR} } }
`,
  );
}
