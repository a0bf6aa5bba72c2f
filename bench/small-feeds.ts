// Serves many small feeds, one per path; the argument is the number of postings of each. Prints its address.
import { createServer } from 'node:http';
import { feedRecords } from './feed-writer.ts';

const records = Number(process.argv[2] ?? 3);
const server = createServer((request, response) => {
  const seed = 1 + Number(/\d+/.exec(request.url ?? '')?.[0] ?? 0);
  const feed = [...feedRecords({ records, seed, changedPer10k: 0 })].map(({ record }) => record).join('\n');
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0" encoding="utf-8"?>\n<source>\n${feed}\n</source>\n`);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  console.log(`http://127.0.0.1:${port}`);
});
process.once('SIGTERM', () => process.exit(0));
