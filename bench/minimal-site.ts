// The smallest job site that the interface allows: responds at once and stores nothing. Prints its address.
import { createServer } from 'node:http';

let jobs = 0;
const server = createServer({ keepAlive: true }, (request, response) => {
  request.resume();
  request.once('end', () => {
    if (request.method === 'POST') {
      const id = ++jobs;
      const body = `<?xml version="1.0" encoding="UTF-8"?><job><id type="integer">${id}</id></job>`;
      response.writeHead(201, { location: `/jobs/${id}`, 'content-type': 'application/xml' }).end(body);
    } else {
      response.writeHead(200, { 'content-type': 'application/xml' }).end('<job/>');
    }
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  console.log(`http://127.0.0.1:${port}`);
});
process.once('SIGTERM', () => process.exit(0));
