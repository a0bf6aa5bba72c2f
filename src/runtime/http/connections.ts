// Bounds the connections of the HTTP server, so that those who open many and send nothing keep nobody out.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { plainAddress } from '../../config/build/web-config.ts';

interface ConnectionLimits {
  readonly inAll: number;
  /** Of one address; those that `isShared` by many clients, as a proxy is, have no bound of their own. */
  readonly ofOne: number;
  isShared(address: string): boolean;
}

/**
 * Where there are too many, the oldest connection closes on which no request is being answered: of the same address, or of all. If each
 * is at work, the new one closes.
 */
export function limitConnections(server: Server, { inAll, ofOne, isShared }: ConnectionLimits): void {
  /** In the order in which they were opened, with how many requests each is answering. */
  const answering = new Map<Socket, number>();
  const addressOf = new Map<Socket, string>();
  const perAddress = new Map<string, Set<Socket>>();

  function forget(socket: Socket): void {
    const address = addressOf.get(socket);
    answering.delete(socket);
    addressOf.delete(socket);
    if (address === undefined) return;
    const same = perAddress.get(address);
    same?.delete(socket);
    if (same?.size === 0) perAddress.delete(address);
  }

  function end(socket: Socket): void {
    forget(socket);
    socket.destroy();
  }

  function makeRoom(among: Iterable<Socket>, newest: Socket): void {
    const idle = [...among].find((socket) => socket !== newest && answering.get(socket) === 0);
    end(idle ?? newest);
  }

  server.on('connection', (socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    const same = perAddress.get(address) ?? new Set();
    perAddress.set(address, same.add(socket));
    addressOf.set(socket, address);
    answering.set(socket, 0);
    socket.once('close', () => forget(socket));
    if (same.size > ofOne && !isShared(address)) makeRoom(same, socket);
    else if (answering.size > inAll) makeRoom(answering.keys(), socket);
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
