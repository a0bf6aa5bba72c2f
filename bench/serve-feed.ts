// Serves a generated feed of any size over HTTP without storing it, and prints its address. Its argument is the number of records. After a
// POST, of so many of 10,000 records, these have changed.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { feedPieces } from './feed-writer.ts';

const records = Number(process.argv[2]);
let changedPer10k = 0;
const server = createServer((request, response) => {
  if (request.method === 'POST') {
    changedPer10k = Number(request.headers['changed-per-10k']);
    response.end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/xml' });
  const pieces = Readable.from(feedPieces({ records, seed: 1, changedPer10k }), { objectMode: false });
  pipeline(pieces, response).catch((error: Error) => console.error(error.message));
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  console.log(`http://127.0.0.1:${port}/feed.xml`);
});
process.once('SIGTERM', () => process.exit(0));
