// Counts the requests of pulls from a list of pages whose postings need details, of which one in a hundred has changed.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mapRecords, openInstallation } from '../installation.ts';
import { fastest, judge, lineOf, type Part, scriptOf } from '../workbench.ts';

const PART = 'details';
const PER_PAGE = 100;
const CHANGED_EVERY = 100;

const keyOf = (number: number): string => `REQ-${number}`;
const recordOf = (number: number, isChanged: boolean): string =>
  `{"id":"${keyOf(number)}","title":"Nurse ${number}${isChanged ? ', nights' : ''}","city":"Boston","state":"MA"}`;

export const details: Part = async (bench) => {
  const postings = bench.pages * PER_PAGE;
  const source = await startSource(postings);
  const installation = await openInstallation(bench.server, bench.folder, {
    source: `http://127.0.0.1:${source.port}/jobs`,
    format: `{ type: json, records: jobs, total: total, key: id, fields: { title: title, number: id, description: detail/text,
        location-city: city, location-state: { from: state, as: us_state }, contact-web-address: detail/url } }`,
    feedLimits: '{ requests_per_second: 100000 }',
    feedLines: `    pages: { by: page, size: ${PER_PAGE}, max_pages: ${bench.pages + 1} }
    details: { url: "jobs/{id}", match: { id: id }, concurrency: 16 }
`,
  });
  try {
    bench.say('filling the mappings');
    await mapRecords(installation, known(postings));
    const pull = { script: scriptOf('pull'), args: [installation.configPath, 'acme'], runs: 1 };
    const changed = await fastest(bench, pull);
    const found = source.take();
    const unchanged = await fastest(bench, pull);
    const again = source.take();
    return {
      rows: [
        lineOf(PART, 'list of pages, 1 % changed, with details', postings, changed),
        lineOf(PART, 'list of pages, nothing changed', postings, unchanged),
      ],
      verdicts: [
        judge(
          'requests beyond pages and changed postings',
          found - bench.pages - postings / CHANGED_EVERY,
          'at most',
          0,
          '',
        ),
        judge('requests beyond pages, nothing changed', again - bench.pages, 'at most', 0, ''),
        judge(
          'details that were requested of changed postings',
          (100 * source.details) / (postings / CHANGED_EVERY),
          'at least',
          100,
          '%',
        ),
      ],
    };
  } finally {
    await installation.close();
    source.close();
  }
};

function* known(postings: number): Generator<{ readonly key: string; readonly record: string }> {
  for (let number = 0; number < postings; number++) yield { key: keyOf(number), record: recordOf(number, false) };
}

interface Source {
  readonly port: number;
  /** Different details that were requested so far. */
  readonly details: number;
  /** Requests since the last call. */
  take(): number;
  close(): void;
}

async function startSource(postings: number): Promise<Source> {
  let requests = 0;
  const asked = new Set<string>();
  const server: Server = createServer((request, response) => {
    requests++;
    const url = new URL(request.url ?? '', 'http://localhost');
    const id = /^\/jobs\/(.+)$/.exec(url.pathname)?.[1];
    response.writeHead(200, { 'content-type': 'application/json' });
    if (id === undefined) {
      const from = (Number(url.searchParams.get('page')) - 1) * PER_PAGE;
      const records = Array.from({ length: Math.max(0, Math.min(PER_PAGE, postings - from)) }, (_, at) =>
        recordOf(from + at, (from + at) % CHANGED_EVERY === 0),
      );
      response.end(`{"total":${postings},"jobs":[${records.join(',')}]}`);
    } else {
      asked.add(id);
      response.end(
        JSON.stringify({ id, text: `<p>${'Work. '.repeat(500)}</p>`, url: `https://jobs.example.com/${id}` }),
      );
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get details() {
      return asked.size;
    },
    take() {
      const count = requests;
      requests = 0;
      return count;
    },
    close: () => server.close(),
  };
}
