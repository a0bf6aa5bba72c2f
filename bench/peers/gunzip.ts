// The lower bound of a compressed pull: Node's own gunzip over a file, discarding the output.
import { createReadStream } from 'node:fs';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

let bytes = 0;
const startedAt = performance.now();
await pipeline(
  createReadStream(process.argv[2] as string, { highWaterMark: 524_288 }),
  createGunzip({ chunkSize: 524_288 }),
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done();
    },
  }),
);
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, bytes }));
