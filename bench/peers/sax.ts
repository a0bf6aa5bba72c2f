// The parsing part of a pull with sax: reads a file, counts the records, keeps nothing.
import { createReadStream } from 'node:fs';
import sax from 'sax';

let records = 0;
const parser = sax.parser(true, { position: false });
parser.onopentag = ({ name }) => {
  if (name === 'job') records++;
};
parser.ontext = () => undefined;
parser.oncdata = () => undefined;
parser.onclosetag = () => undefined;
parser.onerror = (error) => {
  throw error;
};
const startedAt = performance.now();
for await (const chunk of createReadStream(process.argv[2] as string, { encoding: 'utf8', highWaterMark: 524_288 })) {
  parser.write(chunk as string);
}
parser.close();
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, records }));
