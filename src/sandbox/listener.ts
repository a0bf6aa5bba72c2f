// An HTTP server that can stop and resume listening on the same port.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SandboxLog } from './log.ts';

export interface Listener {
  readonly port: number;
  /** Refuses new connections for `ms` (0: until {@link Listener.accept}); requests in flight are still answered. */
  refuse(ms: number): void;
  /** Accepts connections again. */
  accept(): Promise<void>;
  /** Closes the server and all connections. */
  close(): void;
}

const AGAIN_AFTER_MS = 1_000;

/**
 * Starts listening.
 * @param port 0: any free port
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
  // A kept-alive connection would let its client bypass the refusal.
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
    await open(found).catch((error: unknown) => {
      // Another program may have taken the port: connections stay refused until it can listen again.
      refusing = true;
      if (!closed) acceptAfter(AGAIN_AFTER_MS);
      throw error;
    });
    if (closed) server.close();
  };
  function acceptAfter(ms: number): void {
    timer = setTimeout(() => {
      accept().catch((error: unknown) => log('the sandbox cannot listen again', { error: String(error) }));
    }, ms);
  }
  return {
    port: found,
    accept,
    refuse(ms) {
      clearTimeout(timer);
      if (closed) return;
      if (!refusing) server.close();
      refusing = true;
      if (ms === 0) return;
      acceptAfter(ms);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      if (!refusing) server.close();
      server.closeAllConnections();
    },
  };
}
