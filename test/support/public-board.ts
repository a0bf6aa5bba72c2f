// A job site that shows jobs to everybody, and refuses only writes with a wrong token; as Redmine does. Jobs that are not published are
// shown only to the user of the token.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen } from './listen.ts';

export interface BoardJob {
  readonly id: string;
  fields: Record<string, string>;
  published: boolean;
}

export interface PublicBoard extends AsyncDisposable {
  readonly url: string;
  readonly jobs: Map<string, BoardJob>;
  /** Method, path and status of each request. */
  readonly requests: string[];
  /** The bodies of creates and updates. */
  readonly bodies: string[];
  /** How the site behaves from now on. */
  readonly habits: {
    /** Whether it accepts the token. */
    accepts: boolean;
    /** How many creates it makes without an answer. */
    loses: number;
    /** How many creates it neither makes nor answers. */
    drops: number;
    /** Whether it refuses readers whose token it does not accept. */
    private: boolean;
    /** Whether it names a new job only in `Location`. */
    terse: boolean;
    /** Whether new jobs are published at once; those that are not, it shows to nobody, if `hidesFromOwner`. */
    publishes: boolean;
    hidesFromOwner: boolean;
    /** What it makes of the fields of a new job. */
    rewrites: (fields: Record<string, string>, id: string) => Record<string, string>;
    /** Called for each request before it is answered. */
    before: (method: string, path: string) => void;
  };
}

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
const plain = (text: string): string =>
  text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&');

export async function openPublicBoard(
  token: string,
  { element, path } = { element: 'job', path: '/jobs' },
): Promise<PublicBoard> {
  const jobs = new Map<string, BoardJob>();
  const requests: string[] = [];
  const bodies: string[] = [];
  const habits: PublicBoard['habits'] = {
    accepts: true,
    loses: 0,
    drops: 0,
    private: false,
    terse: false,
    publishes: true,
    hidesFromOwner: false,
    rewrites: (fields) => fields,
    before: () => undefined,
  };
  let last = 0;
  const xmlOf = ({ id, fields }: BoardJob): string =>
    `<${element}><id type="integer">${id}</id>${Object.entries(fields)
      .map(([name, value]) => `<${name}>${escaped(value)}</${name}>`)
      .join('')}</${element}>`;
  const fieldsOf = (body: string): Record<string, string> =>
    Object.fromEntries(
      [...body.matchAll(/<([\w-]+)>([^<]*)<\/\1>/g)].map(([, name = '', text = '']) => [name, plain(text)]),
    );
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const method = request.method ?? '';
    if (body !== '') bodies.push(body);
    const url = new URL(request.url ?? '', 'http://board');
    habits.before(method, url.pathname);
    const sent = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
    const isUser = habits.accepts && sent === `${token}:X`;
    const answer = (status: number, text = '', headers: Record<string, string> = {}) => {
      requests.push(`${method} ${url.pathname} ${status}`);
      response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(text);
    };
    const id = new RegExp(`^${path}/([^/]+)\\.xml$`).exec(url.pathname)?.[1];
    const job = id === undefined ? undefined : jobs.get(id);
    const sees = (one: BoardJob): boolean => one.published || (isUser && !habits.hidesFromOwner);
    if (url.pathname === '/account.xml') return isUser ? answer(200, '<user/>') : answer(401);
    if (!isUser && (method !== 'GET' || habits.private)) return answer(401);
    if (method === 'GET' && url.pathname === `${path}.xml`)
      return answer(
        200,
        `<${element}s type="array">${[...jobs.values()].filter(sees).map(xmlOf).join('')}</${element}s>`,
      );
    if (method === 'POST' && url.pathname === `${path}.xml`) {
      if (habits.drops > 0) {
        habits.drops--;
        requests.push(`${method} ${url.pathname} dropped`);
        return response.destroy();
      }
      last++;
      const id = String(last);
      const made = { id, fields: habits.rewrites(fieldsOf(body), id), published: habits.publishes };
      jobs.set(made.id, made);
      if (habits.loses > 0) {
        habits.loses--;
        requests.push(`${method} ${url.pathname} lost`);
        return response.destroy();
      }
      const location = `http://${request.headers.host}${path}/${made.id}`;
      return answer(201, habits.terse ? '' : xmlOf(made), { location });
    }
    if (job === undefined || (method === 'GET' && !sees(job))) return answer(404);
    if (method !== 'GET' && habits.hidesFromOwner && !job.published) return answer(404);
    if (method === 'GET') return answer(200, xmlOf(job));
    if (method === 'DELETE') {
      jobs.delete(job.id);
      return answer(200);
    }
    Object.assign(job.fields, fieldsOf(body));
    return answer(200, xmlOf(job));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    jobs,
    requests,
    bodies,
    habits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
