// Writes zip archives byte by byte, so tests can write wrong ones as well.
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZippedFile {
  readonly name: string;
  readonly content: string | Buffer;
  readonly stored?: boolean;
  /** Instead of the true values. */
  readonly crc?: number;
  readonly size?: number;
  readonly flags?: number;
  readonly method?: number;
}

/** An archive with these files. */
export function zipOf(files: readonly ZippedFile[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, stored = false, crc, size, flags = 0, method } of files) {
    const bytes = Buffer.from(content);
    const data = stored ? bytes : deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(method ?? (stored ? 0 : 8), 4);
    fields.writeUInt32LE(crc ?? crc32(bytes), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(size ?? bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    const made = Buffer.from('PK\x01\x02\x14\x00', 'latin1');
    directory.push(Buffer.concat([made, fields, rest, Buffer.from(name)]));
    bodies.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, list, end]);
}
