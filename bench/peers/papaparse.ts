// Streams the records of a table with papaparse.
import { createReadStream } from 'node:fs';
import papaparse from 'papaparse';

let records = 0;
const startedAt = performance.now();
await new Promise<void>((resolve, reject) => {
  papaparse.parse(createReadStream(process.argv[2] as string, { encoding: 'utf8', highWaterMark: 524_288 }), {
    header: true,
    step: () => records++,
    complete: () => resolve(),
    error: reject,
  });
});
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, records }));
