// Turns an HTTP server into one whose listening can be switched off and on again, at the same port.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SandboxLog } from './log.ts';

export interface Listener {
  readonly port: number;
  /** New connections are refused from now on; requests under way are still answered. `ms` 0: until {@link Listener.accept}. */
  refuse(ms: number): void;
  /** Connections are accepted again. */
  accept(): Promise<void>;
  /** Ends all connections. */
  close(): void;
}

/**
 * Starts listening.
 * @param port 0: a free one
 * @throws the system's error, such as EADDRINUSE
 */
export async function listen(server: Server, host: string, port: number, log: SandboxLog): Promise<Listener> {
  let refusing = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const open = async (at: number): Promise<void> => {
    server.listen(at, host);
    await once(server, 'listening');
  };
  // A connection that stays open would let its client go on past the refusal.
  server.on('request', ({ socket }, response) => {
    response.once('close', () => {
      if (refusing) socket.destroy();
    });
  });
  await open(port);
  const { port: found } = server.address() as AddressInfo;

  const accept = async (): Promise<void> => {
    clearTimeout(timer);
    if (!refusing || closed) return;
    refusing = false;
    await open(found);
  };
  return {
    port: found,
    accept,
    refuse(ms) {
      clearTimeout(timer);
      if (closed) return;
      if (!refusing) server.close();
      refusing = true;
      if (ms === 0) return;
      timer = setTimeout(() => {
        accept().catch((error: unknown) => log('the sandbox can not listen again', { error: String(error) }));
      }, ms);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      if (!refusing) server.close();
      server.closeAllConnections();
    },
  };
}
