// A job site in memory that rewrites what it stores, as real ones do, and states the types of its values.
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { foldName } from '../../src/site/xml/xml-events.ts';
import { childrenOf, elementText, readXml } from '../../src/site/xml/xml-tree.ts';
import { listen } from './listen.ts';

type Fields = Readonly<Record<string, string>>;

/** How the value of a field is stored, and what its element states. */
export interface Column {
  readonly store?: (value: string) => string;
  readonly type?: string;
}

export interface RewritingSite {
  readonly url: string;
  readonly jobs: Map<string, Fields>;
  /** Method and path of each request. */
  readonly asked: string[];
  /** Whether an update is answered with the job; otherwise 204. */
  showsUpdates: boolean;
  /** How many creates are answered with 500 after they were done. */
  failing: number;
  /** What an update does to fields that it omits. */
  clears: boolean;
  /** Fields that are never shown. */
  readonly hidden: Set<string>;
  /** Changes a job as a person does on the website: not rewritten. */
  edit(id: string, fields: Fields): void;
  /** Changes the stored value of every job from now on. */
  readonly columns: Record<string, Column>;
  close(): Promise<void>;
}

const titleize = (value: string) =>
  value
    .replace(/[-_]/g, ' ')
    .replace(/\s+/g, ' ')
    .toLowerCase()
    .replace(/\b\w/g, (letter) => letter.toUpperCase());

/** `2027-01-01T12:00:00Z` in Honolulu. */
const inHonolulu = (value: string) =>
  `${new Date(new Date(value).getTime() - 10 * 3_600_000).toISOString().slice(0, 19)}-10:00`;

export const COLUMNS: Readonly<Record<string, Column>> = {
  title: { store: titleize },
  description: {
    store: (value) =>
      `<div>${value
        .replace(/ on\w+="[^"]*"/g, '')
        .replace(/\s+/g, ' ')
        .trim()}</div>`,
  },
  'category-name': { store: (value) => (value.length > 12 ? `${value.slice(0, 9)}...` : value) },
  salary: { store: (value) => String(Number(value)), type: 'decimal' },
  'starts-at': { store: inHonolulu, type: 'datetime' },
  remote: { store: (value) => (value === '1' ? 'true' : 'false'), type: 'boolean' },
  openings: { store: (value) => String(Number(value)), type: 'integer' },
};

export async function openRewritingSite(columns: Readonly<Record<string, Column>> = COLUMNS): Promise<RewritingSite> {
  const jobs = new Map<string, Fields>();
  const created = new Map<string, string>();
  const server = createServer((incoming, outgoing) => {
    void answer(incoming).then(
      ({ status, body = '', location }) =>
        outgoing
          .writeHead(status, { 'content-type': 'application/xml', ...(location === undefined ? {} : { location }) })
          .end(body),
      () => outgoing.destroy(),
    );
  });
  const stored = (name: string, value: string) => (value === '' ? '' : (site.columns[name]?.store?.(value) ?? value));
  const xmlOf = (id: string) => {
    const fields = Object.entries(jobs.get(id) ?? {}).filter(([name]) => !site.hidden.has(name));
    const elements = fields.map(([name, value]) => {
      const type = site.columns[name]?.type === undefined ? '' : ` type="${site.columns[name]?.type}"`;
      return value === '' ? `<${name}${type} nil="true"/>` : `<${name}${type}>${escaped(value)}</${name}>`;
    });
    return `<job><id type="integer">${id}</id>${elements.join('')}<created-at type="datetime">${created.get(id)}</created-at></job>`;
  };
  async function answer(incoming: IncomingMessage): Promise<{ status: number; body?: string; location?: string }> {
    const { method = 'GET', url = '/' } = incoming;
    site.asked.push(`${method} ${url}`);
    const root = readXml(await text(incoming));
    const sent = Object.fromEntries(
      (root === undefined ? [] : childrenOf(root)).map((child) => {
        const name = foldName(child.name);
        return [name, stored(name, elementText(child))];
      }),
    );
    if (url === '/jobs.xml' && method === 'POST') {
      const id = String(1001 + created.size);
      created.set(id, new Date().toISOString());
      jobs.set(id, sent);
      if (site.failing > 0) {
        site.failing--;
        return { status: 500, body: '<error>Internal server error</error>' };
      }
      return { status: 201, body: xmlOf(id), location: `${site.url}/jobs/${id}` };
    }
    if (url === '/jobs.xml')
      return { status: 200, body: `<jobs type="array">${[...jobs.keys()].map(xmlOf).join('')}</jobs>` };
    const id = /^\/jobs\/(\d+)\.xml$/.exec(url)?.[1] ?? '';
    const job = jobs.get(id);
    if (job === undefined) return { status: 404 };
    if (method === 'PUT') {
      const former = site.clears ? Object.fromEntries(Object.keys(job).map((name) => [name, ''])) : job;
      jobs.set(id, { ...former, ...sent });
      return site.showsUpdates ? { status: 200, body: xmlOf(id) } : { status: 204 };
    }
    if (method === 'DELETE') jobs.delete(id);
    return method === 'DELETE' ? { status: 204 } : { status: 200, body: xmlOf(id) };
  }
  const port = await listen(server);
  const site: RewritingSite = {
    url: `http://127.0.0.1:${port}`,
    jobs,
    asked: [],
    showsUpdates: false,
    failing: 0,
    clears: false,
    hidden: new Set(),
    columns: { ...columns },
    edit: (id, fields) => jobs.set(id, { ...jobs.get(id), ...fields }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return site;
}

const escaped = (value: string) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
