// Bounds the connections of the HTTP server, so that those who open many, and send nothing or slowly, keep nobody out.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf, plainAddress } from '../../config/build/web-config.ts';

/**
 * Where there are more than `most`, one of the network that has most of them closes: the oldest on which no request is being answered,
 * otherwise the oldest; but the new one, if it is of this network or if many clients share its address, as they do that of a proxy.
 */
export function limitConnections(server: Server, most: number, isShared: (address: string) => boolean): void {
  /** In the order in which they were opened, with how many requests each is answering. */
  const answering = new Map<Socket, number>();
  const ofNetwork = new Map<string, Set<Socket>>();
  const forgetting = new WeakMap<Socket, () => void>();

  function makeRoom(newest: Socket, own: Set<Socket>): Socket {
    const [network = '', largest = own] = [...ofNetwork].toSorted(([, a], [, b]) => b.size - a.size)[0] ?? [];
    const others = [...largest].filter((socket) => socket !== newest);
    const idle = others.find((socket) => answering.get(socket) === 0);
    return idle ?? (largest === own || isShared(network) ? newest : (others[0] ?? newest));
  }

  server.on('connection', (socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    const network = isShared(address) ? address : networkOf(address);
    const own = ofNetwork.get(network) ?? new Set();
    ofNetwork.set(network, own.add(socket));
    answering.set(socket, 0);
    const forget = (): void => {
      answering.delete(socket);
      own.delete(socket);
      if (own.size === 0 && ofNetwork.get(network) === own) ofNetwork.delete(network);
    };
    forgetting.set(socket, forget);
    socket.once('close', forget);
    if (answering.size <= most) return;
    const surplus = makeRoom(socket, own);
    // It closes only later; until then it would be chosen again.
    forgetting.get(surplus)?.();
    surplus.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (change: number): void => {
      const before = answering.get(socket);
      if (before !== undefined) answering.set(socket, before + change);
    };
    count(1);
    response.once('close', () => count(-1));
  });
}
