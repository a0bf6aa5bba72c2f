// A server that sends exactly the bytes a test specifies, including framing, and closes as specified.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface RawServer {
  /** For example `http://127.0.0.1:1234`. */
  readonly origin: string;
  /** The heads of all requests so far, as received. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** Answers each request with `answer(socket, path)`, on 127.0.0.1 or another loopback address. */
export async function serveRaw(answer: (socket: Socket, path: string) => void, host = '127.0.0.1'): Promise<RawServer> {
  const requests: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // Only the client is under test, so ignore errors on the server's side.
    socket.on('error', () => undefined);
    let head = '';
    socket.on('data', (data) => {
      head += data.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      requests.push(head);
      answer(socket, head.split(' ')[1] ?? '');
      head = '';
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    origin: `http://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export type Framing = 'Content-Length' | 'chunked' | 'close-delimited';

/** Sends a response whose body is cut after `cut` bytes, where the connection is closed. */
export function respond(socket: Socket, framing: Framing, body: Buffer, cut: number, headers: string[] = []): void {
  const head = ['HTTP/1.1 200 OK', 'Content-Type: application/xml', ...headers];
  const sent = body.subarray(0, cut);
  switch (framing) {
    case 'Content-Length':
      socket.end(Buffer.concat([headOf(...head, `Content-Length: ${body.length}`), sent]));
      break;
    case 'close-delimited':
      socket.end(Buffer.concat([headOf(...head, 'Connection: close'), sent]));
      break;
    case 'chunked': {
      const whole = cut >= body.length;
      const chunk = Buffer.concat([
        Buffer.from(`${body.length.toString(16)}\r\n`),
        sent,
        Buffer.from(whole ? '\r\n0\r\n\r\n' : ''),
      ]);
      socket.end(Buffer.concat([headOf(...head, 'Transfer-Encoding: chunked'), chunk]));
    }
  }
}

export const headOf = (...lines: string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
