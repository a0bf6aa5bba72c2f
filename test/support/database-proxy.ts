// A proxy to the Postgres server of the tests, through which a test decides what arrives, and in which pieces.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

export interface DatabaseProxy {
  /** The same database through the proxy. */
  readonly url: string;
  /** Passes bytes on to the client or the server; by default as they came. */
  pass: (bytes: Buffer, to: Socket, receiver: 'client' | 'server') => void;
  close(): Promise<void>;
}

export async function openDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const far = connect({ port: Number(port), host: hostname, noDelay: true });
    for (const [from, to, receiver] of [
      [client, far, 'server'],
      [far, client, 'client'],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => proxy.pass(bytes, to, receiver));
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
  });
  await listen(server);
  const through = new URL(url);
  // The tests connect over a socket otherwise.
  through.searchParams.delete('host');
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: DatabaseProxy = {
    url: through.href,
    pass: (bytes, to) => to.write(bytes),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
