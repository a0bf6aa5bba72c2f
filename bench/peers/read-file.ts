// The lower bound of any pull: reads a file to its end and does nothing with it.
import { open } from 'node:fs/promises';

const file = await open(process.argv[2] as string);
const buffer = Buffer.allocUnsafe(524_288);
const startedAt = performance.now();
let bytes = 0;
for (;;) {
  const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
  if (bytesRead === 0) break;
  bytes += bytesRead;
}
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, bytes }));
await file.close();
