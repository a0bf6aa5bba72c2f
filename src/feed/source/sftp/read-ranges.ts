// Reads a file over SFTP with several requests under way, because each takes as long as a packet to the server and back.
import type { SFTPWrapper } from 'ssh2';
import { BrokenOff } from '../source.ts';

/** Every server sends this much at once. */
const RANGE_BYTES = 32 * 1024;
const REQUESTS_UNDER_WAY = 32;

/** Yields exactly `size` bytes. Throws {@link BrokenOff} if the file is shorter or longer, and what a request throws. */
export async function* readRanges(sftp: SFTPWrapper, handle: Buffer, size: number): AsyncGenerator<Buffer> {
  const underWay: Promise<Buffer>[] = [];
  let next = 0;
  const request = (): void => {
    const range = readWhole(sftp, handle, next, Math.min(RANGE_BYTES, size - next));
    // It may fail before it is awaited, which must not count as unhandled.
    range.catch(() => undefined);
    underWay.push(range);
    next += RANGE_BYTES;
  };
  while (underWay.length < REQUESTS_UNDER_WAY && next < size) request();
  for (let range = underWay.shift(); range !== undefined; range = underWay.shift()) {
    const bytes = await range;
    if (next < size) request();
    yield bytes;
  }
  if ((await readOnce(sftp, handle, size, 1)).length > 0) throw new BrokenOff('the file grew while it was being read');
}

/** A server may send less than was asked for. */
async function readWhole(sftp: SFTPWrapper, handle: Buffer, from: number, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let done = 0; done < length; ) {
    const part = await readOnce(sftp, handle, from + done, length - done);
    if (part.length === 0) throw new BrokenOff('the file was cut while it was being read');
    parts.push(part);
    done += part.length;
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

/** SSH_FX_EOF (draft-ietf-secsh-filexfer-02, section 7). */
const EOF = 1;

/** Empty at the end of the file. */
const readOnce = (sftp: SFTPWrapper, handle: Buffer, from: number, length: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sftp.read(handle, Buffer.allocUnsafe(length), 0, length, from, (error, bytesRead, buffer) => {
      const isEnd = error !== undefined && error !== null && 'code' in error && error.code === EOF;
      if (isEnd) resolve(Buffer.alloc(0));
      else if (error) reject(error);
      else resolve(buffer.subarray(0, bytesRead));
    });
  });
