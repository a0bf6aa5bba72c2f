// The parsing part of a pull with saxes: reads a file, counts the records, keeps nothing.
import { createReadStream } from 'node:fs';
import { SaxesParser } from 'saxes';

let records = 0;
const parser = new SaxesParser();
parser.on('opentag', ({ name }) => {
  if (name === 'job') records++;
});
parser.on('text', () => undefined);
parser.on('cdata', () => undefined);
parser.on('closetag', () => undefined);
parser.on('error', (error) => {
  throw error;
});
const startedAt = performance.now();
for await (const chunk of createReadStream(process.argv[2] as string, { encoding: 'utf8', highWaterMark: 524_288 })) {
  parser.write(chunk);
}
parser.close();
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, records }));
